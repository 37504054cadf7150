"""How much zkchat takes from a model server: a broken or hostile one must not fill the memory. Pure.

`threaded_stream` limits how long an answer may be and how long zkchat waits for it.
"""

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from zkchat_cli.llm.http_errors import Endpoint

if TYPE_CHECKING:
    import httpx

MAX_BODY = 1_000_000
"""Bytes of a list of models, and of an error."""
MAX_LINE = 8_000_000
"""Bytes of a line of a stream."""
MAX_NESTED = 200_000
"""Objects and lists in a JSON document: empty ones take 3 bytes on the wire and 70 in memory."""
UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""For each request: a small compressed answer can become a very large one."""


def check_response(response: "httpx.Response", endpoint: Endpoint) -> None:
    """Raises ProviderError for a redirect, and for an answer that is compressed although zkchat asked for a plain one."""
    if response.has_redirect_location:
        raise endpoint.redirected(response.headers["location"])
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise endpoint.error("bad_answer", "compressed its answer, and zkchat did not ask for that", endpoint.check)


def check_document(document: bytes | bytearray, endpoint: Endpoint, most: int) -> None:
    """Raises ProviderError for JSON that would take much memory."""
    if len(document) > most:
        raise endpoint.error("bad_answer", f"sent more than {most // 1_000_000} MB at once", endpoint.check)
    if document.count(b"{") + document.count(b"[") > MAX_NESTED:
        raise endpoint.error("bad_answer", f"sent more than {MAX_NESTED:,} objects and lists at once", endpoint.check)


async def limited_body(body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The body of an error in one piece, without what exceeds MAX_BODY."""
    read = bytearray()
    async for piece in body:
        read += piece
        if len(read) >= MAX_BODY:
            break
    yield bytes(read[:MAX_BODY])


async def limited_lines(body: AsyncIterable[bytes], endpoint: Endpoint) -> AsyncIterator[bytes]:
    """The lines of a stream with their ends; the last one may have none. Raises ProviderError for a line that is too long."""
    pending = bytearray()
    async for received in body:
        pending += received
        if b"\n" in received:
            *lines, rest = bytes(pending).split(b"\n")
            pending = bytearray(rest)
            for line in lines:
                check_document(line, endpoint, MAX_LINE)
                yield line + b"\n"
        check_document(pending, endpoint, MAX_LINE)
    if pending:
        yield bytes(pending)
