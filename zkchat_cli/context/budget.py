"""Token budgets: the shares of the context window (`context.…_budget_ratio`), how much of each a
prompt uses, and how a compaction keeps a conversation within them. Pure; `chat/compactor.py` acts.

At most 90 % of the window is sent (the limit); the rest is for the answer. Ratios are shares of the
whole window. What instructions and tools leave unused flows on to the messages, up to the
threshold, a share of the limit above which compaction is due. What is between threshold and limit
is for the documents and tool results of the current message.

Nothing is deleted: a compaction is a row that says which messages it masks and its summary covers,
so preview, undo and export are cheap. Masking is the cheapest way to shrink a conversation: the
answers contain what mattered. Beginnings, ends and source numbers stay, so that the model knows
what it read and can read it again. What is masked changes only with the next compaction, so that
the front of the prompt stays the same.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.context.turns import MASK_NOTE, Turn, TurnHistory, is_fixed, is_masked_text
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import (
    BudgetStatus,
    CompactionDue,
    ContextUsage,
    PromptKind,
    PromptMessage,
    PromptTool,
)
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter

LIMIT_SHARE = 0.9
DROP_BATCHES = 3
"""Turns are dropped in so many batches of the messages' budget: more would break the prompt cache
more often, fewer would forget more.
"""


class Budget(NamedTuple):
    """Shares of a window, in tokens. `window_source` says where its size comes from."""

    max_context: int
    system: int
    tools: int
    messages: int
    threshold: float
    window_source: str | None = None

    @classmethod
    def from_settings(
        cls, settings: ContextSettings, max_context: int, source: str | None = None
    ) -> "Budget":
        ratios = (
            settings.system_budget_ratio,
            settings.tool_budget_ratio,
            settings.message_budget_ratio,
        )
        system, tools, messages = (int(max_context * ratio) for ratio in ratios)
        return cls(max_context, system, tools, messages, settings.summarization_threshold, source)

    @property
    def effective_limit(self) -> int:
        return int(self.max_context * LIMIT_SHARE)

    def message_budget(self, system: int, tools: int) -> int:
        """What messages may take beside instructions and tools of so many tokens before compaction
        is due: their share and what the others leave unused, up to the threshold.
        """
        unused = max(0, self.system - system) + max(0, self.tools - tools)
        return max(
            0,
            min(
                self.messages + unused, int(self.threshold * self.effective_limit) - system - tools
            ),
        )


def measure_usage(
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
    budget: Budget,
    counter: TokenCounter,
    compaction: CompactionDue = CompactionDue(due=False),  # noqa: B008, RUF100
) -> ContextUsage:
    """The tokens of a prompt. They add up exactly: total = system + tools + messages, messages =
    the sum of their breakdown.
    """
    breakdown: dict[PromptKind, int] = dict.fromkeys(get_args(PromptKind), 0)
    for message in messages:
        breakdown[message.kind] += message.tokens
    system = breakdown.pop("system")
    tool_tokens = sum(tool.tokens for tool in tools)
    message_tokens = sum(breakdown.values())
    total = system + tool_tokens + message_tokens
    room = budget.message_budget(system, tool_tokens)
    # The documents and tool results of the current message may take all that can be sent
    if message_tokens > room:
        room = max(message_tokens, budget.effective_limit - system - tool_tokens)
    calls = sum(message.call_tokens for message in messages)
    thinking = sum(message.thinking_tokens for message in messages)
    overhead = MESSAGE_OVERHEAD * len(messages)
    content = total - tool_tokens - calls - thinking - overhead
    shares = {
        "system": (system, budget.system),
        "tools": (tool_tokens, budget.tools),
        "messages": (message_tokens, room),
    }
    return ContextUsage(
        system_tokens=system,
        tool_tokens=tool_tokens,
        message_tokens=message_tokens,
        total_tokens=total,
        available_tokens=max(0, budget.max_context - total),
        max_context=budget.max_context,
        window_source=budget.window_source,
        effective_limit=budget.effective_limit,
        estimated=counter.estimated,
        message_breakdown=breakdown,
        budget_status={
            name: BudgetStatus(
                used=used, budget=share, percentage=round(100 * used / share, 1) if share else 0.0
            )
            for name, (used, share) in shares.items()
        },
        components={
            "content": content,
            "tools": tool_tokens,
            "tool_calls": calls,
            "reasoning": thinking,
            "overhead": overhead,
        },
        calibration=counter.factor,
        compaction=compaction,
    )


def remaining_message_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for more messages in a prompt with this usage before compaction is due."""
    return max(
        0, budget.message_budget(usage.system_tokens, usage.tool_tokens) - usage.message_tokens
    )


