"""HTTP failures as ProviderErrors, whichever server they come from."""

import pytest

from zkchat_cli.llm.http_errors import Endpoint, is_permanent, mask_address, root_cause

SERVER = Endpoint("The server", "http://127.0.0.1:1/v1", "Start it.")


@pytest.mark.parametrize(("message", "hint"), [("temperature is deprecated", "Change what it complains about"), ("", "Start it.")])
def test_rejection_with_a_reason_has_a_hint_about_the_request(message: str, hint: str) -> None:
    error = SERVER.error_from_response(400, f'{{"error": {{"message": "{message}"}}}}')
    assert error.kind == "bad_request"
    assert error.hint.startswith(hint)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"error": null}', b'{"error": {"message": null}}', b"[" * 100_000])
def test_rejection_without_a_message(body: bytes) -> None:
    error = SERVER.error_from_response(418, body)
    assert error.message.endswith("rejects the request (418)")
    assert error.hint == "Start it."


@pytest.mark.parametrize(
    ("message", "permanent"),
    [("This model's maximum context length is 8192 tokens", True), ("insufficient_quota", True), ("Slow down", False)],
)
def test_permanent_errors(message: str, permanent: bool) -> None:
    assert is_permanent(message.encode()) == permanent


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


def test_placeholder_key_is_not_removed_from_messages() -> None:
    endpoint = Endpoint("The server", "http://127.0.0.1:1/v1", "Start it.", key="x")
    assert "exceeds the context" in endpoint.error_from_response(400, '{"error": "exceeds the context"}').message


def test_anything_that_looks_like_a_key_is_removed() -> None:
    assert SERVER.error_from_response(400, '{"detail": "no key sk-abcdefgh1234"}').message.endswith("no key …")


def test_long_model_list_is_cut() -> None:
    hint = SERVER.error_from_response(404, b"", model="m3x", models=[f"m{i}" for i in range(12)]).hint
    assert hint.startswith("It has m3, ")
    assert hint.endswith(" and 4 more.")


@pytest.mark.parametrize(("after", "hint"), [(7.0, "7 s"), (119.6, "120 s"), (700.0, "12 minutes"), (1e7, "116 days"), (None, "moment")])
def test_retry_delay_is_readable(after: float | None, hint: str) -> None:
    assert hint in SERVER.error_from_response(429, b"", retry_after=after).hint


def test_root_cause() -> None:
    assert root_cause(ValueError()) == "ValueError"
    assert root_cause(OSError(111, "x")) == "Connection refused"


@pytest.mark.parametrize(
    ("address", "local"), [("http://localhost:1", True), ("http://[::1]:1", True), ("http://a.lan", False), ("http://[", False)]
)
def test_local_addresses(address: str, local: bool) -> None:
    assert Endpoint("The server", address, "Start it.").is_local is local


def test_context_size_is_not_repeated() -> None:
    body = '{"error": {"message": "exceeds the context size of 4096", "n_ctx": 4096}}'
    assert SERVER.server_message(body) == "exceeds the context size of 4096"
