"""A summary without a model: the most informative sentences of a conversation, word for word, in a token budget.

Deterministic; in the order of the conversation, with dates and speakers. It is chosen from the messages, never from an earlier summary, so
that nothing fades by summarizing summaries.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from zkchat_cli.context.compaction_policy import SMALLER_BY, FoldPlan
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.summarization.extractive.selection import MaxCoverageSelector, SummaryCandidate
from zkchat_cli.summarization.extractive.sentence_scoring import ScoredSentence
from zkchat_cli.summarization.extractive.transcript import DATE, SpeakerMessage, SpeakerNames, TranscriptIndex, correct_candidate
from zkchat_cli.text.words import content_terms, stem
from zkchat_cli.tokens.counter import TokenCounter

WORD_BONUS, PHRASE_BONUS = 8.0, 1000.0
"""Factors for each word, and for a quoted phrase, of the user's instructions."""
_COMMON = 0.2
"""A word in more than this share of the sentences selects none."""
_MAX_UNUSED = 0.02
"""Of the budget. The exact cost is known when the summary is written: sentences on one line cost less than estimated."""
_SAME_BUDGET = 0.1
"""A budget that differs by more than this share is filled anew."""
_LOOKUP_LENGTH = 24
"""Characters by which a sentence of a summary is found again in the messages."""
_MIN_FOUND = 0.8
"""Share of a summary's sentences that must be found for it to be one of ours."""
_MONTHS = "January February March April May June July August September October November December".split()
_SEPARATOR = " / "
"""Between two messages of one speaker: one token, where a new line takes four."""
_PHRASE = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“]{2,200})“|«([^»]{2,200})»|「([^」]{2,200})」')


def summarize(turns: Sequence[Turn], budget: int, counter: TokenCounter, instructions: str = "") -> str | None:
    """A summary in at most `budget` tokens; None if not even one sentence fits.

    Sentences that share words with `instructions` are preferred, those with a phrase it quotes come first.
    """
    return ExtractiveSummarizer(instructions).summarize(turns, budget, counter)


