"""Cuts a note into chunks, small enough to cite and large enough to be understood.

A chunk is a range of lines with exactly their text. It begins at a heading or, in a long section,
at a paragraph; code blocks and tables stay whole if they fit. A heading with almost no text is
joined with what follows.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.vault.sections import LineSpan

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Heading, Markup

# Estimated tokens of a chunk: readable at a glance, and a dozen fit a small model's window
MAX_TOKENS = 350
MIN_TOKENS = 40
BYTES_PER_TOKEN = 4
MAX_LINE_TOKENS = 4 * MAX_TOKENS


_NO_DATES: Mapping[int, int] = {}


class NoteChunk(NamedTuple):
    """A chunk without search results. `headings`: all headings above and inside it, for search."""

    start_line: int
    end_line: int
    heading: str | None
    headings: tuple[str, ...]
    text: str
    # The line that opens the block of code in which it begins
    fence: str | None = None
    # The line of the dated heading that it is below; 0 for none
    dated: int = 0


class _Section(NamedTuple):
    """Lines under one heading. `level` of that heading, 0 before the first one; `bare`: without any
    text; `dated`: the line of the dated heading that it is below, or 0.
    """

    start: int
    end: int
    level: int
    size: int
    bare: bool
    dated: int = 0


class _SectionPiece(NamedTuple):
    """A part of a section that is too large for one chunk."""

    start: int
    end: int
    size: int


def estimate_size(text: str) -> int:
    """Tokens, estimated without a vocabulary: chunks need only be about equal."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // BYTES_PER_TOKEN)


