"""OpenAI's Responses API on the wire, in the shapes of OpenAI's SDK: requests, events, reasoning
between tool calls, and refusals.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from conftest import Program
from factories import AppFixture, report_of
from model_calls import OPENAI, QUESTION, REQUEST, RESPONSES, Answer, call_model, open_model
from model_server import (
    ModelServer,
    Reply,
    openai_error,
    openai_text,
    responses_call,
    responses_calls,
    responses_end,
    responses_events,
    responses_item,
    responses_message,
    responses_reasoning,
    responses_response,
    responses_start,
    responses_text,
    responses_text_delta,
)
from pydantic import TypeAdapter

from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Options, Request
from zkchat_cli.llm.providers import openai
from zkchat_cli.llm.providers.openai import OpenAIModel, OpenAIResponsesModel
from zkchat_cli.llm.providers.openai.responses import RESPONSES as API
from zkchat_cli.llm.providers.openai.server import OpenAISettings
from zkchat_cli.models.messages import ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.models.prompts import PromptMessage

THOUGHT = {
    "type": "reasoning",
    "id": "rs_0",
    "summary": [{"type": "summary_text", "text": "Look."}],
    "encrypted_content": "c2VjcmV0",
}


@cache
def of_the_sdk(name: str) -> TypeAdapter[Any]:
    """A check of JSON against a type of OpenAI's SDK."""
    import openai.types.responses as types
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    return TypeAdapter(
        {"event": types.ResponseStreamEvent, "request": ResponseCreateParamsStreaming}[name]
    )


def read_events(server: ModelServer, *events: dict[str, Any]) -> Answer:
    for i, event in enumerate(events):
        of_the_sdk("event").validate_python({"sequence_number": i, **event})
    return RESPONSES.ask(server, Reply([responses_events(*events)]))


def body_of(
    *messages: PromptMessage, model: str = "gpt-5.2", official: bool = True, **options: Any
) -> dict[str, Any]:
    settings = OpenAISettings(
        api="responses", base_url="" if official else "http://127.0.0.1:8080/v1"
    )
    request = Request((*REQUEST.messages, *messages), REQUEST.tools, Options(**options))
    body = openai.PROVIDER.open(ModelConfig(model, settings)).body(request)
    of_the_sdk("request").validate_python(json.loads(json.dumps(body)))
    return body


# which API


@pytest.mark.parametrize(
    ("api", "address", "expected"),
    [
        ("auto", "", OpenAIResponsesModel),
        ("auto", "http://127.0.0.1:8080/v1", OpenAIModel),
        ("chat", "", OpenAIModel),
        ("responses", "http://127.0.0.1:8080/v1", OpenAIResponsesModel),
    ],
)
def test_openai_itself_is_called_by_responses_and_other_servers_by_chat(
    api: str, address: str, expected: type
) -> None:
    openai = providers.provider("openai")
    assert (
        type(openai.open(ModelConfig("gpt-5.2", openai.settings(api=api, base_url=address))))
        is expected
    )


# requests


def test_the_server_keeps_nothing(server: ModelServer) -> None:
    assert RESPONSES.ask(server, Reply(responses_text("Yes."))).text == "Yes."
    [(path, body, _)] = server.asked
    assert (path, body["store"], body["include"], body["stream"]) == (
        "/v1/responses",
        False,
        ["reasoning.encrypted_content"],
        True,
    )
    assert "previous_response_id" not in body


def test_tools_are_not_strict() -> None:
    [tool] = body_of()["tools"]
    assert (tool["name"], tool["strict"], tool["parameters"]["required"]) == (
        "find_excerpts",
        False,
        ["query"],
    )


@pytest.mark.parametrize(
    ("model", "official", "options", "expected"),
    [
        ("gpt-5.2", True, {}, {"summary": "auto"}),
        ("gpt-5.2", True, {"reasoning_effort": "xhigh"}, {"effort": "xhigh", "summary": "auto"}),
        ("gpt-5.2", True, {"reasoning_effort": "none"}, {"effort": "none"}),
        ("gpt-4.1", True, {}, None),
        ("gpt-oss", False, {}, None),
    ],
)
def test_reasoning_by_model(
    model: str, official: bool, options: dict[str, Any], expected: dict[str, str] | None
) -> None:
    body = body_of(model=model, official=official, **options)
    assert body.get("reasoning") == expected
    assert ("include" in body) == (model != "gpt-4.1")


@pytest.mark.parametrize(("model", "temperature"), [("gpt-5.2", None), ("gpt-4.1", 0.5)])
def test_temperature_and_length(model: str, temperature: float | None) -> None:
    body = body_of(model=model, max_output_tokens=9, temperature=0.5)
    # OpenAI's minimum
    assert (body["max_output_tokens"], body.get("temperature")) == (16, temperature)


