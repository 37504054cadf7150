"""Recall: which of the things said earlier bear on the new message, though they are folded or dropped.

BM25 (Robertson & Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009) over all that was said, in passages: a message,
or a piece of a long one. A passage shares in the scores of those beside it, since a question and its answer use different words (an answer
most in that of its question), and a little in the best one's of its day; the time that a question names counts as well. Passages are taken
by score for their size, and quoted in their order with date and speaker.

The index is kept with its conversation and only added to; a look-up costs about a millisecond in 10 000 turns.
"""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import is_not
from typing import TYPE_CHECKING

from zkchat_cli.context.message_priority import CRITICAL, IMPORTANT, is_acknowledgement, is_critical, is_fixed, priority_of
from zkchat_cli.context.recall.date_expressions import find_periods
from zkchat_cli.context.recall.passages import RecallPassage, split_into_passages
from zkchat_cli.context.turn_history import TurnHistory
from zkchat_cli.context.turns import Turn
from zkchat_cli.text.words import content_terms, stem
from zkchat_cli.tokens.counter import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 0.9, 0.4
"""For short texts of one kind, as Anserini has them: messages differ in length less by verbosity than by how much they say."""
BESIDE = (0.4, 0.2, 0.1, 0.05, 0.025)
"""What a passage gets of the scores of those one to five places away."""
ANSWERS = 0.3
"""What a passage gets besides of the score of one before it that ends with a question: an answer need not say again what it is about."""
ENDING = 60
"""Characters of a passage's end in which a question may stand: a caption or a greeting may follow it."""
SAME_DAY = 0.03
"""What it gets of the best score of its day."""
RELATED = 0.3
"""The weight of words that only begin like one of the question ("adoption" for "adopt")."""
ASKING = 0.3
"""The weight of words that ask: they say what is wanted, not what was said about it."""
_ASKING = frozenset(map(stem, "kind type sort name mention describe say think tell many much thing".split()))
ROOT = 5
"""Letters that related words share."""
TIMELY, IN_TIME = 0.3, 0.15
"""What a passage of the time asked for gains: this share of its own score, and this share of the best one."""
LEAST = 0.1
"""Of the best score: what has less is not worth its tokens, even where there is room."""
SIZE_POWER = 0.3
"""Score is divided by size to this power: a long passage brings its own context, and 1 would prefer shreds."""
PRIORITY_STEP = 0.05
"""Each step of priority above or below the neutral 5 changes a score by so much."""
SHARES = ((CRITICAL, 0.3), (IMPORTANT, 0.25), (0, 0.45))
"""Of the room: what passages of at least this priority may take before those of less; what is not used flows on."""
MOST_WORDS = 40
"""Words of a question that are looked for, the rarest."""
MOST_PASSAGES = 1000
"""Passages that are looked at for their size."""
LONGEST_QUESTION = 4000
"""Characters of a question that are looked at: half from its beginning, half from its end."""
FRAME = 40
"""Tokens set aside for what stands around the quotations."""
HEADING = 8
"""Tokens of a date between quotations."""
MOST_MISFITS = 20
"""Passages that do not fit any more before the rest is not looked at: the room is full."""
_INTRODUCTION = "Said earlier in this conversation; quoted because it may bear on the message below. […] marks what is left out."
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(slots=True)
class _Posting:
    """The passages that have a word, ascending, and how often each has it."""

    passages: "array[int]" = field(default_factory=lambda: array("L"))
    often: "array[int]" = field(default_factory=lambda: array("B"))


def preload_numpy() -> None:
    """Load what a look-up computes with, so that the first one need not."""
    import numpy  # noqa: F401


