"""mojentic's stream with recovery, for all model servers. Importing this file imports mojentic, which takes a second.

mojentic makes the HTTP call, retries it before the first word, and accepts an answer only with its final event; zkchat owns the tool loop.
mojentic reads exactly OpenAI's own format and rejects an answer for any deviation. So each response body passes a `ChatReader` first,
which understands one protocol and hands on regular chunks.

This is the only file that depends on something mojentic does not document: `recover_stream` takes the class of its engine as
`_engine_type`, and the engine makes each attempt in `exchange_stream`. pyproject.toml pins the version with which that was tested.
"""

import logging
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ReasoningPart, RetryDelay, TextPart
from zkchat_cli.llm.chat_reader import ChatReader, IncompleteAnswer
from zkchat_cli.llm.http_errors import MAX_RETRY_AFTER, is_permanent
from zkchat_cli.llm.response_limits import UNCOMPRESSED, check_response, limited_body, limited_lines
from zkchat_cli.llm.threaded_stream import Emit, HiddenPart
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

from mojentic.llm.gateways.cloud_recovery import freeze_request  # noqa: E402  after the handler
from mojentic.llm.gateways.omlx_recovery import decode_completion  # noqa: E402
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery  # noqa: E402
from mojentic.llm.recovery import AdmissionContext, LifecycleEvent, RecoveryCall, RecoveryError, RecoveryPolicy  # noqa: E402
from mojentic.llm.recovery_stream import recover_stream  # noqa: E402

if TYPE_CHECKING:
    from zkchat_cli.llm.remote_model import RemoteModel

CONNECT_SECONDS = 10.0
MAX_ATTEMPTS = 3
MAX_DELAY = 120.0
"""If a server asks to wait longer, the call fails and the user decides."""
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})


class _Body(httpx.AsyncByteStream):
    """A response body with other contents."""

    def __init__(self, body: httpx.AsyncByteStream, pieces: AsyncIterator[bytes]) -> None:
        self._body, self._pieces = body, pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        await self._body.aclose()


async def _read_body(body: httpx.AsyncByteStream, reader: ChatReader, attempt: Any, emit: Emit) -> AsyncIterator[bytes]:
    """The chunks that a reader makes of a response body. Raises RemoteProtocolError where mojentic is to try again."""
    rest = b""
    try:
        try:
            async for line in limited_lines(body, reader.endpoint):
                if not line.endswith(b"\n"):
                    rest = line
                    break
                hidden = reader.hidden_bytes
                chunk = reader.read_line(line[:-1])
                if reader.hidden_bytes > hidden:
                    emit(HiddenPart(reader.hidden_bytes - hidden))
                if chunk:
                    attempt.raw = b""  # mojentic keeps all that it has read, and copies it for each chunk
                    yield chunk
        except httpx.TransportError:
            if not reader.finish:
                raise
        yield reader.end(rest)
    except IncompleteAnswer as e:
        raise httpx.RemoteProtocolError(str(e)) from None
    except ProviderError as e:
        if reader.started or e.kind not in ("server", "rate_limit"):
            raise
        raise httpx.RemoteProtocolError(e.message) from e


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    return httpx.create_ssl_context()


class _Engine(OpenAIStreamRecovery):  # type: ignore[misc]  # mojentic is untyped
    """mojentic's engine, with a client that uses the environment's proxies, and a reader for each response."""

    def __init__(self, readers: list[ChatReader], model: "RemoteModel", emit: Emit, *args: Any) -> None:
        super().__init__(*args)
        self._readers, self._model, self._emit = readers, model, emit

    async def exchange_stream(self, client: httpx.AsyncClient, url: str, body: bytes, headers: Any, attempt: Any, decode: Any) -> Any:
        async def read(response: httpx.Response) -> None:
            check_response(response, server)
            body = response.stream
            assert isinstance(body, httpx.AsyncByteStream)
            if not response.is_success:
                response.stream = _Body(body, limited_body(body))
                return
            self._readers.append(self._model.reader(server))
            response.stream = _Body(body, _read_body(body, self._readers[-1], attempt, self._emit))

        server, hooks = self._model.server, {"response": [read]}
        with server.map_environment_errors():
            own = httpx.AsyncClient(verify=_tls(), timeout=client.timeout, trust_env=not server.is_local, event_hooks=hooks)
        async with own:
            return await super().exchange_stream(own, url, body, headers, attempt, decode)


async def stream_chat(model: "RemoteModel", body: dict[str, Any], emit: Emit) -> None:
    """Emit the deltas of an answer. Raises the ProviderError with which it ends."""
    with model.server.map_environment_errors():
        _tls()  # mojentic reads the certificates, too, and explains nothing
    readers: list[ChatReader] = []
    events = recover_stream(
        model.server.address.rstrip("/") + model.path,
        freeze_request(body),
        {"Content-Type": "application/json", **UNCOMPRESSED, **model.server.headers},
        httpx.Timeout(None, connect=CONNECT_SECONDS),  # stream_in_thread has the other timeouts
        decode_completion,
        _policy(model, emit),
        RecoveryCall(),
        _engine_type=partial(_Engine, readers, model, emit),
    )
    async with aclosing(events) as stream:
        async for event in stream:
            match event.kind:
                case "content":
                    emit(TextPart(event.text))
                case "reasoning":
                    emit(ReasoningPart(event.text))
                case "completed":
                    readers[-1].complete(emit)
                case "failed":
                    if error := _error(event.error, model):
                        raise error


def _policy(model: "RemoteModel", emit: Emit) -> RecoveryPolicy:
    """Three attempts for a server that fails or asks to wait, one for a server that cannot be reached, none after the first word."""

    def observe(event: LifecycleEvent) -> None:
        if event.transition == "delay_scheduled" and event.failure is not None:
            emit(RetryDelay(event.delay or 0.0, model.server.retry_reason(event.failure.http_status)))

    async def admit(context: AdmissionContext) -> str:
        failure = context.failure
        return "reject" if failure.acceptance == "no" or is_permanent(failure.inspect_response()) else "allow"

    return RecoveryPolicy(
        max_attempts=MAX_ATTEMPTS,
        base_delay=model.first_delay,
        delay_ceiling=MAX_DELAY,
        retryable_statuses=RETRY_STATUSES,
        retryable_categories=frozenset({"http", "transport"}),
        jitter=lambda ceiling: ceiling,
        admission=admit,
        observer=observe,
    )


def _error(error: RecoveryError, model: "RemoteModel") -> ProviderError | None:
    """The error with which the last attempt ended; None if it was cancelled."""
    failure, cause, server = error.report.final_failure, error.inspect_cause(), model.server
    if failure is None or failure.category == "cancellation":
        return None
    status = failure.http_status
    if status is not None and not 200 <= status < 300:
        models = model.model_names() if status == 404 else ()
        body, delay = error.inspect_response(), bounded_seconds(failure.retry_after.delay, MAX_RETRY_AFTER)
        return server.error_from_response(status, body, model=model.model, models=models, retry_after=delay)
    if isinstance(cause.__cause__, ProviderError):
        return cause.__cause__
    if isinstance(cause, httpx.TimeoutException):
        return server.connect_timeout()
    return server.unreachable(cause) if failure.acceptance == "no" else server.cut_off(cause, started=failure.progress.semantic)
