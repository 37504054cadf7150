"""Splits a note into chunks, small enough to cite and to fit a prompt, large enough to be understood.

A chunk is a range of lines with exactly their text. It begins at a heading or, in a long section, at a paragraph; code blocks and tables
stay whole if they fit. A heading with almost no text is joined with what follows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from zkchat_cli.vault.markup import Heading, Markup

MAX_TOKENS = 350  # estimated tokens of a chunk: readable at a glance, and a dozen fit a small model's window
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
    """Lines under one heading. `level` of that heading, 0 before the first one; `bare`: without any text."""

    start: int
    end: int
    level: int
    size: int
    bare: bool


def estimate_size(text: str) -> int:
    """Tokens, estimated without a vocabulary: chunks need only be about equal."""
    return -(-(len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // BYTES_PER_TOKEN)


def chunk_note(text: str, front_lines: int, markup: Markup, *, properties: bool = False) -> tuple[NoteChunk, ...]:
    """The chunks of a note; with `properties` its front matter is one, too, the last."""
    lines = text.split("\n")
    sizes = [*map(estimate_size, lines)]
    found: list[NoteChunk] = []
    sections = _merge_sections(_split_at_headings(lines, sizes, front_lines, markup.headings))
    if properties:
        sections.append(_Section(2, front_lines - 1, 0, sum(sizes[1 : front_lines - 1]), bare=False))
    for section in sections:
        for start, end in _split_section(section, lines, sizes, markup.code):
            while start <= end and not lines[start - 1].strip():
                start += 1
            while start <= end and not lines[end - 1].strip():
                end -= 1
            if start <= end:
                heading, names = _find_headings(start, end, lines, markup.headings)
                whole = "\n".join(lines[start - 1 : end])
                most = len(whole)
                if start == end and sizes[start - 1] > MAX_LINE_TOKENS:  # base64, or an export without line breaks
                    most = max(1, len(whole) * MAX_TOKENS // sizes[start - 1])
                found.extend(NoteChunk(start, end, heading, names, whole[at : at + most]) for at in range(0, len(whole), most))
    if not found:  # a note without text can still be found by its name
        line = min(front_lines + 1, len(lines))
        found.append(NoteChunk(line, line, None, (), lines[line - 1]))
    return tuple(found)


def _split_at_headings(lines: list[str], sizes: list[int], front_lines: int, headings: tuple[Heading, ...]) -> Iterator[_Section]:
    start, level = front_lines + 1, 0
    for line, following in (*((h.line, h.level) for h in headings), (len(lines) + 1, 0)):
        if start < line:
            bare = not any(map(str.strip, lines[start - (not level) : line - 1]))
            if level or not bare:
                yield _Section(start, line - 1, level, sum(sizes[start - 1 : line - 1]), bare)
        start, level = line, following


def _merge_sections(sections: Iterable[_Section]) -> list[_Section]:
    merged: list[_Section] = []
    for section in sections:
        if merged:
            last = merged[-1]
            size = last.size + section.size
            if section.level > last.level and last.size < MIN_TOKENS:
                should_merge = last.bare or size <= MAX_TOKENS // 2
            else:
                should_merge = section.level == last.level and min(last.size, section.size) < MIN_TOKENS and size <= 3 * MIN_TOKENS
            if should_merge:
                merged.pop()
                section = _Section(last.start, section.end, last.level, size, last.bare and section.bare)
        merged.append(section)
    return merged


def _split_section(section: _Section, lines: list[str], sizes: list[int], code: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """The line ranges of a section, each as long as possible; a tiny last one is joined with the one before."""
    if section.size <= MAX_TOKENS:
        return [(section.start, section.end)]
    pieces: list[tuple[int, int, int]] = []
    start, size = section.start, 0
    for first, last in _paragraphs(section, lines, code):
        whole = sum(sizes[first - 1 : last])
        if size >= MIN_TOKENS and size + whole > MAX_TOKENS:
            pieces.append((start, first - 1, size))
            start, size = first, 0
        for line in range(first, last + 1):
            more = sizes[line - 1]
            if size + more > MAX_TOKENS and (size >= MIN_TOKENS or (size and more > MAX_LINE_TOKENS)):
                pieces.append((start, line - 1, size))
                start, size = line, 0
            size += more
    if pieces and size < MIN_TOKENS and pieces[-1][2] <= MAX_LINE_TOKENS:
        start = pieces.pop()[0]
    return [*((first, last) for first, last, _ in pieces), (start, section.end)]


def _paragraphs(section: _Section, lines: list[str], code: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Line ranges that end with blank lines outside of code."""
    line = start = section.start
    following = bisect_left(code, (section.start, 0))
    while line <= section.end:
        if following < len(code) and code[following][0] == line:
            line = min(code[following][1], section.end)
            following += 1
        elif not lines[line - 1].strip():
            yield start, line
            start = line + 1
        line += 1
    if start <= section.end:
        yield start, section.end


def _find_headings(start: int, end: int, lines: list[str], headings: tuple[Heading, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The innermost heading above the first line that is not a heading, and the texts of all headings above and inside."""
    first, after = (bisect_left(headings, line, key=lambda heading: heading.line) for line in (start, end + 1))
    inner = first
    for body in range(start, end + 1):
        if inner < after and headings[inner].line == body:
            inner += 1
        elif lines[body - 1].strip():
            break
    if inner == 0:
        heading, texts = None, []
    else:
        heading = headings[inner - 1].text
        texts = [*headings[first].path] if inner > first else [*headings[first - 1].path, heading]
    texts.extend(h.text for h in headings[first:after])
    return heading or None, tuple(dict.fromkeys(filter(None, texts)))
