"""What an answer with an error's status means, whoever sent it."""

import json

import pytest

from zkchat_cli.llm.http_errors import Endpoint, is_permanent, mask_address, parse_context_limit

SERVER = Endpoint("The server", "https://model.example", "Check your network.")


def body(message: str) -> str:
    return json.dumps({"error": {"message": message}})


@pytest.mark.parametrize(
    ("status", "message", "limit"),
    [
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens", 8192),
        (400, "the request exceeds the available context size (4096 tokens)", 4096),
        (400, "prompt is too long: 200082 tokens > 200000 maximum", 200_000),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200_000),
        (413, "Request exceeds the maximum size", None),
    ],
)
def test_a_prompt_that_is_too_long_is_known_by_every_servers_words(status: int, message: str, limit: int | None) -> None:
    error = SERVER.error_from_response(status, body(message))
    assert (error.kind, parse_context_limit(error.message)) == ("context_length", limit)


@pytest.mark.parametrize(
    ("message", "hint"), [("temperature is deprecated", "Change what it complains about"), ("", "Check your network.")]
)
def test_a_rejection_with_a_reason_has_a_hint_about_the_request(message: str, hint: str) -> None:
    error = SERVER.error_from_response(400, body(message))
    assert error.kind == "bad_request"
    assert error.hint.startswith(hint)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://ann:secret@host:1/v1?key=secret&x=@", "http://host:1/v1?…"),
        ("http://host/@me/v1", "http://host/@me/v1"),
        ("ann:sec@ret@host/v1", "host/v1"),
        ("http://host/v1", "http://host/v1"),
    ],
)
def test_an_address_is_said_without_what_lets_one_in(address: str, told: str) -> None:
    assert mask_address(address) == told


@pytest.mark.parametrize(
    ("message", "again"),
    [("This model's maximum context length is 8192 tokens", True), ("insufficient_quota", True), ("Slow down", False)],
)
def test_some_calls_are_refused_as_often_as_they_are_made(message: str, again: bool) -> None:
    assert is_permanent(body(message).encode()) == again
