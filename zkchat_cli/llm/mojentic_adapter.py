"""One call of a model server. Importing this file imports mojentic, which takes a second.

mojentic's policy decides when a failed call is made again. The answer is read here: mojentic's own
decoder rejects any deviation from OpenAI's format, a `ChatReader` understands what servers send.
"""

import json
import logging
import os
from collections.abc import AsyncIterator
from typing import Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Emit, ListsModels
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.http_client import (
    MAX_BODY,
    MAX_LINE,
    UNCOMPRESSED,
    Endpoint,
    check_document,
    check_response,
    open_client,
)

# mojentic calls logging.basicConfig(INFO) on import and lets structlog write JSON lines to stderr.
# With a handler on the root logger the former does nothing and the latter ends there: in the log,
# which is empty without --verbose.
if not logging.getLogger().handlers:
    logging.getLogger().addHandler(logging.NullHandler())
logging.captureWarnings(True)


# mojentic imports ollama, which makes a client on import. zkchat never uses it, but it reads these
# variables and fails if one is wrong, for example if it names a SOCKS proxy. zkchat reads them
# itself, and says what is wrong if it matters.
try:
    import ollama
except Exception:  # noqa: BLE001
    read_by_ollama = (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "ollama_host",
        "ssl_cert_file",
        "ssl_cert_dir",
    )
    hidden = {
        name: os.environ.pop(name) for name in list(os.environ) if name.lower() in read_by_ollama
    }
    try:
        import ollama  # noqa: F401
    finally:
        os.environ.update(hidden)

from mojentic.llm.recovery import Failure, Identity, RecoveryPolicy, RetryAfter, parse_retry_after  # noqa: E402

CONNECT_SECONDS = 10.0
MAX_ATTEMPTS = 3
# Most seconds that are shown of the time that a server asks to wait
MAX_RETRY_AFTER = 86_400.0
# If a server asks to wait longer, the call fails and the user decides
MAX_DELAY = 120.0
# Kinds of errors after which another attempt may succeed
PASSING = frozenset({"server", "rate_limit", "cut"})


def retry_delay(error: ProviderError, attempt: int, first_delay: float) -> float | None:
    """Seconds to wait before the call that failed is made again; None if it is not."""
    if error.kind not in PASSING or attempt >= MAX_ATTEMPTS:
        return None
    identity = Identity(logical_request_id="", attempt_id=None, wire_attempt=attempt)
    wanted = RetryAfter(state="seconds", delay=error.retry_after)
    failure = Failure(
        operation="streaming",
        category="http",
        reason=error.kind,
        identity=identity,
        retry_after=wanted,
    )
    delay: float | None = RecoveryPolicy(
        base_delay=first_delay, delay_ceiling=MAX_DELAY, jitter=lambda ceiling: ceiling
    ).delay(failure)
    return delay


async def stream_chat(
    model: ListsModels, path: str, body: dict[str, Any], reader: ChatReader, emit: Emit
) -> None:
    """Emit the deltas of the answer to a call of this path. Raises ProviderError if the call
    fails.
    """
    server = model.server
    url = server.address.rstrip("/") + path
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json", **UNCOMPRESSED, **server.headers}
    # The other time-outs are those of stream_in_thread
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    try:
        async with (
            open_client(server, httpx.AsyncClient, timeout=timeout) as client,
            client.stream("POST", url, content=content, headers=headers) as response,
        ):
            check_response(response, server)
            if not response.is_success:
                raise await _read_error(response, model)
            async for line in _read_lines(response, server):
                for delta in reader.read_line(line):
                    emit(delta)
                if reader.ended:
                    break
    except (httpx.ConnectTimeout, httpx.ConnectError, httpx.ProxyError) as e:
        raise server.unreachable(e) from e
    except httpx.TransportError as e:
        # A server may close the connection after its finish reason
        if not reader.finish:
            raise server.cut_off(e) from e
    for delta in reader.end():
        emit(delta)


async def _read_error(response: httpx.Response, model: ListsModels) -> ProviderError:
    said = bytearray()
    async for piece in response.aiter_raw():
        said += piece
        if len(said) >= MAX_BODY:
            break
    delay = parse_retry_after(response.headers.get("retry-after"), RecoveryPolicy().wall()).delay
    if delay is not None:
        delay = min(delay, MAX_RETRY_AFTER)
    error = model.server.error_from_response(response.status_code, bytes(said[:MAX_BODY]), delay)
    if error.kind == "unknown_model":
        # The error of the check names the models that the server has
        better = model.check()
        if better is not None and better.kind == "unknown_model":
            return better
    return error


async def _read_lines(response: httpx.Response, server: Endpoint) -> AsyncIterator[bytes]:
    """The lines of an answer, each with its line end; the last line may have none. Indented JSON
    from a server that does not stream is one line. Raises ProviderError for a line that is too
    long.
    """
    is_json = response.headers.get("content-type", "").startswith("application/json")
    indented = (b"{\n", b"{\r\n") if is_json else ()
    pending = bytearray()
    async for received in response.aiter_raw():
        pending += received
        check_document(pending, server, MAX_LINE)
        if b"\n" in received and not pending.startswith(indented):
            *lines, rest = bytes(pending).split(b"\n")
            pending = bytearray(rest)
            for line in lines:
                yield line + b"\n"
    yield bytes(pending)
