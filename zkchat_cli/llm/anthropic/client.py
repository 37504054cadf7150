"""Calls of Anthropic's Messages API through the anthropic SDK: exchange, retries before the first word, errors, deltas.

Importing this file imports the SDK, which takes half a second. The retries are ours because the SDK's have no countdown. mojentic is not
used: its AnthropicGateway has neither streaming nor tools.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from functools import cached_property
from typing import Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.anthropic.request import PROVIDER_NAME
from zkchat_cli.llm.base import ReasoningPart, RetryDelay, StreamFinished, TextPart, ThinkingPart, ToolCallsPart, parse_tool_call
from zkchat_cli.llm.http_errors import Endpoint, find_error, parse_retry_after
from zkchat_cli.llm.remote_model import CONNECT_SECONDS, FIRST_DELAY, MAX_ATTEMPTS, MAX_DELAY, silence_libraries
from zkchat_cli.llm.threaded_stream import HEARTBEAT, Emit
from zkchat_cli.models import ThinkingBlocks, TokenUsage

silence_libraries()

import httpx2  # noqa: E402  after silence_libraries
from anthropic import NOT_GIVEN, APIConnectionError, APIStatusError, AsyncAnthropic, AsyncStream, Omit  # noqa: E402
from anthropic.lib.streaming import AsyncMessageStream  # noqa: E402
from anthropic.types import MessageDeltaUsage, ParsedMessage, RawMessageStreamEvent  # noqa: E402

NO_KEY = "none"
"""Without a key the SDK would look for one in other places; this one is not sent."""
RETRY_STATUSES = frozenset({429, 500, 502, 503, 504, 529})
ERROR_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Status for errors that come as an event, after the server answered 200."""
LENGTH_REASONS = ("max_tokens", "model_context_window_exceeded")
_EVENTS = ("message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop")


class _Events:
    """The SDK's raw events as its AsyncMessageStream accepts them.

    It raises for tool arguments that are not JSON, so those are kept here; for unknown events; and for a `message_delta` without usage.
    """

    def __init__(self, raw: AsyncStream[RawMessageStreamEvent]) -> None:
        self._raw = raw
        self.has_events = False
        self.arguments: dict[int, str] = {}
        self.usage: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    async def __aiter__(self) -> AsyncIterator[RawMessageStreamEvent]:
        async for event in self._raw:
            self.has_events = True
            if event.type not in _EVENTS:
                continue
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                self.arguments[event.index] = self.arguments.get(event.index, "") + event.delta.partial_json
                continue
            for part in (getattr(event, "content_block", None), getattr(event, "delta", None)):
                _check_texts(part)
            if event.type == "message_start":
                self._count(event.message.usage)
            elif event.type == "message_delta":
                self._count(event.usage)
                event.usage = event.usage or MessageDeltaUsage.construct()
            yield event

    def _count(self, usage: Any) -> None:
        """Figures come at the start and, as totals, at the end; a server may leave out either, or report 0."""
        for name, value in (usage.to_dict() if usage else {}).items():
            if isinstance(value, int):
                self.usage[name] = max(value, self.usage.get(name, 0))


def _check_texts(part: object) -> None:
    """The SDK does not check types: a number would fail wherever the text is shown."""
    for text in (getattr(part, "text", None), getattr(part, "thinking", None)):
        if text is not None and not isinstance(text, str):
            raise TypeError(text)