class RecallIndex:
    """The words of a conversation's turns: for each word the passages that have it and how often."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._starts: list[int] = []
        """The first passage of each turn."""
        self.passages: list[RecallPassage] = []
        self._postings: defaultdict[str, _Posting] = defaultdict(_Posting)
        self._roots: defaultdict[str, list[str]] = defaultdict(list)
        self._words = array("L")
        self._sizes = array("L")
        self._days = array("L")
        self._groups = array("L")
        self._known_days: dict[int, int] = {}
        """Each day that something was said on, numbered; `_groups` has the number for each passage."""
        self._priorities = array("B")
        self._asks = array("B")
        """1 for a passage that ends with a question."""
        self._counter: TokenCounter | None = None
        self._tokens: dict[int, int] = {}
        self._stays = array("B")
        """1 for a passage of a message that is in every prompt anyway."""
        self._found: tuple[tuple[str, str, int], list[int]] | None = None
        self._set: list[int] = []
        """Passages that the user has said are critical."""
        self._history: TurnHistory | None = None
        """That of which these turns are, if they are of one."""

    def sync(self, history: TurnHistory) -> None:
        """`update` with the turns of a history that can be sent; costs what is new where it goes on from the last one."""
        known, self._history = self._history, None  # until all is read: a Ctrl-C may come between
        if known is not None and history.extends(known):
            for turn in history.sendable_turns(len(known)):
                self._add(turn)
        else:
            self.update(history.sendable_turns())
        self._history = history

    def update(self, turns: Sequence[Turn]) -> None:
        """Be the index of these turns: what is known of them is kept, so that a turn is read once."""
        self._history = None
        same = min(len(turns), len(self._turns))
        others = [i for i, other in enumerate(map(is_not, self._turns, turns)) if other]
        same = next((i for i in others if self._turns[i].messages != turns[i].messages), same)  # not one that is only shown otherwise
        self._forget(same)
        self._turns[:] = turns[:same]
        for turn in turns[same:]:
            self._add(turn)

    def _add(self, turn: Turn) -> None:
        position = len(self._turns)
        self._found = None
        self._turns.append(turn)
        self._starts.append(len(self.passages))
        for message in turn.messages:
            for passage in split_into_passages(message, position):
                number = len(self.passages)
                self.passages.append(passage)
                counted = _counted(passage.text)
                for word, often in counted.items():
                    if word not in self._postings and len(word) >= ROOT:
                        self._roots[word[:ROOT]].append(word)
                    posting = self._postings[word]
                    posting.passages.append(number)
                    posting.often.append(min(often, 255))
                self._words.append(counted.total())
                self._sizes.append(len(passage.text.encode("utf-8", "surrogatepass")))
                day = _ordinal(message.timestamp)
                self._days.append(day)
                self._groups.append(self._known_days.setdefault(day, len(self._known_days)))
                self._priorities.append(priority_of(message))
                self._asks.append("?" in passage.text[-ENDING:] or "？" in passage.text[-ENDING:])
                self._stays.append(is_fixed(message))
                if is_critical(message):
                    self._set.append(number)

    def _forget(self, turns: int) -> None:
        """Know only the first `turns` turns any more; another branch of the log goes on from there."""
        if turns == len(self._turns):
            return
        self._found = None
        start = self._starts[turns]
        for passage in reversed(self.passages[start:]):
            for word in _counted(passage.text):
                self._postings[word].passages.pop()
                self._postings[word].often.pop()
        del self._turns[turns:], self._starts[turns:], self.passages[start:]
        del (
            self._words[start:],
            self._sizes[start:],
            self._days[start:],
            self._groups[start:],
            self._priorities[start:],
            self._asks[start:],
            self._stays[start:],
        )
        del self._set[bisect_left(self._set, start) :]
        self._tokens = {number: tokens for number, tokens in self._tokens.items() if number < start}

    def search(self, question: str, asked_at: str, before: int) -> Sequence[int]:
        """Passages of the first `before` turns that bear on the question, those that bear most for their size first.

        The last answer is kept: the prompts of one turn, with ever more that its tools found, all ask the same.
        """
        asked = (question, asked_at, before)
        if self._found is None or self._found[0] != asked:
            self._found = asked, self._search(question, asked_at, before)
        return self._found[1]

    def _search(self, question: str, asked_at: str, before: int) -> list[int]:
        import numpy as np  # 0.1 s, and 30 MB: only for conversations that have outgrown their window

        end = self._starts[before] if before < len(self._starts) else len(self.passages)
        scores = self._scores(question[: LONGEST_QUESTION // 2] + " " + question[LONGEST_QUESTION // 2 :][-LONGEST_QUESTION // 2 :])
        near = scores.copy()
        for distance, share in enumerate(BESIDE, 1):
            near[distance:] += share * scores[:-distance]
            near[:-distance] += share * scores[distance:]
        day = np.array(self._groups, np.intp)
        best = np.zeros(len(self._known_days))
        np.maximum.at(best, day, scores)
        near += SAME_DAY * best[day]
        timely = self._timely(question, asked_at)
        if timely is not None:
            near = near * (1 + TIMELY * timely) + IN_TIME * max(1.0, near.max(initial=0.0)) * timely
        near *= 1 + PRIORITY_STEP * (np.array(self._priorities, np.float64) - 5)
        bearing = np.flatnonzero((near > 0) & (near >= LEAST * near.max(initial=0.0)))
        bearing = bearing[(bearing < end) & (np.array(self._stays, np.uint8)[bearing] == 0)]
        value = near[bearing] / (np.array(self._sizes, np.float64)[bearing] + 1) ** SIZE_POWER
        if len(value) > MOST_PASSAGES:  # the best thousand first, because sorting 20 000 takes 4 ms
            best_ones = np.sort(np.argpartition(-value, MOST_PASSAGES)[:MOST_PASSAGES])
            bearing, value = bearing[best_ones], value[best_ones]
        order: list[int] = bearing[np.argsort(-value, kind="stable")].tolist()
        return order

    def critical_passages(self, before: int) -> list[int]:
        """Passages of the first `before` turns that the user has said are critical, the most, and then the newest, first."""
        end = self._starts[before] if before < len(self._starts) else len(self.passages)
        return sorted((n for n in self._set if n < end and not self._stays[n]), key=lambda n: (-self._priorities[n], -n))

    def filter_by_priority(self, numbers: Sequence[int], least: int) -> Sequence[int]:
        """Those of the passages whose messages have at least this priority."""
        priorities = self._priorities
        return [number for number in numbers if priorities[number] >= least] if least else numbers

    def count_tokens(self, number: int, counter: TokenCounter) -> int:
        """Tokens of a passage when it is quoted; counted once."""
        if counter is not self._counter:
            self._counter, self._tokens = counter, {}
        if number not in self._tokens:
            self._tokens[number] = self.passages[number].count_tokens(counter)
        return self._tokens[number]

    def _scores(self, question: str) -> "NDArray[np.float64]":
        import numpy as np

        total = len(self.passages)
        scores = np.zeros(total)
        lengths = np.array(self._words, np.float64)
        norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if total else 1.0))
        for word, weight in self._wanted(question).items():
            holders = np.array(self._postings[word].passages, np.intp)
            often = np.array(self._postings[word].often, np.float64)
            rarity = np.log(1 + (total - len(holders) + 0.5) / (len(holders) + 0.5))
            scores[holders] += weight * rarity * often * (K1 + 1) / (often + norm[holders])
        answered = ANSWERS * scores * np.array(self._asks, np.float64)
        scores[1:] += answered[:-1]
        return scores

    def _wanted(self, question: str) -> dict[str, float]:
        """The question's words as far as they occur, and others of the same root."""
        asked = dict.fromkeys(stem(term) for term in content_terms(question))
        related = {other: RELATED for word in asked if len(word) >= ROOT for other in self._roots.get(word[:ROOT], ())}
        wanted = {**related, **{word: ASKING if word in _ASKING else 1.0 for word in asked}}
        held = {word: len(self._postings[word].passages) for word in wanted if word in self._postings}
        rarest = sorted((word for word in held if held[word]), key=lambda word: (wanted[word] > RELATED, -held[word]))[-MOST_WORDS:]
        return {word: wanted[word] for word in rarest}

    def _timely(self, question: str, asked_at: str) -> "NDArray[np.float64] | None":
        """1 for each passage of the time that the question names, else 0; None when it names none."""
        import numpy as np

        days = np.array(self._days, np.int64)
        known = days[days > 0]
        today = _ordinal(asked_at)
        if not len(known) or not today:
            return None
        years = range(date.fromordinal(int(known.min())).year, date.fromordinal(int(known.max())).year + 1)
        found = find_periods(question, date.fromordinal(today), years)
        if not found:
            return None
        inside = np.zeros(len(days), bool)
        for period in found:
            inside |= (days >= period.first.toordinal()) & (days <= period.last.toordinal())
        return inside.astype(np.float64)


