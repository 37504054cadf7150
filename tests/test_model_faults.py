"""What goes wrong between zkchat and a server, on the wire: what kind of error it is, what is said of it, and how often was called."""

import json
import time
from typing import Any

import pytest
from model_calls import KEY, OLLAMA, OPENAI, Protocol, a_model, ask
from speaking import RESET, ModelServer, Reply, a_server, nobody_listens, openai_error

from zkchat_cli.llm.base import RetryDelay
from zkchat_cli.llm.http_errors import parse_context_limit

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)
PAGE = b"<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n"


@pytest.fixture(scope="module")
def server() -> Any:
    with a_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _unused(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.asked.clear()
    server.everything.clear()
    server.gets.clear()
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)


# nobody there


@BOTH
def test_a_server_that_is_not_there(protocol: Protocol) -> None:
    error = ask(a_model(protocol.name, nobody_listens() + protocol.path)).error
    assert error.kind == "connection"
    assert error.message.endswith("cannot be reached: Connection refused")
    assert {"openai": "Is it running?", "ollama": "ollama serve"}[protocol.name] in error.hint


@BOTH
def test_a_name_that_is_nobodys(protocol: Protocol) -> None:
    error = ask(a_model(protocol.name, "http://nobody.invalid" + protocol.path)).error
    assert error.kind == "connection"
    assert "its name is not known" in error.message


@BOTH
@pytest.mark.parametrize(
    "address", ["http://[::1", "http://notes.lan:many", "http://127.0.0.1:99999", "ftp://notes.lan", "http://a b", "http://h\x00"]
)
def test_an_address_that_is_none_is_not_called(protocol: Protocol, address: str) -> None:
    model = a_model(protocol.name, address)
    model.prepare()
    error = ask(model).error
    assert (error.kind, model.window) == ("connection", None)
    assert "has no valid address" in error.message


# silence


@BOTH
def test_silence_before_the_first_word(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([5.0]), timeout=0.2)
    assert answer.error.kind == "timeout"
    assert "did not answer within 0.2 s" in answer.error.message
    assert "timeout" in answer.error.hint
    assert len(server.asked) == 1


@BOTH
def test_silence_before_the_headers(server: ModelServer, protocol: Protocol) -> None:
    assert protocol.ask(server, Reply([], before=5.0), timeout=0.2).error.kind == "timeout"


@BOTH
def test_silence_in_the_middle(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 5.0]), stall_timeout=0.2)
    assert (answer.error.kind, answer.text) == ("timeout", "A filter")
    assert "in the middle of its answer" in answer.error.message
    assert len(server.asked) == 1


def test_a_tool_call_that_comes_slowly_is_no_silence(server: ModelServer) -> None:
    head, *rest = OPENAI.calls(("a", "find_excerpts", '{"query": "x"}'))
    pieces = [piece for line in head.splitlines(keepends=True) for piece in (line, 0.06)]
    answer = OPENAI.ask(server, Reply([*pieces, *rest]), timeout=0.3, stall_timeout=0.3)
    assert [call.arguments for call in answer.calls] == [{"query": "x"}]


# refusals


@BOTH
@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (400, "bad_request", "rejects the request (400): no good"),
        (401, "auth", "(401)"),
        (403, "auth", "(403): no good"),
        (422, "bad_request", "rejects the request (422): no good"),
    ],
)
def test_a_refusal_is_not_argued_with(server: ModelServer, protocol: Protocol, status: int, kind: str, said: str) -> None:
    answer = protocol.ask(server, protocol.error(status, "no good"))
    assert answer.error.kind == kind
    assert said in answer.error.message
    assert len(server.asked) == 1


def test_a_key_that_is_refused_says_where_it_is_from(server: ModelServer) -> None:
    error = OPENAI.ask(server, openai_error(401, f"Incorrect API key provided: {KEY}")).error
    assert (error.message.split("/v1 ")[1], error.hint) == ("rejects the key (401)", "Check OPENAI_API_KEY.")
    assert "needs a key" in OPENAI.ask(server, openai_error(401, "no"), key="").error.message


@BOTH
@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_a_key_that_a_server_repeats_is_not(server: ModelServer, protocol: Protocol, status: int) -> None:
    assert "your key …" in protocol.ask(server, protocol.error(status, f"your key {KEY}")).error.message


def test_neither_is_one_in_what_is_no_http(server: ModelServer) -> None:
    error = OPENAI.ask(server, Reply([b"\r\n"], headers={"x-key": f"\x01{KEY}"})).error
    assert error.kind in ("cut", "bad_answer")


@BOTH
def test_a_model_that_is_not_there_names_those_that_are(server: ModelServer, protocol: Protocol) -> None:
    server.gets[protocol.listing] = protocol.models(["apple", "llama3.2:3b", "llama3.1:8b"])
    error = protocol.ask(server, protocol.error(404, "not found"), name="llama3.1").error
    assert error.kind == "unknown_model"
    assert "has no model llama3.1 (404)" in error.message
    assert error.hint == "It has llama3.1:8b, llama3.2:3b, apple."