class AnthropicStreamReader:
    """One answer: `read` its events, then `finish`."""

    def __init__(self, emit: Emit, endpoint: Endpoint) -> None:
        self._emit, self._endpoint = emit, endpoint
        self._events: _Events | None = None
        self._message: ParsedMessage[None] | None = None
        self._stop_reason: str | None = None
        self._explanation = ""
        self.started = False
        """Whether any text was shown: then the call is not made again."""
        self._ended = False

    @property
    def has_events(self) -> bool:
        return self._events is not None and self._events.has_events

    @property
    def is_complete(self) -> bool:
        """Some imitations leave out the last event, none the stop reason."""
        return self._ended or self._stop_reason is not None

    async def read(self, raw: AsyncStream[RawMessageStreamEvent]) -> None:
        """Emit text and reasoning as they arrive. Raises TypeError, AttributeError and the like for events of another form."""
        self._events = events = _Events(raw)
        stream: AsyncMessageStream[None] = AsyncMessageStream(events, NOT_GIVEN)  # type: ignore[arg-type]  # it only iterates
        async for event in stream:
            match event.type:
                case "message_start":
                    self._message = stream.current_message_snapshot
                case "content_block_start" if event.content_block.type == "text":
                    self._show(TextPart, event.content_block.text)
                case "content_block_start" if event.content_block.type == "thinking":
                    self._show(ReasoningPart, event.content_block.thinking)
                case "content_block_delta" if event.delta.type == "text_delta":
                    self._show(TextPart, event.delta.text)
                case "content_block_delta" if event.delta.type == "thinking_delta":
                    self._show(ReasoningPart, event.delta.thinking)
                case "message_delta":
                    self._stop_reason = event.delta.stop_reason or self._stop_reason
                    details: Any = event.delta.stop_details
                    self._explanation = (details.explanation if details else None) or ""
                case "message_stop":
                    self._ended = True
                    return

    def _show(self, part: type[TextPart | ReasoningPart], text: str | None) -> None:
        if text:
            self.started = True
            self._emit(part(text))

    def finish(self) -> None:
        """Emit the calls and the end. Raises ProviderError if the model refused to continue."""
        if self._stop_reason == "refusal":
            raise self._endpoint.content_filtered(self._endpoint.redact(self._explanation))
        if self._stop_reason in LENGTH_REASONS:  # a call that was being written may be incomplete
            self._emit(StreamFinished("length", self._usage()))
            return
        arguments = self._events.arguments if self._events else {}
        blocks = [block.to_dict() for block in self._message.content] if self._message else []
        calls = tuple(
            parse_tool_call(str(block.get("id") or ""), str(block.get("name") or "unnamed"), arguments.get(i, ""))
            for i, block in enumerate(blocks)
            if block["type"] == "tool_use"
        )
        thinking = tuple(block for block in blocks if block["type"] in ("thinking", "redacted_thinking"))
        if calls and thinking:
            self._emit(ThinkingPart(ThinkingBlocks(provider=PROVIDER_NAME, blocks=thinking)))
        if calls:
            self._emit(ToolCallsPart(calls))
        self._emit(StreamFinished("tool_calls" if calls else "stop", self._usage()))

    def _usage(self) -> TokenUsage | None:
        """What the call cost. Anthropic does not count tokens in its cache as input."""
        usage = self._events.usage if self._events else {}
        cached = usage.get("cache_read_input_tokens")
        prompt = usage.get("input_tokens", 0) + (cached or 0) + usage.get("cache_creation_input_tokens", 0)
        if prompt <= 0:
            return None
        return TokenUsage(prompt_tokens=prompt, completion_tokens=usage.get("output_tokens", 0), estimated=False, cached_tokens=cached)


class _AttemptFailed(Exception):
    """An attempt failed with an error. `retry`: another attempt may succeed, after `delay` seconds if the server names them."""

    def __init__(self, error: ProviderError, *, retry: bool = False, status: int | None = None, delay: float | None = None) -> None:
        super().__init__()
        self.error, self.retry, self.status, self.delay = error, retry, status, delay


class _Body(httpx2.AsyncByteStream):
    """A response body. Each piece is a heartbeat, and the beginning is kept to tell what the body was if it had no events."""

    def __init__(self, body: httpx2.AsyncByteStream, emit: Emit) -> None:
        self._body, self._emit = body, emit
        self.beginning = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._body:
            if len(self.beginning) < 200:
                self.beginning += piece
            self._emit(HEARTBEAT)
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


