"""mojentic's stream with recovery, for OpenAI-compatible servers and Ollama. Importing this file imports mojentic, which takes a second.

mojentic makes the HTTP call, retries it before the first word, and accepts an answer only with its final event; zkchat owns the tool loop.
mojentic reads exactly OpenAI's own format and rejects an answer for any deviation, and most servers deviate. So each response body passes
a `ChatReader` first, which understands one family of servers and hands on regular chunks.

This is the only file that depends on something mojentic does not document: `recover_stream` takes the class of its engine as
`_engine_type`, and the engine makes each attempt in `exchange_stream`. pyproject.toml pins the version with which that was tested.
"""

import json
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ReasoningPart, RetryDelay, StreamFinished, TextPart, ThinkingPart, ToolCallsPart, parse_tool_call
from zkchat_cli.llm.http_errors import Endpoint, is_permanent
from zkchat_cli.llm.remote_model import CONNECT_SECONDS, FIRST_DELAY, MAX_ATTEMPTS, MAX_DELAY, silence_libraries
from zkchat_cli.llm.threaded_stream import HEARTBEAT, Emit
from zkchat_cli.models import FinishReason, ThinkingBlocks, TokenUsage
from zkchat_cli.text.words import replace_surrogates

silence_libraries()

from mojentic.llm.gateways.cloud_recovery import freeze_request  # noqa: E402  after silence_libraries
from mojentic.llm.gateways.omlx_recovery import decode_completion  # noqa: E402
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery  # noqa: E402
from mojentic.llm.recovery import AdmissionContext, LifecycleEvent, RecoveryCall, RecoveryError, RecoveryPolicy  # noqa: E402
from mojentic.llm.recovery_stream import recover_stream  # noqa: E402

LENGTH_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
ERROR_REASONS = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons of OpenRouter and Mistral, of vLLM and SGLang, and of DeepSeek for an answer that they gave up."""


@dataclass
class PartialToolCall:
    """A tool call as far as it has arrived."""

    id: str
    name: str
    arguments: str = ""

    @property
    def is_complete(self) -> bool:
        return self.arguments.rstrip().endswith("}") and parse_tool_call("", "", self.arguments).malformed is None


class ChatReader(ABC):
    """Reads the lines of one response and turns them into regular chunks. Raises ProviderError for what cannot be read."""

    closes_with_finish = False
    """Whether nothing follows the event with the finish reason."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.finish: str | None = None
        """The finish reason, in the server's own word."""
        self.calls: list[PartialToolCall] = []
        self.usage: dict[str, Any] | None = None
        self._started = False
        self._closed = False
        self._document = b""

    @abstractmethod
    def parse_line(self, line: bytes) -> object:
        """The JSON of a line, None if it contains nothing. Raises ValueError for what is not a line of this format."""

    @abstractmethod
    def read_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """An event's `content` and `reasoning_content`. Keeps its finish reason, calls and usage. Raises TypeError for wrong types."""

    @abstractmethod
    def read_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """As `read_event`, for a whole answer that came instead of a stream. Raises TypeError or KeyError if it is none."""

    def thinking(self) -> ThinkingBlocks | None:
        """What the server needs back with the calls of this answer."""
        return None

    def read_line(self, line: bytes) -> bytes:
        """The chunks for a line."""
        if self._closed:
            return b""
        try:
            event = self.parse_line(line)
        except (ValueError, RecursionError) as e:
            if self._started:
                raise self.endpoint.garbled_answer() from e
            self._document += line + b"\n"  # a web page perhaps, or one JSON document on many lines
            return b""
        if event is None:
            return b""
        return self._read(event, self.read_event)

    def end(self, rest: bytes = b"") -> Iterator[bytes]:
        """The chunks for an unfinished last line and for the end of the response. Raises TransportError if the answer is incomplete."""
        try:
            unfinished = bool(rest.strip()) and self._started and self.parse_line(rest) is None
        except (ValueError, RecursionError):
            unfinished = self._started
        if unfinished and self.finish is None:
            raise httpx.RemoteProtocolError("it ended in the middle of a line")
        if not unfinished:
            yield self.read_line(rest)
        if self._document.strip():
            try:
                document = json.loads(self._document)
            except (ValueError, RecursionError) as e:
                raise self.endpoint.not_an_answer(self._document) from e
            yield self._read(document, self.read_document)
            self.finish = self.finish or "stop"
        if self.finish is None:
            raise httpx.RemoteProtocolError("it ended without a final event")
        yield self.close()

    def _read(self, event: object, read: Callable[[Mapping[str, Any]], dict[str, Any]]) -> bytes:
        if event == "[DONE]":
            self.finish = self.finish or "stop"
            return self.close()
        if error := self.endpoint.error_from_stream(event):
            raise error
        try:
            if not isinstance(event, dict):
                raise TypeError(event)
            delta = read(event)
        except (TypeError, ValueError, LookupError, AttributeError) as e:
            raise (self.endpoint.garbled_answer() if self._started else self.endpoint.not_an_answer("")) from e
        self._started = self._started or bool(self.calls) or any(delta.values())
        return _chunk(delta) + (self.close() if self.closes_with_finish and self.finish else b"")

    def close(self) -> bytes:
        """The last chunk, with the calls and the usage. Raises ProviderError if the server gave up."""
        if self._closed:
            return b""
        self._closed = True
        if self.finish == "content_filter":
            raise self.endpoint.content_filtered()
        if (self.finish or "").lower() in ERROR_REASONS:
            raise self.endpoint.cut_off(f"the server gave up ({self.finish})")
        calls = [  # as an object in any case, which mojentic insists on; `_complete` takes it apart
            {"index": i, "id": call.id, "function": {"name": call.name or "unnamed", "arguments": json.dumps({"text": call.arguments})}}
            for i, call in enumerate(self.calls)
        ]
        return _chunk({"tool_calls": calls}, "stop", self.usage) + b"data: [DONE]\n\n"


def _chunk(delta: dict[str, Any], finish: str | None = None, usage: dict[str, Any] | None = None) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": usage}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def text_of(value: object) -> str:
    """A text as the server sent it, without halves of surrogate pairs, for which mojentic would reject the answer. Raises TypeError."""
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return replace_surrogates(value or "")


def counts(usage: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The figures of a usage that are numbers, under OpenAI's names."""
    return {key: usage[name] for key, name in names.items() if type(usage.get(name)) is int and usage[name] >= 0}


class _Body(httpx.AsyncByteStream):
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
        for chunk in self._reader.end(pending):
            yield chunk

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
                response.stream = _Body(response.stream, self._chat.last_reader)

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
                case "progress":
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


def finish_reason(word: str | None) -> FinishReason:
    return "length" if (word or "").lower() in LENGTH_REASONS else "stop"


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