def test_verbosity_is_sent_by_both(server: ModelServer) -> None:
    RESPONSES.ask(server, Reply(responses_text("Yes.")), verbosity="low")
    assert server.bodies[-1]["text"] == {"verbosity": "low"}
    OPENAI.ask(server, Reply(openai_text("Yes.")), verbosity="low")
    assert server.bodies[-1]["verbosity"] == "low"


def test_prompts_with_the_same_beginning_have_one_cache_key() -> None:
    answer = PromptMessage(role="assistant", content="It selects.", tokens=9, kind="conversation")
    assert body_of()["prompt_cache_key"] == body_of(answer, QUESTION)["prompt_cache_key"]
    other = Request((QUESTION.model_copy(update={"content": "Another?"}),))
    assert (
        openai.PROVIDER.open(ModelConfig("m")).body(other)["prompt_cache_key"]
        != body_of()["prompt_cache_key"]
    )


def asked_with(thinking: ThinkingBlocks | None, text: str = "") -> tuple[PromptMessage, ...]:
    calls = (
        ToolCall(id="a", name="find it!", arguments={"query": "筛选器"}),
        ToolCall(id=80 * "b", name="find"),
    )
    asking = PromptMessage(
        role="assistant",
        content=text,
        tool_calls=calls,
        thinking=thinking,
        tokens=9,
        kind="conversation",
    )
    results = (
        PromptMessage(
            role="tool", content="{}", tool_call_id=call.id, tokens=9, kind="tool_results"
        )
        for call in calls
    )
    return asking, *results


def test_calls_and_results_are_items() -> None:
    _, text, first, second, *results = body_of(*asked_with(None, "I look."))["input"]
    assert (text["role"], text["content"]) == ("assistant", "I look.")
    assert (first["type"], first["call_id"], first["name"], first["arguments"]) == (
        "function_call",
        "a",
        "find_it_",
        '{"query": "筛选器"}',
    )
    assert [(result["type"], result["call_id"]) for result in results] == [
        ("function_call_output", "a"),
        ("function_call_output", 40 * "b"),
    ]
    assert second["call_id"] == 40 * "b"


def test_reasoning_goes_back_in_its_place() -> None:
    blocks = (
        THOUGHT,
        {"type": "message", "phase": "commentary"},
        {"type": "function_call"},
        {**THOUGHT, "id": "rs_3"},
    )
    thinking = ThinkingBlocks(provider=API, blocks=(*blocks, {"type": "function_call"}))
    _, *items = body_of(*asked_with(thinking, "I look."))["input"]
    assert [item["type"] for item in items[:5]] == [
        "reasoning",
        "message",
        "function_call",
        "reasoning",
        "function_call",
    ]
    assert (items[0], items[1]["phase"]) == (THOUGHT, "commentary")


def test_reasoning_of_another_api_is_not_sent() -> None:
    thinking = ThinkingBlocks(
        provider="anthropic", blocks=({"reasoning_details": [{"data": "c2VjcmV0"}]},)
    )
    chat = openai.PROVIDER.open(ModelConfig("m", OpenAISettings(api="chat"))).body(
        Request(asked_with(thinking))
    )
    assert "c2VjcmV0" not in json.dumps([body_of(*asked_with(thinking)), chat])


# events


def test_reasoning_calls_and_usage(server: ModelServer) -> None:
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 16, "cache_write_tokens": 0},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 25},
        "total_tokens": 50,
    }
    more = {
        "type": "response.reasoning_summary_part.added",
        "item_id": "rs_0",
        "output_index": 0,
        "part": {"type": "summary_text", "text": ""},
    }
    begun, delta, done = responses_reasoning(0, "Look.", "c2VjcmV0")
    thought = [
        begun,
        delta,
        {**more, "summary_index": 1},
        {**delta, "summary_index": 1, "delta": "Again."},
        done,
    ]
    calls = [
        *responses_call(1, "a", "find", '{"query": "x"}'),
        *responses_call(2, "b", "find", "{}"),
    ]
    answer = read_events(server, responses_start(), *thought, *calls, responses_end(usage=usage))
    assert (answer.reasoning, answer.end.reason) == ("Look.\n\nAgain.", "tool_calls")
    assert [(call.id, call.name, call.arguments) for call in answer.calls] == [
        ("a", "find", {"query": "x"}),
        ("b", "find", {}),
    ]
    assert answer.end.usage == TokenUsage(
        prompt_tokens=20,
        completion_tokens=30,
        estimated=False,
        cached_tokens=16,
        reasoning_tokens=25,
    )
    assert answer.end.thinking is not None
    assert answer.end.thinking.blocks == (
        THOUGHT,
        {"type": "function_call"},
        {"type": "function_call"},
    )


