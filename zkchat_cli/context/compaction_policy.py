"""Compaction policy: which old tool results and documents lose their middles, and which turns a summary replaces. Pure;
`chat/compactor.py` acts.

Nothing is deleted: a compaction is a row that says which messages it masks and its summary covers, so preview, undo and export are cheap.
Masking is the cheapest way to shrink a conversation: the answers contain what mattered. Beginnings, ends and source numbers stay, so that
the model knows what it read and can read it again. What is masked changes only with the next compaction, so that the front of the prompt
stays the same.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.turns import Turn, TurnHistory, is_fixed
from zkchat_cli.models import Compaction, PromptMessage, ZkChatMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter

USUAL_SUMMARY_SHARE = 0.07
"""Size of a model's summary, as a share of the messages' budget. Each new summary sends the last one again: with more, a long conversation
would cost much more than its own words."""
MASKED_HISTORY_SHARE = 0.75
"""Masking must reduce the history to this share of its budget, or turns are folded: a smaller gain would not last, and each change of the
prompt's front invalidates the prompt cache."""


class CompactionRequest(NamedTuple):
    """`target` tokens at most for the summary; the `keep` newest messages are not folded (None: the settings' number, as far as they fit).

    A `reason` makes it automatic: it may stop after masking, and may drop turns as a last resort. Without `ask` no model is called.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    ask: bool = True
    current: tuple[ZkChatMessage, ...] = ()
    """The turn in progress, which needs room too."""
    offer_tools: bool = True
    """Whether its next call has tools."""


class FoldPlan(NamedTuple):
    """Turns that a summary will replace, from the first; `new` ones were not covered before."""

    turns: tuple[Turn, ...]
    new: tuple[Turn, ...]

    @property
    def last_id(self) -> str:
        return self.turns[-1].ids[-1]

    @property
    def messages_folded(self) -> int:
        return sum(len(turn.ids) for turn in self.new)

    @property
    def new_tokens(self) -> int:
        """Tokens that leave the prompt with the new turns."""
        return sum(turn.foldable_tokens for turn in self.new)


def plan_fold(turns: Sequence[Turn], covered: int, keep: int, *, budget: int | None = None, largest: int | None = None) -> FoldPlan | None:
    """The oldest turns to fold so that at least `keep` messages stay; turns are never split. None if there is nothing to fold.

    The first `covered` turns are in a summary already. With a `budget` in tokens fewer than `keep` messages stay if they do not fit, or if
    a short conversation had nothing to fold otherwise. The last turn stays, unless `keep` is 0 or it has more than the `largest` number of
    tokens: no prompt would have it.
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
    return FoldPlan(tuple(turns[:border]), tuple(turns[covered:border])) if border > covered else None


def first_kept_turn(turns: Sequence[Turn], keep: int) -> int:
    """The index of the first turn with one of the last `keep` messages."""
    border, kept = len(turns), 0
    while border > 0 and kept < keep:
        border -= 1
        kept += len(turns[border].ids)
    return border


class SummaryCoverage(NamedTuple):
    """How many turns and messages a summary covers, and from when."""

    turns: int
    messages: int
    first_date: str | None
    last_date: str | None


def summary_coverage(compaction: Compaction, history: TurnHistory) -> SummaryCoverage:
    folded = history.turns[: history.count_covered(compaction)]
    messages = [message for turn in folded for message in turn.messages]
    days = [message.timestamp[:10] for message in messages if message.timestamp]
    return SummaryCoverage(len(folded), len(messages), min(days, default=None), max(days, default=None))


HEAD, TAIL = 400, 160
"""Characters of a masked text."""
MAX_MASKED_SHARE = 0.5
"""A text is masked only if this leaves at most this share of its tokens."""
CACHED_TURNS = 256
"""All prompts of a turn mask the same, and counting takes long."""
_MAX_SOURCES = 8
_LEFT_OUT = "\n[… the middle of this older text is left out."
_MASKABLE = ("tool_results", "documents")


def find_maskable(turns: Iterable[Turn], counter: TokenCounter) -> tuple[str, ...]:
    """The ids of the messages with much smaller results or documents when masked."""
    found: dict[str, None] = {}
    for turn in turns:
        long = [m for m in turn.prompt if _is_maskable(m) and len(m.content) * MAX_MASKED_SHARE > HEAD + TAIL]
        messages = {message.id: message for message in turn.messages} if long else {}  # the store may have to read them
        for rendered in long:
            message = messages.get(rendered.source_ids[0])
            if message is None or is_fixed(message):
                continue
            if _mask(message, rendered, counter).tokens <= MAX_MASKED_SHARE * rendered.tokens:
                found[message.id] = None
    return tuple(found)


def mask_messages(history: TurnHistory, ids: Collection[str], counter: TokenCounter) -> TurnHistory:
    """The turns with the results and documents of these messages masked."""
    if not ids:
        return history
    turns, masked, left = [*history.turns], [], {*ids}
    for position in range(len(turns) - 1, -1, -1):  # from the end, where they are
        if own := left.intersection(turns[position].ids):
            turns[position] = _mask_turn(turns[position], frozenset(own), counter)
            masked.append(turns[position])
            left -= own
            if not left:
                break
    return history._replace(turns=tuple(turns), masked=tuple(masked))


def mask_result(message: ZkChatMessage, counter: TokenCounter) -> ZkChatMessage | None:
    """A tool result of the turn in progress as it is sent when the turn needs its room; None if that would save little."""
    content = _masked_text(message, message.content)
    tokens = counter.count_raw(content)
    if message.role != "tool" or is_fixed(message) or tokens > MAX_MASKED_SHARE * counter.count_raw(message.content):
        return None
    return message.model_copy(update={"content": content, "token_count": tokens})


def is_masked(rendered: PromptMessage) -> bool:
    return rendered.kind in _MASKABLE and _LEFT_OUT in rendered.content


@lru_cache(maxsize=CACHED_TURNS)
def _mask_turn(turn: Turn, ids: frozenset[str], counter: TokenCounter) -> Turn:
    messages = {message.id: message for message in turn.messages if message.id in ids}
    rendered = (_mask(messages[m.source_ids[0]], m, counter) if _is_maskable(m) and m.source_ids[0] in messages else m for m in turn.prompt)
    return turn.with_prompt(tuple(rendered))


def _is_maskable(rendered: PromptMessage) -> bool:
    """Whether these are results or documents."""
    return rendered.kind in _MASKABLE and bool(rendered.source_ids)


def _mask(message: ZkChatMessage, rendered: PromptMessage, counter: TokenCounter) -> PromptMessage:
    content = _masked_text(message, rendered.content)
    return rendered.model_copy(update={"content": content, "tokens": counter.count(content) + MESSAGE_OVERHEAD})


def _masked_text(message: ZkChatMessage, text: str) -> str:
    again = f"Call {truncate(message.tool_name, 60)} again" if message.tool_name else "Read them again"
    sources = [f"{chunk.number} {truncate(chunk.relative_path, 80)}:{chunk.start_line}" for chunk in message.chunks[:_MAX_SOURCES]]
    more = f" and {len(message.chunks) - _MAX_SOURCES} more" if len(message.chunks) > _MAX_SOURCES else ""
    named = f" Its sources: {', '.join(sources)}{more}." if sources else ""
    note = f"{_LEFT_OUT}{named} {again} to see it whole. …]\n"
    return text[:HEAD] + note + text[-TAIL:] if len(text) > HEAD + TAIL else text
