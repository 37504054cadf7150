"""What goes wrong between zkchat and a model server, on the wire: the kind of error, its message,
and how many calls are made.
"""

import json
import time
from typing import Any

import pytest
from model_calls import (
    ANTHROPIC,
    KEY,
    OLLAMA,
    OPENAI,
    QUESTION,
    REQUEST,
    RESPONSES,
    Protocol,
    call_model,
    open_model,
)
from model_server import (
    RESET,
    ModelServer,
    Reply,
    anthropic_start,
    closed_port,
    ollama_frame,
    openai_error,
    responses_message,
    responses_response,
)

from zkchat_cli.events import Waiting
from zkchat_cli.llm.base import Options, Request
from zkchat_cli.llm.known_models import MAX_WINDOW
from zkchat_cli.llm.server_errors import parse_length_refusal
from zkchat_cli.models.prompts import PromptMessage

ALL = pytest.mark.parametrize(
    "protocol", [OPENAI, RESPONSES, OLLAMA, ANTHROPIC], ids=lambda protocol: protocol.name
)
pytestmark = pytest.mark.usefixtures("no_proxies")
BOTH = pytest.mark.parametrize(
    "protocol", [OPENAI, RESPONSES, OLLAMA], ids=lambda protocol: protocol.name
)
PAGE = b"<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n"


# no connection


@ALL
@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("", "cannot be reached: Connection refused"),
        ("https://nobody.invalid", "its name is not known"),
        ("https{}", "cannot be reached: https failed (wrong version number)"),
    ],
)
def test_unreachable_server_is_called_once(
    server: ModelServer, protocol: Protocol, address: str, cause: str
) -> None:
    model: Any = open_model(
        protocol.name, (address.format(server.address[4:]) or closed_port()) + protocol.path
    )
    answer = call_model(model)
    assert (answer.error.kind, answer.waits, model.check().kind) == ("connection", [], "connection")
    assert cause in answer.error.message
    hints = {
        "openai": "Is it running?",
        "responses": "Is it running?",
        "ollama": "ollama serve",
        "anthropic": "anthropic.base_url",
    }
    assert hints[protocol.name] in answer.error.hint
    assert ("end in /v1" in answer.error.hint) == (protocol.name in ("openai", "responses"))


INVALID = [
    "http://[::1",
    "http://notes.lan:many",
    "http://127.0.0.1:99999",
    "http://a b",
    "http://h\x00",
]


@pytest.mark.parametrize(
    ("protocol", "address"),
    [
        *((OPENAI, each) for each in INVALID),
        *((each, "ftp://notes.lan") for each in (RESPONSES, OLLAMA, ANTHROPIC)),
    ],
)
def test_invalid_address_is_not_called(protocol: Protocol, address: str) -> None:
    model = open_model(protocol.name, address)
    model.prepare()
    error = call_model(model).error
    assert (error.kind, model.window) == ("connection", None)
    assert "has no valid address" in error.message


# timeouts


@ALL
@pytest.mark.parametrize(
    "silence", [Reply([5.0]), Reply([], before=5.0)], ids=["before the body", "before the headers"]
)
def test_silence_before_the_first_word_is_a_timeout(
    server: ModelServer, protocol: Protocol, silence: Reply
) -> None:
    answer = protocol.ask(server, silence, timeout=0.2)
    assert (answer.error.kind, len(server.asked)) == ("timeout", 1)
    assert "sent nothing for 0.2 s" in answer.error.message
    assert "timeout" in answer.error.hint


@ALL
def test_silence_within_an_answer_is_a_timeout(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 5.0]), stall_timeout=0.2)
    assert (answer.error.kind, answer.text, len(server.asked)) == ("timeout", "A filter", 1)
    assert "sent nothing for 0.2 s" in answer.error.message


