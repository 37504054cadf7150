"""Reads the streams of model servers: a line becomes the deltas that it holds. Pure.

Each provider has a reader, which understands one protocol; `mojentic_adapter.py` gives it the lines
of a response.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from zkchat_cli.events import ReasoningDelta, TextDelta
from zkchat_cli.llm.base import Delta, StreamFinished, parse_tool_call
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.models.messages import FinishReason, ThinkingBlocks, TokenUsage
from zkchat_cli.text.numbers import whole_number

LENGTH_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
# Finish reasons of OpenRouter and of vLLM for an answer that they gave up
ERROR_REASONS = frozenset({"error", "abort"})
THOUGHT = "<think>"
THOUGHT_END = "</think>"
# Texts, thoughts or tool calls of an answer: empty ones count neither as progress nor as length
MAX_ITEMS = 1000


class PartialToolCall:
    """A call as a server sends it, in one piece or several; some send the arguments as an object.
    Raises TypeError.
    """

    def __init__(self, id_: object, name: object, arguments: object) -> None:
        self.id = text_of(id_)
        self.name = text_of(name)
        self.arguments = (
            text_of(arguments)
            if isinstance(arguments, str | None)
            else json.dumps(arguments, ensure_ascii=False)
        )
        # Further keys with which the server needs it back
        self.extra: dict[str, Any] = {}

    @property
    def size(self) -> int:
        return len(self.id) + len(self.name) + len(self.arguments)


class ChatReader(ABC):
    """Reads the lines of one response, and keeps what comes besides text: why the answer ended, its
    tool calls, its usage.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        # The finish reason, in the server's own word
        self.finish = ""
        self.ended = False  # whether the final event has come
        self.calls: list[PartialToolCall] = []
        # Size of tool calls, and of reasoning that only the server can read
        self.hidden_bytes = 0
        # Figures of the usage, under OpenAI's names
        self.counts: dict[str, int] = {}
        self.reasoning = ""
        self.started = False
        # Whether the text is a thought in a tag; None until enough has come to tell
        self._thinks: bool | None = None
        # Text that may belong to a tag
        self._held = ""

    @abstractmethod
    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        """An event's text and reasoning. Keeps its finish reason, calls and usage. Raises TypeError
        and the like for wrong types.
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
            data = line.strip()
            # Of server-sent events only the data matter
            if data.startswith((b":", b"event:", b"id:", b"retry:")):
                return
            data = data.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                self.ended = True
                self.finish = self.finish or "stop"
                return
            event = json.loads(data or b"null")
            if event is None:
                return
            if error := self.endpoint.error_from_stream(event):
                raise error
            if not isinstance(event, dict):
                raise TypeError(event)
            sent, reasoning = self.read_event(event)
            text, thought = self._split_thought(sent)
            self.reasoning += reasoning
        except UNREADABLE as e:
            if self.started and not line.endswith(b"\n"):  # cut off
                return
            what = (
                "a web page instead of JSON"
                if line.lstrip()[:1] == b"<"
                else "something that cannot be read"
            )
            raise self.endpoint.error(
                "bad_answer",
                f"answered with {what}",
                f"Ask again, or try another model. {self.endpoint.check}",
            ) from e
        self.started = self.started or bool(sent or reasoning or self.calls)
        if self.hidden_bytes > hidden:
            yield self.hidden_bytes - hidden
        yield from _parts(text, thought + reasoning)

    def end(self) -> Iterator[Delta]:
        """The deltas at the end of the response. Raises ProviderError for an answer that is
        incomplete.
        """
        if not self.finish:
            raise self.endpoint.cut_off("it ended without a final event")
        if self.finish == "content_filter":
            raise self.endpoint.content_filtered()
        if self.finish in ERROR_REASONS:
            raise self.endpoint.cut_off(f"the server gave up ({self.finish})")
        yield from _parts("", self._held) if self._thinks else _parts(self._held, "")
        reason: FinishReason = "length" if self.finish in LENGTH_REASONS else "stop"
        calls = tuple(
            parse_tool_call(call.id, call.name or "unnamed", call.arguments) for call in self.calls
        )
        if calls and calls[-1].malformed is not None and reason == "length":
            calls = calls[:-1]  # the limit has cut it off
        usage = None
        if self.counts.get("prompt_tokens"):
            usage = TokenUsage.model_validate(
                {"completion_tokens": 0, **self.counts, "estimated": False}
            )
        yield StreamFinished(
            "tool_calls" if calls else reason, usage, calls, self.thinking() if self.calls else None
        )

    def _split_thought(self, text: str) -> tuple[str, str]:
        """Take the thoughts out of a text that begins with them in a tag, as servers without a
        parser for the model send it.
        """
        self._held += text
        if self._thinks is None:
            self._held = self._held.lstrip()
            if THOUGHT.startswith(self._held):
                return "", ""
            self._thinks = self._held.startswith(THOUGHT)
            self._held = self._held.removeprefix(THOUGHT)
        if not self._thinks:
            text = self._held
            self._held = ""
            return text, ""
        thought, end, rest = self._held.partition(THOUGHT_END)
        if end:
            self._thinks = None
            self._held = ""
            answer, more = self._split_thought(rest)
            return answer, thought + more
        size = max(0, len(self._held) - len(THOUGHT_END) + 1)
        thought = self._held[:size]
        self._held = self._held[size:]
        return "", thought

    def add_call(self, call: PartialToolCall) -> None:
        """Raises ValueError for too many."""
        self.calls.append(call)
        self.hidden_bytes += call.size
        if len(self.calls) > MAX_ITEMS:
            raise ValueError("too many tool calls")

    def count(self, **figures: object) -> None:
        """Keep the figures that are numbers; of several reports the largest, as some servers begin
        with 0.
        """
        for name, figure in figures.items():
            if (count := whole_number(figure)) is not None:
                self.counts[name] = max(count, self.counts.get(name, 0))

    def count_usage(self, usage: object, sent: str, received: str) -> None:
        """Keep what OpenAI's APIs report, under these names."""
        if isinstance(usage, Mapping):
            cached = usage.get(f"{sent}_details") or {}
            reasoned = usage.get(f"{received}_details") or {}
            self.count(prompt_tokens=usage.get(sent), completion_tokens=usage.get(received))
            self.count(
                cached_tokens=cached.get("cached_tokens"),
                reasoning_tokens=reasoned.get("reasoning_tokens"),
            )


def _parts(text: str, reasoning: str) -> Iterator[Delta]:
    if reasoning:
        yield ReasoningDelta(reasoning)
    if text:
        yield TextDelta(text)


def text_of(value: object) -> str:
    """A text as the server sent it, empty for null. Raises TypeError."""
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return value or ""
