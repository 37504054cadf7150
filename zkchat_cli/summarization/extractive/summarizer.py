"""A summary without a model: the sentences of a conversation that carry most, word for word, under a budget of tokens.

Deterministic; in the order in which things were said, with dates and speakers. It is chosen from what was said, never made from the summary
before, so that nothing fades from copying copies.
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
from zkchat_cli.summarization.extractive.transcript import DATE, SpeakerMessage, SpeakerNames, TranscriptIndex, amended
from zkchat_cli.text.words import content_terms, stem
from zkchat_cli.tokens.counter import TokenCounter

WANTED, QUOTED = 8.0, 1000.0
"""What a sentence is worth more for a word, or a quoted phrase, that was asked for."""
_COMMON = 0.2
"""A word in more than this share of the sentences picks none out."""
_LEFT = 0.02
"""Of the room may stay unused. What sentences cost is known when they are written: those that share a line cost less than they seem to."""
_SAME_ROOM = 0.1
"""A room that has changed by more than this share is filled anew."""
_KEY = 24
"""Characters by which a sentence of a summary is found again in what was said."""
_FOUND = 0.8
"""Of the sentences of a summary, those that must be found again for it to be one of ours."""
_MONTHS = "January February March April May June July August September October November December".split()
_BETWEEN = " / "
"""Between what one speaker said in two messages: one token, where a line of its own takes four."""
_PHRASE = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“]{2,200})“|«([^»]{2,200})»|「([^」]{2,200})」')


def summarize(turns: Sequence[Turn], room: int, counter: TokenCounter, wanted: str = "") -> str | None:
    """The summary in at most `room` tokens, or None when not even one sentence fits.

    Sentences that share words with `wanted` come first, those that hold a phrase it quotes before all others.
    """
    return ExtractiveSummarizer(wanted).summarize(turns, room, counter)


class ExtractiveSummarizer:
    """The summary of a conversation, kept with it while it goes on: each sentence is looked at once.

    The cost of a summary is that of what is new since the last one and of the room, however long the conversation is. One that does not
    know a long conversation yet begins with the messages that its last summary quotes. When the branch has changed, it begins anew by
    itself; when marks of older messages have, it must be replaced.
    """

    def __init__(self, wanted: str = "") -> None:
        self._wanted = wanted
        self._counter: TokenCounter | None = None
        self._length = 0
        """How many turns are known, and the last message of those."""
        self._newest = ""
        self._runs: list[list[ZkChatMessage]] = []
        """The messages that are known; those of one run follow each other."""

    def summarize(self, turns: Sequence[Turn], room: int, counter: TokenCounter, earlier: str = "", covered: int = 0) -> str | None:
        """As the function `summarize`; `earlier` is the summary of the first `covered` turns, where there is one."""
        if not self._knows(turns, counter):
            self._begin(counter)
            if earlier and (runs := find_quoted_messages(earlier, _said(turns[:covered]))):
                self._length = covered
                self._tell(runs)
                self._consult(turns[:covered])
        new = turns[self._length :]
        self._tell([_said(new)])
        self._consult(new)
        self._length, self._newest = len(turns), turns[-1].messages[-1].id if turns else ""
        return self._choose(room, counter)

    def _knows(self, turns: Sequence[Turn], counter: TokenCounter) -> bool:
        """Whether these are the turns known, or go on from them."""
        if counter is not self._counter or len(turns) < self._length:
            return False
        return self._length == 0 or turns[self._length - 1].messages[-1].id == self._newest

    def _begin(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._length, self._runs = 0, []
        self._names = SpeakerNames()
        self._links: dict[str, None] = {}
        self._links_tokens = 0
        self._forget()

    def _forget(self) -> None:
        """Have nothing told."""
        assert self._counter is not None
        self._told = TranscriptIndex(self._names.roles, self._counter)
        self._cover = MaxCoverageSelector(self._counter)
        self._room = self._spent = 0

    def _tell(self, runs: list[list[ZkChatMessage]]) -> None:
        """Take in runs of messages, the first of which follows what is known."""
        for run in runs:
            self._names.observe(run)
        self._runs += runs
        if self._names.roles != self._told.named:
            self._forget()
            runs = self._runs
        for number, run in enumerate(runs):
            if number:
                self._told.mark_gap()
            candidates, corrected = self._told.add(run)
            if self._wanted:
                asked_for = _asked_for([candidate.sentence for candidate in candidates], self._wanted)
                candidates = [replace(c, factor=c.factor * asked_for.get(i, 1.0)) for i, c in enumerate(candidates)]
            self._cover.add(candidates)
            for position, correction in corrected.items():
                self._cover.update(amended(self._cover[position], *correction))

    def _consult(self, turns: Iterable[Turn]) -> None:
        assert self._counter is not None
        for link in (r.wikilink for turn in turns for m in turn.messages for r in m.references if r.relative_path):
            if link not in self._links:
                self._links[link] = None
                self._links_tokens += self._counter.count(link)

    def _consulted(self, room: int, counter: TokenCounter) -> str:
        """The documents that were consulted, their links word for word; nothing when they are too many."""
        if not self._links or self._links_tokens > 2 * room:  # not joined and counted only to find that out
            return ""
        told = f"Documents consulted: {', '.join(self._links)}"
        return told if counter.count(told) <= room else ""

    def _choose(self, room: int, counter: TokenCounter) -> str | None:
        cover, consulted = self._cover, self._consulted(room // 4, counter)
        spare = room - counter.count(consulted) - 1
        text = ""
        if cover.needs_rebuild(room) or abs(room - self._room) > _SAME_ROOM * self._room:
            cover.rebuild(spare)
        else:
            cover.exchange(spare - self._spent)
            text, spare = self._written(consulted, room, counter)
        while spare > _LEFT * room and cover.fill(spare):
            text, spare = self._written(consulted, room, counter)
        while cover.chosen and spare < 0:
            cover.evict()
            text, spare = self._written(consulted, room, counter)
        cover.finalize()
        self._room, self._spent = room, room - spare - counter.count(consulted)
        return text if cover.chosen else None

    def _written(self, consulted: str, room: int, counter: TokenCounter) -> tuple[str, int]:
        """What is chosen as a text, and what it leaves of the room."""
        chosen = (self._cover[position] for group in self._cover.chosen.values() for position in group)
        text = _write(chosen, self._told.messages, consulted)
        return text, room - counter.count(text)


def find_quoted_messages(summary: str, messages: Sequence[ZkChatMessage]) -> list[list[ZkChatMessage]]:
    """The messages that a summary of ours quotes, each with the one before it, in runs of those that follow each other.

    Nothing when too much of it is not found in the messages, because somebody else made it.
    """
    starts = [0, *accumulate(len(message.content) + 1 for message in messages)]
    text = "\n".join(message.content for message in messages)
    keys = [_key(piece) for line in summary.split("\n") if line.startswith("- ") for piece in line.partition(": ")[2].split(_BETWEEN)]
    wanted: dict[int, None] = {}
    at, missing = 0, 0
    for key in filter(None, keys):
        found = text.find(key, at)
        if found < 0:
            missing += 1
            if missing > (1 - _FOUND) * len(keys):
                return []
            continue
        at = found
        number = bisect_right(starts, found) - 1
        wanted.update(dict.fromkeys((max(0, number - 1), number)))
    runs: list[list[ZkChatMessage]] = []
    before = -2
    for number in sorted(wanted):
        if number != before + 1:
            runs.append([])
        runs[-1].append(messages[number])
        before = number
    return runs


def _key(piece: str) -> str:
    return piece if len(piece) <= _KEY else piece[:_KEY].rpartition(" ")[0] or piece[:_KEY]


def _said(turns: Iterable[Turn]) -> list[ZkChatMessage]:
    return [m for turn in turns if not turn.failed for m in turn.messages if m.role != "tool" and m.content]


def _asked_for(flat: Sequence[ScoredSentence], wanted: str) -> dict[int, float]:
    """What the statements at these places are worth more for what was asked for."""
    phrases = [next(filter(None, match)).casefold() for match in _PHRASE.findall(wanted)]
    words = {stem(t) for t in content_terms(wanted)}
    frequency = Counter(word for said in flat for word in said.words if word in words)
    telling = {word for word, n in frequency.items() if n <= max(_COMMON * len(flat), 3)}
    found = {}
    for position, said in enumerate(flat):
        if shared := len(telling.intersection(said.words)):
            found[position] = WANTED * shared
        if any(phrase in said.text.casefold() for phrase in phrases):
            found[position] = QUOTED
    return found


def _write(chosen: Iterable[SummaryCandidate], spoken: Sequence[SpeakerMessage], consulted: str) -> str:
    """A list, in the order of the conversation: a line says when and who where that changes."""
    lines: list[str] = []
    year = ""
    before: int | None = None
    for candidate in sorted(chosen, key=lambda c: c.position):
        message, text = spoken[candidate.message], candidate.sentence.text
        previous = None if before is None else spoken[before]
        if previous is not None and (previous.date, previous.speaker) == (message.date, message.speaker):
            lines[-1] += f"{_glue(lines[-1]) if before == candidate.message else _BETWEEN}{text}"
        elif previous is not None and previous.date == message.date:
            lines.append(f"- {message.speaker}: {text}")
        else:
            day, year = _day(message.date, year, first=previous is None)
            lines.append(f"- {day}{message.speaker}: {text}")
        before = candidate.message
    return "\n".join([*lines, consulted] if consulted else lines)


def _glue(line: str) -> str:
    return "" if line.endswith(("。", "！", "？")) else " "


def _day(date: str, year: str, *, first: bool) -> tuple[str, str]:
    """A date as people write it, without the year when that is the one written last; and the year."""
    known = DATE.fullmatch(date)
    if known is None:
        return f"{date}, " if date else "" if first else "undated, ", ""
    day = f"{int(known[3])} {_MONTHS[int(known[2]) - 1]}"
    return (f"{day}, " if known[1] == year else f"{day} {known[1]}, "), known[1]


def extract_summary(
    fold: FoldPlan,
    target: int,
    counter: TokenCounter,
    instructions: str | None = None,
    kept: ExtractiveSummarizer | None = None,
    earlier: str | None = None,
) -> str | None:
    """A summary of the fold in at most `target` tokens, without a model; None when it would not be clearly smaller than what it replaces.

    Sentences that share words with `instructions` ("keep the syntax examples") come first; that takes a look at all that was said. With
    what is `kept` of the conversation, only what is new since the `earlier` summary is looked at.
    """
    room = _room(fold, target)
    if room <= 0:
        return None
    if instructions or kept is None:
        return ExtractiveSummarizer(instructions or "").summarize(fold.turns, room, counter)
    return kept.summarize(fold.turns, room, counter, earlier or "", len(fold.turns) - len(fold.new))


def _room(fold: FoldPlan, target: int) -> int:
    """Tokens for a summary that is clearly smaller than the fold; of a long one only the first turns are looked at."""
    tokens = 0
    for turn in fold.turns:
        tokens += turn.foldable_tokens
        if SMALLER_BY * tokens >= target:
            return target
    return int(SMALLER_BY * tokens)