def test_a_refusal_is_shown_as_text(server: ModelServer) -> None:
    said = {"type": "response.refusal.delta", "content_index": 0, "delta": "I cannot say that."}
    item = responses_item(
        0,
        responses_message("", content=[{"type": "refusal", "refusal": "I cannot say that."}]),
        said,
        content=[],
    )
    assert (
        read_events(server, responses_start(), *item, responses_end()).text == "I cannot say that."
    )


def test_text_that_comes_only_in_the_end_is_shown_once(server: ModelServer) -> None:
    message = responses_message("A filter")
    for events in ([responses_end(message)], [*responses_item(0, message), responses_end(message)]):
        assert read_events(server, responses_start(), *events).text == "A filter"


def test_a_cut_answer_has_its_reason(server: ModelServer) -> None:
    answer = RESPONSES.ask(server, Reply(responses_text("A filter", finish="length")))
    assert (answer.text, answer.end.reason, len(server.asked)) == ("A filter", "length", 1)
    begun = responses_item(
        0, responses_message("A filter"), responses_text_delta("A filter"), content=[]
    )
    end = responses_end(status="incomplete", incomplete_details={"reason": "content_filter"})
    answer = read_events(server, responses_start(), *begun, end)
    assert (answer.text, answer.error.kind) == ("A filter", "content_filter")


@pytest.mark.parametrize(
    ("error", "kind", "calls"),
    [
        ({"code": "server_error", "message": "The model crashed."}, "server", 3),
        ({"code": "rate_limit_exceeded", "message": "Rate limit reached."}, "rate_limit", 3),
        (
            {"code": "invalid_prompt", "message": "Invalid prompt: flagged by our usage policy."},
            "content_filter",
            1,
        ),
    ],
)
def test_a_failed_response_has_its_kind(
    server: ModelServer, error: dict[str, str], kind: str, calls: int
) -> None:
    answer = read_events(server, responses_start(), responses_end(status="failed", error=error))
    assert (answer.error.kind, len(server.asked)) == (kind, calls)
    server.asked.clear()
    answer = read_events(server, responses_start(), {"type": "error", "param": None, **error})
    assert (answer.error.kind, len(server.asked)) == (kind, calls)


def test_a_response_that_failed_without_a_reason_is_cut(server: ModelServer) -> None:
    assert (
        "the server gave up (failed)"
        in read_events(server, responses_end(status="failed")).error.message
    )


def test_the_last_event_ends_the_call_though_the_connection_stays_open(server: ModelServer) -> None:
    assert RESPONSES.ask(server, Reply([*responses_text("A filter"), 60.0])).text == "A filter"


def test_items_that_have_only_an_id_are_told_apart(server: ModelServer) -> None:
    """As llama.cpp sends them."""
    message = responses_message("Yes.")
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "find",
        "arguments": '{"q": "a"}',
        "status": "completed",
    }
    events = [
        {"type": "response.output_item.added", "item": {**message, "content": []}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Yes."},
        {"type": "response.output_item.done", "item": message},
        {"type": "response.output_item.added", "item": {**call, "arguments": ""}},
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "fc_1",
            "delta": '{"q": "a"}',
        },
        {"type": "response.output_item.done", "item": call},
    ]
    answer = RESPONSES.ask(
        server, Reply([responses_events(responses_start(), *events, responses_end(message, call))])
    )
    assert answer.text == "Yes."
    assert [(each.id, each.arguments) for each in answer.calls] == [("c1", {"q": "a"})]


def test_calls_of_a_server_that_does_not_stream_are_read(server: ModelServer) -> None:
    call = responses_call(1, "a", "find", "{}")[-1]["item"]
    whole = responses_response("completed", [responses_message("A filter"), call])
    answer = RESPONSES.ask(server, Reply([json.dumps(whole).encode()]))
    assert (answer.text, [call.name for call in answer.calls]) == ("A filter", ["find"])


@pytest.mark.parametrize("rest", [[b'{\n  "id": "x",\n'], [b"{\n}\n"], [b'{\n"id": x\n}\n']])
def test_json_that_is_no_answer_is_an_error(server: ModelServer, rest: list[bytes]) -> None:
    assert RESPONSES.ask(server, Reply(rest)).error.kind in ("bad_answer", "cut")


# in a conversation


