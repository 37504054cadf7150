"""The messages of a client, also those with halves of a character: JSON can write `\\ud800`, and
the SDK would drop such a message, so that the client waits for its answer for ever.
"""

import re
from contextlib import suppress

from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from zkchat_cli.mcp_client.converted_messages import Received

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape in JSON: a pair of halves, a lone half, or any other."""


def read_again(received: Received) -> Received:
    """A message in which each lone half of a character is U+FFFD, if only that was the reason why
    the SDK could not read it.
    """
    if not isinstance(received, ValidationError):
        return received
    for problem in received.errors():
        line = problem["input"]
        if problem["type"] == "json_invalid" and isinstance(line, str):
            with suppress(ValidationError):
                text = without_halves(line)
                return SessionMessage(
                    types.jsonrpc_message_adapter.validate_json(text, by_name=False)
                )
    return received


def without_halves(line: str) -> str:
    """JSON with U+FFFD in place of each escape of a lone half of a character."""
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], line)
