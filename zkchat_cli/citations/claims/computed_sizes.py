"""What can be computed from the quantities of a sentence: differences, shares and their sums."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from zkchat_cli.citations.claims.measure import CLOCK, COUNT, DATE, SHARE, TIMES, Measure


def computed_sizes(measure: Measure, near: Sequence[Measure]) -> Iterator[float]:
    """The sizes that a quantity of this one's kind can have by the quantities of a sentence."""
    sizes = [each for each in near if each.kind not in (DATE, CLOCK, SHARE) and each.value > 0]
    shares = [each.value for each in near if each.kind == SHARE]
    match measure.kind:
        case "share":
            yield from _shares_of(sizes)
        case "times":
            yield from (first.value / second.value for first, second in same_kinds(sizes))
        case _:
            alike = [each for each in sizes if each.kind == measure.kind]
            factors = [each.value for each in near if each.kind == TIMES]
            yield from _sums_of(alike)
            for each in alike:
                yield from _multiples_of(each.value, shares, factors)


def _shares_of(sizes: Sequence[Measure]) -> Iterator[float]:
    """What share of one another sizes are, and by what share they differ."""
    for first, second in same_kinds(sizes):
        if first.value < second.value:
            yield first.value / second.value
        yield abs(first.value - second.value) / second.value


def _sums_of(alike: Sequence[Measure]) -> Iterator[float]:
    for first, second in same_kinds(alike):
        yield abs(first.value - second.value)
        if first.kind == COUNT:
            yield first.value + second.value


def _multiples_of(
    value: float, shares: Sequence[float], factors: Sequence[float]
) -> Iterator[float]:
    for share in shares:
        yield value * share
        yield value * (1 - share)
        yield value * (1 + share)
        yield value / share
    for factor in factors:
        yield value * factor
        yield value / factor


def same_kinds(sizes: Sequence[Measure]) -> Iterator[tuple[Measure, Measure]]:
    """The pairs of quantities of one kind, in both orders."""
    for first, second in permutations(sizes, 2):
        if first.kind == second.kind:
            yield first, second