@BOTH
@pytest.mark.parametrize("listing", [None, Reply([PAGE]), Reply([b"{}"]), Reply([b"[]"])])
def test_a_404_whose_models_cannot_be_listed_says_what_to_check(server: ModelServer, protocol: Protocol, listing: Reply | None) -> None:
    server.gets |= {protocol.listing: listing} if listing else {}
    error = protocol.ask(server, Reply([PAGE], 404)).error
    assert error.kind == "unknown_model"
    assert "no such model or address (404)" in error.message


@BOTH
def test_a_redirect_is_not_followed(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([], 302, {"location": f"{server.address}/elsewhere"}))
    assert answer.error.kind == "bad_request"
    assert len(server.everything) == 1


# too many, and trouble


@pytest.mark.parametrize(("protocol", "seconds", "said"), [(OPENAI, 2, [2.0, 1.0]), (OLLAMA, 1, [1.0])])
def test_a_server_that_asks_to_wait_is_waited_for(server: ModelServer, protocol: Protocol, seconds: int, said: list[float]) -> None:
    start = time.monotonic()
    answer = protocol.ask(server, protocol.error(429, "slow down", {"retry-after": str(seconds)}), Reply(protocol.text("Hello")))
    assert (answer.text, answer.waits, len(server.asked)) == ("Hello", said, 2)
    assert time.monotonic() - start >= seconds
    assert {delta.reason.split(" accepts no ")[1] for delta in answer.deltas if isinstance(delta, RetryDelay)} == {
        "more calls for now (429)"
    }


@BOTH
def test_one_that_does_not_say_how_long_is_asked_three_times(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, protocol.error(429, "slow down"), first_delay=0.1)
    assert (answer.error.kind, answer.waits, len(server.asked)) == ("rate_limit", [0.1, 0.2], 3)
    assert "(429): slow down" in answer.error.message


@BOTH
@pytest.mark.parametrize(("after", "said"), [("121", "in 121 s"), ("7200", "in 2 hours"), ("Wed, 21 Oct 2099 07:28:00 GMT", "days")])
def test_nobody_waits_longer_than_two_minutes(server: ModelServer, protocol: Protocol, after: str, said: str) -> None:
    answer = protocol.ask(server, protocol.error(429, "slow down", {"retry-after": after}))
    assert (answer.error.kind, answer.waits, len(server.asked)) == ("rate_limit", [], 1)
    assert said in answer.error.hint


def test_a_quota_that_is_used_up_says_so(server: ModelServer) -> None:
    error = OPENAI.ask(server, openai_error(429, "You exceeded your current quota", code="insufficient_quota")).error
    assert "quota is used up" in error.message
    assert "billing" in error.hint
    assert len(server.asked) == 1


@BOTH
@pytest.mark.parametrize(("status", "body"), [(500, b'{"error": "oops"}'), (502, PAGE), (503, b""), (503, b"{")])
def test_trouble_is_tried_three_times_and_no_more(server: ModelServer, protocol: Protocol, status: int, body: bytes) -> None:
    answer = protocol.ask(server, Reply([body], status))
    assert (answer.error.kind, len(answer.waits), len(server.asked)) == ("server", 2, 3)
    assert f"failed ({status})" in answer.error.message


@BOTH
@pytest.mark.parametrize("trouble", [Reply([PAGE], 503), Reply([RESET]), Reply([])])
def test_trouble_that_passes_is_none(server: ModelServer, protocol: Protocol, trouble: Reply) -> None:
    answer = protocol.ask(server, trouble, trouble, Reply(protocol.text("Hello")))
    assert (answer.end.reason, answer.text, len(server.asked)) == ("stop", "Hello", 3)


# too long

