"""Turns: the user's messages with everything that answers them, as the branch in use holds them and as they are sent.

A prompt keeps, drops or folds whole turns, never single messages, so that a tool call always has its result and an answer its question.
The messages of old turns stay in the store and are read from there when somebody scrolls or exports them: 10,000 turns with tool results
would take 200 MB. What was said in them stays, for recall and summaries.
"""

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import chain, islice
from typing import NamedTuple, overload

from zkchat_cli.context import system_prompt
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.models import Compaction, PromptMessage, SpokenMessage, ThinkingBlocks, ToolCall, ZkChatMessage
from zkchat_cli.references.injection import FOUND_EXCERPTS, NAMED_DOCUMENTS, describe_documents
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.tokens.counter import TokenCounter

INTERRUPTED = "\n[interrupted by the user]"
FIXED_TAG = "kept-message"
SUMMARY_TAG = "conversation-summary"
RECALLED_TAG = "recalled-conversation"
_TAGS = f"{SUMMARY_TAG}|{RECALLED_TAG}|project-memory|agent-memory|user-memory|smart-memory|{FIXED_TAG}"
_FENCED = lazy_pattern(rf"(?:<({_TAGS})\b[^<>\n]*>\n.*?\n</\1>\s*)+", re.DOTALL)
_MAX_TOKEN_LENGTH = 128
"""Characters of the longest token in the shipped vocabularies."""
ReadMessages = Callable[[Sequence[str]], tuple[ZkChatMessage, ...]]
"""Reads the messages with these ids from the store."""


class LoadableExchange:
    """A question with its answers; in some imports, what was said before the first question."""

    __slots__ = ("_loaded", "_read", "_spoken", "ids")

    def __init__(self, messages: Iterable[ZkChatMessage]) -> None:
        messages = tuple(messages)
        self.ids = tuple(message.id for message in messages)
        self._loaded: tuple[ZkChatMessage, ...] | None = messages
        self._read: ReadMessages | None = None
        self._spoken: tuple[SpokenMessage, ...] = ()

    @property
    def messages(self) -> tuple[ZkChatMessage, ...]:
        """Raises StoreError if they have to be read from the store and cannot be."""
        messages = self._loaded  # read once: another thread may unload them
        if messages is None:
            assert self._read is not None
            messages = self._read(self.ids)
        return messages

    @property
    def spoken(self) -> tuple[SpokenMessage, ...]:
        """What the user and the model said."""
        messages = self._loaded
        if messages is None:
            return self._spoken
        said = [message for message in messages if message.role != "tool" and message.content]
        links = ((r.wikilink for r in m.references if r.relative_path and r.reference_type != "memory") for m in said)
        return tuple(SpokenMessage(m.id, m.role, m.content, m.timestamp, tuple(its)) for m, its in zip(said, links, strict=True))

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def unload(self, read: ReadMessages) -> None:
        """Keep only what was said: the store has the messages."""
        self._spoken, self._read, self._loaded = self.spoken, read, None


class MessageHistory(Sequence[ZkChatMessage]):
    """The messages of a branch, oldest first; a slice is a tuple. Only those that are asked for are read from the store."""

    def __init__(self, exchanges: Iterable[LoadableExchange] = (), before: "MessageHistory | None" = None) -> None:
        """With `before`, the exchanges that come after it."""
        new = tuple(exchanges)
        self.exchanges: tuple[LoadableExchange, ...] = (*before.exchanges, *new) if before is not None else new
        self._starts: array[int] = array("L", before._starts if before is not None else (0,))
        """The number of each exchange's first message, and of the next exchange's."""
        for exchange in new:
            self._starts.append(self._starts[-1] + len(exchange.ids))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, at: int) -> ZkChatMessage: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ZkChatMessage, ...]: ...
    def __getitem__(self, at: int | slice) -> ZkChatMessage | tuple[ZkChatMessage, ...]:
        wanted = range(len(self))[at]
        if isinstance(wanted, int):
            return next(self._from(wanted))
        if not wanted:
            return ()
        least = min(wanted)
        found = tuple(islice(self._from(least), max(wanted) + 1 - least))
        return tuple(found[number - least] for number in wanted)

    def _from(self, number: int) -> Iterator[ZkChatMessage]:
        """The messages from this number on."""
        first = bisect_right(self._starts, number) - 1
        messages = (message for exchange in self.exchanges[first:] for message in exchange.messages)
        return islice(messages, number - self._starts[first], None)

    def __iter__(self) -> Iterator[ZkChatMessage]:
        return (message for exchange in self.exchanges for message in exchange.messages)

    def __reversed__(self) -> Iterator[ZkChatMessage]:
        return (message for exchange in reversed(self.exchanges) for message in reversed(exchange.messages))


