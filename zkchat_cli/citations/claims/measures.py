"""The quantities of a text: numbers in digits and words, with their units.

A text is read as tokens from left to right; each reader takes what it knows from there on. Units
are converted to the base unit of their kind, so that 1.5 km is 1500 m.
"""

from collections.abc import Callable, Sequence

from zkchat_cli.citations.claims.measure import COUNT, Measure
from zkchat_cli.citations.claims.measure_reader import RANGE_WORDS, FoundMeasure, MeasureReader
from zkchat_cli.citations.claims.units import unit_of_name, unit_of_symbol

_Reader = Callable[[MeasureReader, int], FoundMeasure | None]
_READERS: tuple[_Reader, ...] = (
    MeasureReader.read_exclusive,
    MeasureReader.read_clock,
    MeasureReader.read_date,
    MeasureReader.read_ratio,
    MeasureReader.read_ordinal,
    MeasureReader.read_times,
    MeasureReader.read_fraction,
    MeasureReader.read_one_unit,
    MeasureReader.read_number,
)


def read_measures(text: str, language: str) -> list[Measure]:
    """The quantities of a text in its order."""
    reading = MeasureReader(text, language)
    found: list[Measure] = []
    gaps: list[str] = []
    at = 0
    behind = 0
    while at < len(reading.tokens):
        measured = None
        if reading.may_begin(at):
            measured = next(filter(None, (reader(reading, at) for reader in _READERS)), None)
        if measured is None:
            at += 1
            continue
        gaps.append(" ".join(reading.words[behind:at]))
        measure = reading.surroundings(measured.measure, at, behind)
        per, end = reading.per(measured.end)
        if end > measured.end:
            measure = measure._replace(end=reading.tokens[end - 1].end)
        found.append(measure._replace(joint=gaps[-1], per=per))
        at = end
        behind = at
    return _with_shared_units(found, gaps)


def _with_shared_units(measures: Sequence[Measure], gaps: Sequence[str]) -> list[Measure]:
    """The quantities, those of a range with the unit that is written only once: "from 2.1 to
    1.4 bar".
    """
    found = list(measures)
    for index in range(len(found) - 1, 0, -1):
        first, second = found[index - 1 : index + 1]
        if gaps[index] not in RANGE_WORDS and gaps[index]:
            continue
        if _is_bare(first) and not _is_bare(second):
            found[index - 1] = _as_measured(first, second)
        elif _is_bare(second) and not _is_bare(first):
            found[index] = _as_measured(second, first)
    return found


def _is_bare(measure: Measure) -> bool:
    return measure.kind == COUNT and not measure.nouns


def _as_measured(bare: Measure, like: Measure) -> Measure:
    """A bare number with the unit or noun of another quantity."""
    if like.kind == COUNT:
        return bare._replace(nouns=like.nouns)
    if not like.unit:
        return bare
    unit = unit_of_symbol(like.unit) or unit_of_name(like.unit)
    if unit is None:
        return bare
    values = tuple(map(unit.to_base, bare.values))
    return bare._replace(kind=like.kind, values=values, unit=like.unit)
