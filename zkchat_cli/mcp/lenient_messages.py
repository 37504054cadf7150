"""The messages of a client, also those with halves of a character: JSON can write `\\ud800`, and
the SDK would drop such a message, so that the client waits for its answer for ever.
"""

import re
from contextlib import suppress
from typing import Any

from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape in JSON: a pair of halves, a lone half, or any other."""


class LenientMessages:
    """A stream of messages in which each lone half of a character is U+FFFD."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    async def __aenter__(self) -> "LenientMessages":
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._messages.__aexit__(*error)

    def __aiter__(self) -> "LenientMessages":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        received: SessionMessage | Exception = await self._messages.__anext__()
        if isinstance(received, ValidationError):
            return _read_again(received)
        return received

    async def aclose(self) -> None:
        """Close the stream of messages."""
        await self._messages.aclose()

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent; the SDK runs its handler in it."""
        return getattr(self._messages, "last_context", None)


def _read_again(error: ValidationError) -> SessionMessage | Exception:
    """The message that was refused, if only halves of characters were the reason."""
    for problem in error.errors():
        line = problem["input"]
        if problem["type"] == "json_invalid" and isinstance(line, str):
            with suppress(ValidationError):
                text = without_halves(line)
                return SessionMessage(
                    types.jsonrpc_message_adapter.validate_json(text, by_name=False)
                )
    return error


def without_halves(line: str) -> str:
    """JSON with U+FFFD in place of each escape of a lone half of a character."""
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], line)
