"""What a note says about something, with the days that it is of."""

from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.markdown.blocks import blocks
from zkchat_cli.text.date_forms import read_leading
from zkchat_cli.text.dates import Period
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.line_dates import first_period
from zkchat_cli.vault.line_names import names_of_lines
from zkchat_cli.vault.note_dates import DATE_PROPERTIES, named_dates
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.note_tasks import has_words

_PROPERTY = lazy_pattern(r"(?P<name>[^\s:#-][^:\n]{0,40}):[ \t]*(?P<value>\S.*)")


class DatedLines(NamedTuple):
    """Lines of a note, from the first through the last, and the days that they are of."""

    period: Period
    first: int
    last: int


def find_dated_lines(note: ParsedNote, title: str, about: str) -> list[DatedLines]:
    """What a note says about something: the lines that name it or are nested in an item that does.
    Below a title or heading that does, those with a date of their own and the first one below each
    date.
    """
    lines = note.text.split("\n")
    above = list(names_of_lines(lines))
    of_note = _period_of_note(note)
    found: list[DatedLines] = []
    begun: set[tuple[str, ...]] = set()
    if has_words(title, about):
        found += _dates_in_properties(note)
    for piece in _pieces(note.text):
        of_line = above[piece.first - 1]
        names = of_line.every
        own = first_period((piece.text,))
        period = own or first_period(names) or of_note
        # What only leads in to others says nothing
        if period is None or piece.text.endswith(":"):
            continue
        if not has_words(" ".join((title, *names, piece.text)), about):
            continue
        # "the roofer came" below "Attic"
        is_named = has_words(" ".join((piece.text, *of_line.items[:1])), about)
        if not (own or is_named):
            if names in begun:
                continue
            begun.add(names)
        found.append(DatedLines(period, piece.first, piece.last))
    return found


class _Piece(NamedTuple):
    """Lines that say one thing: an item, a paragraph, a row or a line with a date of its own."""

    text: str
    first: int
    last: int


def _pieces(text: str) -> Iterator[_Piece]:
    for block in blocks(text):
        if block.kind not in ("item", "paragraph", "table"):
            continue
        numbered = list(enumerate(block.lines, block.line))
        if block.kind == "table" or any(first_period((line,)) for line in block.lines[1:]):
            yield from (_Piece(line, number, number) for number, line in numbered)
        else:
            yield _Piece(block.text, block.line, numbered[-1][0])


def _period_of_note(note: ParsedNote) -> Period | None:
    """The day that the name of a note means, or else the first one of its properties."""
    named = named_dates(note.relative_path, note.formats)
    readings = named or note.dates
    return min((each.period for each in readings), default=None)


def _dates_in_properties(note: ParsedNote) -> Iterator[DatedLines]:
    """The properties that are dates, but not those of the note itself: `started: 2026-01-15`."""
    for number, line in enumerate(note.text.split("\n")[: note.front_matter.lines], 1):
        found = _PROPERTY.fullmatch(line.rstrip())
        if found is None or found["name"].strip().casefold() in DATE_PROPERTIES:
            continue
        if readings := read_leading(found["value"].strip("\"'")):
            yield DatedLines(readings[0].period, number, number)
