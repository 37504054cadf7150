"""HTTP failures as ProviderErrors, whichever server they come from."""

import json

import pytest

from zkchat_cli.llm.http_client import Endpoint, mask_address

SERVER = Endpoint("The server", "http://127.0.0.1:1/v1", "Start it.")


@pytest.mark.parametrize(
    ("address", "masked"),
    [
        ("http://ann:secret@host:1/v1?key=secret&x=@", "http://host:1/v1?…"),
        ("http://host/@me/v1", "http://host/@me/v1"),
        ("ann:sec@ret@host/v1", "host/v1"),
        ("http://host/v1", "http://host/v1"),
    ],
)
def test_address_is_masked(address: str, masked: str) -> None:
    assert mask_address(address) == masked


def test_anything_that_looks_like_a_key_is_removed() -> None:
    assert SERVER.error_from_response(400, b'{"error": "no key sk-abcdefgh1234"}').message.endswith(
        "no key …"
    )


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (402, {"error": {"message": "Insufficient credits"}}, "quota", "Insufficient credits"),
        (
            403,
            {"error": {"message": "Your input was flagged for violence"}},
            "content_filter",
            "content filter",
        ),
        (408, {"error": {"message": "Request timeout"}}, "server", "Request timeout"),
        (400, [{"error": {"message": "API key not valid."}}], "bad_request", "API key not valid."),
        (
            422,
            {"detail": [{"loc": ["body", "options"], "msg": "not permitted"}]},
            "bad_request",
            "body.options: not permitted",
        ),
        (
            422,
            {
                "object": "error",
                "message": {"detail": [{"loc": ["n"], "msg": "big", "input": "n_ctx"}]},
            },
            "bad_request",
            "n: big",
        ),
        (422, {"detail": "no such thing"}, "bad_request", "no such thing"),
        (
            400,
            {"error": {"message": "Failed", "metadata": {"raw": '{"error": "too hot"}'}}},
            "bad_request",
            "Failed: too hot",
        ),
        (
            400,
            {"error": "Parallel function calling is not supported"},
            "bad_request",
            "Parallel function calling",
        ),
        (502, "no healthy upstream", "server", "failed (502): no healthy upstream"),
        (
            0,
            {"error": "Unexpected endpoint or method. (POST /chat/completions)"},
            "unknown_model",
            "no such model or address (404)",
        ),
    ],
)
def test_the_servers_own_reason_is_told(status: int, body: object, kind: str, words: str) -> None:
    error = SERVER.error_from_response(
        status, (body if isinstance(body, str) else json.dumps(body)).encode()
    )
    assert (error.kind, words in error.message) == (kind, True)