class Turn:
    """The messages of a turn, also in the form in which they are sent. `number` counts the user's messages, from 1.

    Its figures are computed once, those of all turns up to it by continuing those of the turn `before`: a long conversation needs them with
    every message. An unloaded turn reads its messages when they are needed."""

    __slots__ = (
        "_rendered", "counter", "exchange", "failed", "fixed", "fixed_before", "fixed_tokens", "fixed_tokens_so_far", "masking_saves",
        "number", "tokens", "tokens_so_far", "tools_so_far",
    )  # fmt: skip

    def __init__(self, exchange: LoadableExchange, number: int, counter: TokenCounter, before: "Turn | None" = None) -> None:
        messages = exchange.messages
        self.exchange, self.number, self.counter = exchange, number, counter
        self._rendered: tuple[PromptMessage, ...] | None = _render_whole(messages, counter)
        self.failed = is_failed(messages)
        """Then the turn never goes into a prompt."""
        self.fixed = tuple(
            make_prompt_message("user", "conversation", _fence_fixed(message, number), counter, (message.id,))
            for message in messages
            if message.content and message.status != "damaged" and (message.pinned if self.failed else is_fixed(message))
        )
        """Its pinned messages and standing instructions, as they are sent without the turn; of a failed turn only the pinned ones."""
        self.tokens = sum(m.tokens for m in self._rendered)
        self.fixed_tokens = sum(m.tokens for m in self.fixed)
        self.masking_saves = 0
        """Tokens that the form without masking has more."""
        self.tokens_so_far: int = self.tokens + (before.tokens_so_far if before else 0)
        """Of all turns up to this one, without masking."""
        self.fixed_tokens_so_far: int = self.fixed_tokens + (before.fixed_tokens_so_far if before else 0)
        self.fixed_before: Turn | None = before if before is None or before.fixed else before.fixed_before
        """The nearest turn before this one that has fixed messages."""
        called = {call.name for message in messages for call in message.tool_calls}
        self.tools_so_far: frozenset[str] = before.tools_so_far if before else frozenset()
        if not called <= self.tools_so_far:
            self.tools_so_far |= called

    @property
    def messages(self) -> tuple[ZkChatMessage, ...]:
        return self.exchange.messages

    @property
    def prompt(self) -> tuple[PromptMessage, ...]:
        rendered = self._rendered  # read once: another thread may unload the turn
        return _render_whole(self.exchange.messages, self.counter) if rendered is None else rendered

    @property
    def ids(self) -> tuple[str, ...]:
        return self.exchange.ids

    @property
    def id(self) -> str:
        return self.exchange.ids[0]

    @property
    def fixed_ids(self) -> frozenset[str]:
        """The ids of its fixed messages."""
        return frozenset(id_ for message in self.fixed for id_ in message.source_ids)

    @property
    def foldable_tokens(self) -> int:
        """Tokens that a prompt saves without the turn."""
        return self.tokens - self.fixed_tokens

    def with_prompt(self, rendered: tuple[PromptMessage, ...]) -> "Turn":
        """The turn as it is sent in another form."""
        turn = copy(self)
        turn._rendered, turn.tokens = rendered, sum(m.tokens for m in rendered)
        turn.masking_saves = self.tokens - turn.tokens
        return turn

    def unload(self, read: ReadMessages) -> None:
        """Keep only figures and what was said: the store has the messages, and the turn is no longer sent."""
        self.exchange.unload(read)
        self._rendered = None


def is_failed(messages: Sequence[ZkChatMessage]) -> bool:
    """Whether the call failed, was stopped before a word, the process died, or a message is damaged."""
    last = messages[-1]
    return any(m.status in ("failed", "damaged") for m in messages) or (last.role == "user" and last.status in ("pending", "unfinished"))


def failure_reason(messages: Sequence[ZkChatMessage]) -> str:
    """Why a failed turn is left out of prompts."""
    return "a message is damaged on disk" if any(m.status == "damaged" for m in messages) else "the model call failed"