def test_reasoning_goes_back_during_its_turn_and_is_not_stored(
    app: AppFixture, server: ModelServer
) -> None:
    thinking = responses_events(responses_start(), *responses_reasoning(0, "Look.", "c2VjcmV0"))
    [calls] = responses_calls(("a", "find_excerpts", '{"query": "compost"}'))
    shifted = responses_events(
        *responses_call(1, "a", "find_excerpts", '{"query": "compost"}'), responses_end()
    )
    assert isinstance(calls, bytes)
    server.says(Reply([thinking, shifted]), Reply(responses_text("It needs air [1].")))
    session = app.session(open_model("responses", f"{server.address}/v1"))
    report = report_of(session.send("What does compost need?"))
    assert (report.answer, [run.ok for run in report.tools]) == ("It needs air [1].", [True])
    assert "c2VjcmV0" in server.raw[1]
    assert app.store.history(session.conversation.id) == tuple(session.history)
    for sent in app.store.prompts.sent_for(session.history[0].id):
        assert "c2VjcmV0" not in sent.model_dump_json()
    report_of(session.send("And then?"))
    assert "c2VjcmV0" not in server.raw[2]


# what a model refuses


def test_the_program_says_what_it_left_out(zkchat: Program, server: ModelServer) -> None:
    zkchat.env |= {"OPENAI_BASE_URL": f"{server.address}/v1", "ZKCHAT_LLM__TEMPERATURE": "0.2"}
    server.says(
        openai_error(400, "'temperature' does not support 0.2"),
        Reply(openai_text("A filter selects.")),
    )
    done = zkchat("ask", "What is a filter?", "--model", "openai/gpt-5.6")
    assert (done.exit_status, done.err.count("takes no temperature")) == (0, 1)


def test_a_model_without_reasoning_is_asked_without_it(server: ModelServer) -> None:
    server.says(
        openai_error(400, "Encrypted content is not supported with this model.", param="include"),
        Reply(responses_text("Yes.")),
    )
    answer = call_model(open_model("responses", f"{server.address}/v1", "gpt-next-chat"))
    assert (answer.text, answer.end.notice, ["include" in body for body in server.bodies]) == (
        "Yes.",
        "",
        [True, False],
    )


@pytest.mark.parametrize(
    ("message", "then"),
    [
        (
            "'temperature' does not support 0.2 with this model. Only the default (1) "
            "value is supported.",
            lambda b: "temperature" not in b,
        ),
        (
            {
                "detail": [
                    {"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}
                ]
            },
            lambda b: "stream_options" not in b,
        ),
        (
            "Missing `reasoning_content` field in the assistant message",
            lambda b: b["messages"][3]["reasoning_content"] == "",
        ),
        (
            "Tool call id was a-1 but must be a-z, A-Z, 0-9, with a length of 9.",
            lambda b: len(b["messages"][4]["tool_call_id"]) == 9,
        ),
        (
            "Jinja Exception: System message must be at the beginning.",
            lambda b: b["messages"][0]["content"] == "Cite.\n\nBe kind.",
        ),
    ],
)
def test_a_compatible_server_gets_what_it_takes(
    server: ModelServer, message: Any, then: Callable[[dict[str, Any]], bool]
) -> None:
    systems = (
        PromptMessage(role="system", content=text, tokens=3, kind="system")
        for text in ("Cite.", "Be kind.")
    )
    call = PromptMessage(
        role="assistant",
        content="",
        tool_calls=(ToolCall(id="a-1", name="f"),),
        tokens=9,
        kind="conversation",
    )
    result = PromptMessage(
        role="tool", content="{}", tool_call_id="a-1", tokens=9, kind="tool_results"
    )
    request = Request(
        (*systems, QUESTION, call, result), options=Options(max_output_tokens=9, temperature=0.2)
    )
    server.says(
        Reply(
            [json.dumps({"error": message} if isinstance(message, str) else message).encode()], 400
        ),
        Reply(openai_text("Yes.")),
    )
    assert call_model(open_model("openai", f"{server.address}/v1"), request).text == "Yes."
    assert then(server.bodies[1])


@pytest.mark.parametrize(
    "message",
    [
        "Your organization must be verified to generate reasoning summaries. Please go to "
        "https://platform.openai.com/settings",
        "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
    ],
)
def test_a_refused_summary_of_reasoning_is_left_out(server: ModelServer, message: str) -> None:
    model = open_model("responses", f"{server.address}/v1")
    server.says(openai_error(400, message), Reply(responses_text("Yes.")))
    answer = call_model(model)
    assert (answer.text, answer.end.notice, len(server.asked)) == (
        "Yes.",
        "shows no summary of its reasoning",
        2,
    )
    assert "verified organizations" in answer.end.hint


def test_a_server_without_that_api_is_told_apart(server: ModelServer) -> None:
    error = RESPONSES.ask(server, Reply([b'{"error": "not found"}'], 404)).error
    assert "needs openai.api chat" in error.hint