@pytest.mark.parametrize(
    "protocol", [OPENAI, RESPONSES, ANTHROPIC], ids=lambda protocol: protocol.name
)
def test_slow_tool_call_is_not_silence(server: ModelServer, protocol: Protocol) -> None:
    body = b"".join(protocol.calls(("a", "find_excerpts", '{"query": "x"}')))
    pieces = [piece for line in body.splitlines(keepends=True) for piece in (line, 0.06)]
    answer = protocol.ask(server, Reply(pieces), timeout=1, stall_timeout=1)
    assert [call.arguments for call in answer.calls] == [{"query": "x"}]


# rejections


@ALL
@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (400, "bad_request", "rejects the request (400): no good"),
        (401, "auth", "(401)"),
        (403, "auth", "(403): no good"),
        (422, "bad_request", "rejects the request (422): no good"),
    ],
)
def test_rejected_call_is_made_once(
    server: ModelServer, protocol: Protocol, status: int, kind: str, message: str
) -> None:
    answer = protocol.ask(server, protocol.error(status, "no good"))
    assert (answer.error.kind, len(server.asked)) == (kind, 1)
    assert message in answer.error.message


def test_rejected_key_names_its_variable(server: ModelServer) -> None:
    error = OPENAI.ask(server, openai_error(401, f"Incorrect API key provided: {KEY}")).error
    assert (error.message.split("/v1 ")[1], error.hint) == (
        "rejects the key (401)",
        "Check OPENAI_API_KEY.",
    )
    assert "needs a key" in OPENAI.ask(server, openai_error(401, "no"), key="").error.message


@ALL
def test_unknown_model_lists_the_servers_models(server: ModelServer, protocol: Protocol) -> None:
    server.gets[protocol.listing] = protocol.models(["apple", "llama3.2:3b", "llama3.1:8b"])
    error = protocol.ask(server, protocol.error(404, "not found"), name="llama3.1").error
    assert error.kind == "unknown_model"
    assert "has no model llama3.1" in error.message
    assert error.hint == "It has llama3.1:8b, llama3.2:3b, apple. Switch with /model, or --model."


@ALL
@pytest.mark.parametrize("listing", [None, Reply([PAGE]), Reply([b"{}"]), Reply([b"[]"])])
def test_404_without_a_model_list_says_what_to_check(
    server: ModelServer, protocol: Protocol, listing: Reply | None
) -> None:
    server.gets |= {protocol.listing: listing} if listing else {}
    error = protocol.ask(server, Reply([PAGE], 404)).error
    assert error.kind == "unknown_model"
    assert "no such model or address (404)" in error.message


@ALL
def test_redirect_is_not_followed(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([], 302, {"location": f"{server.address}/elsewhere"}))
    assert (answer.error.kind, len(server.everything)) == ("connection", 1)
    assert f"redirects the call to {server.address}/elsewhere" in answer.error.message


# rate limits and failing servers


def test_retry_after_is_counted_down(server: ModelServer) -> None:
    start = time.monotonic()
    answer = OPENAI.ask(
        server, openai_error(429, "slow down", {"retry-after": "2"}), Reply(OPENAI.text("Hello"))
    )
    assert (answer.text, answer.waits, len(server.asked)) == ("Hello", [2.0, 1.0], 2)
    assert time.monotonic() - start >= 2
    reasons = {delta.reason for delta in answer.deltas if isinstance(delta, Waiting)}
    assert all(
        reason.endswith(" accepts no more calls for now (429): slow down") for reason in reasons
    )


@ALL
def test_rate_limit_without_retry_after_is_tried_three_times(
    server: ModelServer, protocol: Protocol
) -> None:
    answer = protocol.ask(server, protocol.error(429, "slow down"), first_delay=0.1)
    assert (answer.error.kind, answer.waits, len(server.asked)) == ("rate_limit", [0.1, 0.2], 3)
    assert "(429): slow down" in answer.error.message


@ALL
@pytest.mark.parametrize(("after", "hint"), [("121", "in 121 s"), ("7200", "in 120 minutes")])
def test_retry_after_more_than_two_minutes_is_an_error(
    server: ModelServer, protocol: Protocol, after: str, hint: str
) -> None:
    answer = protocol.ask(server, protocol.error(429, "slow down", {"retry-after": after}))
    assert (answer.error.kind, answer.waits, len(server.asked)) == ("rate_limit", [], 1)
    assert hint in answer.error.hint


