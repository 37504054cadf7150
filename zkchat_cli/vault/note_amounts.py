"""The amounts in a note: the numbers of a property, and those with a unit ("ran 5 km")."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from zkchat_cli.markdown.blocks import blocks
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.currencies import CURRENCY_NAMES, currency_in
from zkchat_cli.text.numbers import read_decimal
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.units import unit_in
from zkchat_cli.vault.line_names import names_of_lines
from zkchat_cli.vault.note_properties import PROPERTY_LINE, read_number
from zkchat_cli.vault.note_tasks import has_words

_CELL_END = lazy_pattern(r"(?<!\\)\|")
_NUMBER = r"(?P<number>\d{1,12}(?:[.,]\d{1,6})*)"
# Matches nowhere
_NOTHING = "(?!)"
# Sums of other lines, and what is only planned
_NO_AMOUNT = lazy_pattern(
    r"\[ \]|\b(?:total|sum|gesamt\w*|insgesamt|summe|somme|suma|soma|goal|target|ziel|objectif|meta"
    r"|objetivo)\b|^\W*plan\b|\bplan ?:|\bplan(?:ned|ning|s to|ung|t|en|ea\w*|eja\w*|if\w*)\b"
    r"|\bgeplant\w*|\bprev(?:u|ist[oa])s?\b"
)
# What would be paid but was not, and what was got
_NOT_PAID = lazy_pattern(
    r"\b(?:offer(?:s|ed)?|quote[sd]?|estimate[sd]?|budget(?:ed)?|(?:kosten)?(?:vor)?anschlag|angebot\w*"
    r"|devis|estimation|oferta|presupuesto|orcamento|refund(?:ed)?|erstattet|ruckerstattung|rembourse\w*"
    r"|reembols\w*|would cost|wurde kosten|wanted|sold|verkauft|vendus?|vendues?|vendid[oa]s?|vendi"
    r"|vendeu|excess|selbstbeteiligung|franquicia|franquia)\b"
)


class AmountQuery(NamedTuple):
    """What amounts are of: names of a property, units, and words; a line must have one of them. All
    words of an item must be in the line, in a heading above it or in the title of the note.
    """

    names: frozenset[str]
    units: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    item: str = ""


class NoteAmount(NamedTuple):
    """A number, with the line of its note that it is in, and the sign of its currency, or the unit
    of a property, if that is written beside it.
    """

    line: int
    value: float
    unit: str = ""


def read_query(written: str) -> AmountQuery:
    """`km | distance; ran | run; lake`: names, which are units too, and after semicolons the words
    and the item.
    """
    names, _, rest = written.partition(";")
    verbs, _, item = rest.partition(";")
    units = _split(fold(names))
    return AmountQuery(frozenset(units), tuple(units), frozenset(_split(fold(verbs))), item.strip())


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split("|") if each.strip()]


def find_amounts(text: str, wanted: AmountQuery, title: str = "") -> list[NoteAmount]:
    """The amounts of a note in its order, one in a line; those of its properties if it has any."""
    lines = text.split("\n")
    of_fields = [*_amounts_of_fields(lines, wanted), *_amounts_of_columns(text, wanted)]
    if of_fields or not wanted.units:
        return _of_item(of_fields, lines, wanted.item, title)
    return _of_item(_amounts_with_unit(text, wanted), lines, wanted.item, title)


def _of_item(
    amounts: Iterable[NoteAmount], lines: Sequence[str], item: str, title: str
) -> list[NoteAmount]:
    """The amounts with the words of an item in their line or in the names above it."""
    amounts = list(amounts)
    if not item or not amounts:
        return amounts
    # Once for all lines: a search above each grows with the square of the lines
    names = list(names_of_lines(lines))
    found: list[NoteAmount] = []
    for amount in amounts:
        line = lines[amount.line - 1]
        if _NOT_PAID.search(fold(line)):
            continue
        above = " ".join(names[amount.line - 1].every)
        if has_words(f"{title} {above} {line}", item):
            found.append(amount)
    return found


def _amounts_of_fields(lines: Iterable[str], wanted: AmountQuery) -> Iterable[NoteAmount]:
    for number, line in enumerate(lines, 1):
        field = PROPERTY_LINE.match(line)
        if field is None or fold(field["name"].strip()) not in wanted.names:
            continue
        value = read_number(field["value"].rstrip(")]"))
        if value is not None:
            yield NoteAmount(number, value, unit_in(field["value"]))


def _amounts_of_columns(text: str, wanted: AmountQuery) -> Iterable[NoteAmount]:
    """The numbers below a header of a table that is one of the names, without those of a total."""
    if "|" not in text:
        return
    for block in blocks(text):
        if block.kind != "table":
            continue
        columns = [fold(name) for name in _cells(block.lines[0])]
        place = next((i for i, name in enumerate(columns) if name in wanted.names), -1)
        if place < 0:
            continue
        for number, line in enumerate(block.lines[1:], block.line + 1):
            cells = _cells(line)
            value = read_number(cells[place]) if place < len(cells) else None
            if value is not None and not _NO_AMOUNT.search(fold(line)):
                yield NoteAmount(number, value, unit_in(cells[place]))


def _cells(row: str) -> list[str]:
    """The cells of a row in their places, also the empty ones."""
    return [cell.strip() for cell in _CELL_END.split(row.strip().strip("|"))]


def _amounts_with_unit(text: str, wanted: AmountQuery) -> Iterable[NoteAmount]:
    pattern = _number_with_unit(wanted.units)
    for block in blocks(text):
        if block.kind not in ("item", "paragraph", "table"):
            continue
        for number, line in enumerate(block.lines, block.line):
            folded = fold(line)
            found = pattern.search(folded)
            if found is None or _NO_AMOUNT.search(folded) or not _has_word(folded, wanted.words):
                continue
            value = read_decimal(found["number"] or found["number2"])
            if value is not None:
                yield NoteAmount(number, value, currency_in(found[0]))


@cache
def _number_with_unit(names: tuple[str, ...]) -> re.Pattern[str]:
    """What finds a number with one of some units after it, or a currency before it: "page 5" has
    no amount of pages.
    """
    units = "|".join(map(re.escape, names))
    with_unit = rf"(?<![\w.,:/-]){_NUMBER} ?(?:{units})(?![\w/])"
    currencies = "|".join(re.escape(name) for name in names if name in CURRENCY_NAMES) or _NOTHING
    return re.compile(rf"{with_unit}|(?<![^\W\d_])(?:{currencies}) ?(?P<number2>\d[\d.,]*)")


def _has_word(line: str, wanted: frozenset[str]) -> bool:
    return not wanted or not wanted.isdisjoint(re.findall(r"[^\W\d_]+", line))


def with_units(amounts: Sequence[NoteAmount]) -> list[NoteAmount]:
    """The amounts, where those without a unit have the only one of the others if it is one."""
    named = {amount.unit for amount in amounts if amount.unit}
    if len(named) != 1:
        return list(amounts)
    return [amount._replace(unit=next(iter(named))) for amount in amounts]