class MessagesClient:
    """One server. Its key may be empty. `official`: it is Anthropic itself."""

    def __init__(self, endpoint: Endpoint, *, official: bool) -> None:
        self._endpoint = endpoint
        self._official = official

    async def stream(
        self, body: dict[str, Any], emit: Emit, list_models: Callable[[], tuple[str, ...]], first_delay: float = FIRST_DELAY
    ) -> None:
        """Emit the deltas of an answer. Raises the ProviderError with which it ends."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            reader = AnthropicStreamReader(emit, self._endpoint)
            try:
                await self._exchange(body, reader, emit, list_models)
                reader.finish()
                return
            except _AttemptFailed as failure:
                delay = first_delay * 2 ** (attempt - 1) if failure.delay is None else failure.delay
                if reader.started or attempt == MAX_ATTEMPTS or not failure.retry or delay > MAX_DELAY:
                    raise failure.error from None
                emit(RetryDelay(delay, self._endpoint.retry_reason(failure.status)))
            await asyncio.sleep(delay)

    async def _exchange(
        self, body: dict[str, Any], reader: AnthropicStreamReader, emit: Emit, list_models: Callable[[], tuple[str, ...]]
    ) -> None:
        """One attempt. Raises _AttemptFailed, and ProviderError for an answer that cannot be read."""
        endpoint = self._endpoint
        received: list[_Body] = []

        async def watch(response: httpx2.Response) -> None:
            if response.is_success:
                assert isinstance(response.stream, httpx2.AsyncByteStream)
                received.append(_Body(response.stream, emit))
                response.stream = received[0]

        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)  # stream_in_thread has the other timeouts
        hooks = {"response": [watch]}
        required = ("model", "max_tokens", "messages")
        rest = {name: value for name, value in body.items() if name not in (*required, "stream")}
        try:
            # no proxy between this machine and itself; a redirect would send the key elsewhere
            async with (
                httpx2.AsyncClient(
                    verify=self._tls, timeout=timeout, trust_env=not endpoint.is_local, follow_redirects=False, event_hooks=hooks
                ) as http,
                AsyncAnthropic(
                    api_key=endpoint.key or NO_KEY, base_url=endpoint.address, max_retries=0, http_client=http, open_telemetry=False
                ) as client,
                await client.messages.create(
                    **{name: body[name] for name in required},
                    stream=True,
                    timeout=timeout,
                    extra_headers=self._headers(),
                    extra_body=rest,  # unchecked: the SDK no longer knows a temperature, and warns of what older models need
                ) as events,
            ):
                await reader.read(events)
        except APIStatusError as e:
            status = e.status_code
            text = e.response.text if status != 200 else json.dumps(e.body)
            if status == 200:  # an error as an event
                error = find_error(e.body)
                status = ERROR_STATUSES.get(str(error.get("type")), 500) if isinstance(error, dict) else 500
            delay = parse_retry_after(e.response.headers.get("retry-after"))
            models = list_models() if status == 404 else ()
            raise _AttemptFailed(
                endpoint.error_from_response(status, text, model=body["model"], models=models, retry_after=delay),
                retry=status in RETRY_STATUSES and e.response.headers.get("x-should-retry") != "false",
                status=status,
                delay=delay,
            ) from e
        except APIConnectionError as e:
            raise self._connection_failure(e.__cause__ or e) from e
        except httpx2.InvalidURL as e:
            raise self._connection_failure(e) from e
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as e:
            raise endpoint.garbled_answer() if reader.started else endpoint.not_an_answer(received[0].beginning if received else "") from e
        except httpx2.TransportError as e:
            if not reader.is_complete:
                raise _AttemptFailed(endpoint.cut_off(e, started=reader.started), retry=True) from e
        if not reader.has_events and received and received[0].beginning.strip():
            raise endpoint.not_an_answer(received[0].beginning)
        if not reader.is_complete:
            raise _AttemptFailed(endpoint.cut_off("it ended without a final event", started=reader.started), retry=True)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made once: reading all certificates takes 20 ms, which no message should pay."""
        return httpx2.create_ssl_context()

    def _headers(self) -> dict[str, str | Omit]:
        """The SDK sends the key as a bearer token; servers that imitate an older API look for it in x-api-key."""
        if not self._endpoint.key:
            return {"Authorization": Omit()}
        return {} if self._official else {"x-api-key": self._endpoint.key}

    def _connection_failure(self, cause: BaseException) -> _AttemptFailed:
        """A call without a response; it is made again only if it may have reached the server."""
        endpoint = self._endpoint
        if isinstance(cause, httpx2.TimeoutException):
            return _AttemptFailed(endpoint.connect_timeout())
        if isinstance(cause, httpx2.InvalidURL | httpx2.UnsupportedProtocol | ValueError):
            return _AttemptFailed(endpoint.invalid_address())
        if isinstance(cause, httpx2.ConnectError | httpx2.ProxyError):
            return _AttemptFailed(endpoint.unreachable(cause))
        return _AttemptFailed(endpoint.cut_off(cause, started=False), retry=isinstance(cause, httpx2.TransportError))
