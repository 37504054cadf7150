"""Summaries that need no model: sentences of the folded turns, or a notice that these are gone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.context.compaction_plan import CompactionRequest, FoldPlan
from zkchat_cli.context.compaction_room import CompactionRoom
from zkchat_cli.context.turns import Turn
from zkchat_cli.models.compaction import Compaction, CompactionMode
from zkchat_cli.summarization.carried_statements import (
    RequiredStatements,
    add_statements,
    least_summary,
    select_statements,
)
from zkchat_cli.summarization.extractive import extract_summary
from zkchat_cli.tokens.counter import TokenCounter


class Summary(NamedTuple):
    """A summary, how it was made, and the turns that it quotes."""

    mode: CompactionMode
    text: str
    quoted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalSummarizer:
    """Summarizes folded turns without a model.

    The new summary continues that of the compaction `continued`. It has at most `largest` tokens;
    `room` is what a compaction leaves for new turns.
    """

    request: CompactionRequest
    turns: Sequence[Turn]
    continued: Compaction | None
    room: CompactionRoom
    largest: int
    counter: TokenCounter
    faults: FaultGuard

    def summaries(self, fold: FoldPlan, required: RequiredStatements) -> Iterator[Summary]:
        """The summaries to try, the best first. Only a compaction that is due may leave turns out
        without a summary.
        """
        extracted = None
        with self.faults.contain("summary"):
            extracted = self._extract(fold, required)
        if extracted is not None:
            yield extracted
        if self.request.reason:
            count = sum(len(turn.ids) for turn in fold.turns)
            note = f"[{count} earlier messages are left out here without a summary.]"
            stated = add_statements(note, required, self.largest, self.counter)
            for text in dict.fromkeys((stated, note)):
                yield Summary("truncated", text)

    def _extract(self, fold: FoldPlan, required: RequiredStatements) -> Summary | None:
        """An extractive summary with the required statements; None if no sentence fits."""
        counter = self.counter
        limit = self._limit_of_extract(fold, required)
        instructions = self.request.instructions
        quoted = self._quoted_turns()
        first = [each.text for each in select_statements(required.statements, limit, counter)]
        found = extract_summary(fold, limit, counter, instructions, quoted, first)
        if found is None:
            return None
        added = select_statements(required.missing_in(found.text), limit, counter)
        if added:
            room = limit - sum(counter.count(each.line) + 1 for each in added)
            smaller = extract_summary(fold, room, counter, instructions, quoted, first)
            found = smaller or found
        text = add_statements(found.text, required, limit, counter)
        return Summary("extractive", text, found.quoted)

    def _limit_of_extract(self, fold: FoldPlan, required: RequiredStatements) -> int:
        """Most tokens of an extractive summary. Without a target of the user, the folded turns and
        the required statements decide.
        """
        if self.request.target is not None:
            return self.largest
        needed = self.room.needed_summary(self.continued, fold.new_tokens)
        return max(needed, least_summary(required.statements, self.largest, self.counter))

    def _quoted_turns(self) -> list[Turn]:
        """The turns that the extractive summary in use quotes. The next extractive summary chooses
        from them too. Empty if the next summary should be of another kind.
        """
        request = self.request
        if request.instructions or request.target is not None or self.continued is None:
            return []
        ids = set(self.continued.quoted)
        return [turn for turn in self.turns if turn.id in ids]
