"""The lines of a chunk that show why it was found. Pure."""

from collections.abc import Collection
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.stopwords import ENGLISH
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault.search.query import is_part

_MARKS = lazy_pattern(r"^[\s>]*(?:[-*+]\s(?:\[.\]\s)?|\d+[.)]\s|#{1,6}\s)?[\s>]*")


class Snippet(NamedTuple):
    """Lines of a note (numbers from 1) without list and heading marks; cut text has ellipses."""

    line: int
    end_line: int
    text: str


def snippet(text: str, first_line: int, terms: Collection[str], width: int = 160, languages: tuple[str, ...] = (ENGLISH,)) -> Snippet:
    """The line of `text` (which begins on `first_line`) with the most `terms` in any form, and what fits into `width` of the next lines.
    Words are compared by their stems. Of equal lines the first that is not a heading, because a result names its heading anyway."""
    lines = text.split("\n")
    wanted = {words.stem(term, languages) for term in terms}
    parts = list(filter(is_part, wanted))

    def rank(at: int) -> tuple[int, bool, int]:
        line = lines[at]
        shown = wanted.intersection(words.stem(term, languages) for term in words.terms(line)).union(c for c in parts if c in line)
        return -len(shown), not _MARKS.sub("", line) or line.startswith("#"), at

    end = at = min(range(len(lines)), key=rank)
    line = _MARKS.sub("", lines[at])
    folded = words.fold(line)  # its length may differ by a few characters, which does not matter
    first = min((place for term in wanted.union(terms) if (place := folded.find(term)) >= 0), default=0)
    result = truncate_around(line, first, width)
    while end + 1 < len(lines) and lines[end + 1].strip() and len(result) + len(following := _MARKS.sub("", lines[end + 1])) < width:
        result, end = f"{result} {following}".strip(), end + 1
    return Snippet(first_line + at, first_line + end, result)