def recall_passages(
    index: RecallIndex, question: str, asked_at: str, before: int, room: int, counter: TokenCounter
) -> tuple[RecallPassage, ...]:
    """What bears most on `question` of the first `before` turns and fits into `room` tokens when quoted, in its original order.

    What is critical and what is important have shares of the room (`SHARES`), and what they do not use flows on. What the user has said is
    critical needs not bear on the question, but then has no more than its share. `asked_at` (ISO 8601) is when "yesterday" is said. A mere
    "thanks" reminds of nothing else.
    """
    room -= FRAME
    if room <= 0:
        return ()
    bearing = [] if is_acknowledgement(question) else index.search(question, asked_at, before)
    critical = index.critical_passages(before)
    chosen: dict[int, None] = {}
    dates: set[str] = set()
    allowed, spent = 0.0, 0
    for least, share in SHARES:
        allowed += share * room
        misfits = 0
        for number in index.filter_by_priority((*bearing, *critical) if least == CRITICAL else bearing, least):
            if number in chosen:
                continue
            day = index.passages[number].day
            tokens = index.count_tokens(number, counter) + (0 if day in dates else HEADING)
            if spent + tokens > allowed:
                misfits += 1
                if misfits == MOST_MISFITS:
                    break
                continue
            spent += tokens
            chosen[number] = None
            dates.add(day)
    return tuple(index.passages[number] for number in sorted(chosen))


