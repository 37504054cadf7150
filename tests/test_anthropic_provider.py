"""Claude over the wire: whole answers, and every way in which a server goes wrong, on a real server in Anthropic's words."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from building import a_room, completed, failed
from conftest import Program
from faults import FAULTS, KEY, PHASES, SOON, Dialect, Fault, a_request, closed, heard, interrupted, left_alone, suffer
from speaking import (
    ModelServer,
    Reply,
    a_server,
    anthropic_block,
    anthropic_call,
    anthropic_calls,
    anthropic_end,
    anthropic_error,
    anthropic_events,
    anthropic_said,
    anthropic_start,
    anthropic_text,
    anthropic_thinking,
    nobody_listens,
)

from zkchat_cli.llm.base import (
    ModelConfig,
    Options,
    ReasoningPart,
    Request,
    StreamFailed,
    StreamFinished,
    TextPart,
    ThinkingPart,
    ToolCallsPart,
    Window,
)
from zkchat_cli.llm.providers.anthropic import PROVIDER, AnthropicModel, AnthropicSettings
from zkchat_cli.models import ToolCall

MODELS = {"data": [{"id": "clam"}, {"id": "claude", "max_input_tokens": 300_000}], "has_more": False}


def a_model(address: str, model: str = "m", key: str = KEY, **settings: Any) -> AnthropicModel:
    env = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": key}
    opened = PROVIDER.open(ModelConfig(model, AnthropicSettings(**{"timeout": 30, "stall_timeout": 30, **settings}), env))
    assert isinstance(opened, AnthropicModel)
    opened.first_delay = 0.01
    return opened


def ready(model: AnthropicModel) -> AnthropicModel:
    """With its libraries loaded, which is not what is timed."""
    model.prepare()
    return model


A_NUMBER = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}}
BEGUN_SO = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": 5}}

ANTHROPIC = Dialect(
    open=a_model,
    text=anthropic_text,
    begun=anthropic_events(
        anthropic_start(),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    ),
    empty=anthropic_text(),
    garbage=anthropic_events(b'{"type": "content_block_delta", "index": 0, "del'),
    error=lambda status, words, headers: anthropic_error(status, f"{words} {KEY}", headers),
    too_long=anthropic_error(400, "prompt is too long: 200082 tokens > 200000 maximum", kind="invalid_request_error"),
    models_at="/v1/models?limit=1000",
    models=MODELS,
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with a_server() as running:
        yield running


# faults


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_one_clear_error_and_what_came_is_kept(fault: Fault, server: ModelServer, capfd: pytest.CaptureFixture[str]) -> None:
    suffer(fault, ANTHROPIC, server)
    assert capfd.readouterr() == ("", "")


OF_ITS_OWN = (
    Fault("529", lambda d: [d.error(529, "Overloaded", None)], "server", tries=3, says="failed (529): Overloaded"),
    Fault(
        "overloaded in the stream",
        lambda _: [Reply([anthropic_events(anthropic_start(), anthropic_said("overloaded_error", f"Overloaded {KEY}"))])],
        "server",
        tries=3,
        says="failed (529): Overloaded",
    ),
    Fault(
        "overloaded after text",
        lambda d: [Reply([d.begun, anthropic_events(anthropic_said("overloaded_error", "Overloaded"))])],
        "server",
        text="Hel",
        says="failed (529): Overloaded",
    ),
    Fault(
        "an error in the stream of a kind that nobody knows",
        lambda _: [Reply([anthropic_events({"type": "error", "error": {"message": "no idea"}})])],
        "server",
        tries=3,
        says="failed (500): no idea",
    ),
    Fault(
        "a server that forbids to try again",
        lambda _: [anthropic_error(529, "Overloaded", {"x-should-retry": "false"})],
        "server",
        says="(529)",
    ),
    Fault(
        "prompt and answer too long together",
        lambda _: [anthropic_error(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")],
        "context_length",
        says="200000",
    ),
    Fault(
        "a refusal",
        lambda d: [
            Reply([d.begun, anthropic_events(*anthropic_end("refusal", stop_details={"type": "refusal", "explanation": "No harm."}))])
        ],
        "content_filter",
        text="Hel",
        says="No harm.",
    ),
    Fault("a garbage event of the right form", lambda _: [Reply([anthropic_events({"type": "content_block_delta"})])], "bad_answer"),
    Fault("a number for text", lambda d: [Reply([d.begun, anthropic_events(A_NUMBER), *d.text("lo")])], "bad_answer", text="Hel"),
    Fault("a block that begins with a number", lambda _: [Reply([anthropic_events(anthropic_start(), BEGUN_SO)])], "bad_answer"),
    Fault("bytes that are no text", lambda d: [Reply([d.begun, b"event: ping\ndata: \xff\xfe\n\n"])], "bad_answer", text="Hel"),
    Fault(
        "only the reason to stop, no last event",
        lambda d: [Reply([d.begun, anthropic_events(anthropic_end()[0])])],
        None,
        text="Hel",
    ),
    Fault("unknown events", lambda d: [Reply([anthropic_events({"type": "news"}), *d.text("Hello")])], None, text="Hello"),
)


@pytest.mark.parametrize("fault", OF_ITS_OWN, ids=str)
def test_a_fault_of_anthropics_own(fault: Fault, server: ModelServer) -> None:
    suffer(fault, ANTHROPIC, server)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (nobody_listens(), "cannot be reached: Connection refused"),
        ("http://nowhere.invalid", "cannot be reached: its name is not known"),
        ("ftp://127.0.0.1", "has no valid address"),
        ("nonsense", "has no valid address"),
        ("http://127.0.0.1:none", "has no valid address"),
    ],
    ids=["nobody listens", "no such name", "not HTTP", "no address", "no port"],
)
def test_a_server_that_cannot_be_reached_is_not_tried_again(address: str, says: str) -> None:
    call = heard(a_model(address))
    assert call.error is not None
    assert (call.error.kind, call.waits) == ("connection", [])
    assert says in call.error.message
    assert "anthropic.base_url" in call.error.hint


@pytest.mark.parametrize(
    ("body", "text", "says"),
    [([90.0], "", "did not answer within 0.1 s"), ([ANTHROPIC.begun, 90.0], "Hel", "stopped in the middle of its answer, for 0.2 s")],
)
def test_a_silent_server_is_waited_for_as_long_as_the_settings_say(body: list[Any], text: str, says: str, server: ModelServer) -> None:
    server.says(Reply(body))
    call = heard(ready(a_model(server.address, timeout=SOON if text else 0.1, stall_timeout=0.2)))
    assert call.error is not None
    assert (call.error.kind, call.text) == ("timeout", text)
    assert says in call.error.message
    assert call.seconds < SOON


def test_a_server_that_says_that_it_is_at_work_is_not_silent(server: ModelServer) -> None:
    ping = anthropic_events({"type": "ping"})
    long_call = [anthropic_events(event) for event in anthropic_call(1, "a", "find", '{"query": "x"}')]
    pings = [ping] * 8  # longer together than its patience, each of them much sooner
    body = [piece for event in (*pings, ANTHROPIC.begun, *pings, *long_call) for piece in (0.08, event)]
    server.says(Reply([*body, anthropic_events(*anthropic_end("tool_use"))]))
    call = heard(ready(a_model(server.address, timeout=0.5, stall_timeout=0.5)))
    assert call.deltas[0] == TextPart("Hel")
    assert [type(delta) for delta in call.deltas] == [TextPart, ToolCallsPart, StreamFinished]


def test_a_wait_that_the_server_asks_for_is_counted_down(server: ModelServer) -> None:
    server.says(anthropic_error(429, "slow down", {"retry-after": "1"}), Reply(anthropic_text("Hello")))
    call = heard(ready(a_model(server.address)))
    assert call.text == "Hello"
    assert call.waits[0].reason == "the server for anthropic accepts no more calls for now (429)"
    assert 0.9 < call.waits[0].seconds <= 1 <= call.seconds


# cancellation


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_ends_the_call(phase: str, server: ModelServer) -> None:
    server.says(PHASES[phase](ANTHROPIC))
    assert interrupted(ready(a_model(server.address)).stream(a_request()), lambda: bool(server.asked)) < SOON
    assert phase == "waiting to try again" or left_alone(server)
    assert len(server.asked) == 1


@pytest.mark.parametrize("phase", ["streaming", "waiting to try again"])
def test_a_reader_who_closes_the_stream_ends_the_call(phase: str, server: ModelServer) -> None:
    server.says(PHASES[phase](ANTHROPIC))
    assert closed(a_model(server.address).stream(a_request())) < SOON
    assert phase == "waiting to try again" or left_alone(server)
    assert len(server.asked) == 1


def test_ctrl_c_while_it_connects_ends_the_call() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        place = deaf.getsockname()
        with socket.create_connection(place):  # the one place in its queue: whoever comes now waits to be let in
            model = a_model("http://{}:{}".format(*place))
            model.prepare()
            assert interrupted(model.stream(a_request()), lambda: True) < 5  # half of what it would wait for a connection


# whole answers


def test_text_comes_as_it_is_said_with_what_it_cost(server: ModelServer) -> None:
    server.says(
        Reply(
            anthropic_text(
                "Grü", "ße ", "世界", input_tokens=20, output_tokens=1, cache_read_input_tokens=900, cache_creation_input_tokens=80
            )
        )
    )
    call = heard(a_model(server.address))
    assert call.deltas[:-1] == [TextPart("Grü"), TextPart("ße "), TextPart("世界")]
    end = call.deltas[-1]
    assert isinstance(end, StreamFinished)
    assert end.reason == "stop"
    assert end.usage is not None
    assert (end.usage.prompt_tokens, end.usage.completion_tokens, end.usage.cached_tokens, end.usage.estimated) == (1000, 3, 900, False)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("a reason of tomorrow", "stop"),
    ],
)
def test_why_an_answer_ended(said: str, reason: str, server: ModelServer) -> None:
    server.says(Reply(anthropic_text("Hello", finish=said)))
    end = heard(a_model(server.address)).deltas[-1]
    assert isinstance(end, StreamFinished)
    assert end.reason == reason


def test_what_it_costs_is_unknown_where_the_server_does_not_say(server: ModelServer) -> None:
    server.says(Reply(anthropic_text("Hello", input_tokens=0)))
    assert heard(a_model(server.address)).deltas[-1] == StreamFinished("stop", None)


def calls_of(server: ModelServer, *calls: tuple[str, str, str], finish: str = "tool_use") -> list[ToolCall]:
    server.says(Reply(anthropic_calls(*calls, finish=finish)))
    call = heard(a_model(server.address))
    assert isinstance(call.deltas[-1], StreamFinished)
    assert call.deltas[-1].reason == ("tool_calls" if len(call.deltas) > 1 else "length")
    return [wanted for delta in call.deltas if isinstance(delta, ToolCallsPart) for wanted in delta.calls]


def test_tools_are_called_with_their_arguments(server: ModelServer) -> None:
    wanted = calls_of(server, ("toolu_1", "find", '{"query": "filters"}'), ("toolu_2", "list", ""))
    assert wanted == [ToolCall(id="toolu_1", name="find", arguments={"query": "filters"}), ToolCall(id="toolu_2", name="list")]


@pytest.mark.parametrize("arguments", ['{"query": ', "[1]", "nothing"])
def test_arguments_that_are_no_json_object_are_kept_as_they_are(arguments: str, server: ModelServer) -> None:
    assert calls_of(server, ("a", "find", arguments)) == [ToolCall(id="a", name="find", malformed=arguments)]


def test_two_calls_of_one_id_are_two_calls(server: ModelServer) -> None:
    wanted = calls_of(server, ("a", "find", '{"query": "x"}'), ("a", "find", '{"query": "y"}'))
    assert [call.arguments["query"] for call in wanted] == ["x", "y"]


def test_a_call_that_is_cut_by_length_is_not_made(server: ModelServer) -> None:
    assert calls_of(server, ("a", "find", '{"query": "x'), finish="max_tokens") == []


def test_thinking_is_shown_and_kept_in_its_signed_form(server: ModelServer) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    events = [
        anthropic_start(),
        *anthropic_thinking(0, "Let me look.", "c2ln"),
        *anthropic_block(1, redacted),
        *anthropic_call(2, "a", "find", "{}"),
        *anthropic_end("tool_use"),
    ]
    server.says(Reply([anthropic_events(*events)]))
    reasoning, thinking, calls, end = heard(a_model(server.address)).deltas
    assert reasoning == ReasoningPart("Let me look.")
    assert isinstance(thinking, ThinkingPart)
    assert thinking.blocks.provider == "anthropic"
    assert thinking.blocks.blocks == ({"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"}, redacted)
    assert (type(calls), type(end)) == (ToolCallsPart, StreamFinished)


def test_thinking_before_an_answer_is_not_put_back(server: ModelServer) -> None:
    text = anthropic_block(1, {"type": "text", "text": "Hello"})
    server.says(Reply([anthropic_events(anthropic_start(), *anthropic_thinking(0, "Hm.", "c2ln"), *text, *anthropic_end())]))
    assert [type(delta) for delta in heard(a_model(server.address)).deltas] == [ReasoningPart, TextPart, StreamFinished]


# the server, the key, the window


def test_the_key_goes_where_servers_look_for_it(server: ModelServer) -> None:
    server.says(Reply(anthropic_text("Hello")))
    heard(a_model(server.address + "/v1/"))
    (path, body, headers), *_ = server.asked
    assert (path, body["model"], body["stream"], body["messages"]) == (
        "/v1/messages",
        "m",
        True,
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    )
    assert (headers["x-api-key"], headers["authorization"]) == (KEY, f"Bearer {KEY}")
    assert headers["anthropic-version"]


def test_a_server_of_ones_own_wants_no_key(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-for-this-server")
    server.says(Reply(anthropic_text("Hello")))
    assert heard(a_model(server.address, key="")).text == "Hello"
    assert not {"x-api-key", "authorization"} & set(server.asked[0][2])


@pytest.mark.parametrize(
    ("model", "key", "kind", "says"),
    [
        ("claude-opus-5", "", "auth", "Anthropic needs a key, and ANTHROPIC_API_KEY is not set"),
        ("", KEY, "unknown_model", "anthropic needs the name of a model"),
        ("claude-opus-5", "sk-ключ", "auth", "ANTHROPIC_API_KEY contains characters that no key has"),
    ],
)
def test_what_cannot_work_is_said_before_any_call(model: str, key: str, kind: str, says: str) -> None:
    opened = PROVIDER.open(ModelConfig(model, AnthropicSettings(), {"ANTHROPIC_API_KEY": key}))
    (end,) = list(opened.stream(a_request()))
    assert isinstance(end, StreamFailed)
    assert (end.error.kind, end.error.message) == (kind, says)


def test_what_the_server_says_a_model_can_do_is_asked_of_it(server: ModelServer) -> None:
    thinking = {"types": {"adaptive": {"supported": False}, "enabled": {"supported": True}}}
    server.gets["/v1/models/claude-next"] = {"max_input_tokens": 1_000_000, "max_tokens": 128_000, "capabilities": {"thinking": thinking}}
    server.says(Reply(anthropic_text("Hello")))
    heard(ready(a_model(server.address, "claude-next")), Request(a_request().messages, (), Options(reasoning_effort="low")))
    asked = server.bodies[0]
    assert (asked["max_tokens"], asked["thinking"]) == (64_000, {"type": "enabled", "budget_tokens": 2048})


LISTED = {"id": "claude-opus-5", "type": "model", "max_input_tokens": 1_000_000, "max_tokens": 128_000}


@pytest.mark.parametrize(
    ("model", "listed", "window"),
    [
        ("claude-opus-5", LISTED, Window(1_000_000, "the server's list of models")),
        ("claude-opus-5", {"id": "claude-opus-5"}, Window(200_000, "the minimum of all Claude models; the server does not say")),
        ("claude-opus-5", Reply([b"<html>"], 200), Window(200_000, "the minimum of all Claude models; the server does not say")),
        ("claude-opus-5", ["what"], Window(200_000, "the minimum of all Claude models; the server does not say")),
        ("of-ones-own", None, None),
    ],
)
def test_the_window_is_what_the_server_says_or_every_claude_has(
    model: str, listed: Any, window: Window | None, server: ModelServer
) -> None:
    if listed is not None:
        server.gets[f"/v1/models/{model}"] = listed
    opened = a_model(server.address, model)
    opened.prepare()
    opened.prepare()
    assert opened.window == window
    assert server.everything == [f"GET /v1/models/{model}"]


def test_preparing_never_fails() -> None:
    opened = a_model(nobody_listens(), "claude-opus-5")
    opened.prepare()
    assert opened.window is not None


def test_what_a_server_offers_is_listed(server: ModelServer) -> None:
    server.gets[ANTHROPIC.models_at] = MODELS
    assert PROVIDER.server_info is not None
    reach = PROVIDER.server_info(ModelConfig("", AnthropicSettings(base_url=server.address), {"ANTHROPIC_API_KEY": KEY}))
    assert [(listed.name, listed.window) for listed in reach.list_models()] == [("clam", None), ("claude", 300_000)]
    assert (reach.key, reach.configured_by) == ("ANTHROPIC_API_KEY is set", "ANTHROPIC_API_KEY, anthropic.base_url")


def test_a_proxy_of_the_environment_is_used_for_others_and_not_for_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.address)
    monkeypatch.delenv("no_proxy", raising=False)
    server.says(Reply(anthropic_text("Hello")))
    assert heard(a_model("http://claude.example")).text == "Hello"
    assert server.everything[-1] == "POST http://claude.example/v1/messages"
    with a_server() as other:
        other.says(Reply(anthropic_text("Here")))
        assert heard(a_model(other.address)).text == "Here"


def test_looking_at_the_provider_loads_no_library() -> None:
    code = "import sys, zkchat_cli.llm.providers.anthropic as p; print({'mojentic', 'anthropic', 'httpx', 'httpx2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# through the session, and as mojentic knows it


def test_thinking_goes_back_while_the_turn_goes_on_and_no_longer(vault: Path, tmp_path: Path, server: ModelServer) -> None:
    thought = {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"}
    looking = [*anthropic_thinking(0, "Let me look.", "c2ln"), *anthropic_call(1, "toolu_1", "find_excerpts", '{"query": "filter"}')]
    server.says(
        Reply([anthropic_events(anthropic_start(), *looking, *anthropic_end("tool_use"))]),
        Reply(anthropic_text("A line [1].")),
        Reply(anthropic_text("You are welcome.")),
    )
    session = a_room(vault, tmp_path / "cache").session(a_model(server.address))
    assert completed(session.send("what is a filter?")).answer == "A line [1]."
    completed(session.send("thanks"))
    second, third = server.bodies[1]["messages"], server.bodies[2]["messages"]
    assert [m["role"] for m in second] == ["user", "assistant", "user"]
    assert second[1]["content"] == [
        thought,
        {"type": "tool_use", "id": "toolu_1", "name": "find_excerpts", "input": {"query": "filter"}},
    ]
    assert (second[2]["content"][0]["type"], second[2]["content"][0]["tool_use_id"]) == ("tool_result", "toolu_1")
    assert [m["role"] for m in third] == ["user", "assistant", "user", "assistant", "user"]
    assert "thinking" not in json.dumps(third)
    assert server.bodies[1]["system"] == server.bodies[2]["system"]
    assert server.bodies[1]["tools"] == server.bodies[2]["tools"]


def test_an_empty_answer_is_an_error_of_the_turn(vault: Path, tmp_path: Path, server: ModelServer) -> None:
    server.says(Reply(anthropic_text()))
    session = a_room(vault, tmp_path / "cache").session(a_model(server.address))
    assert failed(session.send("what is a filter?")).error.message == "anthropic/m sent an empty answer"


def test_the_program_says_what_is_wrong_and_nothing_else_and_writes_the_key_nowhere(zkchat: Program, server: ModelServer) -> None:
    zkchat.env |= {"ANTHROPIC_BASE_URL": server.address, "ANTHROPIC_API_KEY": KEY}
    server.says(anthropic_error(401, f"invalid x-api-key {KEY}"))
    refused = zkchat("--verbose", "ask", "--model", "anthropic/claude-opus-5", "what is a filter?")
    assert (refused.exit_status, refused.out) == (4, "")
    assert f"the server for anthropic at {server.address} rejects the key (401)" in refused.err
    written = [file for file in zkchat.home.rglob("*") if file.is_file()]
    assert any(file.name == "zkchat.log" for file in written)
    assert not [file for file in written if KEY.encode() in file.read_bytes()]
    assert KEY not in refused.err
