"""The events of Anthropic's streams. Citations of search results become marks like all others:
`[3]`, behind the cited line as a quotation if that is short.

The SDK's own streams call `accumulate_event` for each event. It is not a public name, so
pyproject.toml pins the version.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from zkchat_cli.llm.chat_reader import (
    MAX_ITEMS,
    NOTHING,
    ChatReader,
    PartialToolCall,
    ReadEvent,
    text_of,
)
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.providers.anthropic.request import PROVIDER_NAME
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

# Characters of a cited line that are quoted in the answer
LONGEST_QUOTE = 160
_NUMBER = re.compile(r"\[(\d{1,9})\]")
_QUOTE_MARKS = re.compile('[“”„«»‹›"「」『』|`]')
_BLOCKS = ("text", "thinking", "redacted_thinking", "tool_use")
_DELTAS = ("text_delta", "thinking_delta", "signature_delta")
"""The deltas to pass on to the SDK. The pieces of a tool call's arguments are not among them: the
SDK would parse the arguments anew with each piece, and give up if they are not JSON.
"""


class AnthropicReader(ChatReader):
    """The events of one response, or the whole response from a server that does not stream."""

    def __init__(self, endpoint: Endpoint) -> None:
        # Deferred: it takes 0.5 s, which only the first call should pay
        from anthropic.lib.streaming._messages import accumulate_event
        from anthropic.types import Message

        super().__init__(endpoint)
        self._accumulate: Callable[..., Any] = partial(accumulate_event, json_bufs={})
        # It is not made of the server's first event, because llama.cpp leaves that out if the first
        # token is a part of a character
        self._message: Any = Message.construct(content=[])
        # The citations of the block of text that is being written
        self._citations: list[Mapping[str, Any]] = []
        # Whether the block that is being written has a type in `_BLOCKS`
        self._is_known = True

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """See ChatReader. An event of an unknown type says nothing."""
        match event["type"]:
            case "message_start":
                self._count_tokens(event["message"].get("usage"))
            case "content_block_start":
                return self._start_block(event["content_block"])
            case "content_block_delta":
                return self._read_delta(event)
            case "content_block_stop":
                return self._end_block()
            case "message_delta":
                self._read_end(event["delta"], event.get("usage"))
            case "message_stop":
                self.ended = True
                self.finish = self.finish or "stop"
            case "message":
                return self._read_message(event)
        return NOTHING

    def _read_delta(self, event: Mapping[str, Any]) -> ReadEvent:
        delta = event["delta"]
        if not self._is_known:
            self.hidden_bytes += len(str(delta))
            return NOTHING
        kind = delta["type"]
        if kind == "input_json_delta":
            arguments = text_of(delta.get("partial_json"))
            self.calls[-1].add_piece(PartialToolCall("", "", arguments))
            self.hidden_bytes += len(arguments)
        elif kind in _DELTAS:
            self._accumulate(event=event, current_snapshot=self._message)
            return ReadEvent(text_of(delta.get("text")), text_of(delta.get("thinking")))
        elif kind == "citations_delta":
            self._citations.append(delta["citation"])
        return NOTHING

    def _read_end(self, end: Mapping[str, Any], usage: Mapping[str, Any] | None) -> None:
        reason = text_of(end.get("stop_reason"))
        self.finish = "content_filter" if reason == "refusal" else reason or self.finish
        self._count_tokens(usage)

    def _read_message(self, message: Mapping[str, Any]) -> ReadEvent:
        """The whole answer of a server that does not stream."""
        blocks = [self._start_block(block) for block in message["content"]]
        self._read_end(message, message.get("usage"))
        text = "".join(block.text for block in blocks)
        return ReadEvent(text, "".join(block.reasoning for block in blocks))

    def _start_block(self, block: Mapping[str, Any]) -> ReadEvent:
        """Begin a block. One of a type that is not known says nothing, whatever it contains, but
        has its place among the others.
        """
        self._is_known = block.get("type") in _BLOCKS
        kept = block if self._is_known else {"type": "unknown"}
        self._accumulate(
            event={"type": "content_block_start", "index": 0, "content_block": kept},
            current_snapshot=self._message,
        )
        if len(self._message.content) > MAX_ITEMS:
            raise ValueError("too many blocks")
        if not self._is_known:
            self.hidden_bytes += len(str(block))
            return NOTHING
        if block["type"] in ("text", "thinking"):
            return ReadEvent(text_of(block.get("text")), text_of(block.get("thinking")))
        if block["type"] == "tool_use":
            self.add_call(
                PartialToolCall(block.get("id"), block.get("name"), block.get("input") or "")
            )
        self.hidden_bytes += len(str(block))
        return NOTHING

    def _end_block(self) -> ReadEvent:
        if not self._citations:
            return NOTHING
        citations = self._citations
        self._citations = []
        return ReadEvent(citation_marks(self._message.content[-1].text, citations), "")

    def _count_tokens(self, usage: Mapping[str, Any] | None) -> None:
        """Figures come at the start and, as totals, at the end. Anthropic does not count tokens in
        its cache as input.
        """
        counts = usage or {}
        cached = whole_number(counts.get("cache_read_input_tokens"))
        created = whole_number(counts.get("cache_creation_input_tokens"))
        uncached = whole_number(counts.get("input_tokens"))
        self.count(
            prompt_tokens=sum(count or 0 for count in (cached, created, uncached)),
            completion_tokens=counts.get("output_tokens"),
            cached_tokens=cached,
            cache_write_tokens=created,
        )

    def thinking(self) -> ThinkingBlocks | None:
        """The blocks with thoughts, which are signed."""
        kept = tuple(
            block.to_dict()
            for block in self._message.content
            if block.type in ("thinking", "redacted_thinking")
        )
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=kept) if kept else None


def citation_marks(text: str, citations: Iterable[Mapping[str, Any]]) -> str:
    """The marks to write behind a part of an answer for the citations that came with it, unless it
    has these marks itself.
    """
    marks: dict[str, str] = {}
    for citation in citations:
        mark = _mark_of(citation)
        if mark and mark not in text and mark not in marks:
            quote = str(citation.get("cited_text") or "").strip()
            is_new = _is_quotable(quote) and quote not in text
            marks[mark] = f"(“{quote}” {mark})" if is_new else mark
    return "".join(f" {mark}" for mark in marks.values())


def _mark_of(citation: Mapping[str, Any]) -> str:
    """The number of the cited excerpt in brackets; empty for a citation of anything else."""
    if citation.get("type") != "search_result_location":
        return ""
    number = _NUMBER.match(str(citation.get("title") or ""))
    return number[0] if number else ""


def _is_quotable(line: str) -> bool:
    """Whether a cited text is one short line that quotation marks can stand around."""
    is_short_line = 0 < len(line) <= LONGEST_QUOTE and "\n" not in line
    return is_short_line and not _QUOTE_MARKS.search(line)
