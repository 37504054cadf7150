"""An excerpt beside the note it is from: whether its words still stand there, and where the words stand that an answer quotes from it.

Pure: texts in, values and lines out. What is shown is what the model saw, with the note of today around it where the two still agree.
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
"""Lines of the note before and after the excerpt."""
LONGEST_AROUND = 400
"""Characters of a line around it that are shown."""
MOST_PLACES = 1000
"""Places where a text stands, of which the nearest is looked for."""
_GAP = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")
"""Where a quotation leaves words out."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where the words of an excerpt stand in the note of today: on the lines they had, on others, or (`changed`) not any more."""

    state: Literal["same", "moved", "changed"]
    first: int
    last: int


def locate_chunk(chunk: ContentChunk, note: str) -> SourceLocation:
    """Compare an excerpt with the text of a note; of several places where its words stand the nearest to the old one counts."""
    words = chunk.text.removesuffix(CUT_MARK)
    height = words.count("\n")
    best: int | None = None
    at, line, counted = note.find(words), 1, 0
    for _ in range(MOST_PLACES if words.strip() else 0):
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
    """From where to where (characters) `text` says the quoted words, in pieces where the quotation leaves some out; none where it does
    not say them.

    Letters and digits alone are compared: that a quotation holds has been found out before, more strictly (quotations.py). This is to
    show where, whatever stands between the words: emphasis, marks of lists and quoted lines, typography.
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
    """The place of quoted letters with what the quotation has before and behind them: a full stop, the brackets of a link."""
    before = next((i for i, c in enumerate(part) if c.isalnum()), 0)
    after = next((i for i, c in enumerate(reversed(part)) if c.isalnum()), 0)
    for c in reversed(part[:before]):
        start -= start > 0 and text[start - 1] == c
    for c in part[len(part) - after :]:
        end += text[end : end + 1] == c
    return start, end


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text, folded, and where each of them stands."""
    said: list[str] = []
    places: list[int] = []
    for i, c in enumerate(text):
        if c.isalnum():
            folded = c.lower() if c.isascii() else unicodedata.normalize("NFD", fold(c))
            said.append(folded)
            places += [i] * len(folded)
    return "".join(said), places


def _places(words: str, chunk: ContentChunk, citation: Citation) -> list[tuple[int, int]]:
    """Where the words that a citation quotes stand in the excerpt's; where they cannot be told apart (a link in them), their lines."""
    if citation_status(citation) != "verified" or not citation.quote:
        return []
    if found := find_quote(words, citation.quote):
        return found
    first, last = ((line or 0) - chunk.start_line for line in (citation.start_line, citation.end_line))
    lines = words.split("\n")
    begins = list(accumulate((len(each) + 1 for each in lines), initial=0))
    return [(begins[i], begins[i] + len(lines[i])) for i in range(max(0, first), min(last + 1, len(lines)))]


def chunk_lines(chunk: ContentChunk, first: int, citations: Iterable[Citation], note: str | None) -> list[StyledLine]:
    """The excerpt with numbered lines from `first` on, the words marked that these citations quote from it.

    Of a `note` that still has it the lines around it are shown, too, behind a broken rule.
    """
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
    """A line that begins at `at` of the text whose `marked` places are quoted."""
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
    shown = line if len(line) <= LONGEST_AROUND else line[: LONGEST_AROUND - 1] + "…"
    return (StyledSpan(_short_tabs(shown), "dim"),) if shown.strip() else ()


def _short_tabs(text: str) -> str:
    return text.replace("\t", "    ")
