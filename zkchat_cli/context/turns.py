"""A turn: the user's message with everything that answers it.

Turns, not messages, are what a prompt keeps, drops or folds, so that a tool call is never parted from its result and an answer never
from its question.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_

from zkchat_cli.context import pinned_messages
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.models import PromptMessage, ThinkingBlocks, ToolCall, ZkChatMessage, split_into_exchanges
from zkchat_cli.references.injection import describe_documents
from zkchat_cli.tokens.counter import TokenCounter

INTERRUPTED = "\n[interrupted by the user]"
_LONGEST_TOKEN = 128
"""Characters of the longest token in the shipped vocabularies."""


@dataclass(frozen=True)
class Turn:
    """Messages of one turn and how they stand in a prompt.

    What is derived is computed once: a long conversation asks for it again with every message.
    """

    messages: tuple[ZkChatMessage, ...]
    prompt: tuple[PromptMessage, ...]
    number: int = 0
    """How many of the user's messages there have been: how a person counts turns."""
    fixed: tuple[PromptMessage, ...] = ()
    """Its pinned messages and the user's instructions, as they are sent when the turn itself is not."""

    @property
    def id(self) -> str:
        return self.messages[0].id

    @cached_property
    def tokens(self) -> int:
        return sum(m.tokens for m in self.prompt)

    @cached_property
    def fixed_tokens(self) -> int:
        return sum(m.tokens for m in self.fixed)

    @property
    def foldable_tokens(self) -> int:
        """Tokens that a prompt is smaller by when the turn is not sent."""
        return self.tokens - self.fixed_tokens

    @cached_property
    def failed(self) -> bool:
        """A turn that came to nothing (the call failed, was stopped before a word, or the process died) never goes into a prompt."""
        return is_failed(self.messages)


def is_failed(messages: Sequence[ZkChatMessage]) -> bool:
    last = messages[-1]
    return any(m.status == "failed" for m in messages) or (last.role == "user" and last.status in ("pending", "unfinished"))


def split_into_turns(
    messages: Iterable[ZkChatMessage], counter: TokenCounter, known: Sequence[Turn] = (), *, first: int | None = None
) -> tuple[Turn, ...]:
    """Cut a branch of the log into turns. What precedes the first user message (an import may begin so) is a turn of its own.

    They are numbered from `first`, where they go on from others; else the first question is 1. `known` turns of the same messages are taken
    over as they are: rendering is paid once a turn.
    """
    groups = list(split_into_exchanges(messages))
    if first is None:
        first = 1 if groups and groups[0][0].role == "user" else 0
    there = {turn.id: turn for turn in known}
    return tuple(_turn(tuple(group), number, there.get(group[0].id), counter) for number, group in enumerate(groups, first))


def _turn(messages: tuple[ZkChatMessage, ...], number: int, known: Turn | None, counter: TokenCounter) -> Turn:
    if known is not None and known.number == number and len(known.messages) == len(messages) and all(map(is_, known.messages, messages)):
        return known
    fixed = pinned_messages.render_fixed_messages(messages, number, counter, failed=is_failed(messages))
    return Turn(messages, _ended(render_turn(messages, counter), counter), number, fixed)


