"""HTTP failures as ProviderErrors, whichever server they come from."""

import pytest

from zkchat_cli.llm.http_errors import Endpoint, is_permanent, mask_address

SERVER = Endpoint("The server", "http://127.0.0.1:1/v1", "Start it.")


@pytest.mark.parametrize(("message", "hint"), [("temperature is deprecated", "Change what it complains about"), ("", "Start it.")])
def test_rejection_with_a_reason_has_a_hint_about_the_request(message: str, hint: str) -> None:
    error = SERVER.error_from_response(400, f'{{"error": {{"message": "{message}"}}}}')
    assert error.kind == "bad_request"
    assert error.hint.startswith(hint)


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
    assert SERVER.error_from_response(400, '{"error": "no key sk-abcdefgh1234"}').message.endswith("no key …")
