"""Reads the streams of model servers: a line becomes the deltas that it holds. Pure.

Each provider has a reader, which understands one protocol; `gateways/connection.py` gives it the
lines of a response.
"""

import codecs
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn
from zkchat_cli.llm.base import Delta, StreamFinished, WrittenCall, parse_tool_call
from zkchat_cli.llm.http_client import MAX_LINE, UNREADABLE, Endpoint
from zkchat_cli.llm.marked_text import MarkSplitter, Piece
from zkchat_cli.models.messages import FinishReason, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.text.numbers import whole_number
from zkchat_cli.text.words import join_surrogates

LENGTH_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
# Finish reasons of OpenRouter and of vLLM when they give up an answer
ERROR_REASONS = frozenset({"error", "abort"})
# Most texts, thoughts or tool calls of an answer: empty ones escape its limit in bytes
MAX_ITEMS = 1000


class ReadEvent(NamedTuple):
    """What one event of a stream says."""

    text: str
    reasoning: str


NOTHING = ReadEvent("", "")
"""What an event says that has neither text nor reasoning."""


class PartialToolCall:
    """A call as a server sends it, in one piece or several; some send the arguments as an object.
    Raises TypeError for other types.
    """

    def __init__(
        self, id_: object, name: object, arguments: object, extra: dict[str, Any] | None = None
    ) -> None:
        self.id = text_of(id_)
        self.name = text_of(name)
        if isinstance(arguments, str | None):
            self.arguments = text_of(arguments)
        else:
            self.arguments = json.dumps(arguments, ensure_ascii=False)
        # Further keys that the server needs back with the call
        self.extra = extra or {}

    @property
    def size(self) -> int:
        """Its length in characters."""
        return len(self.id) + len(self.name) + len(self.arguments)

    def add_piece(self, piece: "PartialToolCall") -> None:
        """Add a further piece of this call. The first id and the first name count."""
        self.id = self.id or piece.id
        self.name = self.name or piece.name
        self.arguments += piece.arguments
        self.extra |= piece.extra


