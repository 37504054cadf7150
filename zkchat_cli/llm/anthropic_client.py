"""Calls of Anthropic's Messages API through Anthropic's SDK, which puts a message together from the events of its stream.

Importing this file imports the SDK, which takes half a second. Two things are ours: the retries, because the SDK's have no countdown, and
the arguments of tool calls, because the SDK parses them anew with each piece and gives the whole answer up if they are not JSON.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import httpx2

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.anthropic_chat import PROVIDER_NAME
from zkchat_cli.llm.base import ReasoningPart, RetryDelay, TextPart
from zkchat_cli.llm.chat_reader import UNREADABLE, ModelAnswer, PartialToolCall, text_of
from zkchat_cli.llm.http_errors import Endpoint, is_permanent, parse_retry_after
from zkchat_cli.llm.response_limits import MAX_LINE, PLAIN, limited_body, limited_lines, refuse_compression
from zkchat_cli.llm.threaded_stream import Emit, HiddenPart
from zkchat_cli.models import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

logging.captureWarnings(True)  # the SDK warns of models that will be retired

from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic, AsyncStream, Omit, not_given, omit  # noqa: E402  after captureWarnings
from anthropic.lib.streaming import AsyncMessageStream  # noqa: E402
from anthropic.types import MessageDeltaUsage, RawMessageStreamEvent  # noqa: E402

from zkchat_cli.llm.remote_model import CONNECT_SECONDS, MAX_ATTEMPTS, MAX_DELAY, RETRY_STATUSES, RemoteModel  # noqa: E402

NO_KEY = "none"
"""Without a key the SDK would look for one elsewhere; this one is not sent."""
MAX_BLOCKS = 1000
"""Texts and thoughts of an answer; empty ones count neither as progress nor as length."""
_DELTAS = ("text_delta", "thinking_delta", "signature_delta")
MAX_BEGINNING = 200
"""Bytes of a response to keep, to recognize a web page."""


class _Events:
    """The SDK's events as its AsyncMessageStream accepts them, without the arguments of tool calls and without what zkchat does not use."""

    def __init__(self, raw: AsyncStream[RawMessageStreamEvent], emit: Emit) -> None:
        self._raw, self._emit = raw, emit
        self.arguments: dict[int, str] = {}

    async def __aiter__(self) -> AsyncIterator[RawMessageStreamEvent]:
        async for event in self._raw:
            if event.type == "content_block_delta" and event.delta.type not in _DELTAS:
                if event.delta.type == "input_json_delta" and event.delta.partial_json:
                    self.arguments[event.index] = self.arguments.get(event.index, "") + event.delta.partial_json
                    self._emit(HiddenPart(len(event.delta.partial_json)))
                continue
            if event.type == "message_delta":
                event.usage = event.usage or MessageDeltaUsage.construct()
            yield event


class AnthropicAnswer(ModelAnswer):
    """One answer. `blocks` are those of the SDK's message: text, thinking and calls."""

    def __init__(self, endpoint: Endpoint, emit: Emit) -> None:
        super().__init__(endpoint)
        self._emit = emit
        self.blocks: list[dict[str, Any]] = []
        self.has_events = False
        self.started = False
        """Whether any text was shown: then the call is not made again."""

    async def read(self, raw: AsyncStream[RawMessageStreamEvent]) -> None:
        """Emit text and reasoning as they arrive. Raises TypeError, AttributeError and the like for events of another form."""
        events = _Events(raw, self._emit)
        stream: AsyncMessageStream[None] = AsyncMessageStream(events, not_given)  # type: ignore[arg-type]  # it only iterates
        async for event in stream:
            self.has_events = True
            match event.type:
                case "message_start":
                    self._count_tokens(event.message.usage)
                case "content_block_start" if event.content_block.type not in ("text", "thinking"):
                    self._emit(HiddenPart(len(event.content_block.to_json())))
                case "content_block_start":
                    if len(stream.current_message_snapshot.content) > MAX_BLOCKS:
                        raise ValueError("too many blocks")
                    self._show(getattr(event.content_block, "text", None), getattr(event.content_block, "thinking", None))
                case "text":
                    self._show(event.text, None)
                case "thinking":
                    self._show(None, event.thinking)
                case "message_delta":
                    reason = text_of(event.delta.stop_reason)
                    self.finish = "content_filter" if reason == "refusal" else reason or self.finish
                    self._count_tokens(event.usage)
                    self._keep(stream, events)
                case "message_stop":
                    self.finish = self.finish or "stop"
                    self._keep(stream, events)
                    return

    def _show(self, text: object, reasoning: object) -> None:
        for part in (TextPart(text_of(text)), ReasoningPart(text_of(reasoning))):
            if part.text:
                self.started = True
                self._emit(part)

    def _keep(self, stream: AsyncMessageStream[None], events: _Events) -> None:
        self.blocks = [block.to_dict() for block in stream.current_message_snapshot.content]
        self.calls = [
            PartialToolCall(text_of(block.get("id")), text_of(block.get("name")), events.arguments.get(i, ""))
            for i, block in enumerate(self.blocks)
            if block["type"] == "tool_use"
        ]

    def _count_tokens(self, usage: Any) -> None:
        """Figures come at the start and, as totals, at the end. Anthropic does not count tokens in its cache as input."""
        counts = usage.to_dict() if usage else {}
        cached, *others = (whole_number(counts.get(f"{name}input_tokens")) for name in ("cache_read_", "", "cache_creation_"))
        prompt = sum(count or 0 for count in (cached, *others))
        self.count(prompt_tokens=prompt, completion_tokens=counts.get("output_tokens"), cached_tokens=cached)

    def thinking(self) -> ThinkingBlocks | None:
        blocks = tuple(block for block in self.blocks if block["type"] in ("thinking", "redacted_thinking"))
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=blocks) if self.calls and blocks else None


