"""The connection below mojentic's gateway: zkchat's own HTTP client, which knows proxies and
certificates, refuses redirects and compressed answers, and takes a bounded answer line by line.

mojentic's client takes whatever comes: an answer without an end would fill the memory.
"""

import json
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn
from zkchat_cli.llm.base import Delta, Emit, StreamFinished
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.gateways.frames import Encode
from zkchat_cli.llm.http_client import (
    MAX_BODY,
    MAX_LINE,
    Endpoint,
    check_document,
    check_response,
    open_client,
)

CONNECT_SECONDS = 10.0
# Kinds of errors after which another attempt may succeed
PASSING = frozenset({"server", "rate_limit", "cut"})
# Deltas from which those that came together are joined
MANY_DELTAS = 20
_INDENTED = tuple(mark + begin for mark in (b"", BOM_UTF8) for begin in (b"{\n", b"{\r\n"))
"""How indented JSON begins."""


class PassingFault(httpx.TransportError):
    """A fault of the server after which mojentic may try again. `error` tells it to the user."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(error.message)
        self.error = error


class FinalFault(ValueError):
    """A fault that another attempt would meet again. `error` tells it to the user."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(error.message)
        self.error = error


def as_fault(error: ProviderError) -> PassingFault | FinalFault:
    """An error as an exception that mojentic tells apart from a defect."""
    return PassingFault(error) if error.kind in PASSING else FinalFault(error)


@dataclass
class ModelConnection:
    """What the attempts of one call have in common. Each has a `reader` of its own. `end` is the
    end of the answer, if it came.

    Pieces of tool calls go to `emit` at once, as bytes to count; mojentic gets the whole calls.
    """

    server: Endpoint
    new_reader: Callable[[Endpoint], ChatReader]
    encode: Encode
    emit: Emit

    def __post_init__(self) -> None:
        self.begin_attempt()

    def begin_attempt(self) -> None:
        """Read another answer from its beginning."""
        self.reader = self.new_reader(self.server)
        self.end: StreamFinished | None = None

    def open_client(self) -> httpx.AsyncClient:
        """A client for all attempts. Raises ProviderError for proxies and certificates of the
        environment that cannot be used.
        """
        return open_client(
            self.server,
            httpx.AsyncClient,
            # The other time-outs are those of stream_in_thread
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            event_hooks={"response": [self._take_response]},
        )

    async def _take_response(self, response: httpx.Response) -> None:
        """Give a response to mojentic: its bounded body if it failed, else what was read of it."""
        try:
            check_response(response, self.server)
        except ProviderError as e:
            raise as_fault(e) from e
        assert isinstance(response.stream, httpx.AsyncByteStream)
        if response.is_success:
            content_type = response.headers.get("content-type", "")
            is_json = content_type.startswith("application/json")
            response.stream = _AnswerStream(response.stream, self, is_json=is_json)
        else:
            response.stream = _ErrorStream(response.stream)


class _ReadLines(NamedTuple):
    """What lines that came together say, and the error after which nothing more was read."""

    deltas: list[Delta]
    error: ProviderError | None


class _ErrorStream(httpx.AsyncByteStream):
    """The beginning of an error's body, without JSON that is nested too deep to be parsed."""

    def __init__(self, source: httpx.AsyncByteStream) -> None:
        self._source = source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        said = bytearray()
        async for piece in self._source:
            said += piece
            if len(said) >= MAX_BODY:
                break
        body = bytes(said[:MAX_BODY])
        try:
            json.loads(body)
        except RecursionError:
            return
        except ValueError:
            # It may be text, or a web page
            pass
        yield body

    async def aclose(self) -> None:
        await self._source.aclose()


class _AnswerStream(httpx.AsyncByteStream):
    """An answer, read within limits and written again in the format that mojentic decodes."""

    def __init__(
        self, source: httpx.AsyncByteStream, connection: ModelConnection, *, is_json: bool
    ) -> None:
        self._source = source
        self._connection = connection
        self._reader = connection.reader
        # A server that does not stream may indent its answer
        self._indented = _INDENTED if is_json else ()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        encode = self._connection.encode
        async for lines in self._receive_lines():
            read = self._read(lines)
            for part in _split_at_withdrawals(read.deltas):
                if isinstance(part, TextWithdrawn):
                    # What came before it has been emitted when this runs
                    self._connection.emit(part)
                else:
                    yield encode(part)
            if read.error is not None:
                raise as_fault(read.error)
            if self._reader.ended:
                break
        for part in _split_at_withdrawals(self._read_end()):
            if isinstance(part, TextWithdrawn):
                self._connection.emit(part)
            else:
                yield encode(part)

    async def aclose(self) -> None:
        await self._source.aclose()

    async def _receive(self) -> AsyncIterator[bytes]:
        try:
            async for received in self._source:
                yield received
        except httpx.TransportError:
            # A server may close the connection after its finish reason
            if not self._reader.finish:
                raise

    async def _receive_lines(self) -> AsyncIterator[list[bytes]]:
        """The lines that came together, each with its line end; the last may have none. Indented
        JSON is one line. Raises FinalFault for a line that is too long.
        """
        pending = bytearray()
        async for received in self._receive():
            pending += received
            try:
                check_document(pending, self._connection.server, MAX_LINE)
            except ProviderError as e:
                raise as_fault(e) from e
            if b"\n" in received and not pending.startswith(self._indented):
                *lines, rest = bytes(pending).split(b"\n")
                pending = bytearray(rest)
                yield [line + b"\n" for line in lines]
        yield [bytes(pending)]

    def _read(self, lines: list[bytes]) -> "_ReadLines":
        """What lines say, up to the first that reports an error or cannot be read."""
        deltas: list[Delta] = []
        error = None
        try:
            for line in lines:
                for delta in self._reader.read_line(line):
                    if isinstance(delta, int):
                        self._connection.emit(delta)
                    else:
                        deltas.append(delta)
                if self._reader.ended:
                    break
        except ProviderError as e:
            error = e
        return _ReadLines(_join_texts(deltas), error)

    def _read_end(self) -> list[Delta]:
        """The last deltas. Raises PassingFault or FinalFault for an answer that is incomplete."""
        try:
            deltas = list(self._reader.end())
        except ProviderError as e:
            raise as_fault(e) from e
        [*_, end] = deltas
        assert isinstance(end, StreamFinished)
        self._connection.end = end
        return deltas


def _split_at_withdrawals(deltas: Iterable[Delta]) -> Iterator[list[Delta] | TextWithdrawn]:
    """The deltas between withdrawals, because mojentic does not know those."""
    part: list[Delta] = []
    for delta in deltas:
        if not isinstance(delta, TextWithdrawn):
            part.append(delta)
            continue
        if part:
            yield part
        yield delta
        part = []
    if part:
        yield part


def _join_texts(deltas: list[Delta]) -> list[Delta]:
    """The deltas, with neighbors of one kind as one if they are many: mojentic takes 0.3 ms for
    each frame, and a flood has hundreds in each piece that comes.
    """
    if len(deltas) < MANY_DELTAS:
        return deltas
    joined: list[Delta] = []
    for kind, alike in groupby(deltas, type):
        if kind is TextWithdrawn:
            joined.append(TextWithdrawn())
            continue
        texts = [delta.text for delta in alike if isinstance(delta, TextDelta | ReasoningDelta)]
        joined.append(kind("".join(texts)))
    return joined
