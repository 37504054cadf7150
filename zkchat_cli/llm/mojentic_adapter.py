"""mojentic's stream with recovery, for OpenAI-compatible servers and Ollama. Importing this file imports mojentic, which takes a second.

mojentic makes the HTTP call, retries it before the first word, and accepts an answer only with its final event; zkchat owns the tool loop.
mojentic reads exactly OpenAI's own format and rejects an answer for any deviation, and most servers deviate. So each response body passes
a `ChatReader` first, which understands one family of servers and hands on regular chunks.

This is the only file that depends on something mojentic does not document: `recover_stream` takes the class of its engine as
`_engine_type`, and the engine makes each attempt in `exchange_stream`. pyproject.toml pins the version with which that was tested.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ReasoningPart, RetryDelay, StreamFinished, TextPart, ThinkingPart, ToolCallsPart, parse_tool_call
from zkchat_cli.llm.chat_reader import ChatReader, IncompleteAnswer, finish_reason
from zkchat_cli.llm.http_errors import Endpoint, is_permanent
from zkchat_cli.llm.remote_model import CONNECT_SECONDS, FIRST_DELAY, MAX_ATTEMPTS, MAX_DELAY, silence_libraries
from zkchat_cli.llm.threaded_stream import HEARTBEAT, Emit
from zkchat_cli.models import TokenUsage

silence_libraries()

from mojentic.llm.gateways.cloud_recovery import freeze_request  # noqa: E402  after silence_libraries
from mojentic.llm.gateways.omlx_recovery import decode_completion  # noqa: E402
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery  # noqa: E402
from mojentic.llm.recovery import AdmissionContext, LifecycleEvent, RecoveryCall, RecoveryError, RecoveryPolicy  # noqa: E402
from mojentic.llm.recovery_stream import recover_stream  # noqa: E402


class _ObservedBody(httpx.AsyncByteStream):
    """A response body as its reader hands it on."""

    def __init__(self, body: httpx.AsyncByteStream, reader: ChatReader) -> None:
        self._body, self._reader = body, reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pending = b""
        try:
            async for received in self._body:
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    if chunk := self._reader.read_line(line):
                        yield chunk
        except httpx.TransportError:
            if self._reader.finish is None:
                raise
        try:
            for chunk in self._reader.end(pending):
                yield chunk
        except IncompleteAnswer as e:
            raise httpx.RemoteProtocolError(str(e)) from None

    async def aclose(self) -> None:
        await self._body.aclose()


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    return httpx.create_ssl_context()


class _Engine(OpenAIStreamRecovery):  # type: ignore[misc]  # mojentic is untyped
    """mojentic's engine with a client that uses the environment's proxies and a reader for each response."""

    def __init__(self, call: "ChatCall", *args: Any) -> None:
        super().__init__(*args)
        self._chat = call

    async def exchange_stream(self, client: httpx.AsyncClient, url: str, body: bytes, headers: Any, attempt: Any, decode: Any) -> Any:
        async def read(response: httpx.Response) -> None:
            if response.is_success:
                self._chat.last_reader = self._chat.reader(self._chat.endpoint)
                assert isinstance(response.stream, httpx.AsyncByteStream)
                response.stream = _ObservedBody(response.stream, self._chat.last_reader)

        proxied = not self._chat.endpoint.is_local
        hooks = {"response": [read]}
        async with httpx.AsyncClient(verify=_tls(), timeout=client.timeout, trust_env=proxied, event_hooks=hooks) as own:
            return await super().exchange_stream(own, url, body, headers, attempt, decode)


@dataclass
class ChatCall:
    """One call: where it goes, what it sends, and how its answer is read."""

    endpoint: Endpoint
    path: str
    body: dict[str, Any]
    reader: Callable[[Endpoint], ChatReader]
    headers: Mapping[str, str]
    list_models: Callable[[], tuple[str, ...]]
    """The server's models, asked for when it does not know the one in the body."""
    first_delay: float = FIRST_DELAY
    last_reader: ChatReader | None = None