class ExtractiveSummarizer:
    """Summarizes one growing conversation; it reads each sentence once.

    A summary costs as much as what is new and what is chosen, however long the conversation is. In a resumed conversation it starts with
    the messages that the last summary quotes. It notices another branch; make a new one when priorities of older messages change.
    """

    def __init__(self, instructions: str = "") -> None:
        self._instructions = instructions
        self._counter: TokenCounter | None = None
        self._turns_read = 0
        self._last_id = ""

    def summarize(self, turns: Sequence[Turn], budget: int, counter: TokenCounter, earlier: str = "", covered: int = 0) -> str | None:
        """See the function `summarize`; `earlier` is the summary of the first `covered` turns, if there is one."""
        if not self._continues(turns, counter):
            self._reset(counter)
            if earlier and (runs := find_quoted_messages(earlier, _spoken_messages(turns[:covered]))):
                self._turns_read = covered
                self._read(runs, counter)
                self._collect_links(turns[:covered], counter)
        new = turns[self._turns_read :]
        self._read([_spoken_messages(new)], counter)
        self._collect_links(new, counter)
        self._turns_read, self._last_id = len(turns), turns[-1].messages[-1].id if turns else ""
        return self._choose(budget, counter)

    def _continues(self, turns: Sequence[Turn], counter: TokenCounter) -> bool:
        """Whether these turns start with those already read."""
        if counter is not self._counter or len(turns) < self._turns_read:
            return False
        return self._turns_read == 0 or turns[self._turns_read - 1].messages[-1].id == self._last_id

    def _reset(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._turns_read = 0
        self._runs: list[list[ZkChatMessage]] = []
        """The messages read so far, in runs of consecutive ones."""
        self._names = SpeakerNames()
        self._links: dict[str, int] = {}
        """The tokens of each consulted document's link."""
        self._clear(counter)

    def _clear(self, counter: TokenCounter) -> None:
        self._transcript = TranscriptIndex(self._names.roles, counter)
        self._selector = MaxCoverageSelector(counter)
        self._budget = self._spent = 0

    def _read(self, runs: list[list[ZkChatMessage]], counter: TokenCounter) -> None:
        """Add runs of messages; the first one follows the messages already read."""
        for run in runs:
            self._names.observe(run)
        self._runs += runs
        if self._names.roles != self._transcript.named_roles:
            self._clear(counter)
            runs = self._runs
        for number, run in enumerate(runs):
            if number:
                self._transcript.mark_gap()
            candidates, corrections = self._transcript.add(run)
            if self._instructions:
                bonus = _instruction_bonus([candidate.sentence for candidate in candidates], self._instructions)
                candidates = [replace(c, factor=c.factor * bonus.get(i, 1.0)) for i, c in enumerate(candidates)]
            self._selector.add(candidates)
            for position, correction in corrections.items():
                self._selector.update(correct_candidate(self._selector[position], *correction))

    def _collect_links(self, turns: Iterable[Turn], counter: TokenCounter) -> None:
        for link in (r.wikilink for turn in turns for m in turn.messages for r in m.references if r.relative_path):
            if link not in self._links:
                self._links[link] = counter.count(link)

    def _links_line(self, budget: int, counter: TokenCounter) -> str:
        """The links of the consulted documents; empty if they are too many."""
        if not self._links or sum(self._links.values()) > 2 * budget:
            return ""
        line = f"Documents consulted: {', '.join(self._links)}"
        return line if counter.count(line) <= budget else ""

    def _choose(self, budget: int, counter: TokenCounter) -> str | None:
        selector, links = self._selector, self._links_line(budget // 4, counter)
        left = budget - counter.count(links) - 1
        text = ""
        if selector.needs_rebuild(budget) or abs(budget - self._budget) > _SAME_BUDGET * self._budget:
            selector.rebuild(left)
        else:
            selector.exchange(left - self._spent)
            text, left = self._write(links, budget, counter)
        while left > _MAX_UNUSED * budget and selector.fill(left):
            text, left = self._write(links, budget, counter)
        while selector.chosen and left < 0:
            selector.evict()
            text, left = self._write(links, budget, counter)
        selector.finalize()
        self._budget, self._spent = budget, budget - left - counter.count(links)
        return text if selector.chosen else None

    def _write(self, links: str, budget: int, counter: TokenCounter) -> tuple[str, int]:
        """The summary as text, and the rest of the budget."""
        chosen = (self._selector[position] for group in self._selector.chosen.values() for position in group)
        text = _write_summary(chosen, self._transcript.messages, links)
        return text, budget - counter.count(text)


def extract_summary(
    fold: FoldPlan,
    target: int,
    counter: TokenCounter,
    instructions: str | None = None,
    summarizer: ExtractiveSummarizer | None = None,
    earlier: str | None = None,
) -> str | None:
    """A summary of the fold in at most `target` tokens; None if it would not be clearly smaller than the fold.

    With `instructions` all messages are read again; otherwise `summarizer` reads only those after its last summary or the `earlier` one.
    """
    budget = min(target, int(SMALLER_BY * sum(turn.foldable_tokens for turn in fold.turns)))
    if budget <= 0:
        return None
    if instructions or summarizer is None:
        return summarize(fold.turns, budget, counter, instructions or "")
    return summarizer.summarize(fold.turns, budget, counter, earlier or "", len(fold.turns) - len(fold.new))


def find_quoted_messages(summary: str, messages: Sequence[ZkChatMessage]) -> list[list[ZkChatMessage]]:
    """The messages an extractive summary quotes, each with the one before it, in runs of consecutive ones.

    Empty if too many of its sentences are not found: then another program or a model wrote it.
    """
    starts = [0, *accumulate(len(message.content) + 1 for message in messages)]
    text = "\n".join(message.content for message in messages)
    lines = (line.partition(": ")[2] for line in summary.split("\n") if line.startswith("- "))
    keys = [_lookup_key(piece) for line in lines for piece in line.split(_SEPARATOR)]
    quoted: set[int] = set()
    at, missing = 0, 0
    for key in filter(None, keys):
        found = text.find(key, at)
        if found < 0:
            missing += 1
            if missing > (1 - _MIN_FOUND) * len(keys):
                return []
            continue
        at = found
        number = bisect_right(starts, found) - 1
        quoted.update((max(0, number - 1), number))
    runs: list[list[ZkChatMessage]] = []
    for number in sorted(quoted):
        if number - 1 not in quoted:
            runs.append([])
        runs[-1].append(messages[number])
    return runs


def _lookup_key(piece: str) -> str:
    return piece if len(piece) <= _LOOKUP_LENGTH else piece[:_LOOKUP_LENGTH].rpartition(" ")[0] or piece[:_LOOKUP_LENGTH]


def _spoken_messages(turns: Iterable[Turn]) -> list[ZkChatMessage]:
    return [m for turn in turns if not turn.failed for m in turn.messages if m.role != "tool" and m.content]


def _instruction_bonus(sentences: Sequence[ScoredSentence], instructions: str) -> dict[int, float]:
    """The factors of the sentences that match the user's instructions, by their index."""
    phrases = [next(filter(None, match)).casefold() for match in _PHRASE.findall(instructions)]
    words = {stem(t) for t in content_terms(instructions)}
    frequency = Counter(word for sentence in sentences for word in sentence.words if word in words)
    selective = {word for word, n in frequency.items() if n <= max(_COMMON * len(sentences), 3)}
    bonus = {}
    for index, sentence in enumerate(sentences):
        if shared := len(selective.intersection(sentence.words)):
            bonus[index] = WORD_BONUS * shared
        if any(phrase in sentence.text.casefold() for phrase in phrases):
            bonus[index] = PHRASE_BONUS
    return bonus


def _write_summary(chosen: Iterable[SummaryCandidate], messages: Sequence[SpeakerMessage], links: str) -> str:
    """A list in the order of the conversation; a new line gives date and speaker where they change."""
    lines: list[str] = []
    year = ""
    before: int | None = None
    for candidate in sorted(chosen, key=lambda c: c.position):
        message, text = messages[candidate.message], candidate.sentence.text
        previous = None if before is None else messages[before]
        if previous is not None and (previous.date, previous.speaker) == (message.date, message.speaker):
            same_message = "" if lines[-1].endswith(("。", "！", "？")) else " "
            lines[-1] += f"{same_message if before == candidate.message else _SEPARATOR}{text}"
        elif previous is not None and previous.date == message.date:
            lines.append(f"- {message.speaker}: {text}")
        else:
            day, year = _format_day(message.date, year, is_first=previous is None)
            lines.append(f"- {day}{message.speaker}: {text}")
        before = candidate.message
    return "\n".join([*lines, links] if links else lines)


def _format_day(date: str, year: str, *, is_first: bool) -> tuple[str, str]:
    """The date for a line, without the year if it is the last one written; and the year."""
    parts = DATE.fullmatch(date)
    if parts is None:
        return f"{date}, " if date else "" if is_first else "undated, ", ""
    day = f"{int(parts[3])} {_MONTHS[int(parts[2]) - 1]}"
    return (f"{day}, " if parts[1] == year else f"{day} {parts[1]}, "), parts[1]
