"""Whether a source has the quantities of a claim, says other ones in their place, or has those that
they are computed from: differences, shares and their sums.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import pairwise

from zkchat_cli.citations.claims.computed_sizes import computed_sizes, same_kinds
from zkchat_cli.citations.claims.measure import (
    CLOCK,
    COUNT,
    DATE,
    SHARE,
    TIME,
    TIMES,
    Measure,
)
from zkchat_cli.citations.claims.units import tolerance
from zkchat_cli.citations.claims.word_keys import are_forms

# The share by which a rough figure, or a fraction in words, may differ from an exact one
_ROUGH = 0.1
_FRACTION = 0.065
_EXACT = 1e-6
# Parts of a date that is more than a year
_MOST_PARTS = 2
# Share by which a computed figure may differ, and the least ratio that "twice" can mean
_COMPUTED = 0.006
_TO_WORDS = frozenset("to auf a para naar".split())
_NUMBERS = frozenset((COUNT, TIMES, DATE))


class MeasureMatch(IntEnum):
    """What a source says about a quantity of a claim, the most favourable last."""

    CONTRARY = 0
    UNKNOWN = 1
    WEAK = 2
    SAME = 3


def match_measure(
    measure: Measure,
    claimed: Sequence[Measure],
    near: Sequence[Measure],
    all_near: Sequence[Measure],
) -> MeasureMatch:
    """What a sentence says about a quantity. `claimed`: all quantities of the claim; `near`: those
    of the part that is about the same; `all_near`: those of the whole sentence. One that is
    `changed` may be a difference.
    """
    best = max((compare_measures(measure, other) for other in all_near), default=None)
    if best is not None and best is not MeasureMatch.UNKNOWN:
        return best
    if any(_is_less_exact(other, measure) for other in all_near):
        return MeasureMatch.UNKNOWN
    if any(_is_close(measure, value, _COMPUTED) for value in computed_sizes(measure, all_near)):
        is_clear = measure.changed or measure.kind in (SHARE, TIMES)
        return MeasureMatch.SAME if is_clear else MeasureMatch.WEAK
    if measure.kind == SHARE and _is_rest(measure, all_near):
        return MeasureMatch.WEAK
    if has_competitor(measure, claimed, near) or has_competitor(measure, claimed, all_near):
        return MeasureMatch.CONTRARY
    return MeasureMatch.CONTRARY if _is_other_ratio(measure, all_near) else MeasureMatch.UNKNOWN


def compare_measures(measure: Measure, other: Measure) -> MeasureMatch:
    """Whether two quantities are the same, by themselves."""
    if not _same_size(measure, other):
        within = measure.bound and not other.bound and measure.kind == other.kind
        if within and (other.value - measure.value) * measure.bound > 0:
            return MeasureMatch.SAME
        return MeasureMatch.UNKNOWN
    if measure.bound * other.bound < 0:
        return MeasureMatch.CONTRARY
    is_clear = measure.bound == other.bound and not _is_by_other_reading(measure, other)
    return MeasureMatch.SAME if is_clear else MeasureMatch.WEAK


def _is_by_other_reading(measure: Measure, other: Measure) -> bool:
    """Whether a number is the same only if its mark is not the one of its language: "1.500"."""
    if measure.kind != other.kind or measure.kind in (DATE, CLOCK):
        return False
    likely = [each._replace(values=each.values[:1]) for each in (measure, other)]
    return not _same_size(*likely)


def has_measure(measure: Measure, others: Iterable[Measure]) -> bool:
    """Whether a quantity is among others, perhaps with other bounds."""
    return any(compare_measures(measure, other) > MeasureMatch.UNKNOWN for other in others)


def _same_size(measure: Measure, other: Measure) -> bool:
    if measure.kind == other.kind == DATE:
        return _is_within_date(measure, other)
    if measure.kind != other.kind:
        is_plain = max(map(_named_parts, (measure, other))) < _MOST_PARTS
        are_numbers = {measure.kind, other.kind} <= _NUMBERS
        return are_numbers and is_plain and measure.value == other.value
    if measure.kind == CLOCK:
        return not set(measure.values).isdisjoint(other.values)
    if measure.per and other.per and measure.per != other.per:
        return _is_close(measure, other.value * measure.per / other.per, tolerance(TIME))
    allowed = _allowed_difference(measure, other)
    if len(measure.values) == len(other.values):
        pairs = zip(measure.values, other.values, strict=True)
        return any(_are_close(one, two, allowed) for one, two in pairs)
    return any(_is_close(measure, value, allowed) for value in other.values)


def _is_within_date(measure: Measure, other: Measure) -> bool:
    """Whether a date has all that each reading of another one names."""
    fitting = [date for date in measure.dates if any(map(date.fits, other.dates))]
    named = max((date.named for date in other.dates), default=0)
    is_whole = all(date.named <= named for date in fitting)
    return bool(fitting) and is_whole and len(fitting) == len(measure.dates)


def _allowed_difference(measure: Measure, other: Measure) -> float:
    """The share by which two quantities of one kind may differ."""
    if measure.rough or other.rough:
        return _ROUGH
    if measure.fraction or other.fraction:
        return _FRACTION
    same_unit = measure.unit == other.unit or measure.kind == SHARE
    return _EXACT if same_unit else tolerance(measure.kind)


def _named_parts(measure: Measure) -> int:
    return max((date.named for date in measure.dates), default=1)


def _is_close(measure: Measure, value: float, allowed: float) -> bool:
    if measure.fraction:
        allowed = max(allowed, _FRACTION)
    if measure.rough:
        allowed = max(allowed, _ROUGH)
    return any(_are_close(own, value, allowed) for own in measure.values)


def _are_close(one: float, two: float, allowed: float) -> bool:
    return abs(one - two) <= allowed * max(abs(one), abs(two))


def has_competitor(measure: Measure, claimed: Iterable[Measure], near: Sequence[Measure]) -> bool:
    """Whether a source has another quantity in the place of this one, which the claim does not
    have.
    """
    rivals = [other for other in near if _competes(measure, other)]
    alike = [other for other in near if other.kind == measure.kind]
    if measure.changed and len(alike) == 1:
        # A difference is no other size
        rivals = [other for other in rivals if other.changed]
    own = list(claimed)
    for other in rivals:
        if not any(compare_measures(each, other) > MeasureMatch.UNKNOWN for each in own):
            return True
    return False


def _competes(measure: Measure, other: Measure) -> bool:
    if measure.kind == DATE and other.kind == DATE:
        return _names_same_parts(measure, other)
    if measure.kind == COUNT and other.kind == COUNT:
        return _counts_the_same(measure, other)
    if {measure.kind, other.kind} == {COUNT, DATE}:
        # A number in the place of a year
        return measure.before == other.before != "" and not measure.nouns | other.nouns
    has_units = bool(measure.unit) and bool(other.unit)
    is_other_unit = has_units and measure.number == other.number != 0
    return measure.kind == other.kind or is_other_unit


def _is_less_exact(other: Measure, measure: Measure) -> bool:
    """Whether a source names a part of a date, or a number without the unit."""
    if measure.kind == other.kind == DATE:
        return any(one.fits(two) for one in measure.dates for two in other.dates)
    is_bare = other.kind == COUNT and not other.nouns
    return is_bare and measure.kind != COUNT and measure.number == other.number


def _names_same_parts(measure: Measure, other: Measure) -> bool:
    """Whether all dates of both name a part in common, the year or the month, and differ in it."""
    pairs = [(one, two) for one in measure.dates for two in other.dates]
    if any(one.fits(two) and two.named <= one.named for one, two in pairs):
        # One reading of "4/3/2021"
        return False
    for one, two in pairs:
        named = (a is not None and b is not None for a, b in zip(one, two, strict=True))
        if not any(named):
            return False
    return True


def _counts_the_same(measure: Measure, other: Measure) -> bool:
    if measure.nouns and other.nouns:
        return any(are_forms(one, two) for one in measure.nouns for two in other.nouns)
    return bool(measure.before) and measure.before == other.before and not measure.nouns


def _is_rest(measure: Measure, near: Sequence[Measure]) -> bool:
    """Whether a share is what another one leaves of the whole."""
    shares = (1 - other.value for other in near if other.kind == SHARE)
    return any(_is_close(measure, share, _COMPUTED) for share in shares)


def is_reversed(claimed: Sequence[Measure], near: Sequence[Measure]) -> bool:
    """Whether a claim says "from 1.4 to 2.1" where the source says "from 2.1 to 1.4"."""
    for first, second in pairwise(claimed):
        for one, two in pairwise(near):
            is_range = second.joint in _TO_WORDS and two.joint in _TO_WORDS
            crossed = _same_size(first, two) and _same_size(second, one)
            if is_range and crossed and not _same_size(first, one):
                return True
    return False


def _is_other_ratio(measure: Measure, near: Sequence[Measure]) -> bool:
    """Whether a sentence has two quantities of one kind that a share could be of, and is of
    neither.
    """
    if measure.kind != SHARE:
        return False
    return any(first.kind not in (DATE, CLOCK) for first, _ in same_kinds(near))
