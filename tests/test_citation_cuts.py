"""What a quotation may leave out or join, by kind and language: the verdict that a careful reader
of the note gives.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import chunk

from zkchat_cli.citations.quotes import QuotableChunk

TABLES = (Path(__file__).parent / "samples" / "citation_cuts.txt").read_text(encoding="utf-8")
"""A line for each note, with quotations that are verified, cut, or not in the note (`✗`)."""
_QUOTATION = re.compile(r" \| ([✓✂✗]) ")
VERDICTS = {"verified": "✓", "cut": "✂", None: "✗"}


def rows(kind: str) -> Iterator[tuple[str, str, str]]:
    """The note, the mark of a verdict, and a quotation, for each quotation of a table."""
    table = TABLES.split(f"# {kind}\n")[1].split("\n\n")[0]
    for line in table.strip().splitlines():
        note, *written = _QUOTATION.split(line.replace(r"\n", "\n"))
        for verdict, quote in zip(written[::2], written[1::2], strict=True):
            yield note, verdict, quote


def mark(note: str, quote: str) -> str:
    place = QuotableChunk(chunk(1, note)).locate(quote)
    return VERDICTS[place.verdict if place else None]


@pytest.mark.parametrize("kind", re.findall(r"(?m)^# (\w+)$", TABLES))
def test_a_quotation_has_the_verdict_of_a_careful_reader(kind: str) -> None:
    wrong = [
        f"{mark(note, quote)} instead of {verdict}: {quote!r} in {note!r}"
        for note, verdict, quote in rows(kind)
        if mark(note, quote) != verdict
    ]
    assert wrong == []


def test_a_quotation_without_the_accents_of_the_note_is_told() -> None:
    note = QuotableChunk(chunk(1, "Le café est fermé après le dîner."))
    told = note.locate("Le cafe est ferme apres le diner")
    assert told is not None
    assert told.remarks == ("without_accents",)
    same = note.locate("LE CAFÉ EST FERMÉ")
    assert same is not None
    assert same.remarks == ()


@pytest.mark.parametrize(
    ("note", "is_told"),
    [
        ("Pay 500\u202e euros now.", True),
        ("Pay 500\u2062 euros now.", True),
        ("Pay 500 eu\u00adros now. \u2764\ufe0f", False),
    ],
)
def test_a_passage_with_characters_that_do_not_show_is_told(note: str, is_told: bool) -> None:
    place = QuotableChunk(chunk(1, note)).locate("500 euros now")
    assert place is not None
    assert place.verdict == "verified"
    assert ("hidden_characters" in place.remarks) == is_told


def characters_without_a_glyph() -> list[str]:
    """Characters of Unicode that do not show, or change the one before them: all that are assigned,
    and some of the others.
    """
    found: list[str] = []
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        is_assigned = category in ("Cf", "Cc", "Mn", "Me") and not character.isspace()
        if is_assigned or (category in ("Cn", "Co") and code % 1009 == 0):
            found.append(character)
    return found


@pytest.mark.untraced
def test_no_character_that_does_not_show_splits_a_word_or_a_number() -> None:
    hidden = characters_without_a_glyph()
    assert len(hidden) > 2500
    for quote, written in (("safe", "un{}safe"), ("safe", "safe{}ty"), ("500", "-{}500")):
        note = QuotableChunk(chunk(1, "\n".join(map(written.format, hidden))))
        place = note.locate(quote)
        assert place is None or place.verdict != "verified", place
