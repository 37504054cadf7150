"""Messages of the append-only log, and what they are made of."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from zkchat_cli.models.base import Count, Quantity, _LogValue
from zkchat_cli.models.citations import Citation, FoundSentence
from zkchat_cli.models.money import Money, Price, TokenCounts, sum_money
from zkchat_cli.models.notes import ContentChunk, DocumentReference

# The message that `/continue` sends
CONTINUE_PROMPT = "Go on exactly where your last answer stopped. Do not repeat what you have said."

# The priority of a pinned message; the lowest is 1
HIGHEST_PRIORITY = 10
Priority = Annotated[int, Field(strict=True, ge=1, le=HIGHEST_PRIORITY)]

Role = Literal["system", "user", "assistant", "tool"]

MessageStatus = Literal["pending", "complete", "unfinished", "failed", "damaged"]
"""A damaged message is not what was stored: its content says so, and it never goes into a
prompt.
"""

RetrievalMode = Literal["tools", "before", "both", "none"]
"""Who searches the notes for an answer: the model with tools, zkchat before the model is called,
both, or nobody.
"""

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "error"]


class ToolCall(_LogValue):
    """A tool call of the model. If its arguments are not valid JSON, `arguments` is empty and
    `malformed` has the text.
    """

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON on one line."""
        return json.dumps(self.arguments, ensure_ascii=False)


class ThinkingBlocks(_LogValue):
    """Reasoning blocks that their provider needs back unchanged until the turn ends."""

    provider: str
    blocks: tuple[dict[str, Any], ...]
    # False for reasoning that only the server can read: it is useless after the turn
    stored: bool = True


class ToolRun(_LogValue):
    """The result of a tool call.

    `tokens` is what the model was sent. `outcome` describes the result in a few words; it is empty
    if the number of excerpts says enough.
    """

    name: str
    arguments: dict[str, Any]
    ok: bool
    tokens: Count
    duration_ms: Quantity
    outcome: str = ""


class TokenUsage(_LogValue):
    """Tokens of a model call; `estimated` if the provider did not report them."""

    prompt_tokens: Count
    completion_tokens: Count
    estimated: bool = True
    # Tokens of the prompt from the provider's cache, if reported
    cached_tokens: Count | None = None
    # Tokens of the prompt that were written to that cache, if reported
    cache_write_tokens: Count | None = None
    # Tokens of the completion that are reasoning, if reported
    reasoning_tokens: Count | None = None
    # What the provider charges, if its prices are known
    cost: Money | None = None

    def at_price(self, price: Price | None) -> "TokenUsage":
        """The same tokens with what they cost."""
        if price is None:
            return self
        counts = TokenCounts(
            self.prompt_tokens,
            self.completion_tokens,
            self.cached_tokens or 0,
            self.cache_write_tokens or 0,
        )
        return self.model_copy(update={"cost": price.cost(counts)})


def sum_usage(usages: Iterable[TokenUsage | None]) -> TokenUsage:
    """The cost of several calls together, as far as known; cached and reasoning tokens are None if
    no provider reported them.
    """
    known = [usage for usage in usages if usage is not None]
    return TokenUsage(
        prompt_tokens=sum(usage.prompt_tokens for usage in known),
        completion_tokens=sum(usage.completion_tokens for usage in known),
        estimated=any(usage.estimated for usage in known),
        cached_tokens=_sum_reported(usage.cached_tokens for usage in known),
        cache_write_tokens=_sum_reported(usage.cache_write_tokens for usage in known),
        reasoning_tokens=_sum_reported(usage.reasoning_tokens for usage in known),
        cost=sum_money(usage.cost for usage in known if not _is_nothing(usage)),
    )


def _is_nothing(usage: TokenUsage) -> bool:
    """Whether no call has been made yet."""
    return not usage.prompt_tokens and not usage.completion_tokens


def _sum_reported(figures: Iterable[int | None]) -> int | None:
    """The sum of the figures that are known; None if none is."""
    reported = [figure for figure in figures if figure is not None]
    return sum(reported) if reported else None


Timings = dict[str, Quantity]
"""Milliseconds of the phases of a turn: prepare, model, tools, store, and `overhead` (everything
but model and tools).
"""


