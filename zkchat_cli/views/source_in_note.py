"""An excerpt in its note as the note is now, with line numbers and the quoted words marked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.omissions import quote_ranges
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.chunk_budget import CUT_MARK
from zkchat_cli.text.embedded_data import hide_data
from zkchat_cli.text.numbers import line_range
from zkchat_cli.views.text import StyledLine, StyledSpan

# Lines shown before and after an excerpt
CONTEXT = 3
# Characters of such a line
MAX_CONTEXT_LINE = 400
_GUTTER_WIDTH = len("> 7 │ ") - len("7")


class SourceLocation(NamedTuple):
    """The lines of an excerpt today. `change` says what was changed since it was read; `note` is
    the text of the note if it still contains the excerpt.
    """

    first: int
    last: int
    note: str | None = None
    change: str = ""


def locate_chunk(chunk: ContentChunk, note: str | None) -> SourceLocation:
    """The place of an excerpt in its `note`, which is None if the note is gone. If the text occurs
    several times, it is the occurrence nearest to the old place.
    """
    if note is None:
        change = "The note is deleted or cannot be read. This is what the model saw:"
        return SourceLocation(chunk.start_line, chunk.end_line, change=change)
    words = chunk.text.removesuffix(CUT_MARK)
    if words not in note:
        # A chunk is without the data of its note
        note = hide_data(note)
    lines_before = note.split("\n")[: chunk.start_line - 1]
    old = sum(len(line) + 1 for line in lines_before)
    last_before = note.rfind(words, 0, old + len(words))
    first_after = note.find(words, old)
    found = [at for at in (last_before, first_after) if at >= 0]
    if not found or not words.strip():
        change = "The note was edited and no longer contains this text. This is what the model saw:"
        return SourceLocation(chunk.start_line, chunk.end_line, change=change)
    nearest = min(found, key=lambda at: abs(at - old))
    first = 1 + note.count("\n", 0, nearest)
    change = ""
    if first != chunk.start_line:
        old_lines = line_range(chunk.start_line, chunk.end_line)
        change = f"The note was edited: the text was on lines {old_lines} and is here now."
    return SourceLocation(first, first + words.count("\n"), note, change)


class _Surroundings(NamedTuple):
    """The lines of a note before and after an excerpt, without blank ones at the ends."""

    before: list[str]
    after: list[str]


def chunk_lines(
    chunk: ContentChunk, first: int, citations: Iterable[Citation], note: str | None
) -> Iterator[StyledLine]:
    """The excerpt with line numbers from `first` on and the quoted words marked; the lines of the
    `note` around it follow a dotted rule.
    """
    words = chunk.text.removesuffix(CUT_MARK)
    own = words.split("\n")
    marked = quote_ranges(words, _present_quotes(citations))
    around = _surroundings(note, first, len(own))
    after = first + len(own)
    digits = len(str(after + len(around.after) - 1))
    for number, text in enumerate(around.before, first - len(around.before)):
        yield _numbered_line(number, digits, "┊", _context_spans(text))
    begin = 0
    for number, text in enumerate(own, first):
        yield _numbered_line(number, digits, "│", _marked_spans(text, begin, marked))
        begin += len(text) + 1
    for number, text in enumerate(around.after, after):
        yield _numbered_line(number, digits, "┊", _context_spans(text))


def _present_quotes(citations: Iterable[Citation]) -> list[str]:
    """The quotations of an excerpt that it contains."""
    present = [each for each in citations if each.verdict in ("verified", "cut")]
    return [each.quote for each in present if each.quote]


def _surroundings(note: str | None, first: int, count: int) -> _Surroundings:
    """The lines around the `count` lines of a note from `first` on."""
    if note is None:
        return _Surroundings([], [])
    lines = note.split("\n")
    before = lines[max(0, first - 1 - CONTEXT) : first - 1]
    after = lines[first - 1 + count :][:CONTEXT]
    while before and not before[0].strip():
        del before[0]
    while after and not after[-1].strip():
        del after[-1]
    return _Surroundings(before, after)


def _context_spans(text: str) -> list[StyledSpan]:
    return [StyledSpan(text[:MAX_CONTEXT_LINE], "dim")] if text.strip() else []


def _numbered_line(number: int, digits: int, rule: str, spans: Sequence[StyledSpan]) -> StyledLine:
    """A line of a note. `>` shows a quotation where there are no colors."""
    sign = ">" if any(span.quoted for span in spans) else " "
    gutter_text = f"{sign} {number:>{digits}} {rule}"
    if spans:
        gutter_text += " "
    gutter = StyledSpan(gutter_text, "dim")
    shown = (span._replace(text=span.text.replace("\t", "    ")) for span in spans)
    return StyledLine((gutter, *shown), indent=digits + _GUTTER_WIDTH)


def _marked_spans(text: str, at: int, marked: Sequence[tuple[int, int]]) -> list[StyledSpan]:
    """One line, which begins at `at`, with the quoted ranges marked."""
    spans: list[StyledSpan] = []
    done = 0
    for begin, end in marked:
        begin = max(begin - at, done)
        end = min(end - at, len(text))
        if begin < end:
            spans += [
                StyledSpan(text[done:begin]),
                StyledSpan(text[begin:end], "bold green", quoted=True),
            ]
            done = end
    spans.append(StyledSpan(text[done:]))
    return [span for span in spans if span.text]