def test_exhausted_quota_is_reported_at_once(server: ModelServer) -> None:
    error = OPENAI.ask(
        server, openai_error(429, "You exceeded your current quota", code="insufficient_quota")
    ).error
    assert "quota is used up" in error.message
    assert "billing" in error.hint
    assert len(server.asked) == 1


@ALL
@pytest.mark.parametrize(("status", "body"), [(500, b'{"error": "oops"}'), (503, b"{")])
def test_failing_server_is_tried_three_times(
    server: ModelServer, protocol: Protocol, status: int, body: bytes
) -> None:
    answer = protocol.ask(server, Reply([body], status))
    assert (answer.error.kind, len(answer.waits), len(server.asked)) == ("server", 2, 3)
    assert f"failed ({status})" in answer.error.message


# prompts that are too long

# status, message, and the limit and the prompt's tokens that it names
TOO_LONG: list[tuple[int, Any, int | None, int | None]] = [
    (
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 5000 "
        "tokens (4000 in the messages).",
        4096,
        4000,
    ),
    (
        400,
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        4096,
        5000,
    ),
    (400, "Input length (5000) exceeds model's maximum context length (4096).", 4096, 5000),
    (
        400,
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        4096,
        5000,
    ),
    (
        500,
        "the request exceeds the available context size. try increasing the context size "
        "or enable context shift",
        None,
        None,
    ),
    (
        400,
        "Trying to keep the first 5000 tokens. However, the model is loaded with context "
        "length of only 4096 tokens.",
        4096,
        5000,
    ),
    (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        1_048_576,
        1_200_000,
    ),
    (400, "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 7424, 15_028),
    (
        400,
        "The number of tokens to keep is greater than the context length (n_keep: 5000>= "
        "n_ctx: 4096).",
        4096,
        5000,
    ),
    (
        400,
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        32_768,
        40_000,
    ),
    (
        429,
        "Request too large for gpt-4o on tokens per min (TPM): Limit 3000, Requested 4500.",
        3000,
        4500,
    ),
    (400, "the input length exceeds the context length", None, None),
    (400, "prompt too long; exceeded max context length by 512 tokens", None, None),
    (
        400,
        {
            "message": "Input tokens exceed the configured limit of 272000 tokens.",
            "code": "context_length_exceeded",
        },
        272_000,
        None,
    ),
    (400, "prompt is too long: 212000 tokens > 200000 maximum", 200_000, 212_000),
    (
        400,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, "
        "decrease input length",
        200_000,
        None,
    ),
    (
        400,
        {
            "message": "Your input exceeds the context window of this model.",
            "code": "context_length_exceeded",
        },
        None,
        None,
    ),
    (413, "Request exceeds the limit of 131,072 tokens", None, None),
]


@pytest.mark.parametrize(
    ("protocol", "status", "said", "limit", "counted"),
    [
        *((OPENAI, *row) for row in TOO_LONG),
        (RESPONSES, *TOO_LONG[-5]),
        (RESPONSES, *TOO_LONG[-2]),
        *((OLLAMA, *row) for row in TOO_LONG if row[2] is None),
        (ANTHROPIC, *TOO_LONG[-4]),
    ],
)
def test_prompt_too_long_is_recognized_in_each_servers_words(
    server: ModelServer,
    protocol: Protocol,
    status: int,
    said: Any,
    limit: int | None,
    counted: int | None,
) -> None:
    answer = protocol.ask(server, Reply([json.dumps({"error": said}).encode()], status))
    assert (answer.error.kind, len(server.asked)) == ("context_length", 1)
    assert parse_length_refusal(answer.error.message) == (limit, counted)
    assert "/compact" in answer.error.hint


# answers that are none


@ALL
@pytest.mark.parametrize("page", [PAGE, PAGE.replace(b"\n", b"")])
def test_web_page_is_recognized(server: ModelServer, protocol: Protocol, page: bytes) -> None:
    answer = protocol.ask(server, Reply([page], headers={"content-type": "text/html"}))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("bad_answer", "", 1)
    assert "a web page instead of JSON" in answer.error.message


@BOTH
@pytest.mark.parametrize("end", [b"\n", b""])
def test_error_instead_of_an_answer_is_reported_after_three_tries(
    server: ModelServer, protocol: Protocol, end: bytes
) -> None:
    answer = protocol.ask(server, Reply([b'{"error": {"message": "the model has crashed"}}' + end]))
    assert (answer.error.kind, len(server.asked)) == ("server", 3)
    assert "failed: the model has crashed" in answer.error.message


# incomplete answers


@ALL
@pytest.mark.parametrize(
    ("rest", "kind", "message"),
    [
        ([], "cut", "without a final event"),
        ([0.05, RESET], "cut", "Connection reset by peer"),
        ([b'data: {"choi'], "cut", "it ended"),
        ([b"data: \x00\xff garbage\n\n"], "bad_answer", "cannot be read"),
    ],
)
def test_text_before_a_fault_is_kept_and_the_call_is_not_repeated(
    server: ModelServer, protocol: Protocol, rest: list[Any], kind: str, message: str
) -> None:
    rest = [
        b"event: content_block_delta\n" + piece if piece == b"data: \x00\xff garbage\n\n" else piece
        for piece in rest
    ]
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 0.05, *rest]))
    assert (answer.error.kind, answer.text, len(server.asked)) == (kind, "A filter", 1)
    assert message in answer.error.message
    assert "Ask again" in answer.error.hint


