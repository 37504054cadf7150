"""A stream of MCP messages that are converted before the SDK reads them."""

from collections.abc import Callable
from typing import Any

from mcp.shared.message import SessionMessage

# A message, or why it could not be read
Received = SessionMessage | Exception


class ConvertedMessages:
    """The stream `messages` with each message as `convert` returns it. It has what the SDK uses of
    such a stream.
    """

    def __init__(self, messages: Any, convert: Callable[[Received], Received]) -> None:
        self._messages = messages
        self._convert = convert

    async def __aenter__(self) -> "ConvertedMessages":
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._messages.__aexit__(*error)

    def __aiter__(self) -> "ConvertedMessages":
        return self

    async def __anext__(self) -> Received:
        return self._convert(await self._messages.__anext__())

    async def aclose(self) -> None:
        """Close the stream of messages."""
        await self._messages.aclose()

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent; the SDK runs its handler in it."""
        return getattr(self._messages, "last_context", None)
