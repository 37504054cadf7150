"""An excerpt beside the note it is from: whether its words still stand there, and where the words stand that an answer quotes from it.

Pure: texts in, values and lines out. What is shown is what the model saw, with the note of today around it where the two still agree.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from zkchat_cli.lines import Line, Span
from zkchat_cli.models import ContentChunk
from zkchat_cli.references.excerpts import CUT
from zkchat_cli.words import fold

CONTEXT = 3
"""Lines of the note before and after the excerpt."""
LONGEST_AROUND = 400
"""Characters of a line around it that are shown."""
MOST_PLACES = 1000
"""Places where a text stands, of which the nearest is looked for."""
_QUOTE_MARKS = str.maketrans({**dict.fromkeys("‘’", "'"), **dict.fromkeys("“”„«»", '"')})
_BLOCK_QUOTE = re.compile(r"^[^\S\n]*+(?:>[^\S\n]?)++", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Now:
    """Where the words of an excerpt stand in the note of today: on the lines they had, on others, or (`changed`) not any more."""

    state: Literal["same", "moved", "changed"]
    first: int
    last: int


def locate_now(chunk: ContentChunk, note: str) -> Now:
    """Compare an excerpt with the text of a note; of several places where its words stand the nearest to the old one counts."""
    words = chunk.text.removesuffix(CUT)
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
        return Now("changed", chunk.start_line, chunk.end_line)
    return Now("same" if best == chunk.start_line else "moved", best, best + height)


def quoted_at(text: str, quote: str) -> tuple[int, int] | None:
    """From where to where (characters) `text` says the quoted words, as far as citing them allows: in any case, with other white space,
    quotation marks and emphasis. None where it does not say them.
    """
    said, places = _folded(text)
    wanted = _folded(quote.strip(" \n.…"))[0].strip()
    at = said.find(wanted) if wanted else -1
    if at < 0:
        return None
    end = places[at + len(wanted) - 1] + 1
    return places[at], end + (quote.rstrip()[-1:] == text[end : end + 1] == ".")


def _folded(text: str) -> tuple[str, list[int]]:
    """The text for comparing, and for each of its characters where it stood."""
    skipped = {i for mark in _BLOCK_QUOTE.finditer(text) for i in range(*mark.span())}
    said: list[str] = []
    places: list[int] = []
    for i, c in enumerate(text.translate(_QUOTE_MARKS)):
        if c in "*`" or i in skipped:
            continue
        for folded in " " if c.isspace() else unicodedata.normalize("NFD", fold(c)):
            if folded != " " or (said and said[-1] != " "):
                said.append(folded)
                places.append(i)
    return "".join(said), places


def show(chunk: ContentChunk, first: int, quotes: Iterable[str], note: str | None) -> list[Line]:
    """The excerpt with numbered lines from `first` on, its quoted words marked, and, of a `note` that still has it, the lines
    around it, behind a broken rule."""
    words = chunk.text.removesuffix(CUT)
    marked = _merged(place for quote in quotes if (place := quoted_at(words, quote)))
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


def _line(number: int, spans: Sequence[Span], mark: str, digits: int, rule: str = "│") -> Line:
    return Line((Span(f"{mark} {number:>{digits}} {rule}{' ' if spans else ''}", "dim"), *spans), indent=digits + 5)


def _spans(text: str, at: int, marked: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """A line that begins at `at` of the text whose `marked` places are quoted."""
    spans: list[Span] = []
    done = 0
    for begin, end in marked:
        begin, end = max(begin - at, done), min(end - at, len(text))
        if begin < end:
            spans += [Span(text[done:begin]), Span(text[begin:end], "bold green", quoted=True)]
            done = end
    return tuple(replace(span, text=_short_tabs(span.text)) for span in (*spans, Span(text[done:])) if span.text)


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _around(line: str) -> tuple[Span, ...]:
    shown = line if len(line) <= LONGEST_AROUND else line[: LONGEST_AROUND - 1] + "…"
    return (Span(_short_tabs(shown), "dim"),) if shown.strip() else ()


def _short_tabs(text: str) -> str:
    return text.replace("\t", "    ")
