"""Parses a note's text: front matter, names, tags, description, markup, and chunks, small enough to
cite and large enough to be understood.

A chunk is a range of lines with exactly their text. It begins at a heading or, in a long section,
at a paragraph; code blocks and tables stay whole if they fit. A heading with almost no text is
joined with what follows.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text.dates import Period, leading_date
from zkchat_cli.vault.front_matter import FrontMatter, read_front_matter
from zkchat_cli.vault.links.wikilinks import note_name

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Heading, Markup

_DATES = (
    "date",
    "day",
    "created",
    "updated",
    "modified",
    "published",
    "date created",
    "date modified",
    "created at",
    "updated at",
)


@dataclass(frozen=True)
class ParsedNote:
    """Everything that the text of one note says, without other notes. Line numbers start at 1."""

    relative_path: str
    text: str
    front_matter: FrontMatter

    @cached_property
    def markup(self) -> "Markup":
        from zkchat_cli.vault.markup import read_markup  # 3 ms

        return read_markup(self.text, self.front_matter.lines)

    @property
    def body(self) -> str:
        """The text after the front matter."""
        return self.text.split("\n", self.front_matter.lines)[-1]

    @cached_property
    def title(self) -> str:
        return self.front_matter.text("title") or note_name(self.relative_path)

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        return self.front_matter.texts("aliases", "alias")

    @property
    def description(self) -> str | None:
        return self.front_matter.text("description", "summary")

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of front matter and text without `#`, each in its first spelling. Digits alone
        are not a tag.
        """
        written = " ".join(self.front_matter.texts("tags", "tag")).replace(",", " ").split()
        tags = (*(tag.lstrip("#").rstrip("/") for tag in written), *self.markup.tags)
        return tuple(dict.fromkeys(tag for tag in tags if tag and not tag.isdigit()))

    @property
    def dates(self) -> tuple[Period, ...]:
        """The dates of its front matter; without any, the period that the name of a daily, weekly
        or monthly note means.
        """
        written = filter(None, map(leading_date, self.front_matter.texts(*_DATES)))
        return tuple(dict.fromkeys(written)) or tuple(
            filter(None, [leading_date(note_name(self.relative_path))])
        )

    def heading_at(self, line: int) -> str | None:
        """The last heading at or above a line."""
        above = bisect_right(self.markup.headings, line, key=lambda heading: heading.line)
        return self.markup.headings[above - 1].text or None if above else None

    @cached_property
    def chunks(self) -> "tuple[NoteChunk, ...]":
        return chunk_note(
            self.text,
            self.front_matter.lines,
            self.markup,
            properties=self.front_matter.has_content,
        )


def parse_note(relative_path: str, text: str) -> ParsedNote:
    """The note with this text; its markup and chunks are read when they are first needed."""
    return ParsedNote(relative_path, text, read_front_matter(text))


# Estimated tokens of a chunk: readable at a glance, and a dozen fit a small model's window
MAX_TOKENS = 350
MIN_TOKENS = 40
BYTES_PER_TOKEN = 4
MAX_LINE_TOKENS = 4 * MAX_TOKENS


class NoteChunk(NamedTuple):
    """A chunk without search results. `headings`: all headings above and inside it, for search."""

    start_line: int
    end_line: int
    heading: str | None
    headings: tuple[str, ...]
    text: str


class _Section(NamedTuple):
    """Lines under one heading. `level` of that heading, 0 before the first one; `bare`: without any
    text.
    """

    start: int
    end: int
    level: int
    size: int
    bare: bool