async def stream_chat(call: ChatCall, emit: Emit) -> None:
    """Emit the deltas of an answer. Raises the ProviderError with which it ends."""
    endpoint = call.endpoint
    try:
        body = freeze_request(call.body)
    except (ValueError, TypeError) as e:  # a number that JSON does not have
        problem = f"cannot be sent this request: {e}"
        raise endpoint.error("bad_request", problem, "Remove llm.* settings that this model does not support.") from e
    events = recover_stream(
        endpoint.address.rstrip("/") + call.path,
        body,
        {"Content-Type": "application/json", "Accept-Encoding": "identity", **call.headers},
        httpx.Timeout(None, connect=CONNECT_SECONDS),  # stream_in_thread has the other timeouts
        decode_completion,
        _policy(endpoint, emit, call.first_delay),
        RecoveryCall(),
        _engine_type=partial(_Engine, call),
    )
    async with aclosing(events) as stream:
        async for event in stream:
            match event.kind:
                case "content":
                    emit(TextPart(event.text))
                case "reasoning":
                    emit(ReasoningPart(event.text))
                case "progress" if not (event.frame_progress.content_bytes or event.frame_progress.reasoning_bytes):
                    emit(HEARTBEAT)
                case "completed" if call.last_reader is not None:
                    _complete(event.response.tool_calls, event.metrics.usage, call.last_reader, emit)
                case "failed":
                    if error := _error(event.error, call):
                        raise error


def _complete(tool_calls: list[Any], usage: dict[str, Any] | None, reader: ChatReader, emit: Emit) -> None:
    reason = finish_reason(reader.finish)
    calls = tuple(parse_tool_call(call.id, call.name, call.arguments["text"]) for call in tool_calls)
    if thinking := reader.thinking():
        emit(ThinkingPart(thinking))
    if reason == "length" and calls and calls[-1].malformed is not None:  # the length limit cut this call off
        calls = calls[:-1]
    if calls:
        emit(ToolCallsPart(calls))
    emit(StreamFinished("tool_calls" if calls else reason, _token_usage(usage)))


def _token_usage(usage: dict[str, Any] | None) -> TokenUsage | None:
    if not usage or not usage.get("prompt_tokens"):
        return None
    return TokenUsage(
        prompt_tokens=usage["prompt_tokens"],
        completion_tokens=usage.get("completion_tokens", 0),
        estimated=False,
        cached_tokens=usage.get("cached_tokens"),
    )


def _policy(endpoint: Endpoint, emit: Emit, first_delay: float) -> RecoveryPolicy:
    """Three attempts for a server that fails or asks to wait, one for a server that cannot be reached, none after the first word."""

    def observe(event: LifecycleEvent) -> None:
        if event.transition == "delay_scheduled" and event.failure is not None:
            emit(RetryDelay(event.delay or 0.0, endpoint.retry_reason(event.failure.http_status)))

    async def admit(context: AdmissionContext) -> str:
        failure = context.failure
        return "reject" if failure.acceptance == "no" or is_permanent(failure.inspect_response()) else "allow"

    return RecoveryPolicy(
        max_attempts=MAX_ATTEMPTS,
        base_delay=first_delay,
        delay_ceiling=MAX_DELAY,
        retryable_categories=frozenset({"http", "transport"}),
        jitter=lambda ceiling: ceiling,
        admission=admit,
        observer=observe,
    )


def _error(error: RecoveryError, call: ChatCall) -> ProviderError | None:
    """The error with which the last attempt ended; None if it was cancelled."""
    failure, cause, endpoint = error.report.final_failure, error.inspect_cause(), call.endpoint
    if failure is None or failure.category == "cancellation":
        return None
    status = failure.http_status
    if status is not None and not 200 <= status < 300:
        models = call.list_models() if status == 404 else ()
        body, delay = error.inspect_response(), failure.retry_after.delay
        return endpoint.error_from_response(status, body, model=call.body["model"], models=models, retry_after=delay)
    if isinstance(cause, httpx.TimeoutException):
        return endpoint.connect_timeout()
    return endpoint.unreachable(cause) if failure.acceptance == "no" else endpoint.cut_off(cause, started=failure.progress.semantic)
