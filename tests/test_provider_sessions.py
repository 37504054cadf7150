"""A conversation with a server of models: what is sent to it, turn by turn, and what is left of a
turn that broke off.
"""

import json
from typing import Any

import pytest
from factories import AppFixture, failure_of, report_of, run_turn
from model_calls import KEY, OLLAMA, OPENAI, REQUEST, Protocol, open_model
from model_server import ModelServer, Reply

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import CompactionDone, Notice, TextDelta
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Effort, ModelConfig, Options

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)
LONG = "Compost needs air and water. " * 60


def open_session(
    app: AppFixture, protocol: Protocol, server: ModelServer, *replies: Reply, **changes: Any
) -> ZkChatSession:
    """A session with the server's model, which plays these replies."""
    server.says(*replies)
    return app.session(open_model(protocol.name, protocol.address(server)), **changes)


def text_reply(protocol: Protocol, *texts: str, **more: Any) -> Reply:
    return Reply(protocol.text(*texts, **more))


def search_reply(protocol: Protocol, *queries: str) -> Reply:
    """A reply that looks for each of these."""
    if protocol is OLLAMA:
        return Reply(protocol.calls(*(("find_excerpts", {"query": query}) for query in queries)))
    return Reply(
        protocol.calls(
            *(
                (f"call_{i}", "find_excerpts", json.dumps({"query": q}))
                for i, q in enumerate(queries)
            )
        )
    )


def request_texts(body: dict[str, Any]) -> list[str]:
    """Who says what in a request, without the instructions."""
    return [f"{m['role']}: {m['content']}" for m in body["messages"] if m["role"] != "system"]


# what is sent


@BOTH
def test_the_tool_loop_over_the_wire(
    app: AppFixture, server: ModelServer, protocol: Protocol
) -> None:
    session = open_session(
        app,
        protocol,
        server,
        search_reply(protocol, "compost", "筛选器"),
        text_reply(protocol, "It needs air [1]."),
    )
    report = report_of(session.send("堆肥 needs what?"))
    assert (report.answer, [run.ok for run in report.tools]) == ("It needs air [1].", [True, True])
    # The calls count, too
    assert protocol is OLLAMA or (report.usage.estimated and report.usage.completion_tokens > 15)
    first, second = server.bodies
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        tool.name for tool in session.runtime.tools
    ]
    assert [m["role"] for m in second["messages"]][-4:] == ["user", "assistant", "tool", "tool"]
    asked = second["messages"][-3]["tool_calls"]
    assert len({call["id"] for call in asked}) == 2
    assert [m["tool_call_id"] for m in second["messages"][-2:]] == [call["id"] for call in asked]
    arguments = [call["function"]["arguments"] for call in asked]
    assert [json.loads(a) if protocol is OPENAI else a for a in arguments] == [
        {"query": "compost"},
        {"query": "筛选器"},
    ]
    assert "patience" in second["messages"][-2]["content"]
    assert (
        protocol is OPENAI
        or [m["tool_name"] for m in second["messages"][-2:]] == ["find_excerpts"] * 2
    )
    assert "堆肥 needs what?" in server.raw[0] and "\\u" not in "".join(server.raw)


@pytest.mark.parametrize("window", [8192, 16384])
def test_ollama_gets_the_window_in_use(app: AppFixture, server: ModelServer, window: int) -> None:
    app.max_context = window
    session = open_session(app, OLLAMA, server, text_reply(OLLAMA, "Yes."))
    report_of(session.send("Is it?"))
    assert server.bodies[0]["options"] == {"num_ctx": window}
    assert session.runtime.window.tokens == window


