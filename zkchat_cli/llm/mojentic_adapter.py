"""The streams of all model servers, with mojentic's recovery. Importing this file imports mojentic, which takes a second.

mojentic decides whether a call is made again, and when. Each attempt is made here: mojentic's own decoder rejects an answer for any
deviation from OpenAI's format, a `ChatReader` understands what servers send.

This is the only file that depends on something mojentic does not document: `recover_stream` takes the class of its engine as
`_engine_type`, and the engine makes each attempt in `exchange_stream`. pyproject.toml pins the version with which that was tested.
"""

import json
import logging
import os
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import Waiting
from zkchat_cli.llm.base import Emit
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.http_client import MAX_BODY, MAX_LINE, MAX_RETRY_AFTER, UNCOMPRESSED, check_document, check_response, open_client
from zkchat_cli.text.numbers import bounded_seconds

# mojentic calls logging.basicConfig(INFO) on import and lets structlog write JSON lines to stderr. With a handler on the root logger the
# former does nothing and the latter ends there: in the log, which is empty without --verbose.
if not logging.getLogger().handlers:
    logging.getLogger().addHandler(logging.NullHandler())
logging.captureWarnings(True)


# mojentic imports ollama, which makes a client on import. zkchat never uses it, but it reads these variables and fails if one is wrong, for
# example if it names a SOCKS proxy. zkchat reads them itself, and says what is wrong if it matters.
try:
    import ollama
except Exception:  # noqa: BLE001
    read_by_ollama = ("http_proxy", "https_proxy", "all_proxy", "ollama_host", "ssl_cert_file", "ssl_cert_dir")
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower() in read_by_ollama}
    try:
        import ollama  # noqa: F401
    finally:
        os.environ.update(hidden)

from mojentic.llm.gateways.models import LLMGatewayResponse  # noqa: E402  after the handler
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery  # noqa: E402
from mojentic.llm.recovery import LifecycleEvent, RecoveryCall, RecoveryPolicy, parse_retry_after  # noqa: E402
from mojentic.llm.recovery_stream import recover_stream  # noqa: E402

if TYPE_CHECKING:
    from zkchat_cli.llm.remote_model import RemoteModel

CONNECT_SECONDS = 10.0
MAX_ATTEMPTS = 3
MAX_DELAY = 120.0
"""If a server asks to wait longer, the call fails and the user decides."""
PASSING = frozenset({"server", "rate_limit", "cut"})
"""Kinds of errors after which another attempt may succeed."""


class _Engine(OpenAIStreamRecovery):  # type: ignore[misc]  # mojentic is untyped
    """mojentic's engine, with attempts of our own."""

    def __init__(self, model: "RemoteModel", client: httpx.AsyncClient, emit: Emit, *args: Any) -> None:
        super().__init__(*args)
        self._model, self._client, self._emit = model, client, emit

    async def exchange_stream(self, client: httpx.AsyncClient, url: str, body: bytes, headers: Any, attempt: Any, decode: Any) -> Any:  # noqa: ARG002
        """One attempt. Raises RemoteProtocolError if there is to be another, and ProviderError if not."""
        server = self._model.server
        attempt.sent, reader = True, self._model.reader(server)
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                check_response(response, server)
                if not response.is_success:
                    raise await self._error(response, attempt)
                await self._read(response, reader)
            for delta in reader.end():
                self._emit(delta)
            return LLMGatewayResponse()
        except httpx.ConnectTimeout as e:
            raise server.error("timeout", "did not accept the connection in time", server.check) from e
        except (httpx.ConnectError, httpx.ProxyError) as e:
            raise server.unreachable(e) from e
        except (ProviderError, httpx.TransportError) as e:
            error = e if isinstance(e, ProviderError) else server.cut_off(e, started=reader.started)
            if reader.started or error.kind not in PASSING:
                raise error from e
            raise httpx.RemoteProtocolError(error.message) from error

    async def _error(self, response: httpx.Response, attempt: Any) -> ProviderError:
        attempt.status = response.status_code
        attempt.retry_after = parse_retry_after(response.headers.get("retry-after"), self.policy.wall())
        said = bytearray()
        async for piece in response.aiter_raw():
            said += piece
            if len(said) >= MAX_BODY:
                break
        delay = bounded_seconds(attempt.retry_after.delay, MAX_RETRY_AFTER)
        error = self._model.server.error_from_response(attempt.status, bytes(said[:MAX_BODY]), delay)
        better = self._model.check() if error.kind == "unknown_model" else None  # names the models that the server has
        return better if better is not None and better.kind == "unknown_model" else error

    async def _read(self, response: httpx.Response, reader: ChatReader) -> None:
        """Emit what comes until the last event, or until the server leaves after its finish reason.

        The last line may have no end. Indented JSON, of a server that does not stream, is one line. Raises ProviderError for a line that is
        too long.
        """
        is_json, pending = response.headers.get("content-type", "").startswith("application/json"), bytearray()

        def emit(line: bytes) -> None:
            for delta in reader.read_line(line):
                self._emit(delta)

        try:
            async for received in response.aiter_raw():
                pending += received
                if b"\n" in received and not (is_json and pending.startswith((b"{\n", b"{\r\n"))):
                    *lines, rest = bytes(pending).split(b"\n")
                    pending = bytearray(rest)
                    for line in lines:
                        check_document(line, reader.endpoint, MAX_LINE)
                        emit(line + b"\n")
                        if reader.ended:
                            return
                check_document(pending, reader.endpoint, MAX_LINE)
            emit(bytes(pending))
        except httpx.TransportError:
            if not reader.finish:
                raise


async def stream_chat(model: "RemoteModel", body: dict[str, Any], emit: Emit) -> None:
    """Emit the deltas of an answer. Raises the ProviderError with which it ends."""

    def observe(event: LifecycleEvent) -> None:
        if event.transition == "delay_scheduled" and event.failure is not None:
            said = {None: "closed the connection", 429: "accepts no more calls for now (429)"}
            status = event.failure.http_status
            emit(Waiting(event.delay or 0.0, f"{model.server.name} {said.get(status) or f'failed ({status})'}"))

    policy = RecoveryPolicy(
        max_attempts=MAX_ATTEMPTS, base_delay=model.first_delay, delay_ceiling=MAX_DELAY, jitter=lambda ceiling: ceiling, observer=observe
    )
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)  # stream_in_thread has the other timeouts
    async with open_client(model.server, httpx.AsyncClient, timeout=timeout) as client:
        events = recover_stream(
            model.server.address.rstrip("/") + model.path,
            json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
            {"Content-Type": "application/json", **UNCOMPRESSED, **model.server.headers},
            timeout,
            None,
            policy,
            RecoveryCall(),
            _engine_type=partial(_Engine, model, client, emit),
        )
        async with aclosing(events) as stream:
            async for event in stream:
                if event.kind == "failed":
                    cause = event.error.inspect_cause()
                    raise cause.__cause__ or cause