class _Body(httpx2.AsyncByteStream):
    """A response body of limited size, with its beginning, which tells what it was if it had no events."""

    def __init__(self, body: httpx2.AsyncByteStream, endpoint: Endpoint, *, is_success: bool) -> None:
        self._body, self._endpoint, self._is_success = body, endpoint, is_success
        self.beginning = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if not self._is_success:
            async for piece in limited_body(self._body):
                yield piece
            return
        event_bytes = 0
        async for line in limited_lines(self._body, self._endpoint):
            event_bytes = event_bytes + len(line) if line.strip() else 0
            if event_bytes > MAX_LINE:  # the SDK keeps the lines of an event
                raise self._endpoint.refused_answer("sent an event that does not end")
            self.beginning += line[: MAX_BEGINNING - len(self.beginning)]
            yield line

    async def aclose(self) -> None:
        await self._body.aclose()


class _AttemptFailed(Exception):
    """An attempt failed with an error. `retry`: another may succeed, after `delay` seconds if the server names them."""

    def __init__(self, error: ProviderError, *, retry: bool = False, status: int | None = None, delay: float | None = None) -> None:
        super().__init__()
        self.error, self.retry, self.status, self.delay = error, retry, status, delay


async def stream_message(model: RemoteModel, body: dict[str, Any], emit: Emit) -> None:
    """Emit the deltas of an answer. Raises the ProviderError with which it ends."""
    for attempt in range(MAX_ATTEMPTS):
        answer = AnthropicAnswer(model.server, emit)
        try:
            await _exchange(model, body, answer)
            answer.complete(emit)
            return
        except _AttemptFailed as failure:
            delay = model.first_delay * 2**attempt if failure.delay is None else failure.delay
            if answer.started or attempt + 1 == MAX_ATTEMPTS or not failure.retry or delay > MAX_DELAY:
                raise failure.error from None
            emit(RetryDelay(delay, model.server.retry_reason(failure.status)))
        await asyncio.sleep(delay)


async def _exchange(model: RemoteModel, body: dict[str, Any], answer: AnthropicAnswer) -> None:
    """One attempt. Raises _AttemptFailed, and ProviderError for an answer that cannot be read."""
    server = model.server
    received: list[_Body] = []

    async def limit(response: httpx2.Response) -> None:
        refuse_compression(response.headers, server)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Body(response.stream, server, is_success=response.is_success)
        received.append(response.stream)

    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)  # stream_in_thread has the other timeouts
    rest = {name: value for name, value in body.items() if name not in ("model", "max_tokens", "messages", "stream")}
    headers: dict[str, str | Omit] = {**PLAIN, "Authorization": omit, "X-Api-Key": omit, **server.headers}
    with server.explained_environment():
        http = httpx2.AsyncClient(
            verify=_tls(),
            timeout=timeout,
            trust_env=not server.is_local,
            follow_redirects=False,  # it would take the key elsewhere
            event_hooks={"response": [limit]},
        )
    try:
        async with (
            http,
            AsyncAnthropic(
                api_key=server.key or NO_KEY, base_url=server.address, max_retries=0, http_client=http, open_telemetry=False
            ) as client,
            await client.messages.create(
                model=body["model"],
                max_tokens=body["max_tokens"],
                messages=body["messages"],
                stream=True,
                timeout=timeout,
                extra_headers=headers,
                extra_body=rest,  # unchecked: the SDK no longer knows a temperature, and warns of what older models need
            ) as events,
        ):
            await answer.read(events)
    except APIStatusError as e:
        raise _status_failure(model, e) from e
    except (APIConnectionError, httpx2.InvalidURL) as e:
        raise _connection_failure(server, e.__cause__ or e) from e
    except UNREADABLE as e:
        raise server.garbled_answer() if answer.started else server.not_an_answer(received[0].beginning if received else b"") from e
    except httpx2.TransportError as e:
        if not answer.finish:
            raise _AttemptFailed(server.cut_off(e, started=answer.started), retry=True) from e
    if not answer.finish:
        if not answer.has_events and received and received[0].beginning.strip():
            raise server.not_an_answer(received[0].beginning)
        raise _AttemptFailed(server.cut_off("it ended without a final event", started=answer.started), retry=True)


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    return httpx2.create_ssl_context()


def _status_failure(model: RemoteModel, e: APIStatusError) -> _AttemptFailed:
    """A response with an error status, or an error as an event of a stream, which has status 200."""
    server, status = model.server, e.status_code
    if status == 200:
        error = server.error_from_stream(e.body if isinstance(e.body, dict) else {"error": str(e.body)})
        assert error is not None
        return _AttemptFailed(error, retry=error.kind in ("server", "rate_limit"))
    delay = parse_retry_after(e.response.headers.get("retry-after"))
    models = model.model_names() if status == 404 else ()
    error = server.error_from_response(status, e.response.content, model=model.model, models=models, retry_after=delay)
    retry = status in RETRY_STATUSES and not is_permanent(e.response.content)
    return _AttemptFailed(error, retry=retry, status=status, delay=delay)


def _connection_failure(server: Endpoint, cause: BaseException) -> _AttemptFailed:
    """A call without a response; it is made again only if it may have reached the server."""
    match cause:
        case ProviderError():
            return _AttemptFailed(cause)
        case httpx2.TimeoutException():
            return _AttemptFailed(server.connect_timeout())
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol() | ValueError():
            return _AttemptFailed(server.invalid_address())
        case httpx2.ConnectError() | httpx2.ProxyError():
            return _AttemptFailed(server.unreachable(cause))
        case _:
            return _AttemptFailed(server.cut_off(cause, started=False), retry=isinstance(cause, httpx2.TransportError))