class TurnHistory(NamedTuple):
    """The finished turns of a branch, oldest first: those that can be sent, and those that failed. `masked` are those of `turns` that are
    sent with masked results. What a prompt asks of it takes as long with 10,000 turns as with 100."""

    turns: tuple[Turn, ...] = ()
    failed: tuple[Turn, ...] = ()
    masked: tuple[Turn, ...] = ()

    @property
    def in_order(self) -> list[Turn]:
        """All turns."""
        return sorted((*self.turns, *self.failed), key=lambda turn: turn.number)

    def tokens_since(self, position: int) -> int:
        """Tokens of the turns from this position on."""
        if position >= len(self.turns):
            return 0
        saved = sum(turn.masking_saves for turn in self.masked if turn.number >= self.turns[position].number)
        return self.turns[-1].tokens_so_far - (self.turns[position - 1].tokens_so_far if position else 0) - saved

    def fixed_tokens_since(self, position: int) -> int:
        """Tokens of the fixed messages in the turns from this position on."""
        if position >= len(self.turns):
            return 0
        return self.turns[-1].fixed_tokens_so_far - (self.turns[position - 1].fixed_tokens_so_far if position else 0)

    def with_fixed(self, first: int, end: int) -> list[Turn]:
        """The turns from one position to before another that have fixed messages."""
        found = []
        turn = self.turns[end - 1] if end > first else None
        while turn is not None and turn.number >= self.turns[first].number:
            if turn.fixed:
                found.append(turn)
            turn = turn.fixed_before
        return found[::-1]

    def count_covered(self, compaction: Compaction | None) -> int:
        """How many of `turns`, from the first, a compaction's summary covers. Searched from the end, where its border is."""
        if compaction is not None and compaction.summary:
            for turn in chain(reversed(self.turns), self.failed):
                if compaction.last_id in turn.ids:
                    return bisect_right(self.turns, turn.number, key=lambda each: each.number)
        return 0


def make_turns(exchanges: Iterable[LoadableExchange], counter: TokenCounter, before: TurnHistory = TurnHistory()) -> TurnHistory:  # noqa: B008
    """The turns `before` and those of these exchanges after them. The first question is turn 1; messages before it, as in some imports, are
    a turn of their own, 0."""
    turns: list[Turn] = []
    failed: list[Turn] = []
    last = before.turns[-1] if before.turns else None
    number = max((turn.number for turn in (*before.turns[-1:], *before.failed[-1:])), default=None)
    for exchange in exchanges:
        number = number + 1 if number is not None else int(exchange.messages[0].role == "user")
        turn = Turn(exchange, number, counter, last)
        if turn.failed:
            failed.append(turn)
        else:
            turns.append(turn)
            last = turn
    return TurnHistory((*before.turns, *turns), (*before.failed, *failed))


def _render_whole(messages: Sequence[ZkChatMessage], counter: TokenCounter) -> tuple[PromptMessage, ...]:
    rendered = render_turn(messages, counter)
    if rendered and rendered[-1].role == "tool":  # stopped before its answer; Mistral's models refuse a question after a tool result
        rendered = (*rendered, make_prompt_message("assistant", "conversation", INTERRUPTED.strip(), counter, rendered[-1].source_ids))
    return rendered


def _fence_fixed(message: ZkChatMessage, turn: int) -> str:
    why = "pinned by the user" if message.pinned else "an instruction of the user that still holds"
    return fence(FIXED_TAG, message.content, turn=turn, role=message.role, date=message.timestamp[:10], why=why)


def fence(tag: str, text: str, **attributes: object) -> str:
    """Text that is data, between tags that it cannot close."""
    harmless = re.sub(rf"<\s*/\s*(?={tag})", r"<\\/", text, flags=re.IGNORECASE)
    written = "".join(f" {key}={json.dumps(value, ensure_ascii=False)}" for key, value in attributes.items())
    return f"<{tag}{written}>\n{harmless}\n</{tag}>"


def is_prompt_context(text: str) -> bool:
    """Whether a message of a prompt is none of the conversation: instructions, memory, a summary, recalled passages or documents."""
    return text.startswith((*system_prompt.BEGINNINGS, NAMED_DOCUMENTS, FOUND_EXCERPTS)) or bool(_FENCED.fullmatch(text.strip()))