def format_passages(recalled: Sequence[RecallPassage]) -> str:
    """Passages as the model is reminded of them: what was said on which day, by whom; what is left out of a message is marked."""
    lines = [_INTRODUCTION]
    for before, passage, after in zip((None, *recalled), recalled, (*recalled[1:], None), strict=False):
        if before is None or passage.day != before.day:
            lines.append(f"{_spoken(passage.day)}:")
        goes_on = before is not None and before.precedes_directly(passage)
        text = passage.text if goes_on else passage.text_with_speaker
        cut = passage.part + 1 < passage.parts and not (after is not None and passage.precedes_directly(after))
        lines.append(f"{text} […]" if cut else text)
    return "\n".join(lines)


def estimate_passage_tokens(recalled: Sequence[RecallPassage], counter: TokenCounter) -> int:
    """About how many tokens the passages take when quoted, rather too many."""
    if not recalled:
        return 0
    return FRAME + HEADING * len({p.day for p in recalled}) + sum(p.count_tokens(counter) for p in recalled)


def _counted(text: str) -> Counter[str]:
    return Counter(map(stem, content_terms(text)))


def _ordinal(timestamp: str) -> int:
    try:
        return date.fromisoformat(timestamp[:10]).toordinal()
    except ValueError:  # of an imported message, or none
        return 0


def _spoken(day: str) -> str:
    """`Monday, 8 May 2023`: with the weekday, so that "last Friday" can be understood."""
    try:
        when = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{_WEEKDAYS[when.weekday()]}, {when.day} {_MONTHS[when.month - 1]} {when.year}"
