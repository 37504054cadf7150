"""Reads the streams of model servers and turns them into regular chunks of OpenAI's format. Pure.

Each provider has a reader; `mojentic_adapter.py` puts it in front of mojentic's decoder, which rejects any deviation from that format. Tool
calls and usage stay in the reader.
"""

import json
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zkchat_cli.llm.base import StreamFinished, ThinkingPart, ToolCallsPart, parse_tool_call
from zkchat_cli.llm.http_errors import UNREADABLE, Endpoint
from zkchat_cli.llm.response_limits import MAX_LINE, check_document
from zkchat_cli.llm.threaded_stream import Emit
from zkchat_cli.models import FinishReason, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.text.numbers import whole_number
from zkchat_cli.text.words import replace_surrogates

DONE = "[DONE]"
LENGTH_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"})
ERROR_REASONS = frozenset({"error", "abort"})
"""Finish reasons of OpenRouter and of vLLM for an answer that they gave up."""
THOUGHT, THOUGHT_END = "<think>", "</think>"
MAX_ITEMS = 1000
"""Texts, thoughts or tool calls of an answer: empty ones count neither as progress nor as length."""


class IncompleteAnswer(Exception):
    """The response ended too early; another attempt may succeed."""


@dataclass
class PartialToolCall:
    """A tool call as far as it has arrived."""

    id: str
    name: str
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further keys with which the server needs it back."""

    @property
    def size(self) -> int:
        return len(self.id) + len(self.name) + len(self.arguments)

    @property
    def _is_whole(self) -> bool:
        return bool(self.arguments) and parse_tool_call("", "", self.arguments).malformed is None

    def ends_before(self, piece: "PartialToolCall") -> bool:
        """Whether a piece begins another call: with another id or, without ids, another name, or the same name with further arguments."""
        if piece.id and self.id:
            return piece.id != self.id
        if not piece.name or not self.name:
            return False
        return piece.name != self.name or (bool(piece.arguments) and self._is_whole)


@dataclass
class ThoughtSplitter:
    """Takes the thoughts out of a text that begins with them in a tag, as servers without a parser for the model send it."""

    thinks: bool = False
    ended: bool = False
    """Whether a thought has ended; the blanks after it are left out."""
    held: str | None = ""
    """What may belong to a tag; None from the first word of the answer on."""
    open: str = ""
    """The thought that has not ended, with its tag."""

    def split(self, text: str) -> tuple[str, str]:
        """The text and the thoughts of a piece."""
        if self.held is None:
            return text, ""
        text = self.held + text
        if not self.thinks:
            begun = text.lstrip()
            text = begun if self.ended else text
            self.held = text if THOUGHT.startswith(begun) else None
            if not begun.startswith(THOUGHT):
                return (text if self.held is None else ""), ""
            self.thinks, self.open, text = True, THOUGHT, begun.removeprefix(THOUGHT)
        thought, end, rest = text.partition(THOUGHT_END)
        if end:
            self.thinks, self.ended, self.held = False, True, ""
            answer, more = self.split(rest)
            return answer, thought + more
        size = next((n for n in range(len(THOUGHT_END), 0, -1) if text.endswith(THOUGHT_END[:n])), 0)
        self.held = text[len(text) - size :]
        self.open += text[: len(text) - size]
        return "", text[: len(text) - size]


class ChatReader(ABC):
    """Reads the lines of one response, and keeps what is known of the answer besides its text: why it ended, its tool calls, its usage.

    Raises ProviderError for what cannot be read.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.finish = ""
        """The finish reason, in the server's own word."""
        self.calls: list[PartialToolCall] = []
        self.hidden_bytes = 0
        """Size of tool calls, and of reasoning that only the server can read."""
        self.counts: dict[str, int] = {}
        """Figures of the usage, under OpenAI's names."""
        self.started = False
        self._splitter = ThoughtSplitter()
        self._closed = False
        self._document = bytearray()
        """What has come of JSON over several lines, from a server that does not stream."""

    def thinking(self) -> ThinkingBlocks | None:
        """What the server needs back with the calls of this answer."""
        return None

    def complete(self, emit: Emit) -> None:
        """Emit the tool calls and the final delta."""
        if self.calls and (thinking := self.thinking()):
            emit(ThinkingPart(thinking))
        if calls := self.tool_calls():
            emit(ToolCallsPart(calls))
        emit(StreamFinished("tool_calls" if calls else self.finish_reason, self.usage()))

    def count(self, **figures: object) -> None:
        """Keep the figures that are numbers; of several reports the largest, as some servers begin with 0."""
        for name, figure in figures.items():
            if (count := whole_number(figure)) is not None:
                self.counts[name] = max(count, self.counts.get(name, 0))

    def usage(self) -> TokenUsage | None:
        if not self.counts.get("prompt_tokens"):
            return None
        return TokenUsage(
            prompt_tokens=self.counts["prompt_tokens"],
            completion_tokens=self.counts.get("completion_tokens", 0),
            estimated=False,
            cached_tokens=self.counts.get("cached_tokens"),
            reasoning_tokens=self.counts.get("reasoning_tokens"),
        )

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the whole answer, without one that the length limit cut off."""
        calls = tuple(parse_tool_call(call.id, call.name or "unnamed", call.arguments) for call in self.calls)
        cut = calls and calls[-1].malformed is not None and self.finish_reason == "length"
        return calls[:-1] if cut else calls

    @property
    def finish_reason(self) -> FinishReason:
        return "length" if self.finish in LENGTH_REASONS else "stop"

    @abstractmethod
    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        """An event's text and reasoning. Keeps its finish reason, calls and usage. Raises TypeError and the like for wrong types."""

    def parse_line(self, line: bytes) -> object:
        """The JSON of a line, which may be a server-sent event; None if it has none. Raises ValueError for anything else."""
        if line.startswith(b"data:"):
            data = line[5:].strip()
            return DONE if data == DONE.encode() else json.loads(data or b"null")
        if self._in_document(line):
            return self._add_to_document(line)
        if line.lstrip().startswith(b"{"):  # an event of Ollama, or an error or a whole answer instead of a stream
            return json.loads(line)
        if not line.strip() or line.startswith((b":", b"event:", b"id:", b"retry:")):
            return None
        raise ValueError("neither JSON nor a server-sent event")

    def _in_document(self, line: bytes) -> bool:
        """Whether a line is of JSON over several lines."""
        return bool(self._document) or (line.rstrip() == b"{" and not self.started)

    def _add_to_document(self, line: bytes) -> object:
        """The JSON that ends with this line, None if more is to come: servers that indent JSON end it with a brace in the first column."""
        self._document += line
        ended = line.rstrip() == b"}"
        if ended or len(self._document) > MAX_LINE:
            check_document(self._document, self.endpoint, MAX_LINE)
        if not ended:
            return None
        document = json.loads(self._document)
        self._document.clear()
        return document

    def read_line(self, line: bytes) -> bytes:
        """The chunk for a line, empty if the line says nothing."""
        if self._closed:
            return b""
        try:
            event = self.parse_line(line if self.started else line.removeprefix(BOM_UTF8))
            if event is None:
                return b""
            if event == DONE:
                self.finish = self.finish or "stop"
                return self.close()
            if error := self.endpoint.error_from_stream(event):
                raise error
            if not isinstance(event, dict):
                raise TypeError(event)
            sent, reasoning = self.read_event(event)
            text, thought = self._splitter.split(sent)
        except UNREADABLE as e:
            raise (self.endpoint.garbled_answer() if self.started else self.endpoint.not_an_answer(line)) from e
        self.started = self.started or bool(sent or reasoning or self.calls)
        return _chunk({"content": text, "reasoning_content": thought + reasoning}) if text or thought or reasoning else b""

    def end(self, rest: bytes = b"") -> bytes:
        """The chunks for an unfinished last line and for the end of the response. Raises IncompleteAnswer."""
        chunk = b"" if rest and self.started else self.read_line(rest)
        if self._document:
            raise self.endpoint.not_an_answer(bytes(self._document))
        if not self.finish:
            raise IncompleteAnswer("it ended without a final event")
        return chunk + self.close()

    def close(self) -> bytes:
        """The last chunk. Raises ProviderError if the server gave up."""
        if self._closed:
            return b""
        self._closed = True
        if self.finish == "content_filter":
            raise self.endpoint.content_filtered()
        if self.finish in ERROR_REASONS:
            raise self.endpoint.cut_off(f"the server gave up ({self.finish})")
        thinks, held = self._splitter.thinks, self._splitter.held or ""
        if thinks and not self.calls and self.finish_reason == "stop":  # an answer that begins with the word
            thinks, held = False, self._splitter.open + held
        return _chunk({"reasoning_content" if thinks else "content": held}, "stop") + b"data: [DONE]\n\n"


def _chunk(delta: Mapping[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {name: text for name, text in delta.items() if text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def json_of(arguments: object) -> str:
    """A call's arguments as JSON; some servers send them as an object."""
    return text_of(arguments) if isinstance(arguments, str | None) else json.dumps(arguments, ensure_ascii=False)


def text_of(value: object) -> str:
    """A text as the server sent it, without halves of surrogate pairs, for which mojentic would reject the answer. Raises TypeError."""
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return replace_surrogates(value or "")