@ALL
@pytest.mark.parametrize("body", [[RESET], []])
def test_connection_closed_before_the_first_word_is_tried_three_times(
    server: ModelServer, protocol: Protocol, body: list[Any]
) -> None:
    answer = protocol.ask(server, Reply(body))
    assert (answer.error.kind, len(server.asked)) == ("cut", 3)
    assert "broke the answer off" in answer.error.message


@BOTH
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("the runner has crashed", "server"),
        ({"message": "overloaded", "code": 503}, "server"),
        ({"message": "Rate limit reached", "code": "rate_limit_exceeded"}, "rate_limit"),
        ({"message": "no", "type": "authentication_error"}, "auth"),
        ({"message": "it was filtered", "code": "content_filter"}, "content_filter"),
        ({"message": "the context length is 4096", "code": None}, "context_length"),
        ({}, "server"),
    ],
)
def test_error_within_a_stream_has_its_kind(
    server: ModelServer, protocol: Protocol, error: Any, kind: str
) -> None:
    line = json.dumps({"error": error}).encode() + b"\n"
    answer = protocol.ask(
        server,
        Reply([protocol.begin("A filter"), line if protocol is OLLAMA else b"data: " + line]),
    )
    assert (answer.error.kind, answer.text, len(server.asked)) == (kind, "A filter", 1)


@pytest.mark.parametrize(
    "line",
    [
        b'event: error\ndata: {"message": "out of memory", "code": 500}',
        b'data: {"object": "error", "message": "out of memory", "type": '
        b'"InternalServerError", "code": 500}',
    ],
    ids=["an event", "vLLM"],
)
def test_error_within_a_stream_is_found_in_each_servers_form(
    server: ModelServer, line: bytes
) -> None:
    answer = OPENAI.ask(server, Reply([OPENAI.begin("A filter"), line + b"\n\n"]))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("server", "A filter", 1)
    assert answer.error.message.endswith("failed (500): out of memory")


# servers that do less, or say other things, than others


WHOLE = {
    "openai": {
        "object": "chat.completion",
        "choices": [{"message": {"content": "A filter."}, "finish_reason": "stop"}],
    },
    "responses": responses_response("completed", [responses_message("A filter.")]),
    "ollama": ollama_frame("A filter.", done=True, done_reason="stop"),
    "anthropic": {
        **anthropic_start()["message"],
        "content": [{"type": "text", "text": "A filter."}],
        "stop_reason": "end_turn",
    },
}


