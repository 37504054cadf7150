"""The lines of a chunk that show why it was found. Pure."""

import re
from collections.abc import Collection
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.search.query import is_part

_MARKS = re.compile(r"^[\s>]*(?:[-*+]\s(?:\[.\]\s)?|\d+[.)]\s|#{1,6}\s)?[\s>]*")


class Snippet(NamedTuple):
    """A line of a note (`line`, from 1) without its Markdown marks; what was cut is marked by ellipses. `end_line`: where it ends."""

    line: int
    end_line: int
    text: str


def snippet(text: str, first_line: int, terms: Collection[str], width: int = 160) -> Snippet:
    """The line of `text`, which begins on `first_line`, that has most of the `terms`, and as much of the next ones as `width` takes.

    Of equal lines the first that is no heading: that one is shown beside the snippet anyway.
    """
    lines = text.split("\n")
    wanted = set(terms)
    parts = [term for term in wanted if is_part(term)]
    merits = [
        (
            -len(wanted.intersection(words.terms(line)).union(part for part in parts if part in line)),
            not _MARKS.sub("", line) or line.startswith("#"),
            i,
        )
        for i, line in enumerate(lines)
    ]
    at = min(merits)[2]
    shown = _around(_MARKS.sub("", lines[at]), wanted, width)
    end = at
    while end + 1 < len(lines) and lines[end + 1].strip() and len(shown) + len(following := _MARKS.sub("", lines[end + 1])) < width:
        shown, end = f"{shown} {following}".strip(), end + 1
    return Snippet(first_line + at, first_line + end, shown)


def _around(line: str, terms: Collection[str], width: int) -> str:
    """`line`, or of a long one what stands around its first term."""
    if len(line) <= width:
        return line
    folded = words.fold(line)  # may be longer or shorter than the line, by a few characters: good enough to find the place
    found = [at for term in terms if (at := folded.find(term)) >= 0]
    start = max(0, min(found, default=0) - width // 3)
    start = line.find(" ", start) + 1 if start else 0
    return ("…" if start else "") + truncate(line[start:], width)