def _ended(rendered: tuple[PromptMessage, ...], counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """A turn that was stopped before its answer, with a word of that in its place: Mistral's models take no question behind a result."""
    if not rendered or rendered[-1].role != "tool":
        return rendered
    text, ids = INTERRUPTED.strip(), rendered[-1].source_ids
    tokens = counter.count(text) + MESSAGE_OVERHEAD
    return (*rendered, PromptMessage(role="assistant", content=text, tokens=tokens, kind="conversation", source_ids=ids))


def render_turn(
    messages: Sequence[ZkChatMessage], counter: TokenCounter, *, thinking: bool = False, documents: bool = True
) -> tuple[PromptMessage, ...]:
    """A turn as the model gets it: complete (each call has its result, each result its call), references introduced before the question,
    with the text of those that go into the prompt unless there is no room for `documents`."""
    answered, answering = _pairs(messages)
    rendered: list[PromptMessage] = []
    for position, message in enumerate(messages):
        if message.role == "tool":
            if position in answering:
                rendered.append(_tool_result(message, counter))
            continue
        if message.role == "user" and message.references:
            rendered.append(_introduction(message, counter, documents=documents))
        calls = tuple(call for i, call in enumerate(message.tool_calls) if (position, i) in answered)
        if message.content or calls:
            said = _said(message, calls, counter)
            rendered.append(_with_thinking(said, message.thinking, counter) if thinking and message.thinking else said)
    return tuple(rendered)


def _introduction(message: ZkChatMessage, counter: TokenCounter, *, documents: bool) -> PromptMessage:
    """The documents that a message names; its `source_ids` begin with the message's own if their text is in it."""
    chunks = message.chunks if documents else ()
    references = message.references if documents else tuple(r.model_copy(update={"above": False}) for r in message.references)
    content = describe_documents(references, chunks)
    paths = dict.fromkeys(r.relative_path for r in message.references if r.relative_path)
    ids = (*([message.id] if chunks else []), *paths)
    return PromptMessage(role="user", content=content, tokens=counter.count(content) + MESSAGE_OVERHEAD, kind="documents", source_ids=ids)


def _pairs(messages: Sequence[ZkChatMessage]) -> tuple[set[tuple[int, int]], set[int]]:
    """Calls (by message and place in it) that have a result, and the messages that are one.

    A result belongs to the first call of its id that waits for one among the calls right before it, as providers demand: an imported log
    may use an id twice, or hold a result that nobody asked for.
    """
    answered: set[tuple[int, int]] = set()
    answering: set[int] = set()
    waiting: list[tuple[str, tuple[int, int]]] = []
    for position, message in enumerate(messages):
        if message.role != "tool":
            waiting = [(call.id, (position, i)) for i, call in enumerate(message.tool_calls)] if message.role == "assistant" else []
            continue
        for place in waiting:
            if place[0] == message.tool_call_id:
                waiting.remove(place)
                answered.add(place[1])
                answering.add(position)
                break
    return answered, answering


def count_call_tokens(calls: Iterable[ToolCall], counter: TokenCounter) -> int:
    """Tokens of tool calls: names and arguments."""
    return sum(counter.count(call.name) + counter.count(json.dumps(call.arguments, ensure_ascii=False)) for call in calls)


def _said(message: ZkChatMessage, calls: tuple[ToolCall, ...], counter: TokenCounter) -> PromptMessage:
    cut = message.role == "assistant" and message.status == "unfinished" and message.content
    content = message.content + INTERRUPTED if cut else message.prompt_text
    tokens = counter.count(content) if cut else _content_tokens(message, counter)
    called = count_call_tokens(calls, counter)
    return PromptMessage(
        role=message.role,
        content=content,
        tool_calls=calls,
        tokens=tokens + called + MESSAGE_OVERHEAD,
        call_tokens=called,
        kind="conversation",
        source_ids=(message.id,),
    )


def _with_thinking(said: PromptMessage, blocks: ThinkingBlocks, counter: TokenCounter) -> PromptMessage:
    tokens = counter.count(json.dumps(blocks.blocks, ensure_ascii=False))
    return said.model_copy(update={"thinking": blocks, "tokens": said.tokens + tokens, "thinking_tokens": tokens})


def _tool_result(message: ZkChatMessage, counter: TokenCounter) -> PromptMessage:
    return PromptMessage(
        role="tool",
        content=message.content,
        tool_call_id=message.tool_call_id,
        tokens=_content_tokens(message, counter) + MESSAGE_OVERHEAD,
        kind="tool_results",
        source_ids=(message.id,),
    )


def _content_tokens(message: ZkChatMessage, counter: TokenCounter) -> int:
    """The count stored with the message, so that each text is counted once; unless no text of that length can have so many tokens (an
    import may say anything, and a negative count would let the prompt grow past its limit)."""
    length, known = len(message.prompt_text), message.token_count
    if known is not None and length <= known * _LONGEST_TOKEN and known <= 4 * length:
        return counter.scale(known)
    return counter.count(message.prompt_text)


def select_newest_in_batches(turns: Sequence[Turn], room: int, fixed: int, *, total: int, batch: int) -> tuple[Turn, ...]:
    """The newest of turns that take `total` tokens together, as many as fit into the room, less what makes those left out a multiple of
    `batch` tokens: so the first that is kept stays the first for several turns, and with it the front of the prompt. The last is kept."""
    kept = select_newest(turns, room, fixed)
    left_out = total - sum(turn.tokens for turn in kept)
    border, first = -(-left_out // batch) * batch, 0
    while left_out < border and first < len(kept) - 1:
        left_out += kept[first].tokens
        first += 1
    return kept[first:]


def select_newest(turns: Sequence[Turn], room: int, fixed: int = 0) -> tuple[Turn, ...]:
    """The newest turns that take at most `room` tokens together. Stops at the first misfit: a history has no holes.

    What is fixed in the others is sent all the same, and takes of the room, too: `fixed` tokens in all of them.
    """
    kept: list[Turn] = []
    room -= fixed
    for turn in reversed(turns):
        room -= turn.foldable_tokens
        if room < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
