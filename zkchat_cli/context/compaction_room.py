"""How much of a conversation a compaction may leave, so that the next one is not due soon.

Pure functions. Each compaction changes the front of the prompt, which breaks the prompt cache, and
may call a model. So it leaves room for several turns of the conversation's usual size.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from zkchat_cli.context.masks import SHORT_MASK, USUAL_MASK, MaskSize, find_maskable, mask_messages
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.context.usage import count_new_material
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.tokens.counter import TokenCounter

# Turns of the usual size for which a compaction leaves room, where the window allows it: five, and
# one more because some are larger
NEW_TURNS = 6
# Share of the room that is left in any case: a smaller gain would not last
LEAST_FREE_SHARE = 0.25
# Share of the limit that the summary may take before new turns get any of it
LEAST_SUMMARY_SHARE = 0.05
# Share of newly folded turns that a summary needs: more would not be much shorter than the turns
NEEDED_SUMMARY_SHARE = 0.5
# Share of the room beside the summary that turns may keep: with more, the next turns would need
# another compaction
KEPT_TURNS_SHARE = 0.45
# Newest turns that show how large a turn is with its results shortened
SAMPLED_TURNS = 20


class CompactionRoom(NamedTuple):
    """Tokens that a compaction shares out.

    `history` is what summary, fixed messages and turns may take before the next compaction is due;
    `new_turns` is the part of it that is left free. `masks_later`: the free part is enough only if
    the results of new turns are shortened, too.
    """

    history: int
    new_turns: int
    masks_later: bool
    # Most tokens of a summary
    summary: int
    # Tokens that a summary may take even if it needs less
    least_summary: int = 1

    def needed_summary(self, earlier: Compaction | None, folded: int) -> int:
        """Most tokens of a summary without a model: those of the earlier one that it continues, and
        a part of those of the turns that are new in it.
        """
        continued = 0 if earlier is None else earlier.summary_tokens
        needed = continued + int(NEEDED_SUMMARY_SHARE * folded)
        return min(self.summary, max(self.least_summary, needed))

    @property
    def mask_size(self) -> MaskSize:
        """What masked texts keep."""
        return SHORT_MASK if self.masks_later else USUAL_MASK

    def kept_turns(self, summary: int, fixed: int) -> int:
        """Tokens of turns that may stay beside a summary and fixed messages of these sizes."""
        left = max(0, self.history - summary - fixed)
        return max(0, min(int(KEPT_TURNS_SHARE * left), left - self.new_turns))


def share_out_room(
    usage: ContextUsage,
    history: TurnHistory,
    largest_summary: int,
    counter: TokenCounter,
) -> tuple[CompactionRoom, ...]:
    """The rooms of a compaction, the best first: one for turns with their results in full, if that
    many fit, and one for turns with their results shortened.

    `usage` is that of a prompt without history, and `history` are the turns with their results in
    full.
    """
    room = history_room(usage)
    whole = usual_size(history.turns)
    budgets = usage.system_tokens + usage.tool_tokens + usage.message_budget
    beyond_budgets = usage.effective_limit - budgets
    least_summary = min(largest_summary, int(LEAST_SUMMARY_SHARE * usage.effective_limit))
    rooms: list[CompactionRoom] = []
    for masks_later in (False, True):
        turns = _masked_sample(history, counter) if masks_later else history.turns
        size = usual_size(turns)
        most = max(0, room - least_summary - size)
        # A turn in progress has its results in full, and may take the room up to the limit for them
        results = max(0, whole - size - beyond_budgets)
        wanted = max(NEW_TURNS * size + results, int(LEAST_FREE_SHARE * room))
        new_turns = min(wanted, most)
        if wanted <= most or masks_later:
            summary = max(least_summary, min(largest_summary, room - new_turns - size))
            rooms.append(CompactionRoom(room, new_turns, masks_later, summary, least_summary))
    return tuple(rooms)


def leaves_enough(rooms: Iterable[CompactionRoom], history: int, *, masks_later: bool) -> bool:
    """Whether a history of so many tokens leaves room for new turns, with their results shortened
    or in full.
    """
    for room in rooms:
        if room.masks_later == masks_later:
            return history <= room.history - room.new_turns
    return False


def history_room(usage: ContextUsage) -> int:
    """Tokens that a history may add to a prompt with this usage before compaction is due."""
    asked = usage.message_tokens - count_new_material(usage)
    left = usage.effective_limit - usage.total_tokens
    return max(0, min(usage.message_budget - asked, left))


def usual_size(turns: Sequence[Turn]) -> int:
    """The median of the turns' tokens; 0 if there are none."""
    return int(median(turn.tokens for turn in turns)) if turns else 0


def _masked_sample(history: TurnHistory, counter: TokenCounter) -> tuple[Turn, ...]:
    """The newest turns with their results shortened."""
    sample = TurnHistory(history.turns[-SAMPLED_TURNS:])
    ids = find_maskable(sample.turns, counter, SHORT_MASK)
    return mask_messages(sample, ids, counter, SHORT_MASK).turns
