"""A turn: the user's message and everything that answers it.

A prompt keeps, drops or folds whole turns, never single messages, so that a tool call always has its result and an answer its question.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import chain
from typing import NamedTuple

from zkchat_cli.context import system_prompt
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.exchanges import LoadableExchange, ReadMessages
from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.models import Compaction, PromptMessage, ThinkingBlocks, ToolCall, ZkChatMessage
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
        self.fixed = _render_fixed(messages, number, counter)
        """Its pinned messages and standing instructions, as they are sent without the turn."""
        self.tokens = sum(m.tokens for m in self._rendered)
        self.fixed_tokens = sum(m.tokens for m in self.fixed)
        self.failed = is_failed(messages)
        """Then the turn never goes into a prompt."""
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
        """The ids of its messages."""
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


def _render_fixed(messages: Sequence[ZkChatMessage], number: int, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """The fixed messages of a turn; of a failed turn only the pinned ones."""
    failed = is_failed(messages)
    rendered = []
    for message in messages:
        if message.content and message.status != "damaged" and (message.pinned if failed else is_fixed(message)):
            why = "pinned by the user" if message.pinned else "an instruction of the user that still holds"
            date = message.timestamp[:10]
            content = fence(FIXED_TAG, message.content, turn=number, role=message.role, date=date, why=why)
            rendered.append(make_prompt_message("user", "conversation", content, counter, (message.id,)))
    return tuple(rendered)


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
            rendered.append(_render_documents(message, counter, with_text=documents))
        calls = tuple(call for i, call in enumerate(message.tool_calls) if (position, i) in answered_calls)
        if message.content or calls:
            rendered.append(_render_message(message, calls, message.thinking if thinking else None, counter))
    return tuple(rendered)


def _render_documents(message: ZkChatMessage, counter: TokenCounter, *, with_text: bool) -> PromptMessage:
    """The documents that a message names and the passages found for it. With their text, `source_ids` begins with the message's id."""
    chunks = message.chunks if with_text else ()
    references = message.references if with_text else tuple(r.model_copy(update={"above": False}) for r in message.references)
    paths = dict.fromkeys(r.relative_path for r in message.references if r.relative_path)
    ids = (*([message.id] if chunks else []), *paths)
    text = describe_documents(references, chunks, message.retrieval, as_text=bool(message.plain_excerpts))
    return make_prompt_message("user", "documents", text, counter, ids)


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
    interrupted = message.role == "assistant" and message.status == "unfinished" and message.content
    content = message.content + INTERRUPTED if interrupted else message.prompt_text
    tokens = counter.count(content) if interrupted else _count_content(message, counter)
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


def _count_content(message: ZkChatMessage, counter: TokenCounter) -> int:
    """The stored count if it is possible for a text of this length: an import may contain any number, and a negative one would let the
    prompt grow past its limit."""
    length, stored = len(message.prompt_text), message.token_count
    if stored is not None and length <= stored * _MAX_TOKEN_LENGTH and stored <= 4 * length:
        return counter.scale(stored)
    return counter.count(message.prompt_text)


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
