"""A quantity in a text: what it measures, its size, and the words around it that change it."""

from typing import NamedTuple

from zkchat_cli.citations.claims.calendar_measures import DateParts

COUNT = "count"
SHARE = "share"
TIMES = "times"
DATE = "date"
CLOCK = "clock"
ORDINAL = "ordinal"
TIME = "time"


class Measure(NamedTuple):
    """A quantity in a text.

    `values`: what it may be in the base unit of its kind, the likely value first; `number`: as it
    is written; `nouns`: the words behind a number without a unit; `before`: the word before it;
    `bound`: 1 for "at least", -1 for "at most"; `rough`: "about"; `fraction`: a share in words;
    `changed`: behind "by", which may be a difference; `joint`: the words between the last quantity
    and this one; `per`: the seconds that a rate is for; `dates`: the readings of a date.
    """

    kind: str
    values: tuple[float, ...]
    start: int
    end: int
    number: float = 0
    unit: str = ""
    nouns: frozenset[str] = frozenset()
    before: str = ""
    bound: int = 0
    rough: bool = False
    fraction: bool = False
    changed: bool = False
    joint: str = ""
    per: float = 0
    dates: tuple[DateParts, ...] = ()

    @property
    def value(self) -> float:
        """The likely value."""
        return self.values[0]
