"""An excerpt in its current note: whether the note still contains it, and which words an answer quotes.

Shows what the model saw, with the lines around it if the note still contains the excerpt.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from zkchat_cli.models import Citation, ContentChunk
from zkchat_cli.references.chunk_format import CUT_MARK
from zkchat_cli.text.words import fold
from zkchat_cli.views.sources import citation_status
from zkchat_cli.views.text import StyledLine, StyledSpan

CONTEXT = 3
"""Lines shown before and after the excerpt."""
MAX_CONTEXT_LINE = 400
MAX_OCCURRENCES = 1000
"""Occurrences of a text that are compared to find the nearest one."""
_GAP = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")
"""An ellipsis in a quotation."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The excerpt in the current note: on the same lines, moved to others, or no longer there (`changed`)."""

    state: Literal["same", "moved", "changed"]
    first: int
    last: int


def locate_chunk(chunk: ContentChunk, note: str) -> SourceLocation:
    """Find an excerpt in the text of a note; of several occurrences, the one nearest to the old place."""
    words = chunk.text.removesuffix(CUT_MARK)
    height = words.count("\n")
    best: int | None = None
    at, line, counted = note.find(words), 1, 0
    for _ in range(MAX_OCCURRENCES if words.strip() else 0):
        if at < 0:
            break
        line += note.count("\n", counted, at)
        counted = at
        if best is None or abs(line - chunk.start_line) < abs(best - chunk.start_line):
            best = line
        at = note.find(words, at + 1)
    if best is None:
        return SourceLocation("changed", chunk.start_line, chunk.end_line)
    return SourceLocation("same" if best == chunk.start_line else "moved", best, best + height)


def find_quote(text: str, quote: str) -> list[tuple[int, int]]:
    """The character ranges of a quotation in `text`, one per part between ellipses; empty if the text does not contain it.

    Only letters and digits are compared, ignoring emphasis, list markers and typography: the quotation itself was verified before, more
    strictly (citations/quotes.py).
    """
    said, places = _letters(text)
    found: list[tuple[int, int]] = []
    at = 0
    for part in _GAP.split(quote):
        wanted, _ = _letters(part)
        begin = said.find(wanted, at)
        if begin < 0:
            return []
        if wanted:
            at = begin + len(wanted)
            found.append(_with_marks(text, places[begin], places[at - 1] + 1, part.strip()))
    return found


def _with_marks(text: str, start: int, end: int, part: str) -> tuple[int, int]:
    """The range extended by the quotation's own punctuation at both ends: a full stop, the brackets of a link."""
    before = next((i for i, c in enumerate(part) if c.isalnum()), 0)
    after = next((i for i, c in enumerate(reversed(part)) if c.isalnum()), 0)
    for c in reversed(part[:before]):
        start -= start > 0 and text[start - 1] == c
    for c in part[len(part) - after :]:
        end += text[end : end + 1] == c
    return start, end


def _letters(text: str) -> tuple[str, list[int]]:
    """The folded letters and digits of a text, and the position of each."""
    said: list[str] = []
    places: list[int] = []
    for i, c in enumerate(text):
        if c.isalnum():
            folded = c.lower() if c.isascii() else unicodedata.normalize("NFD", fold(c))
            said.append(folded)
            places += [i] * len(folded)
    return "".join(said), places


def _places(words: str, chunk: ContentChunk, citation: Citation) -> list[tuple[int, int]]:
    """The ranges that a citation quotes; whole lines where the words cannot be located exactly."""
    if citation_status(citation) != "verified" or not citation.quote:
        return []
    if found := find_quote(words, citation.quote):
        return found
    first, last = ((line or 0) - chunk.start_line for line in (citation.start_line, citation.end_line))
    lines = words.split("\n")
    begins = list(accumulate((len(each) + 1 for each in lines), initial=0))
    return [(begins[i], begins[i] + len(lines[i])) for i in range(max(0, first), min(last + 1, len(lines)))]


def chunk_lines(chunk: ContentChunk, first: int, citations: Iterable[Citation], note: str | None) -> list[StyledLine]:
    """The excerpt with line numbers from `first` on and the quoted words marked; the lines of the `note` around it follow a dotted rule."""
    words = chunk.text.removesuffix(CUT_MARK)
    marked = _merged(place for citation in citations for place in _places(words, chunk, citation))
    own = words.split("\n")
    around = note.split("\n") if note is not None else []
    before = around[max(0, first - 1 - CONTEXT) : first - 1]
    after = around[first - 1 + len(own) :][:CONTEXT]
    while before and not before[0].strip():
        del before[0]
    while after and not after[-1].strip():
        del after[-1]
    digits = len(str(first + len(own) + len(after) - 1))
    shown = [_line(first - len(before) + i, _around(text), " ", digits, "┊") for i, text in enumerate(before)]
    at = 0
    for number, text in enumerate(own, first):
        spans = _spans(text, at, marked)
        shown.append(_line(number, spans, ">" if any(span.quoted for span in spans) else " ", digits))
        at += len(text) + 1
    shown += [_line(first + len(own) + i, _around(text), " ", digits, "┊") for i, text in enumerate(after)]
    return shown


def _line(number: int, spans: Sequence[StyledSpan], mark: str, digits: int, rule: str = "│") -> StyledLine:
    return StyledLine((StyledSpan(f"{mark} {number:>{digits}} {rule}{' ' if spans else ''}", "dim"), *spans), indent=digits + 5)


def _spans(text: str, at: int, marked: Sequence[tuple[int, int]]) -> tuple[StyledSpan, ...]:
    """One line, which begins at `at`, with the quoted ranges marked."""
    spans: list[StyledSpan] = []
    done = 0
    for begin, end in marked:
        begin, end = max(begin - at, done), min(end - at, len(text))
        if begin < end:
            spans += [StyledSpan(text[done:begin]), StyledSpan(text[begin:end], "bold green", quoted=True)]
            done = end
    return tuple(replace(span, text=_short_tabs(span.text)) for span in (*spans, StyledSpan(text[done:])) if span.text)


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _around(line: str) -> tuple[StyledSpan, ...]:
    shown = line if len(line) <= MAX_CONTEXT_LINE else line[: MAX_CONTEXT_LINE - 1] + "…"
    return (StyledSpan(_short_tabs(shown), "dim"),) if shown.strip() else ()


def _short_tabs(text: str) -> str:
    return text.replace("\t", "    ")
