"""Citation marks in a text: `[1]`, `[1, 3]`, `[source 2]`, `【1】`, `[^1]`, superscripts, `[[Note]]` and `Queries/Filters.md:12`.

This module finds what is written and does not know the sources; `verify` checks the citations. Numbers in code, in Markdown links, in
definitions (`[1]: …`) and after a letter (`a[1]`, `m²`) cite nothing.

A text is read by paragraphs, because backticks pair up within one: so the parser returns the marks of a text that comes in pieces at the
end of each paragraph, however the text is cut.
"""

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations import mark_syntax
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.markdown.plain_text import pair_code_marks
from zkchat_cli.markdown.scanner import BlockScanner, LineKind, ScannedLine
from zkchat_cli.models import Citation

_TOKEN = re.compile(rf"(?P<escape>\\?)(?P<ticks>`++)|\\[^`]|[\[【［]|[{mark_syntax.RAISED}]++|\.(?=[mM])|[sS](?=[oO][uU])")
_NO_PROSE: frozenset[LineKind] = frozenset(("blank", "definition", "fence", "code", "fence_end", "indented"))
_CONTINUES_PARAGRAPH: frozenset[LineKind] = frozenset(("paragraph", "underline", "rule", "delimiter"))
_NOT_NEWLINE = re.compile(r"[^\n]")


class CitationMarkParser:
    """`feed` all pieces of a text, then `close`: together they return the marks of the whole text, definitions included.

    `code` grows with the text: the spans of code and definitions so far.
    """

    def __init__(self) -> None:
        self.code: list[tuple[int, int]] = []
        self._scanner = BlockScanner(lenient=True)
        self._position = 0
        """Where the line that is read begins in the whole text."""
        self._line: list[str] = []
        """The pieces of that line."""
        self._paragraph: list[str] = []
        """The lines of the paragraph that is not complete."""
        self._text_starts: set[int] = set()
        """Where the texts of its lines begin, behind the markers of quotes and lists."""
        self._in_math = False
        """Whether a `$$` that begins a line is not closed yet."""

    @property
    def closing(self) -> str:
        """The fence that must be added to close an open code block; empty if there is none, or if its list or quote ends it anyway."""
        fence = self._scanner.fence
        return fence.mark if fence and not fence.nested else ""

    def feed(self, text: str) -> list[CitationMark]:
        """Add the next piece; returns the marks of the paragraphs that are complete now."""
        found: list[CitationMark] = []
        first, *others = text.split("\n")
        self._line.append(first)
        for piece in others:
            found += self._read_line()
            self._line = [piece]
        return found

    def close(self) -> list[CitationMark]:
        """End the text; returns the remaining marks."""
        return [*self._read_line(), *self._end_paragraph()]

    def _read_line(self) -> list[CitationMark]:
        line, begin = "".join(self._line), self._position
        borders_math = line.count("$$") % 2 == 1 and (self._in_math or line.lstrip(" \t>").startswith("$$")) and not self._scanner.fence
        if self._in_math or borders_math:
            scanned = ScannedLine("code")
            self._in_math ^= borders_math
        else:
            scanned = self._scanner.scan(line)
        found = [] if scanned.kind in _CONTINUES_PARAGRAPH else self._end_paragraph()
        if scanned.kind not in _NO_PROSE:
            self._paragraph.append(line)
            self._text_starts.add(begin + scanned.start)
        elif scanned.kind != "blank" and line:
            self.code.append((begin, begin + len(line)))
        if scanned.kind == "definition" and (mark := mark_syntax.parse_definition(line)):
            found.append(_move(mark, begin))
        self._position += len(line) + 1
        return [*found, *self._end_paragraph()] if scanned.kind == "heading" else found

    def _end_paragraph(self) -> list[CitationMark]:
        """The marks of the paragraph before the current line."""
        text = "\n".join(self._paragraph)
        begin = self._position - 1 - len(text)
        marks, code = _read_paragraph(text, {start - begin for start in self._text_starts})
        self.code += [(begin + start, begin + end) for start, end in code]
        self._paragraph, self._text_starts = [], set()
        return [_move(mark, begin) for mark in marks]


def _move(mark: CitationMark, by: int) -> CitationMark:
    return mark._replace(start=mark.start + by, end=mark.end + by)


def _read_paragraph(text: str, text_starts: Container[int]) -> tuple[list[CitationMark], list[tuple[int, int]]]:
    """The marks of a paragraph and its code. After a backslash the first backtick opens nothing, but the whole run closes."""
    found: list[CitationMark] = []
    ticks: list[re.Match[str]] = []
    at = mark_end = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["ticks"]:
            ticks.append(token)
        elif mark := mark_syntax.parse_mark(text, token.start(), earliest=mark_end, begins_line=token.start() in text_starts):
            found.append(mark)
            at = mark_end = mark.end
    lengths = [(len(run["ticks"]) - len(run["escape"]), len(run["ticks"])) for run in ticks]
    code = [(ticks[i].start("ticks") + len(ticks[i]["escape"]), ticks[j].end()) for i, j in pair_code_marks(lengths)]
    return [mark for mark in found if not is_inside(mark.start, code)], code


def is_inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a position is in one of these spans, which are sorted."""
    before = bisect_right(spans, position, key=lambda span: span[0])
    return before > 0 and position < spans[before - 1][1]


class MarkedText(NamedTuple):
    """`code`: spans of code and definitions. `closing`: the fence that an open code block at the end still needs."""

    marks: tuple[CitationMark, ...]
    code: tuple[tuple[int, int], ...]
    closing: str


def find_marks(text: str) -> list[CitationMark]:
    """The marks of a text in its order, without definitions."""
    return [mark for mark in read_marks(text).marks if not mark.defines]


def read_marks(text: str) -> MarkedText:
    """The marks of a text, including definitions, and its code."""
    reader = CitationMarkParser()
    found = [*reader.feed(text), *reader.close()]
    return MarkedText(tuple(found), tuple(reader.code), reader.closing)


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these spans, so that all positions and lines stay the same."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], _NOT_NEWLINE.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def split_at_marks(text: str, marks: Iterable[CitationMark]) -> Iterator[tuple[str, CitationMark | None]]:
    """Split the text into its marks and the pieces between them, none of them empty. Marks that overlap or lie outside are left out."""
    at = 0
    for mark in marks:
        if at <= mark.start < mark.end <= len(text):
            if at < mark.start:
                yield text[at : mark.start], None
            yield text[mark.start : mark.end], mark
            at = mark.end
    if at < len(text):
        yield text[at:], None


def cited_marks(text: str, citations: Sequence[Citation]) -> list[CitationMark]:
    """The marks of an answer that belong to its citations, in the answer's order, and the definitions of their numbers.

    A mark by name also gets the number of its citation. Citations of imported messages have no spans: there every mark with a cited number
    counts.
    """
    at: dict[tuple[int, int], list[int]] = {}
    for citation in citations:
        for span in citation.spans:
            at.setdefault(span, []).append(citation.number)
    known = {citation.number for citation in citations}
    written = {mark.span: mark for mark in read_marks(text).marks}
    found = {span: mark for span, mark in written.items() if (mark.defines or not at) and known.intersection(mark.numbers)}
    for (start, end), numbers in at.items():
        if 0 <= start < end <= len(text):
            mark = written.get((start, end)) or CitationMark(start, end, name=text[start:end])
            found[start, end] = mark._replace(numbers=tuple(n for n in mark.numbers if n in numbers) or tuple(dict.fromkeys(numbers)))
    return [found[span] for span in sorted(found)]
