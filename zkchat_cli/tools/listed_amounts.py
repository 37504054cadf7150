"""Lists of the amounts in notes, with their sum in each unit."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.tools.line_requests import LinePlace, LinesOfTime, describe_rest, read_places
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.line_dates import month_of_line, periods_of_lines
from zkchat_cli.vault.line_names import heading_level
from zkchat_cli.vault.note_amounts import (
    AmountQuery,
    NoteAmount,
    find_amounts,
    read_query,
    with_units,
)
from zkchat_cli.vault.vault import Vault

# Sums are rounded, so that 0.1 and 0.2 are 0.3
MOST_DECIMALS = 6
_EXTREMES: Mapping[str, Callable[[Iterable[float]], float]] = {"highest": max, "lowest": min}


def list_amounts(
    vault: Vault,
    notes: Iterable[NoteEntry],
    written: str,
    begin: int,
    limit: int,
    of_time: LinesOfTime | None = None,
) -> ToolOutput:
    """The sum, the highest and the lowest of the amounts in notes, for each unit, and the lines
    that have them as excerpts. Of a time are those with a date in it, and those without one in the
    notes of it.
    """
    which, _, names = written.partition(" of ")
    paths, amounts = _find_amounts(vault, notes, read_query(names), of_time)
    values: dict[str, list[float]] = {}
    for amount in amounts:
        values.setdefault(amount.unit, []).append(amount.value)
    wanted = list(zip(paths, amounts, strict=True))
    if which in _EXTREMES:
        extremes = {unit: _EXTREMES[which](each) for unit, each in values.items()}
        wanted = [
            (path, amount) for path, amount in wanted if amount.value == extremes[amount.unit]
        ]
    places = [LinePlace(path, amount.line, amount.line) for path, amount in wanted]
    chunks = read_places(vault, places[begin : begin + limit])
    return ToolOutput(
        chunks=chunks,
        data={
            "total": len(amounts),
            "notes": len(set(paths)),
            "shown": len(wanted),
            "units": [_describe_values(*each) for each in values.items()],
        },
        note=describe_rest(begin, len(chunks), len(wanted)),
        outcome=plural(len(amounts), "amount"),
    )


def _find_amounts(
    vault: Vault, notes: Iterable[NoteEntry], query: AmountQuery, of_time: LinesOfTime | None
) -> tuple[list[str], list[NoteAmount]]:
    """The amounts in notes, with the path of the note of each."""
    paths: list[str] = []
    found: list[NoteAmount] = []
    for note in notes:
        text = vault.reader.read_if_there(note.path) or ""
        if of_time is not None and not of_time.may_have(note.path, text):
            continue
        amounts = find_amounts(text, query, note.title)
        if of_time is not None:
            amounts = _amounts_of_time(amounts, note.path, text, of_time)
        paths += [note.path] * len(amounts)
        found += amounts
    return paths, with_units(found)


def _describe_values(unit: str, values: Sequence[float]) -> dict[str, object]:
    """What is told of the amounts in one unit or currency, "" for those without one."""
    return {
        "unit": unit,
        "total": len(values),
        "sum": round(sum(values), MOST_DECIMALS),
        "highest": max(values),
        "lowest": min(values),
    }


def _amounts_of_time(
    amounts: Sequence[NoteAmount], path: str, text: str, of_time: LinesOfTime
) -> list[NoteAmount]:
    """The amounts in the text of a note that are of a time: by the date of their line; without one,
    those in its sections of that time, or all if it has no such sections.
    """
    if not amounts:
        return []
    lines = text.split("\n")
    note = of_time.notes.get(path)
    spans: list[range] = []
    if note is not None:
        spans = [_span_of_section(lines, section.line) for section in note.sections]
        spans = spans or [range(len(lines) + 1)]
    within: list[NoteAmount] = []
    periods = periods_of_lines(lines, (amount.line for amount in amounts))
    for amount, days in zip(amounts, periods, strict=True):
        is_within = any(amount.line in span for span in spans)
        month = 0 if days else month_of_line(lines[amount.line - 1])
        if days is not None:
            is_within = of_time.has(days)
        elif month:
            is_within = of_time.has_month(month)
        if is_within:
            within.append(amount)
    return within


def _span_of_section(lines: Sequence[str], first: int) -> range:
    """The lines from a heading on, before the next one that is no lower."""
    level = heading_level(lines[first - 1])
    for number, line in enumerate(lines[first:], first + 1):
        if 0 < heading_level(line) <= level:
            return range(first, number)
    return range(first, len(lines) + 1)
