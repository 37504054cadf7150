"""Reads the streams of OpenAI-compatible servers and Ollama, and turns them into regular chunks of OpenAI's format. Pure.

`openai_chat.py` and `providers/ollama.py` have a reader each; `mojentic_adapter.py` puts them in front of mojentic's decoder.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zkchat_cli.llm.base import parse_tool_call
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.models import FinishReason, ThinkingBlocks
from zkchat_cli.text.words import replace_surrogates

LENGTH_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
ERROR_REASONS = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons of OpenRouter and Mistral, of vLLM and SGLang, and of DeepSeek for an answer that they gave up."""


class IncompleteAnswer(Exception):
    """The response ended too early; another attempt may succeed."""


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
        """The chunks for an unfinished last line and for the end of the response. Raises IncompleteAnswer."""
        try:
            unfinished = bool(rest.strip()) and self._started and self.parse_line(rest) is None
        except (ValueError, RecursionError):
            unfinished = self._started
        if unfinished and self.finish is None:
            raise IncompleteAnswer("it ended in the middle of a line")
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
            raise IncompleteAnswer("it ended without a final event")
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
    fields = json.dumps({name: value for name, value in delta.items() if value})
    end = f',"finish_reason":"{finish}"' if finish else ""
    return f'data: {{"choices":[{{"index":0,"delta":{fields}{end}}}],"usage":{json.dumps(usage)}}}\n\n'.encode()


def text_of(value: object) -> str:
    """A text as the server sent it, without halves of surrogate pairs, for which mojentic would reject the answer. Raises TypeError."""
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return replace_surrogates(value or "")


def counts(usage: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The figures of a usage that are numbers, under OpenAI's names."""
    return {key: usage[name] for key, name in names.items() if type(usage.get(name)) is int and usage[name] >= 0}


def finish_reason(word: str | None) -> FinishReason:
    return "length" if (word or "").lower() in LENGTH_REASONS else "stop"
