"""Recognizes a text that runs in a circle: small models may repeat a passage until their limit.

A refrain, a list or a log repeats words, but not the same passage of 40 tokens four times in a row.
Code and tables may, so what lies in one of them is never taken for a circle.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zkchat_cli.markdown.blocks import blocks

MIN_TOKENS = 40
TIMES = 4
SHORT_TOTAL = 1_000
"""Tokens that a shorter passage must fill: people ask for a line thirty times, but not for this."""
LONGEST_PASSAGE = 8_000
"""Characters of the longest passage that is recognized, about 2,000 tokens."""
# New characters after which the text is looked at again
STEP = 200
# Characters at the end of the text that are looked for before it, and how often
NEEDLE = 32
MOST_TRIES = 60
_VERBATIM = ("code", "indented", "table")


class Repetition(NamedTuple):
    """A passage that a text ends with again and again, and its tokens."""

    passage: str
    tokens: int


class RepetitionWatch:
    """Looks at a growing text now and then. `count` counts tokens; without it, nothing is found."""

    def __init__(self, count: Callable[[str], int] | None) -> None:
        self._count = count
        self._seen = 0

    def look(self, text: str) -> Repetition | None:
        """The passage that the text repeats at its end; None if it does not, or has not grown
        enough since the last look.
        """
        if self._count is None or abs(len(text) - self._seen) < STEP:
            return None
        self._seen = len(text)
        return find_repetition(text, self._count)


def find_repetition(text: str, count: Callable[[str], int]) -> Repetition | None:
    """The passage that a text repeats at its end; None if it does not."""
    # Each word has a space before it, so that the last passage is as long as the others
    tail = "".join(f" {word}" for word in text[-2 * TIMES * LONGEST_PASSAGE :].split())
    if not tail:
        return None
    for period in _find_periods(tail):
        passage = tail[-period:]
        tokens = count(passage)
        length = TIMES * period
        if tokens < MIN_TOKENS:
            # As many passages as have that many tokens together
            length = period * (SHORT_TOTAL // max(1, tokens))
        if _has_period(tail, period, length) and not _is_verbatim(text, length):
            return Repetition(passage, tokens)
    return None


def _find_periods(tail: str) -> Iterator[int]:
    """The numbers of characters after which the end of a text repeats itself, `TIMES` times in a
    row; the smallest first, without those that are several times a smaller one.
    """
    smallest = 0
    end = len(tail)
    needle = tail[-NEEDLE:]
    at = end - len(needle)
    for _ in range(MOST_TRIES):
        at = tail.rfind(needle, 0, at + len(needle) - 1)
        period = end - len(needle) - at
        if at < 0 or period > LONGEST_PASSAGE:
            return
        length = TIMES * period
        is_multiple = smallest and _has_period(tail, smallest, length)
        if not is_multiple and _has_period(tail, period, length):
            smallest = smallest or period
            yield period


def _has_period(tail: str, period: int, length: int) -> bool:
    """Whether the last `length` characters repeat themselves after `period` characters."""
    return length <= len(tail) and tail[-length:-period] == tail[-length + period :]


def _is_verbatim(text: str, length: int) -> bool:
    """Whether the last `length` characters lie in one block of code or one table."""
    *_, last = blocks(text)
    inside = sum(len(" ".join(line.split())) + 1 for line in last.lines)
    if last.kind in _VERBATIM:
        return inside >= length
    rows = text[-2 * length :].rstrip().splitlines()[1:]
    return len(rows) > 1 and all(row.lstrip().startswith("|") for row in rows)