@ALL
@pytest.mark.parametrize("indent", [None, 2])
def test_server_that_ignores_stream_is_understood(
    server: ModelServer, protocol: Protocol, indent: int | None
) -> None:
    whole = json.dumps(WHOLE[protocol.name], indent=indent).encode()
    answer = protocol.ask(server, Reply([whole], headers={"content-type": "application/json"}))
    assert (answer.text, answer.end.reason) == ("A filter.", "stop")


@ALL
@pytest.mark.parametrize("reported", [0, 10_000_000])
def test_window_that_cannot_be_is_not_used(
    server: ModelServer, protocol: Protocol, reported: int
) -> None:
    rows = [{"id": "m", "max_model_len": reported, "max_input_tokens": reported}]
    server.gets |= {protocol.listing: {"data": rows}, "/v1/models/m": rows[0]}
    server.gets["/api/show"] = {
        "model_info": {"general.architecture": "l", "l.context_length": reported}
    }
    model = open_model(protocol.name, protocol.address(server))
    model.prepare()
    most = 32_768 if protocol is OLLAMA else MAX_WINDOW
    assert (model.window.tokens if model.window else None) == (most if reported else None)
    assert not model.window or "set context.max_tokens for more" in model.window.source


@ALL
@pytest.mark.parametrize("listing", [[], None])
def test_server_that_lists_no_models_answers(
    server: ModelServer, protocol: Protocol, listing: list[str] | None
) -> None:
    server.gets[protocol.listing] = (
        {"data": None, "models": None} if listing is None else protocol.models(listing)
    )
    model: Any = open_model(protocol.name, protocol.address(server))
    model.prepare()
    assert (model.window, model.check()) == (None, None)
    server.says(Reply(protocol.text("Yes.")))
    assert call_model(model).text == "Yes."


MERGED = "Cite.\n\nWhat is a filter?"


@pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    ],
)
def test_template_that_refuses_system_messages_gets_them_with_the_first_question(
    server: ModelServer, protocol: Protocol, status: int, said: str
) -> None:
    model = open_model(protocol.name, protocol.address(server))
    request = Request(
        (PromptMessage(role="system", content="Cite.", tokens=3, kind="system"), QUESTION)
    )
    server.says(protocol.error(status, said), Reply(protocol.text("Yes.")))
    answer = call_model(model, request)
    assert (answer.text, answer.end.notice[:23], len(server.asked)) == (
        "Yes.",
        "takes no system message",
        2,
    )
    assert [(m["role"], m["content"]) for m in server.bodies[1]["messages"]] == [("user", MERGED)]
    assert call_model(model, request).end.notice == ""
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("protocol", "status", "said"),
    [
        (OLLAMA, 400, "registry.ollama.ai/library/gemma2:2b does not support tools"),
        (OPENAI, 500, "tools param requires --jinja flag"),
        (
            OPENAI,
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser '
            "to be set",
        ),
        (OPENAI, 404, "No endpoints found that support tool use."),
        (OPENAI, 400, "`tool calling` is not supported with this model"),
        (OPENAI, 400, "Function calling is not enabled for models/gemma-3-27b-it"),
    ],
)
def test_model_that_refuses_tools_is_called_once(
    server: ModelServer, protocol: Protocol, status: int, said: str
) -> None:
    model: Any = open_model(protocol.name, protocol.address(server))
    server.says(protocol.error(status, said))
    assert (call_model(model).error.kind, len(server.asked), model.calls_tools) == (
        "no_tools",
        1,
        False,
    )


def test_ollama_model_that_does_not_think_is_asked_without(server: ModelServer) -> None:
    model = open_model("ollama", server.address)
    server.says(OLLAMA.error(400, '"m" does not support thinking'), Reply(OLLAMA.text("Yes.")))
    answer = call_model(model, REQUEST._replace(options=Options(reasoning_effort="high")))
    assert (answer.text, ["think" in body for body in server.bodies]) == ("Yes.", [True, False])
    assert "llm.reasoning_effort was left out" in answer.end.notice