class ZkChatMessage(_LogValue):
    """One message of the append-only log. `parent_id` makes the log a tree: undo, retry and edit
    move its head.

    One class for all roles: its names in JSON are fixed, and imports may have any mixture. Messages
    of zkchat have these fields beside the common ones:

    - questions and answers: `pinned`, `priority`, `remarks`
    - questions: `references`, `chunks`, `retrieval`, `plain_excerpts`, `augmented_token_count`,
      `agent`, `addressed`, `learning_points`
    - answers: `references`, `citations`, `evidence`, `uncited_statements`, `reasoning`, `thinking`,
      `thinking_tokens`, `model`, `finish_reason`, `usage`, `timings_ms`, `agent`, `task`,
      `memory_references`
    - replies with tool calls: `tool_calls`, `tool_tokens`, `reasoning`, `thinking`,
      `thinking_tokens`, `model`, `finish_reason`
    - tool results: `tool_call_id`, `tool_name`, `tool_run`, `chunks`

    `content` is verbatim. The list of referenced documents is added from `references` when a prompt
    is assembled (`augmented_token_count` includes it). `chunks` are what a tool found; of a user's
    message the text of documents that it names, and the passages that were found for it.
    """

    id: str
    parent_id: str | None = None
    role: Role
    content: str
    timestamp: str
    status: MessageStatus = "complete"
    references: tuple[DocumentReference, ...] = ()
    citations: tuple[Citation, ...] = ()
    chunks: tuple[ContentChunk, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_run: ToolRun | None = None
    reasoning: str | None = None
    thinking: ThinkingBlocks | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    uncited_statements: Count | None = None
    # Sentences that zkchat has found for an answer without a source
    evidence: tuple[FoundSentence, ...] = ()
    # The times of the turn that ends with this answer
    timings_ms: Timings | None = None
    # Who searched the notes for this question
    retrieval: RetrievalMode | None = None
    # Whether its documents were sent as plain text, which small models read best, instead of JSON
    plain_excerpts: bool | None = None
    token_count: Count | None = None
    augmented_token_count: Count | None = None
    tool_tokens: Count | None = None
    # Whether the user wants this message in every prompt; None if a rule decides (see
    # `context/turns`)
    pinned: bool | None = None
    # The priority that the user has set; None if its kind decides (see `context/message_priority`)
    priority: Priority | None = None
    # The agent that answers this user message, or that gave this answer
    agent: str | None = None
    # Tokens of the reasoning: the provider's number, or zkchat's own count without one
    thinking_tokens: Count | None = None
    memory_references: tuple[str, ...] = ()
    """What memory the model had for this answer: paths of files and notes, `fact:KEY`,
    `agent:NAME`.
    """
    # What the user stated, decided or corrected in this message, in their words
    learning_points: tuple[str, ...] = ()
    # What the user did after this message that the model is told with the next question
    remarks: tuple[str, ...] = ()
    # Number of calls and tokens in the turn that ends with this answer, if it called tools
    task: dict[str, Count] | None = None
    # When a field (a status, a pin) last changed after the message was stored; `content` never does
    updated_at: str | None = None
    # The `@name` in `content` that mentions an agent for this message only
    addressed: str | None = None
    other_records: tuple[dict[str, Any], ...] = ()

    @property
    def display_text(self) -> str:
        """The content for lists of messages; `/continue` instead of its prompt, which the user has
        never seen.
        """
        if self.role == "user" and self.content == CONTINUE_PROMPT:
            return "/continue"
        return self.content

    @property
    def was_cut(self) -> bool:
        """Whether this is an answer that ended before the model had finished it."""
        if self.role != "assistant" or not self.content:
            return False
        return self.finish_reason == "length" or self.status == "unfinished"

    @property
    def is_answer(self) -> bool:
        """Whether this is an answer with text, not a reply that only calls tools."""
        return self.role == "assistant" and bool(self.content.strip()) and not self.tool_calls

    @property
    def prompt_text(self) -> str:
        """The content without the agent mention, which is not for the model."""
        if not self.addressed:
            return self.content
        before, _, after = self.content.partition(self.addressed)
        return before + after.lstrip(" \t\n,:")


def split_into_exchanges(messages: Iterable[ZkChatMessage]) -> Iterator[list[ZkChatMessage]]:
    """The messages of each question with its answers. Messages before the first question, which
    some imports have, come first.
    """
    turn: list[ZkChatMessage] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def branch_to(log: Iterable[ZkChatMessage], head_id: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages from the first through `head_id`; none if that is None.

    If the log is damaged and lacks the head, all messages through the last one of the log.
    """
    messages = {message.id: message for message in log}
    if head_id is not None and head_id not in messages:
        head_id = next(reversed(messages), None)
    found: list[ZkChatMessage] = []
    while head_id is not None:
        found.append(messages[head_id])
        head_id = found[-1].parent_id
    return tuple(reversed(found))


def is_chat(message: ZkChatMessage) -> bool:
    """Whether the message is a question or an answer, and not a tool call or its result. Only these
    count as a conversation's messages.
    """
    if message.role == "assistant":
        return bool(message.content) and not message.tool_calls
    return message.role == "user"