def estimate_size(text: str) -> int:
    """Tokens, estimated without a vocabulary: chunks need only be about equal."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // BYTES_PER_TOKEN)


def _line_sizes(text: str, lines: list[str]) -> list[int]:
    """The `estimate_size` of each line."""
    # Most notes are ASCII, and a call for each line takes longer than all else
    if text.isascii():
        return [-(-len(line) // BYTES_PER_TOKEN) for line in lines]
    return [estimate_size(line) for line in lines]


def chunk_note(
    text: str, front_lines: int, markup: "Markup", *, properties: bool = False
) -> tuple[NoteChunk, ...]:
    """The chunks of a note; with `properties` its front matter is one, too, the last."""
    lines = text.split("\n")
    sizes = _line_sizes(text, lines)
    found: list[NoteChunk] = []
    sections = _find_sections(lines, sizes, front_lines, markup.headings)
    code_ends = dict(markup.code)
    if properties:
        sections.append(
            _Section(2, front_lines - 1, 0, sum(sizes[1 : front_lines - 1]), bare=False)
        )
    for section in sections:
        for start, end in _split_section(section, lines, sizes, code_ends):
            start, end = _without_blank_ends(start, end, lines)
            if start <= end:
                heading, names = _find_headings(start, end, lines, markup.headings)
                whole = "\n".join(lines[start - 1 : end])
                most = len(whole)
                # base64, or an export without line breaks
                if start == end and sizes[start - 1] > MAX_LINE_TOKENS:
                    most = max(1, len(whole) * MAX_TOKENS // sizes[start - 1])
                found.extend(
                    NoteChunk(start, end, heading, names, whole[at : at + most])
                    for at in range(0, len(whole), most)
                )
    # A note without text can still be found by its name
    if not found:
        line = min(front_lines + 1, len(lines))
        found.append(NoteChunk(line, line, None, (), lines[line - 1]))
    return tuple(found)


def _without_blank_ends(start: int, end: int, lines: list[str]) -> tuple[int, int]:
    """The range without blank lines at its start and end; empty if all are blank."""
    while start <= end and not lines[start - 1].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    return start, end


def _find_sections(
    lines: list[str], sizes: list[int], front_lines: int, headings: "tuple[Heading, ...]"
) -> list[_Section]:
    """The sections of a note, a tiny one together with the one after it."""
    sections: list[_Section] = []
    start = front_lines + 1
    level = 0
    for line, next_level in (*((h.line, h.level) for h in headings), (len(lines) + 1, 0)):
        bare = not any(map(str.strip, lines[start - (not level) : line - 1]))
        if level or not bare:
            section = _Section(start, line - 1, level, sum(sizes[start - 1 : line - 1]), bare)
            if sections and _belongs_to(sections[-1], section):
                last = sections.pop()
                section = _Section(
                    last.start,
                    section.end,
                    last.level,
                    last.size + section.size,
                    last.bare and bare,
                )
            sections.append(section)
        start = line
        level = next_level
    return sections


def _belongs_to(last: _Section, section: _Section) -> bool:
    """Whether one of two neighbours is too small for a chunk of its own, and together they are not
    too large.
    """
    size = last.size + section.size
    if section.level > last.level and last.size < MIN_TOKENS:
        return last.bare or size <= MAX_TOKENS // 2
    return (
        section.level == last.level
        and min(last.size, section.size) < MIN_TOKENS
        and size <= 3 * MIN_TOKENS
    )


def _split_section(
    section: _Section, lines: list[str], sizes: list[int], code_ends: dict[int, int]
) -> list[tuple[int, int]]:
    """The line ranges of a section, each as long as possible; a tiny last one is joined with the
    one before.
    """
    if section.size <= MAX_TOKENS:
        return [(section.start, section.end)]
    pieces: list[tuple[int, int, int]] = []
    start = section.start
    size = 0
    for first, last in _paragraphs(section, lines, code_ends):
        whole = sum(sizes[first - 1 : last])
        if size >= MIN_TOKENS and size + whole > MAX_TOKENS:
            pieces.append((start, first - 1, size))
            start = first
            size = 0
        for line in range(first, last + 1):
            more = sizes[line - 1]
            if size + more > MAX_TOKENS and (
                size >= MIN_TOKENS or (size and more > MAX_LINE_TOKENS)
            ):
                pieces.append((start, line - 1, size))
                start = line
                size = 0
            size += more
    if pieces and size < MIN_TOKENS and pieces[-1][2] <= MAX_LINE_TOKENS:
        start = pieces.pop()[0]
    return [*((first, last) for first, last, _ in pieces), (start, section.end)]


def _paragraphs(
    section: _Section, lines: list[str], code_ends: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Line ranges that end with blank lines outside of code, for which `code_ends` has the last
    line by the first.
    """
    line = start = section.start
    while line <= section.end:
        if line in code_ends:
            line = min(code_ends[line], section.end)
        elif not lines[line - 1].strip():
            yield start, line
            start = line + 1
        line += 1
    if start <= section.end:
        yield start, section.end


def _find_headings(
    start: int, end: int, lines: list[str], headings: "tuple[Heading, ...]"
) -> tuple[str | None, tuple[str, ...]]:
    """The innermost heading above the first line that is not a heading, and the texts of all
    headings above and inside.
    """
    first, after = (
        bisect_left(headings, line, key=lambda heading: heading.line) for line in (start, end + 1)
    )
    inner = first
    for body in range(start, end + 1):
        if inner < after and headings[inner].line == body:
            inner += 1
        elif lines[body - 1].strip():
            break
    found = headings[first if inner > first else max(first - 1, 0) : after]
    path = found[0].path if found else ()
    heading = headings[inner - 1].text if inner else ""
    return heading or None, tuple(dict.fromkeys(filter(None, (*path, *(h.text for h in found)))))