TOO_LONG = [
    (
        400,
        {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            "code": "context_length_exceeded",
        },
        8192,
    ),
    (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages).", 4096),
    (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
    (400, "Input length (5000) exceeds model's maximum context length (4096).", 4096),
    (400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
    (
        400,
        {"message": "the request exceeds the available context size, try increasing it", "n_prompt_tokens": 5000, "n_ctx": 4096},
        4096,
    ),
    (500, "the request exceeds the available context size. try increasing the context size or enable context shift", None),
    (
        400,
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096"
        " tokens, which is not enough.",
        4096,
    ),
    (400, "the input length exceeds the context length", None),
    (400, "prompt too long; exceeded max context length by 512 tokens", None),
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
    (400, {"message": "Input tokens exceed the configured limit of 272000 tokens.", "code": "context_length_exceeded"}, 272000),
    (400, "prompt is too long: 212000 tokens > 200000 maximum", 200000),
]


@pytest.mark.parametrize(
    ("protocol", "status", "said", "limit"), [(OPENAI, *row) for row in TOO_LONG] + [(OLLAMA, *row) for row in TOO_LONG if row[2] is None]
)
def test_a_prompt_that_is_too_long(server: ModelServer, protocol: Protocol, status: int, said: Any, limit: int | None) -> None:
    answer = protocol.ask(server, Reply([json.dumps({"error": said}).encode()], status))
    assert (answer.error.kind, parse_context_limit(answer.error.message), len(server.asked)) == ("context_length", limit, 1)
    assert "/compact" in answer.error.hint


# no answer of a model


@BOTH
@pytest.mark.parametrize("page", [PAGE, b"  \n" + PAGE, PAGE.replace(b"\n", b"")])
def test_a_web_page(server: ModelServer, protocol: Protocol, page: bytes) -> None:
    answer = protocol.ask(server, Reply([page], headers={"content-type": "text/html"}))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("bad_answer", "", 1)
    assert "a web page instead of JSON" in answer.error.message


@BOTH
@pytest.mark.parametrize("body", [b'{"choices": [{"message": "Hello"}]}\n', b"[]\n"])
def test_another_language(server: ModelServer, protocol: Protocol, body: bytes) -> None:
    answer = protocol.ask(server, Reply([body]))
    assert answer.error.kind in ("bad_answer", "cut")
    assert answer.text == ""


@BOTH
@pytest.mark.parametrize("end", [b"\n", b""])
def test_an_error_in_the_place_of_an_answer(server: ModelServer, protocol: Protocol, end: bytes) -> None:
    answer = protocol.ask(server, Reply([b'{"error": {"message": "the model has crashed"}}' + end]))
    assert (answer.error.kind, len(server.asked)) == ("server", 1)
    assert "failed: the model has crashed" in answer.error.message


# half an answer


@BOTH
@pytest.mark.parametrize(
    ("rest", "kind", "said"),
    [
        ([], "cut", "without a final event"),
        ([0.05, RESET], "cut", "Connection reset by peer"),
        ([b'data: {"choi'], "cut", "in the middle of a line"),
        ([b"\x00\xff garbage\n"], "bad_answer", "cannot be read"),
        ([b'data: {"choices": 7}\n{"message": 7}\n'], "bad_answer", "cannot be read"),
    ],
)
def test_what_came_before_is_kept_and_nothing_tried_again(
    server: ModelServer, protocol: Protocol, rest: list[Any], kind: str, said: str
) -> None:
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 0.05, *rest]))
    assert (answer.error.kind, answer.text, len(server.asked)) == (kind, "A filter", 1)
    assert said in answer.error.message
    assert "Ask again" in answer.error.hint


@BOTH
def test_so_is_what_came_in_one_piece_with_garbage(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([protocol.begin("A ") + protocol.begin("filter") + b"garbage\n" + protocol.begin("!")]))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("bad_answer", "A filter", 1)


@BOTH
@pytest.mark.parametrize("body", [[RESET], []])
def test_a_server_that_never_begins_is_tried_three_times(server: ModelServer, protocol: Protocol, body: list[Any]) -> None:
    answer = protocol.ask(server, Reply(body))
    assert (answer.error.kind, len(server.asked)) == ("cut", 3)
    assert "before its first word" in answer.error.message
    assert "for the rest" not in answer.error.hint


@BOTH
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("the runner has crashed", "server"),
        ({"message": "overloaded", "code": 503}, "server"),
        ({"message": "slow down", "code": "429"}, "rate_limit"),
        ({"message": "Rate limit reached", "code": "rate_limit_exceeded"}, "rate_limit"),
        ({"message": "no", "type": "authentication_error"}, "auth"),
        ({"message": "gone", "code": "model_not_found"}, "unknown_model"),
        ({"message": "it was filtered", "code": "content_filter"}, "content_filter"),
        ({"message": "the context length is 4096", "code": None}, "context_length"),
        ({}, "server"),
    ],
)
def test_an_error_in_the_middle(server: ModelServer, protocol: Protocol, error: Any, kind: str) -> None:
    line = json.dumps({"error": error}).encode() + b"\n"
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), b"data: " + line if protocol is OPENAI else line]))
    assert (answer.error.kind, answer.text, len(server.asked)) == (kind, "A filter", 1)


@pytest.mark.parametrize(
    "line",
    [
        b'data: {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "out of memory", "code": 500}}]}',
        b'event: error\ndata: {"message": "out of memory", "code": 500}',
        b'data: {"object": "error", "message": "out of memory", "type": "InternalServerError", "code": 500}',
        b'error: {"message": "out of memory", "code": 500}',
    ],
    ids=["OpenRouter", "an event", "vLLM", "llama.cpp"],
)
def test_an_error_by_another_name(server: ModelServer, line: bytes) -> None:
    answer = OPENAI.ask(server, Reply([OPENAI.begin("A filter"), line + b"\n\n"]))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("server", "A filter", 1)
    assert answer.error.message.endswith("failed (500): out of memory")


def test_an_error_in_a_list_of_one(server: ModelServer) -> None:
    body = json.dumps([{"error": {"code": 400, "message": "temperature is not for this model", "status": "INVALID_ARGUMENT"}}])
    answer = OPENAI.ask(server, Reply([body.encode()], 400))
    assert (answer.error.kind, len(server.asked)) == ("bad_request", 1)
    assert answer.error.message.endswith("rejects the request (400): temperature is not for this model")