def history_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for earlier turns, or for documents, in a prompt with this usage: the messages'
    budget, as far as the limit allows. The current message does not reduce it below the limit:
    otherwise each tool result would change the front of the prompt.
    """
    return max(
        0,
        min(
            budget.message_budget(usage.system_tokens, usage.tool_tokens),
            usage.effective_limit - usage.total_tokens,
        ),
    )


def turn_budget_after_compaction(usage: ContextUsage, budget: Budget, other: int) -> int:
    """Tokens for turns after a compaction, beside `other` ones of summary and fixed messages;
    `usage` is that of a prompt without history. Less than half of what is left: otherwise the next
    turn would need another compaction, which breaks the prompt cache again.
    """
    return max(0, remaining_message_budget(usage, budget) - other) * 9 // 20


def compaction_due(usage: ContextUsage, budget: Budget, history: int) -> CompactionDue:
    """Whether a conversation should be compacted, of which so many tokens come to a prompt with
    this usage.
    """
    at = (
        usage.system_tokens
        + usage.tool_tokens
        + budget.message_budget(usage.system_tokens, usage.tool_tokens)
    )
    tokens = usage.total_tokens + history
    reason = (
        f"the conversation needs {tokens:,} tokens; at {at:,} of {usage.effective_limit:,} it "
        "is compacted"
    )
    return CompactionDue(
        due=tokens > at, reason=reason if tokens > at else None, at=at, tokens=tokens
    )


USUAL_SUMMARY_SHARE = 0.07
"""Size of a model's summary, as a share of the messages' budget. Each new summary sends the last
one again: with more, a long conversation would cost much more than its own words.
"""
MASKED_HISTORY_SHARE = 0.75
"""Masking must reduce the history to this share of its budget, or turns are folded: a smaller gain
would not last, and each change of the prompt's front invalidates the prompt cache.
"""


class CompactionRequest(NamedTuple):
    """`target` tokens at most for the summary; the `keep` newest messages are not folded (None: the
    settings' number, as far as they fit).

    A `reason` makes it automatic: it may stop after masking, and may drop turns as a last resort.
    Without `ask` no model is called.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    ask: bool = True
    # The turn in progress, which needs room too
    current: tuple[ZkChatMessage, ...] = ()


class FoldPlan(NamedTuple):
    """Turns that a summary will replace, from the first; `new` ones were not covered before."""

    turns: tuple[Turn, ...]
    new: tuple[Turn, ...]

    @property
    def new_tokens(self) -> int:
        """Tokens that leave the prompt with the new turns."""
        return sum(turn.foldable_tokens for turn in self.new)


def plan_fold(
    turns: Sequence[Turn],
    covered: int,
    keep: int,
    *,
    budget: int | None = None,
    largest: int | None = None,
) -> FoldPlan | None:
    """The oldest turns to fold so that at least `keep` messages stay; turns are never split. None
    if there is nothing to fold.

    The first `covered` turns are in a summary already. With a `budget` in tokens fewer than `keep`
    messages stay if they do not fit, or if a short conversation had nothing to fold otherwise. The
    last turn stays, unless `keep` is 0 or it has more than the `largest` number of tokens: no
    prompt would have it.
    """
    border = first_kept_turn(turns, keep)
    if budget is not None:
        while border == 0 and keep > 1:
            keep //= 2
            border = first_kept_turn(turns, keep)
        over = sum(turn.foldable_tokens for turn in turns[border:]) - budget
        while border < len(turns) - 1 and over > 0:
            over -= turns[border].foldable_tokens
            border += 1
        if largest is not None and turns and turns[-1].foldable_tokens > largest:
            border = len(turns)
    return (
        FoldPlan(tuple(turns[:border]), tuple(turns[covered:border])) if border > covered else None
    )


def first_kept_turn(turns: Sequence[Turn], keep: int) -> int:
    """The index of the first turn with one of the last `keep` messages."""
    border = len(turns)
    kept = 0
    while border > 0 and kept < keep:
        border -= 1
        kept += len(turns[border].ids)
    return border


def summary_coverage(compaction: Compaction, history: TurnHistory) -> dict[str, int | str | None]:
    """How many turns and messages a summary covers, and from when."""
    folded = history.turns[: history.count_covered(compaction)]
    messages = [message for turn in folded for message in turn.messages]
    days = [message.timestamp[:10] for message in messages if message.timestamp]
    dates = {"first_date": min(days, default=None), "last_date": max(days, default=None)}
    return {"turns": len(folded), "messages": len(messages), **dates}


HEAD = 400
TAIL = 160  # characters of a masked text
# A text is masked only if this leaves at most this share of its tokens
MAX_MASKED_SHARE = 0.5
# All prompts of a turn mask the same, and counting takes long
CACHED_TURNS = 256
_MAX_SOURCES = 8
_MASKABLE = ("tool_results", "documents")


def find_maskable(turns: Iterable[Turn], counter: TokenCounter) -> tuple[str, ...]:
    """The ids of the messages with much smaller results or documents when masked."""
    found: dict[str, None] = {}
    for turn in turns:
        long = [
            m
            for m in turn.prompt
            if _is_maskable(m) and len(m.content) * MAX_MASKED_SHARE > HEAD + TAIL
        ]
        # The store may have to read them
        messages = {message.id: message for message in turn.messages} if long else {}
        for rendered in long:
            message = messages.get(rendered.source_ids[0])
            if message is None or is_fixed(message):
                continue
            if _mask(message, rendered, counter).tokens <= MAX_MASKED_SHARE * rendered.tokens:
                found[message.id] = None
    return tuple(found)


def mask_messages(history: TurnHistory, ids: Collection[str], counter: TokenCounter) -> TurnHistory:
    """The turns with the results and documents of these messages masked."""
    turns = [*history.turns]
    left = {*ids}
    for position in range(len(turns) - 1, -1, -1):  # from the end, where they are
        if not left:
            break
        if own := left.intersection(turns[position].ids):
            turns[position] = _mask_turn(turns[position], frozenset(own), counter)
            left -= own
    return history._replace(turns=tuple(turns)) if ids else history


def mask_result(message: ZkChatMessage, counter: TokenCounter) -> ZkChatMessage | None:
    """A tool result of the turn in progress as it is sent when the turn needs its room; None if
    that would save little.
    """
    content = _masked_text(message, message.content)
    tokens = counter.count_raw(content)
    if (
        message.role != "tool"
        or is_fixed(message)
        or tokens > MAX_MASKED_SHARE * counter.count_raw(message.content)
    ):
        return None
    return message.model_copy(update={"content": content, "token_count": tokens})


def is_masked(rendered: PromptMessage) -> bool:
    return rendered.kind in _MASKABLE and is_masked_text(rendered.content)


@lru_cache(maxsize=CACHED_TURNS)
def _mask_turn(turn: Turn, ids: frozenset[str], counter: TokenCounter) -> Turn:
    messages = {message.id: message for message in turn.messages if message.id in ids}
    rendered = (
        _mask(messages[m.source_ids[0]], m, counter)
        if _is_maskable(m) and m.source_ids[0] in messages
        else m
        for m in turn.prompt
    )
    return turn.with_prompt(tuple(rendered))


def _is_maskable(rendered: PromptMessage) -> bool:
    """Whether these are results or documents."""
    return rendered.kind in _MASKABLE and bool(rendered.source_ids)


def _mask(message: ZkChatMessage, rendered: PromptMessage, counter: TokenCounter) -> PromptMessage:
    content = _masked_text(message, rendered.content)
    return rendered.model_copy(
        update={
            "content": content,
            "tokens": counter.count(content) + MESSAGE_OVERHEAD,
            "chunks": rendered.chunks if content == rendered.content else (),
        }
    )


def _masked_text(message: ZkChatMessage, text: str) -> str:
    again = (
        f"Call {truncate(message.tool_name, 60)} again" if message.tool_name else "Read them again"
    )
    sources = [
        f"{chunk.number} {truncate(chunk.relative_path, 80)}:{chunk.start_line}"
        for chunk in message.chunks[:_MAX_SOURCES]
    ]
    more = (
        f" and {len(message.chunks) - _MAX_SOURCES} more"
        if len(message.chunks) > _MAX_SOURCES
        else ""
    )
    named = f" Its sources: {', '.join(sources)}{more}." if sources else ""
    note = f"{MASK_NOTE}{named} {again} to see it whole. …]\n"
    return text[:HEAD] + note + text[-TAIL:] if len(text) > HEAD + TAIL else text
