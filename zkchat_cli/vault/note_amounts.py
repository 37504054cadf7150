"""The amounts in a note: the numbers of a property, and those with a unit ("ran 5 km")."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.markdown.blocks import blocks
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.numbers import read_decimal
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.note_properties import read_number

_FIELD = lazy_pattern(r"\s*(?:[-*+] )?[(\[]?(?P<name>[^\W\d][\w -]{0,39}?)::? ?(?P<value>\S.*)")
_NUMBER = r"(?P<number>\d{1,12}(?:[.,]\d{1,6})*)"
# Sums of other lines, and what is only planned
_NO_AMOUNT = lazy_pattern(
    r"\[ \]|\b(?:total|sum|gesamt\w*|insgesamt|summe|somme|suma|soma|goal|target|plan\w*|ziel"
    r"|objectif|meta|objetivo)\b"
)


class AmountQuery(NamedTuple):
    """What amounts are of: names of a property, units, and words; a line must have one of them."""

    names: frozenset[str]
    units: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


class NoteAmount(NamedTuple):
    """A number, with the line of its note that it is in."""

    line: int
    value: float


def read_query(written: str) -> AmountQuery:
    """`km | distance; ran | run`: names, which are units too, and after a semicolon the words."""
    names, _, verbs = fold(written).partition(";")
    units = _split(names)
    return AmountQuery(frozenset(units), tuple(units), frozenset(_split(verbs)))


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split("|") if each.strip()]


def find_amounts(text: str, wanted: AmountQuery) -> list[NoteAmount]:
    """The amounts of a note in its order, one in a line; those of its properties if it has any."""
    lines = text.split("\n")
    of_fields = list(_amounts_of_fields(lines, wanted))
    if of_fields or not wanted.units:
        return of_fields
    return list(_amounts_with_unit(text, wanted))


def _amounts_of_fields(lines: Iterable[str], wanted: AmountQuery) -> Iterable[NoteAmount]:
    for number, line in enumerate(lines, 1):
        field = _FIELD.match(line)
        if field is None or fold(field["name"].strip()) not in wanted.names:
            continue
        value = read_number(field["value"].rstrip(")]"))
        if value is not None:
            yield NoteAmount(number, value)


def _amounts_with_unit(text: str, wanted: AmountQuery) -> Iterable[NoteAmount]:
    units = "|".join(map(re.escape, wanted.units))
    pattern = re.compile(
        rf"(?<![\w.,:/-]){_NUMBER} ?(?:{units})(?![\w/])|(?:{units}) ?(?P<number2>\d[\d.,]*)"
    )
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
                yield NoteAmount(number, value)


def _has_word(line: str, wanted: frozenset[str]) -> bool:
    return not wanted or not wanted.isdisjoint(re.findall(r"[^\W\d_]+", line))
