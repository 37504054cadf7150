"""HTTP failures as ProviderErrors, whichever server they come from."""

import pytest

from zkchat_cli.llm.http_errors import Endpoint, mask_address

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
    assert SERVER.error_from_response(400, '{"error": "no key sk-abcdefgh1234"}').message.endswith("no key …")
