"""What differs between two sequences, of lines or of words, in time that grows with their length.

`difflib` compares everything with everything, which takes minutes for a note of 10 MB. This is the
algorithm of `git diff` (Myers 1986): its time grows with the number of differences. Where these
are too many, items that both sequences have exactly once divide them first ("patience diff").
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

# Items that are removed or added in a stretch for which the shortest list of edits is searched;
# the time grows with the square
MOST_DIFFERENCES = 500
# Steps of all these searches together, each a microsecond
MOST_STEPS = 2_000_000
# How often a stretch is divided again
MOST_LEVELS = 20
Item = TypeVar("Item", str, bytes)


class Edit(NamedTuple):
    """The items `old` of the first sequence are replaced by the items `new` of the second one; one
    of the two ranges may be empty.
    """

    old: range
    new: range


@dataclass
class _Budget:
    """The steps that are left for searching the shortest edits."""

    steps: int = MOST_STEPS


class _Pair(NamedTuple):
    """The places of an item that both sequences have."""

    old: int
    new: int


def find_edits(old: Sequence[Item], new: Sequence[Item]) -> list[Edit]:
    """The edits that make `new` of `old`, in their order. Equal items are between any two of
    them.
    """
    edits: list[Edit] = []
    whole = Edit(range(len(old)), range(len(new)))
    for edit in _edits_of(old, new, whole, MOST_LEVELS, _Budget()):
        last = edits[-1] if edits else None
        if last is not None and last.old.stop == edit.old.start and last.new.stop == edit.new.start:
            edits[-1] = join_edits(last, edit)
        else:
            edits.append(edit)
    return edits


def join_edits(first: Edit, last: Edit) -> Edit:
    """One edit for two and everything between them."""
    return Edit(range(first.old.start, last.old.stop), range(first.new.start, last.new.stop))


def _edits_of(
    old: Sequence[Item], new: Sequence[Item], stretch: Edit, levels: int, budget: _Budget
) -> Iterator[Edit]:
    """The edits in a stretch of both sequences; they may touch each other."""
    stretch = _without_equal_ends(old, new, stretch)
    if not stretch.old or not stretch.new:
        if stretch.old or stretch.new:
            yield stretch
        return
    pairs = _shortest_edit(old, new, stretch, budget)
    if pairs is not None:
        yield from _gaps(pairs, stretch)
        return
    anchors = _common_unique_items(old, new, stretch) if levels else []
    if not anchors:
        yield stretch
        return
    for gap in _gaps(anchors, stretch):
        yield from _edits_of(old, new, gap, levels - 1, budget)


def _gaps(pairs: Sequence[_Pair], stretch: Edit) -> Iterator[Edit]:
    """What is between these pairs of equal items in a stretch, unless it is empty."""
    before = _Pair(stretch.old.start - 1, stretch.new.start - 1)
    after = _Pair(stretch.old.stop, stretch.new.stop)
    for one, next_ in pairwise((before, *pairs, after)):
        gap = Edit(range(one.old + 1, next_.old), range(one.new + 1, next_.new))
        if gap.old or gap.new:
            yield gap


def _without_equal_ends(old: Sequence[Item], new: Sequence[Item], stretch: Edit) -> Edit:
    """The stretch without the equal items at its beginning and its end."""
    begin_old = stretch.old.start
    begin_new = stretch.new.start
    end_old = stretch.old.stop
    end_new = stretch.new.stop
    while begin_old < end_old and begin_new < end_new and old[begin_old] == new[begin_new]:
        begin_old += 1
        begin_new += 1
    while begin_old < end_old and begin_new < end_new and old[end_old - 1] == new[end_new - 1]:
        end_old -= 1
        end_new -= 1
    return Edit(range(begin_old, end_old), range(begin_new, end_new))


def _shortest_edit(
    old: Sequence[Item], new: Sequence[Item], stretch: Edit, budget: _Budget
) -> list[_Pair] | None:
    """The items that stay if as few as possible are removed and added; None if these would be more
    than MOST_DIFFERENCES, or the budget is used up.

    Diagonal d has the places with d more old items than new ones behind them. Row c of `rows` says
    for the diagonals -c, 2 - c, …, c how many old items can be behind after c differences.
    """
    rows: list[list[int]] = []
    for differences in range(min(MOST_DIFFERENCES, len(stretch.old) + len(stretch.new)) + 1):
        budget.steps -= differences
        if budget.steps < 0:
            return None
        row: list[int] = []
        for number in range(differences + 1):
            behind = _next_start(rows[-1], number) if rows else 0
            diagonal = 2 * number - differences
            behind = _skip_equal(old, new, stretch, behind, diagonal)
            row.append(behind)
            if behind >= len(stretch.old) and behind - diagonal >= len(stretch.new):
                return _trace_back([*rows, row], number, stretch)
        rows.append(row)
    return None


def _adds(row: Sequence[int], number: int) -> bool:
    """Whether diagonal `number` of the next row is reached by adding an item, not by removing
    one.
    """
    if number == 0:
        return True
    return number < len(row) and row[number - 1] < row[number]


def _next_start(row: Sequence[int], number: int) -> int:
    """How many old items are behind on diagonal `number` of the row after this one, after its
    difference.
    """
    return row[number] if _adds(row, number) else row[number - 1] + 1


def _skip_equal(
    old: Sequence[Item], new: Sequence[Item], stretch: Edit, behind: int, diagonal: int
) -> int:
    """How many old items are behind after the equal items that follow a place."""
    at_old = stretch.old.start + behind
    at_new = stretch.new.start + behind - diagonal
    end_old = stretch.old.stop
    end_new = stretch.new.stop
    while at_old < end_old and at_new < end_new and old[at_old] == new[at_new]:
        at_old += 1
        at_new += 1
    return at_old - stretch.old.start


def _trace_back(rows: Sequence[Sequence[int]], number: int, stretch: Edit) -> list[_Pair]:
    """The pairs of equal items on the way to diagonal `number` of the last row."""
    pairs: list[_Pair] = []
    for differences in range(len(rows) - 1, -1, -1):
        end = rows[differences][number]
        diagonal = 2 * number - differences
        start = 0
        if differences:
            earlier = rows[differences - 1]
            start = _next_start(earlier, number)
            if not _adds(earlier, number):
                number -= 1
        for behind in range(end - 1, start - 1, -1):
            place = _Pair(stretch.old.start + behind, stretch.new.start + behind - diagonal)
            pairs.append(place)
    return pairs[::-1]


def _common_unique_items(old: Sequence[Item], new: Sequence[Item], stretch: Edit) -> list[_Pair]:
    """The places of items that both have exactly once in the stretch: the longest list in which
    both places increase.
    """
    in_old = Counter(old[stretch.old.start : stretch.old.stop])
    in_new = Counter(new[stretch.new.start : stretch.new.stop])
    places = {new[at]: at for at in stretch.new if in_new[new[at]] == 1}
    pairs = [
        _Pair(at, places[old[at]])
        for at in stretch.old
        if in_old[old[at]] == 1 and old[at] in places
    ]
    return _longest_increasing(pairs)


def _longest_increasing(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The longest list of the pairs in which the places in the new sequence increase."""
    # By length: the smallest last place of a list of that length, and the number of its pair
    ends: list[int] = []
    last_pairs: list[int] = []
    before: list[int] = []
    for number, pair in enumerate(pairs):
        length = bisect_left(ends, pair.new)
        before.append(last_pairs[length - 1] if length else -1)
        if length == len(ends):
            ends.append(pair.new)
            last_pairs.append(number)
        else:
            ends[length] = pair.new
            last_pairs[length] = number
    found: list[_Pair] = []
    number = last_pairs[-1] if last_pairs else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
