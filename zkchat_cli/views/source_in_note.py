"""An excerpt in its current note: whether the note still contains it, and which words an answer quotes.

Shows what the model saw, with the lines around it if the note still contains the excerpt.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from zkchat_cli.citations.quotes import merge_ranges, quote_ranges
from zkchat_cli.models import Citation, ContentChunk
from zkchat_cli.references.chunk_format import CUT_MARK
from zkchat_cli.text.numbers import line_range
from zkchat_cli.views.text import StyledLine, StyledSpan

CONTEXT = 3
"""Lines shown before and after the excerpt."""
MAX_CONTEXT_LINE = 400


class SourceLocation(NamedTuple):
    """The lines of an excerpt today. `change` says what changed since; `note` is the text of the note if it still contains the excerpt."""

    first: int
    last: int
    note: str | None = None
    change: str = ""


def locate_chunk(chunk: ContentChunk, note: str | None) -> SourceLocation:
    """Find an excerpt in the text of its note, None if that is gone; of several occurrences, the one nearest to the old place."""
    if note is None:
        return SourceLocation(chunk.start_line, chunk.end_line, change="The note is deleted or cannot be read. This is what the model saw:")
    words = chunk.text.removesuffix(CUT_MARK)
    lines = note.split("\n")
    old = sum(len(line) + 1 for line in lines[: chunk.start_line - 1])
    found = [at for at in (note.rfind(words, 0, old + len(words)), note.find(words, old)) if at >= 0]
    if not found or not words.strip():
        change = "The note was edited and no longer contains this text. This is what the model saw:"
        return SourceLocation(chunk.start_line, chunk.end_line, change=change)
    first = 1 + note.count("\n", 0, min(found, key=lambda at: abs(at - old)))
    old_lines = line_range(chunk.start_line, chunk.end_line)
    change = "" if first == chunk.start_line else f"The note was edited: the text was on lines {old_lines} and is here now."
    return SourceLocation(first, first + words.count("\n"), note, change)


def _quoted_ranges(words: str, chunk: ContentChunk, citation: Citation) -> list[tuple[int, int]]:
    """The ranges that a citation quotes; whole lines where the words cannot be located exactly."""
    if citation.verdict not in ("verified", "cut") or not citation.quote:
        return []
    if found := quote_ranges(words, citation.quote):
        return found
    first, last = ((line or 0) - chunk.start_line for line in (citation.start_line, citation.end_line))
    lines = words.split("\n")
    begins = list(accumulate((len(each) + 1 for each in lines), initial=0))
    return [(begins[i], begins[i] + len(lines[i])) for i in range(max(0, first), min(last + 1, len(lines)))]


def chunk_lines(chunk: ContentChunk, first: int, citations: Iterable[Citation], note: str | None) -> list[StyledLine]:
    """The excerpt with line numbers from `first` on and the quoted words marked; the lines of the `note` around it follow a dotted rule."""
    words = chunk.text.removesuffix(CUT_MARK)
    marked = merge_ranges(place for citation in citations for place in _quoted_ranges(words, chunk, citation))
    own = words.split("\n")
    around = note.split("\n") if note is not None else []
    before = around[max(0, first - 1 - CONTEXT) : first - 1]
    after = around[first - 1 + len(own) :][:CONTEXT]
    while before and not before[0].strip():
        del before[0]
    while after and not after[-1].strip():
        del after[-1]
    digits = len(str(first + len(own) + len(after) - 1))
    shown = []
    at = 0
    for number, text in enumerate([*before, *own, *after], first - len(before)):
        if first <= number < first + len(own):
            rule, spans = "│", _marked_spans(text, at, marked)
            at += len(text) + 1
        else:
            rule, spans = "┊", _context_spans(text)
        sign = ">" if any(span.quoted for span in spans) else " "
        head = StyledSpan(f"{sign} {number:>{digits}} {rule}{' ' if spans else ''}", "dim", spoken=f"line {number}: ")
        shown.append(StyledLine((head, *spans), indent=digits + 5))
    return shown


def _marked_spans(text: str, at: int, marked: Sequence[tuple[int, int]]) -> tuple[StyledSpan, ...]:
    """One line, which begins at `at`, with the quoted ranges marked."""
    spans: list[StyledSpan] = []
    done = 0
    for begin, end in marked:
        begin, end = max(begin - at, done), min(end - at, len(text))
        if begin < end:
            spans += [StyledSpan(text[done:begin]), StyledSpan(text[begin:end], "bold green", quoted=True)]
            done = end
    return tuple(span._replace(text=_expand_tabs(span.text)) for span in (*spans, StyledSpan(text[done:])) if span.text)


def _context_spans(line: str) -> tuple[StyledSpan, ...]:
    shown = line if len(line) <= MAX_CONTEXT_LINE else line[: MAX_CONTEXT_LINE - 1] + "…"
    return (StyledSpan(_expand_tabs(shown), "dim"),) if shown.strip() else ()


def _expand_tabs(text: str) -> str:
    return text.replace("\t", "    ")
