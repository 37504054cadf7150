"""A turn: the user's message with everything that answers it.

Turns, not messages, are what a prompt keeps, drops or folds, so that a tool call is never parted from its result and an answer never
from its question.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.models import PromptMessage, ToolCall, ZkChatMessage
from zkchat_cli.references.extraction import introduce
from zkchat_cli.tokens import TokenCounter

INTERRUPTED = "\n[interrupted by the user]"


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages of one turn and how they stand in a prompt; `text` is what was said, without tool results."""

    messages: tuple[ZkChatMessage, ...]
    prompt: tuple[PromptMessage, ...]

    @property
    def id(self) -> str:
        return self.messages[0].id

    @property
    def tokens(self) -> int:
        return sum(m.tokens for m in self.prompt)

    @property
    def text(self) -> str:
        return "\n".join(m.content for m in self.messages if m.role in ("user", "assistant") and m.content)

    @property
    def failed(self) -> bool:
        """A turn that came to nothing (the call failed, was stopped before a word, or the process died) never goes into a prompt."""
        last = self.messages[-1]
        return any(m.status == "failed" for m in self.messages) or (last.role == "user" and last.status in ("pending", "unfinished"))


def turns_of(messages: Iterable[ZkChatMessage], counter: TokenCounter) -> tuple[Turn, ...]:
    """Cut a branch of the log into turns. What precedes the first user message (an import may begin so) is a turn of its own."""
    groups: list[list[ZkChatMessage]] = []
    for message in messages:
        if message.role == "user" or not groups:
            groups.append([])
        groups[-1].append(message)
    return tuple(Turn(tuple(group), render(group, counter)) for group in groups)


def render(messages: Sequence[ZkChatMessage], counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """A turn as the model gets it: complete (each call has its result, each result its call), references introduced before the question."""
    answered = {m.tool_call_id for m in messages if m.role == "tool"}
    called = {call.id for m in messages for call in m.tool_calls}
    rendered: list[PromptMessage] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id in called:
                rendered.append(_tool_result(message, counter))
            continue
        if message.role == "user" and (introduction := introduce(message.references)):
            paths = tuple(r.relative_path for r in message.references if r.relative_path)
            tokens = counter.count(introduction) + MESSAGE_OVERHEAD
            rendered.append(PromptMessage(role="user", content=introduction, tokens=tokens, kind="documents", source_ids=paths))
        calls = tuple(call for call in message.tool_calls if call.id in answered)
        if message.content or calls:
            rendered.append(_said(message, calls, counter))
    return tuple(rendered)


def call_tokens(calls: Iterable[ToolCall], counter: TokenCounter) -> int:
    """Tokens of tool calls: names and arguments."""
    return sum(counter.count(call.name) + counter.count(json.dumps(call.arguments, ensure_ascii=False)) for call in calls)


def _said(message: ZkChatMessage, calls: tuple[ToolCall, ...], counter: TokenCounter) -> PromptMessage:
    cut = message.role == "assistant" and message.status == "unfinished" and message.content
    content = message.content + INTERRUPTED if cut else message.content
    tokens = counter.count(content) if cut or message.token_count is None else message.token_count
    return PromptMessage(
        role=message.role,
        content=content,
        tool_calls=calls,
        tokens=tokens + call_tokens(calls, counter) + MESSAGE_OVERHEAD,
        kind="conversation",
        source_ids=(message.id,),
    )


def _tool_result(message: ZkChatMessage, counter: TokenCounter) -> PromptMessage:
    tokens = counter.count(message.content) if message.token_count is None else message.token_count
    return PromptMessage(
        role="tool",
        content=message.content,
        tool_call_id=message.tool_call_id,
        tokens=tokens + MESSAGE_OVERHEAD,
        kind="tool_results",
        source_ids=(message.id,),
    )


def newest_that_fit(turns: Sequence[Turn], room: int) -> tuple[Turn, ...]:
    """The newest turns that take at most `room` tokens together. Stops at the first misfit: a history has no holes."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= turn.tokens
        if room < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