def _line_sizes(text: str, lines: Sequence[str]) -> list[int]:
    """The `estimate_size` of each line."""
    # Most notes are ASCII, and a call for each line takes longer than all else
    if text.isascii():
        return [-(-len(line) // BYTES_PER_TOKEN) for line in lines]
    return [estimate_size(line) for line in lines]


def chunk_note(
    text: str,
    front_lines: int,
    markup: "Markup",
    *,
    properties: bool = False,
    dated: Mapping[int, int] = _NO_DATES,
) -> tuple[NoteChunk, ...]:
    """The chunks of a note; with `properties` its front matter is one, too, the last. `dated` has
    for the line of each heading that of the dated one that it is below: no chunk has two dates.
    """
    lines = text.split("\n")
    sizes = _line_sizes(text, lines)
    sections = _find_sections(lines, sizes, front_lines, markup.headings, dated)
    if properties:
        size = sum(sizes[1 : front_lines - 1])
        sections.append(_Section(2, front_lines - 1, 0, size, bare=False))
    code_ends = dict(markup.code)
    found: list[NoteChunk] = []
    for section in sections:
        for span in _split_section(section, lines, sizes, code_ends):
            shown = _without_blank_ends(span, lines)
            if shown.first <= shown.last:
                made = _make_chunks(shown, lines, sizes, markup)
                found += [chunk._replace(dated=section.dated) for chunk in made]
    # A note without text can still be found by its name
    if not found:
        line = min(front_lines + 1, len(lines))
        found.append(NoteChunk(line, line, None, (), lines[line - 1]))
    return tuple(found)


def _make_chunks(
    span: LineSpan, lines: Sequence[str], sizes: Sequence[int], markup: "Markup"
) -> list[NoteChunk]:
    """The chunk of these lines; several of a single line that is too long: base64, or an export
    without line breaks.
    """
    first, last = span
    heading, names = _find_headings(span, lines, markup.headings)
    fence = fence_above(first, lines, markup)
    whole = "\n".join(lines[first - 1 : last])
    size = sizes[first - 1]
    most = len(whole)
    if first == last and size > MAX_LINE_TOKENS:
        most = max(1, len(whole) * MAX_TOKENS // size)
    texts = [whole[at : at + most] for at in range(0, len(whole), most)]
    return [NoteChunk(first, last, heading, names, text, fence) for text in texts]


def fence_above(line: int, lines: Sequence[str], markup: "Markup") -> str | None:
    """The line that opens the fenced block of code that a line is in; None for any other line."""
    after = bisect_left(markup.code, (line, 0))
    if after == 0:
        return None
    first, last = markup.code[after - 1]
    opening = lines[first - 1]
    is_within = first < line <= last
    return opening if is_within and ("```" in opening or "~~~" in opening) else None


def _without_blank_ends(span: LineSpan, lines: Sequence[str]) -> LineSpan:
    """The range without blank lines at its start and end; empty if all are blank."""
    first, last = span
    while first <= last and not lines[first - 1].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    return LineSpan(first, last)


def _find_sections(
    lines: Sequence[str],
    sizes: Sequence[int],
    front_lines: int,
    headings: "Sequence[Heading]",
    dated: Mapping[int, int],
) -> list[_Section]:
    """The sections of a note, a tiny one together with the one after it."""
    sections: list[_Section] = []
    start = front_lines + 1
    level = 0
    borders = [(heading.line, heading.level) for heading in headings]
    for line, next_level in (*borders, (len(lines) + 1, 0)):
        # Without the line of the heading
        text = lines[start : line - 1] if level else lines[start - 1 : line - 1]
        bare = not any(map(str.strip, text))
        if level or not bare:
            size = sum(sizes[start - 1 : line - 1])
            section = _Section(start, line - 1, level, size, bare, dated.get(start, 0))
            if sections and _belongs_to(sections[-1], section):
                section = _join(sections.pop(), section)
            sections.append(section)
        start = line
        level = next_level
    return sections


def _belongs_to(last: _Section, section: _Section) -> bool:
    """Whether one of two neighbours is too small for a chunk of its own, and together they are not
    too large.
    """
    size = last.size + section.size
    is_title_of_dates = last.bare and section.level > last.level
    if last.dated != section.dated and not is_title_of_dates:
        return False
    if section.level > last.level and last.size < MIN_TOKENS:
        return last.bare or size <= MAX_TOKENS // 2
    if section.level != last.level or size > 3 * MIN_TOKENS:
        return False
    return min(last.size, section.size) < MIN_TOKENS


def _join(last: _Section, section: _Section) -> _Section:
    """Two neighbours as one section, under the first heading."""
    size = last.size + section.size
    bare = last.bare and section.bare
    return _Section(last.start, section.end, last.level, size, bare, section.dated)


def _split_section(
    section: _Section, lines: Sequence[str], sizes: Sequence[int], code_ends: Mapping[int, int]
) -> list[LineSpan]:
    """The line ranges of a section, each as long as possible; a tiny last one is joined with the
    one before.
    """
    if section.size <= MAX_TOKENS:
        return [LineSpan(section.start, section.end)]
    pieces: list[_SectionPiece] = []
    start = section.start
    size = 0
    for first, last in _paragraphs(section, lines, code_ends):
        whole = sum(sizes[first - 1 : last])
        if size >= MIN_TOKENS and size + whole > MAX_TOKENS:
            pieces.append(_SectionPiece(start, first - 1, size))
            start = first
            size = 0
        for line in range(first, last + 1):
            more = sizes[line - 1]
            if size + more > MAX_TOKENS and _may_end(size, more):
                pieces.append(_SectionPiece(start, line - 1, size))
                start = line
                size = 0
            size += more
    if pieces and size < MIN_TOKENS and pieces[-1].size <= MAX_LINE_TOKENS:
        start = pieces.pop().start
    spans = [LineSpan(piece.start, piece.end) for piece in pieces]
    return [*spans, LineSpan(start, section.end)]


def _may_end(size: int, next_line: int) -> bool:
    """Whether a piece of this size may end before a line of that size."""
    return size >= MIN_TOKENS or (size > 0 and next_line > MAX_LINE_TOKENS)


def _paragraphs(
    section: _Section, lines: Sequence[str], code_ends: Mapping[int, int]
) -> Iterator[LineSpan]:
    """Line ranges that end with blank lines outside of code, for which `code_ends` has the last
    line by the first.
    """
    line = start = section.start
    while line <= section.end:
        if line in code_ends:
            line = min(code_ends[line], section.end)
        elif not lines[line - 1].strip():
            yield LineSpan(start, line)
            start = line + 1
        line += 1
    if start <= section.end:
        yield LineSpan(start, section.end)


def _find_headings(
    span: LineSpan, lines: Sequence[str], headings: "Sequence[Heading]"
) -> tuple[str | None, tuple[str, ...]]:
    """The innermost heading above the first line that is not a heading, and the texts of all
    headings above and inside.
    """
    first = bisect_left(headings, span.first, key=lambda heading: heading.line)
    after = bisect_left(headings, span.last + 1, key=lambda heading: heading.line)
    inner = first
    for line in range(span.first, span.last + 1):
        if inner < after and headings[inner].line == line:
            inner += 1
        elif lines[line - 1].strip():
            break
    begins_with_heading = inner > first
    found = headings[first if begins_with_heading else max(first - 1, 0) : after]
    names = [*found[0].path] if found else []
    names += [heading.text for heading in found]
    innermost = headings[inner - 1].text if inner else ""
    return innermost or None, tuple(dict.fromkeys(filter(None, names)))
