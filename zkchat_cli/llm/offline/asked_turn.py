"""The messages of one request to the offline provider, in the order of a turn. Pure."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.shown_blocks import read_block_title
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.chunk_budget import NO_ROOM
from zkchat_cli.references.excerpts import LONGEST_TITLE
from zkchat_cli.text.truncate import truncate

READ_TOOL = "read_zk_document"
SEARCH_TOOL = "find_excerpts"


class FinishedCall(NamedTuple):
    """A call of this turn with its result: the `data` beside the excerpts, or the `error`."""

    name: str
    arguments: Mapping[str, object]
    data: Mapping[str, Any]
    excerpts: tuple[QuoteSource, ...]
    error: str = ""

    @property
    def lacks_room(self) -> bool:
        """Whether excerpts were left out because the window had no room for them."""
        return NO_ROOM in str(self.data.get("note", ""))


class AskedTurn(NamedTuple):
    """The messages of a request around its last question: those before it, the question's
    documents, and those after it, with calls and results. `position` is the question's index; -1 if
    there is none, and `question` its text.
    """

    position: int
    before: tuple[PromptMessage, ...]
    documents: tuple[PromptMessage, ...]
    after: tuple[PromptMessage, ...]
    question: str = ""

    @property
    def results(self) -> tuple[PromptMessage, ...]:
        """The results of the tools."""
        return tuple(message for message in self.after if message.role == "tool")

    @property
    def calls(self) -> list[FinishedCall]:
        """The calls of this turn that have results, in their order."""
        results = {result.tool_call_id: result for result in self.results}
        asked = [call for message in self.after for call in message.tool_calls]
        return [_finish_call(call, results[call.id]) for call in asked if call.id in results]

    def calls_of(self, *tools: str) -> list[FinishedCall]:
        """The finished calls of these tools."""
        return [call for call in self.calls if call.name in tools]

    def after_calls(self) -> "AskedTurn":
        """The turn without its first calls and their results."""
        first = next((i for i, message in enumerate(self.after) if message.tool_calls), -1)
        if first < 0:
            return self
        ids = {call.id for call in self.after[first].tool_calls}
        rest = tuple(each for each in self.after[first + 1 :] if each.tool_call_id not in ids)
        return self._replace(after=rest)

    @property
    def asked(self) -> list[str]:
        """The messages of the user, beginning with the question. Short ones do not tell their
        language.
        """
        earlier = (m for m in self.before if m.role == "user" and m.kind == "conversation")
        return [self.question, *reversed([message.content for message in earlier])]

    @property
    def answers(self) -> list[str]:
        """The earlier answers that have a text and are not calls."""
        return [
            message.content
            for message in self.before
            if message.role == "assistant" and not message.tool_calls and message.content
        ]

    @property
    def texts(self) -> list[str]:
        """The texts that were found, which tell a language where a short question does not."""
        return [excerpt.text for excerpt in read_excerpts([*self.documents, *self.results])]

    @property
    def named_excerpts(self) -> list[QuoteSource]:
        """The excerpts of the named documents, without the blocks of others that they show."""
        return [each for each in read_excerpts(self.documents) if not each.shown_in]

    @property
    def earlier_texts(self) -> str:
        """All that the model has said before the question."""
        return "\n".join(m.content for m in self.before if m.role == "assistant")

    @property
    def names_documents(self) -> bool:
        """Whether the question itself names a note or a file; the user may also have added some to
        each prompt.
        """
        return "[[" in self.question or "@" in self.question

    @property
    def named_paths(self) -> set[str]:
        """The named documents with a text in the prompt."""
        reads = {
            call.id
            for message in self.after
            for call in message.tool_calls
            if call.name == READ_TOOL
        }
        read = [result for result in self.results if result.tool_call_id in reads]
        # The note with a definition is read, too, but nobody named it
        named = {path for message in self.documents for path in message.source_ids}
        paths = {excerpt.path for excerpt in read_excerpts(read)} & named
        return paths | {excerpt.path for excerpt in read_excerpts(self.documents)}


def _finish_call(call: ToolCall, result: PromptMessage) -> FinishedCall:
    data: Mapping[str, Any] = {}
    with suppress(ValueError, RecursionError):
        document = json.loads(result.content)
        if isinstance(document, dict):
            data = document
    error = str(data.get("error", ""))
    excerpts = read_excerpts([result])
    if call.name == READ_TOOL:
        # The blocks of other notes that it shows are no parts of a note
        excerpts = [each for each in excerpts if not each.shown_in]
    return FinishedCall(call.name, call.arguments, data, tuple(excerpts), error)


def find_question(messages: tuple[PromptMessage, ...]) -> AskedTurn:
    """The turn of the last message that the user typed."""
    position = -1
    for i, message in enumerate(messages):
        if message.role == "user" and message.kind == "conversation":
            position = i
    before = messages[: max(position, 0)]
    documents = tuple(message for message in before[-1:] if message.kind == "documents")
    question = messages[position].content if position >= 0 else ""
    return AskedTurn(position, before, documents, messages[position + 1 :], question)


def read_excerpts(messages: Sequence[PromptMessage]) -> list[QuoteSource]:
    """The numbered excerpts of tool results and of named documents, each source once, by the best
    rank that it has in one of them.
    """
    found: dict[int, QuoteSource] = {}
    for message in messages:
        for rank, chunk in enumerate(message.chunks):
            if chunk.number is None:
                continue
            if chunk.number not in found or found[chunk.number].rank > rank:
                title, shown_in = read_block_title(chunk.title)
                found[chunk.number] = QuoteSource(
                    chunk.number,
                    chunk.relative_path,
                    truncate(title, LONGEST_TITLE),
                    truncate(chunk.heading, LONGEST_TITLE) if chunk.heading else None,
                    chunk.text,
                    rank,
                    chunk.markdown if chunk.fence else "",
                    chunk.score,
                    chunk.start_line,
                    shown_in,
                )
    return sorted(found.values(), key=lambda excerpt: excerpt.rank)