@pytest.mark.parametrize(
    ("capabilities", "retrieval"),
    [(["completion"], "before"), (["completion", "tools"], "tools"), (None, "tools")],
)
def test_a_model_that_cannot_call_tools_as_ollama_says_gets_passages(
    app: AppFixture, server: ModelServer, capabilities: list[str] | None, retrieval: str
) -> None:
    server.gets["/api/show"] = {
        "model_info": {"llama.context_length": 32768},
        "capabilities": capabilities,
    }
    session = open_session(app, OLLAMA, server, text_reply(OLLAMA, "Yes."), retrieval="auto")
    assert report_of(session.send("How are filters joined?")).retrieval == retrieval
    assert ("tools" in server.bodies[0]) == (retrieval == "tools")
    assert ("AND, OR and NOT" in server.raw[0]) == (retrieval == "before")


LLAMA = {"id": "SmolLM2.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}
PROPERTIES = {
    "default_generation_settings": {"n_ctx": 4096},
    "chat_template": "{% if tools %}",
    "chat_template_caps": {"supports_tools": True},
}


@pytest.mark.parametrize(
    ("row", "properties", "calls_tools"),
    [
        (LLAMA, PROPERTIES, True),
        (LLAMA, {**PROPERTIES, "chat_template_caps": {"supports_tools": False}}, False),
        (LLAMA, {"chat_template": "{{ messages }}"}, False),
        (LLAMA, {"chat_template": "{% if tools %}"}, True),
        # SmolLM2 is in the table of families
        (LLAMA, None, False),
        ({"id": "m", "supported_parameters": ["tools", "temperature"]}, None, True),
        ({"id": "m", "supported_parameters": ["temperature"]}, None, False),
        ({"id": "m"}, None, None),
        ({"id": "phi-3-mini"}, None, None),
    ],
)
def test_whether_a_model_calls_tools_is_what_its_server_says(
    server: ModelServer,
    row: dict[str, Any],
    properties: dict[str, Any] | None,
    calls_tools: bool | None,
) -> None:
    server.gets["/v1/models"] = {"data": [row]}
    if properties is not None:
        server.gets["/props?model=m"] = properties
    model: Any = open_model("openai", f"{server.address}/v1")
    model.prepare()
    assert model.calls_tools is calls_tools
    assert model.check() is None or row["id"] == "phi-3-mini"
    assert model.known_from == (
        "zkchat's table of models" if row is LLAMA and properties is None else "its server"
    )
    if properties is PROPERTIES:
        assert model.window.tokens == 4096


@pytest.mark.parametrize(
    ("effort", "think"),
    [("none", False), ("minimal", "low"), ("medium", "medium"), ("xhigh", "high")],
)
def test_ollama_gets_the_options_and_the_nearest_effort(
    server: ModelServer, effort: Effort, think: str | bool
) -> None:
    OLLAMA.ask(
        server,
        text_reply(OLLAMA, "Yes."),
        request=REQUEST._replace(options=Options(99, 0.5, effort)),
    )
    assert (server.bodies[0]["think"], server.bodies[0]["options"]) == (
        think,
        {"num_predict": 99, "temperature": 0.5},
    )


@pytest.mark.parametrize(
    ("effort", "light"),
    [(None, None), ("none", "none"), ("minimal", "minimal"), ("low", "low"), ("max", "low")],
)
def test_a_short_task_needs_little_reasoning(effort: Effort | None, light: Effort | None) -> None:
    assert Options(reasoning_effort=effort).light_effort == light


@BOTH
def test_options_are_left_out_when_not_set(
    app: AppFixture, server: ModelServer, protocol: Protocol
) -> None:
    report_of(open_session(app, protocol, server, text_reply(protocol, "Yes.")).send("Is it?"))
    body = server.bodies[0]
    assert not {
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "reasoning_effort",
        "think",
        "format",
    } & set(body)
    assert set(body.get("options", {})) <= {"num_ctx"}


def test_the_key_is_sent_as_a_header(server: ModelServer) -> None:
    for key, expected in ((KEY, f"Bearer {KEY}"), ("", None)):
        OPENAI.ask(server, text_reply(OPENAI, "Yes."), key=key)
        assert server.asked[-1][2].get("authorization") == expected
    OLLAMA.ask(server, text_reply(OLLAMA, "Yes."))
    assert "authorization" not in server.asked[-1][2]


def test_the_environment_beats_the_setting(server: ModelServer) -> None:
    openai = providers.provider("openai")
    settings = openai.settings(base_url="http://127.0.0.1:1/v1")
    server.says(text_reply(OPENAI, "Yes."))
    list(
        openai.open(
            ModelConfig("m", settings, {"OPENAI_BASE_URL": f" {server.address}/v1/ "})
        ).stream(REQUEST)
    )
    assert len(server.asked) == 1
    assert openai.open_remote is not None
    assert (
        openai.open_remote(ModelConfig("m", settings, {})).server.address == "http://127.0.0.1:1/v1"
    )


# too long a prompt


def long_session(app: AppFixture, protocol: Protocol, server: ModelServer) -> ZkChatSession:
    """Six turns that fill the window well."""
    session = open_session(app, protocol, server, text_reply(protocol, LONG))
    for i in range(6):
        report_of(session.send(f"Question {i}: what does compost need?"))
    server.asked.clear()
    return session


TOO_LONG = {
    "openai": "This model's maximum context length is 2600 tokens.",
    "ollama": "the input length exceeds the context length",
}


@BOTH
def test_a_prompt_refused_as_too_long_is_shrunk_once(
    app: AppFixture, server: ModelServer, protocol: Protocol
) -> None:
    session = long_session(app, protocol, server)
    server.says(protocol.error(400, TOO_LONG[protocol.name]), text_reply(protocol, "Air."))
    events, _ = run_turn(session.send("And now?"))
    assert [event.compaction.mode for event in events if isinstance(event, CompactionDone)] == [
        "extractive"
    ]
    first, second = server.bodies
    assert len(json.dumps(second)) < len(json.dumps(first))
    assert "conversation-summary" in json.dumps(second)
    assert "user: And now?" in request_texts(second)[-1]
    assert session.history[-1].content == "Air."
    if protocol is OPENAI:
        assert session.runtime.window.tokens == 2600
    else:
        assert second["options"]["num_ctx"] < first["options"]["num_ctx"]


def test_a_prompt_that_the_server_cut_silently_is_reported(
    app: AppFixture, server: ModelServer
) -> None:
    session = open_session(
        app,
        OPENAI,
        server,
        text_reply(OPENAI, "Yes.", usage={"prompt_tokens": 2050, "completion_tokens": 1}),
    )
    for times, notices in ((300, []), (1000, ["openai/m: its server has cut the prompt: it "])):
        events, _ = run_turn(session.send(LONG[:30] * times))
        assert [event.message[:44] for event in events if isinstance(event, Notice)] == notices
    # Stopped there
    assert any(isinstance(event, Notice) for event in session.send(LONG[:30] * 1000))
    assert (usage := session.history[-1].usage) and (usage.prompt_tokens, usage.estimated) == (
        2050,
        False,
    )


# what is left of a turn that failed


@BOTH
@pytest.mark.parametrize("after_a_tool", [False, True])
def test_partial_text_before_a_broken_stream_is_stored_and_never_sent_again(
    app: AppFixture, server: ModelServer, protocol: Protocol, after_a_tool: bool
) -> None:
    broken = Reply([protocol.begin("It needs")])
    session = open_session(
        app,
        protocol,
        server,
        *([search_reply(protocol, "compost")] if after_a_tool else []),
        broken,
    )
    events, _ = run_turn(session.send("What does compost need?"))
    end = failure_of(iter(events))
    assert (end.partial, [e.text for e in events if isinstance(e, TextDelta)]) == (
        "It needs",
        ["It needs"],
    )
    log = app.store.log(session.conversation.id)
    assert (log[0].content, log[0].status) == ("What does compost need?", "failed")
    assert (log[-1].content, log[-1].status) == ("It needs", "failed")
    server.asked.clear()
    server.says(text_reply(protocol, "Nine months."))
    again = app.reopen(session)
    assert report_of(again.send("When is it ready?")).answer == "Nine months."
    assert request_texts(server.bodies[0]) == ["user: When is it ready?"]
