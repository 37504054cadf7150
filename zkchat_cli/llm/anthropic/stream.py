"""An answer of Anthropic's Messages API as deltas. The SDK's AsyncMessageStream puts the message together. Imports the SDK."""

from collections.abc import AsyncIterator
from typing import Any

from zkchat_cli.llm.anthropic.request import PROVIDER_NAME
from zkchat_cli.llm.base import ReasoningPart, StreamFinished, TextPart, ThinkingPart, ToolCallsPart, parse_tool_call
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.remote_model import silence_libraries
from zkchat_cli.llm.threaded_stream import Emit
from zkchat_cli.models import ThinkingBlocks, TokenUsage

silence_libraries()

from anthropic import NOT_GIVEN, AsyncStream  # noqa: E402  after silence_libraries
from anthropic.lib.streaming import AsyncMessageStream  # noqa: E402
from anthropic.types import MessageDeltaUsage, ParsedMessage, RawMessageStreamEvent  # noqa: E402

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