class ChatReader(ABC):
    """Reads the lines of one response. It keeps the tool calls, the usage and the reason of the end
    for the final delta.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        # The finish reason, in the server's own word
        self.finish = ""
        # Whether the final event has come
        self.ended = False
        self.calls: list[PartialToolCall] = []
        # The size of tool calls, and of reasoning that only the server can read
        self.hidden_bytes = 0
        # Figures of the usage, under OpenAI's names
        self.counts: dict[str, int] = {}
        self.reasoning = ""
        self.started = False
        # Takes thoughts and calls out of the text
        self.marks = MarkSplitter()
        self._written: list[WrittenCall] = []
        # Half a character of the text, and of the reasoning: the other half is still to come
        self._halves = ["", ""]
        # The lines of an event's data so far, if it is not whole
        self._data: list[bytes] = []

    @abstractmethod
    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """An event's text and reasoning. Keeps its finish reason, calls and usage. Raises one of
        `UNREADABLE` for an event of another form.
        """

    def thinking(self) -> ThinkingBlocks | None:
        """What the server needs back with the calls of this answer."""
        return None

    def read_line(self, line: bytes) -> Iterator[Delta | int]:
        """The deltas of a line, which may be cut off. Raises ProviderError for an error in it, and
        if it cannot be read.
        """
        hidden = self.hidden_bytes
        try:
            event = self._parse(line)
            if event is None:
                return
            sent = self._join_halves(self.read_event(event))
            self.reasoning += sent.reasoning
        except UNREADABLE as e:
            if self.started and not line.endswith(b"\n"):
                # The line is cut off, which `end` reports
                return
            raise self._unreadable_line(line) from e
        self.started = self.started or bool(sent.text or sent.reasoning or self.calls)
        if self.hidden_bytes > hidden:
            yield self.hidden_bytes - hidden
        if sent.reasoning:
            yield ReasoningDelta(sent.reasoning)
        yield from self._read_marks(self.marks.feed(sent.text))
        if kept := self.marks.take_kept_size():
            yield kept

    def _join_halves(self, sent: ReadEvent) -> ReadEvent:
        """The texts, with each character that came as halves in two events."""
        joined = []
        for i, text in enumerate(sent):
            text = join_surrogates(self._halves[i] + text)
            is_half = "\ud800" <= text[-1:] <= "\udbff"
            self._halves[i] = text[-1] if is_half else ""
            joined.append(text[:-1] if is_half else text)
        return ReadEvent(*joined)

    def _parse(self, line: bytes) -> Mapping[str, Any] | None:
        """The event in a line; None if it has none. Raises ProviderError for an error that the
        server reports, and one of `UNREADABLE`.
        """
        data = line.strip().removeprefix(codecs.BOM_UTF8)
        # Only the data of server-sent events matter
        if data.startswith((b":", b"event:", b"id:", b"retry:")):
            return None
        has_more = data.startswith(b"data:") and line.endswith(b"\n")
        data = data.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self.ended = True
            self.finish = self.finish or "stop"
            return None
        event = self._parse_data(data, has_more=has_more)
        if event is None:
            return None
        if error := self.endpoint.error_from_stream(event):
            raise error
        if not isinstance(event, dict):
            raise TypeError(event)
        return event

    def _parse_data(self, data: bytes, *, has_more: bool) -> Any:
        """The JSON of an event. Its data may come in several lines, up to an empty one."""
        if self._data and data:
            self._data.append(data)
            if sum(map(len, self._data)) > MAX_LINE or len(self._data) > MAX_ITEMS:
                raise ValueError("too much data in one event")
            return None
        if self._data:
            data = b"\n".join(self._data)
            self._data = []
            return json.loads(data)
        try:
            return json.loads(data or b"null")
        except ValueError:
            if not has_more or not data.startswith((b"{", b"[")):
                raise
            self._data.append(data)
            return None

    def _unreadable_line(self, line: bytes) -> ProviderError:
        is_web_page = line.lstrip().startswith(b"<")
        what = "a web page instead of JSON" if is_web_page else "something that cannot be read"
        return self.endpoint.error(
            "bad_answer",
            f"answered with {what}",
            f"Ask again, or try another model. {self.endpoint.check}",
        )

    def end(self) -> Iterator[Delta]:
        """The deltas at the end of the response. Raises ProviderError for an answer that is
        incomplete.
        """
        if self._data and not self.started:
            raise self._unreadable_line(self._data[0])
        if not self.finish:
            raise self.endpoint.cut_off("it ended without a final event")
        if self.finish == "content_filter":
            raise self.endpoint.content_filtered()
        if self.finish in ERROR_REASONS:
            raise self.endpoint.cut_off(f"the server gave up ({self.finish})")
        yield from self._read_marks(self.marks.end())
        reason: FinishReason = "length" if self.finish in LENGTH_REASONS else "stop"
        calls = self._complete_calls(reason)
        if calls:
            reason = "tool_calls"
        thinking = self.thinking() if self.calls else None
        written = tuple(self._written)
        yield StreamFinished(reason, self._usage(), calls, thinking, written=written)

    def _complete_calls(self, reason: FinishReason) -> tuple[ToolCall, ...]:
        """The tool calls, without one that the limit of the answer has cut off."""
        calls = tuple(
            parse_tool_call(call.id, call.name or "unnamed", join_surrogates(call.arguments))
            for call in self.calls
        )
        if calls and calls[-1].malformed is not None and reason == "length":
            return calls[:-1]
        return calls

    def _usage(self) -> TokenUsage | None:
        if not self.counts.get("prompt_tokens"):
            return None
        return TokenUsage.model_validate(
            {"completion_tokens": 0, **self.counts, "estimated": False}
        )

    def _read_marks(self, pieces: Iterable[Piece]) -> Iterator[Delta]:
        """The deltas of pieces of the text. Calls that the model has written as text are kept for
        the end.
        """
        for piece in pieces:
            match piece.kind:
                case "text":
                    yield TextDelta(piece.text)
                case "reasoning":
                    yield ReasoningDelta(piece.text)
                case "withdrawn":
                    yield TextWithdrawn()
                case "call" | "json":
                    self._written.append(WrittenCall(piece.text, piece.kind == "call"))

    def add_call(self, call: PartialToolCall) -> None:
        """Keep a tool call. Raises ValueError for too many."""
        self.calls.append(call)
        self.hidden_bytes += call.size
        if len(self.calls) > MAX_ITEMS:
            raise ValueError("too many tool calls")

    def count(self, **figures: object) -> None:
        """Keep those figures of the usage that are numbers. Of several reports the largest counts:
        some servers begin with 0.
        """
        for name, figure in figures.items():
            if (count := whole_number(figure)) is not None:
                self.counts[name] = max(count, self.counts.get(name, 0))

    def count_usage(self, usage: object, sent: str, received: str) -> None:
        """Keep the usage that OpenAI's APIs report. `sent` and `received` are the names that the
        API has for the tokens of the prompt and of the answer.
        """
        if isinstance(usage, Mapping):
            cached = usage.get(f"{sent}_details") or {}
            reasoned = usage.get(f"{received}_details") or {}
            self.count(prompt_tokens=usage.get(sent), completion_tokens=usage.get(received))
            self.count(
                cached_tokens=cached.get("cached_tokens"),
                reasoning_tokens=reasoned.get("reasoning_tokens"),
            )


def text_of(value: object) -> str:
    """A text as the server sent it, empty for null. Raises TypeError for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return value or ""