def make_prompt_message(role: str, kind: str, content: str, counter: TokenCounter, source_ids: tuple[str, ...] = ()) -> PromptMessage:
    """A message with the tokens that it takes."""
    tokens = counter.count(content) + MESSAGE_OVERHEAD
    return PromptMessage.model_validate({"role": role, "content": content, "tokens": tokens, "kind": kind, "source_ids": source_ids})


def render_turn(
    messages: Sequence[ZkChatMessage], counter: TokenCounter, *, thinking: bool = False, documents: bool = True
) -> tuple[PromptMessage, ...]:
    """The messages of a turn as the model gets them: documents come before the question, and tool calls without a result are left out, as
    are results without a call. Without `documents` only their names are sent."""
    answered_calls, results = _match_calls(messages)
    rendered: list[PromptMessage] = []
    for position, message in enumerate(messages):
        if message.role == "tool":
            rendered += [_render_message(message, (), None, counter)] if position in results else []
            continue
        if message.role == "user" and (message.references or (documents and message.chunks)):
            chunks = message.chunks if documents else ()
            references = message.references if documents else tuple(r.model_copy(update={"above": False}) for r in message.references)
            paths = dict.fromkeys(r.relative_path for r in message.references if r.relative_path)
            ids = (*([message.id] if chunks else []), *paths)  # with the message's own id where its text is sent
            text = describe_documents(references, chunks, message.retrieval, as_text=bool(message.plain_excerpts))
            rendered.append(make_prompt_message("user", "documents", text, counter, ids))
        calls = tuple(call for i, call in enumerate(message.tool_calls) if (position, i) in answered_calls)
        if message.content or calls:
            rendered.append(_render_message(message, calls, message.thinking if thinking else None, counter))
    return tuple(rendered)


def _match_calls(messages: Sequence[ZkChatMessage]) -> tuple[set[tuple[int, int]], set[int]]:
    """The calls with a result, as (message, index of the call), and the messages that are such results. A result belongs to the first
    unanswered call of its id in the message right before the results, as providers demand; imported logs may have others."""
    answered: set[tuple[int, int]] = set()
    results: set[int] = set()
    open_calls: list[tuple[str, tuple[int, int]]] = []
    for position, message in enumerate(messages):
        if message.role != "tool":
            open_calls = [(call.id, (position, i)) for i, call in enumerate(message.tool_calls)] if message.role == "assistant" else []
            continue
        match = next((call for call in open_calls if call[0] == message.tool_call_id), None)
        if match is not None:
            open_calls.remove(match)
            answered.add(match[1])
            results.add(position)
    return answered, results


def count_call_tokens(calls: Iterable[ToolCall], counter: TokenCounter) -> int:
    """Tokens of the names and arguments of tool calls."""
    return sum(counter.count(call.name) + counter.count(json.dumps(call.arguments, ensure_ascii=False)) for call in calls)


def _render_message(
    message: ZkChatMessage, calls: tuple[ToolCall, ...], thinking: ThinkingBlocks | None, counter: TokenCounter
) -> PromptMessage:
    content, stored = message.prompt_text, message.token_count
    if message.role == "assistant" and message.status == "unfinished" and message.content:
        content, stored = message.content + INTERRUPTED, None
    # an import may contain any number, and one that is impossible for a text of this length would let the prompt grow past its limit
    possible = stored is not None and len(content) <= stored * _MAX_TOKEN_LENGTH and stored <= 4 * len(content)
    tokens = counter.scale(stored) if stored is not None and possible else counter.count(content)
    call_tokens = count_call_tokens(calls, counter)
    thinking_tokens = counter.count(json.dumps(thinking.blocks, ensure_ascii=False)) if thinking else 0
    return PromptMessage(
        role=message.role,
        content=content,
        tool_calls=calls,
        thinking=thinking,
        tokens=tokens + call_tokens + thinking_tokens + MESSAGE_OVERHEAD,
        call_tokens=call_tokens,
        thinking_tokens=thinking_tokens,
        tool_call_id=message.tool_call_id if message.role == "tool" else None,
        kind="tool_results" if message.role == "tool" else "conversation",
        source_ids=(message.id,),
    )


def select_newest(turns: Sequence[Turn], budget: int, fixed: int) -> tuple[Turn, ...]:
    """The newest turns that take at most `budget` tokens, without gaps. `fixed` are the tokens of the fixed messages of all turns, which
    are sent with or without their turns."""
    kept: list[Turn] = []
    budget -= fixed
    for turn in reversed(turns):
        budget -= turn.foldable_tokens
        if budget < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
