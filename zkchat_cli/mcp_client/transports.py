"""Connections to MCP servers as the SDK's client takes them: a program's pipes, or HTTP. What a
server sends is read up to a limit.

The SDK reads a line of a program without a limit, so the pipes are ours. Imported only on the
servers' thread: the SDK takes a second.
"""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import httpx2
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from zkchat_cli.config.schema import McpServer
from zkchat_cli.llm.proxies import environment_proxy
from zkchat_cli.mcp_client.tool_lists import clean_lists

# Most bytes of one message
MAX_MESSAGE = 8_000_000
MAX_STREAM = 4 * MAX_MESSAGE
"""Most bytes of one stream of events.

The SDK reads on after a call's time is over, so an endless stream would keep a processor busy.
"""
# Bytes kept of the end of a server's standard error, for the line that says why it stopped
MAX_STDERR = 400
# Seconds that a server may take to connect, and to send the next part of an answer
HTTP_SECONDS = 30
READ_SECONDS = 300
# Seconds that a program has to end by itself
GRACE_SECONDS = 0.5
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


@asynccontextmanager
async def connect(
    server: McpServer, ended: anyio.Event, errors: bytearray, leave_out: Callable[[str], None]
) -> AsyncGenerator[Any, None]:
    """The streams to and from a server.

    `ended` is set when its program ends; `errors` gets the end of its standard error, or of an HTTP
    error, and `leave_out` the names of tools that cannot be read.
    """
    connected = _connect_http(server, errors) if server.url else _run_program(server, ended, errors)
    async with connected as (from_server, to_server):
        yield clean_lists(from_server, leave_out), to_server


@asynccontextmanager
async def _connect_http(server: McpServer, errors: bytearray) -> AsyncGenerator[Any, None]:
    hooks: dict[str, list[Callable[..., Any]]] = {"response": [partial(_check_response, errors)]}
    async with (
        httpx2.AsyncClient(
            headers={**server.headers, "accept-encoding": "identity"},
            event_hooks=hooks,
            timeout=httpx2.Timeout(HTTP_SECONDS, read=READ_SECONDS),
            # Not read by httpx2, which rejects networks in NO_PROXY
            proxy=environment_proxy(server.url),
            trust_env=False,
            verify=httpx2.create_ssl_context(),
        ) as http,
        streamable_http_client(
            server.url, http_client=http, max_sse_event_size=MAX_MESSAGE
        ) as streams,
    ):
        yield streams


@asynccontextmanager
async def _run_program(
    server: McpServer, ended: anyio.Event, errors: bytearray
) -> AsyncGenerator[Any, None]:
    process = await anyio.open_process(
        [server.command, *server.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**get_default_environment(), **server.env},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read_messages, process.stdout, to_client, ended)
        tasks.start_soon(_write_messages, from_client, process.stdin)
        tasks.start_soon(_read_errors, process.stderr, errors)
        try:
            yield from_server, to_server
        finally:
            with anyio.CancelScope(shield=True):
                await _stop(process)
            tasks.cancel_scope.cancel()


async def _read_messages(
    stdout: ByteReceiveStream,
    to_client: MemoryObjectSendStream[SessionMessage | Exception],
    ended: anyio.Event,
) -> None:
    """Pass the program's lines to the client as messages, until the program ends."""
    lines = BufferedByteReceiveStream(stdout)
    async with to_client:
        with suppress(anyio.IncompleteRead, anyio.DelimiterNotFound, *_CLOSED):
            while True:
                line = await lines.receive_until(b"\n", MAX_MESSAGE)
                if not line.strip():
                    continue
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    await to_client.send(SessionMessage(message))
                except ValueError as e:
                    await to_client.send(e)
    ended.set()


async def _write_messages(
    from_client: MemoryObjectReceiveStream[SessionMessage], stdin: ByteSendStream
) -> None:
    """Send the client's messages to the program, one per line."""
    async with from_client:
        with suppress(OSError, *_CLOSED):
            async for sent in from_client:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(text.encode() + b"\n")


async def _read_errors(stderr: ByteReceiveStream, errors: bytearray) -> None:
    """Collect the end of the program's standard error."""
    with suppress(*_CLOSED):
        async for chunk in stderr:
            errors.extend(chunk)
            del errors[:-MAX_STDERR]


async def _stop(process: anyio.abc.Process) -> None:
    """Close the program's input; if it does not end then, kill it with all that it has started."""
    assert process.stdin is not None
    with suppress(OSError, *_CLOSED):
        await process.stdin.aclose()
    with anyio.move_on_after(GRACE_SECONDS):
        await process.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()


async def _check_response(errors: bytearray, response: httpx2.Response) -> None:
    """Make an answer end with an error after MAX_MESSAGE bytes, or a stream of events after
    MAX_STREAM.

    Compressed answers are refused, because a few bytes can become gigabytes.
    """
    # The protocol requires only POST requests; others may fail
    if response.request.method == "POST":
        problem = f"the server answers {response.status_code}" if response.is_error else ""
        errors[:] = problem.encode()
    if response.headers.get("content-encoding", "identity") != "identity":
        errors[:] = b"the server sends compressed answers"
        raise httpx2.RemoteProtocolError(errors.decode())
    is_stream = "text/event-stream" in response.headers.get("content-type", "")
    response.stream = _BoundedStream(response.stream, MAX_STREAM if is_stream else MAX_MESSAGE)  # type: ignore[arg-type]


class _BoundedStream(httpx2.AsyncByteStream):
    """A stream that ends with an error after `limit` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.ReadError(f"the server sent more than {self._limit // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
