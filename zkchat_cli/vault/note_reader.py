"""The notes as their files are now, whatever the index knows: texts, headings, chunks, sections, and the lines of links."""

import os
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.database import LinkRow, make_chunk
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

if TYPE_CHECKING:
    from zkchat_cli.vault.note_parser import ParsedNote

LONGEST_LINE = 5_000  # characters of a line that is sent whole because it has a link


@dataclass(frozen=True, slots=True)
class NoteReader:
    """Reads files below `root`; paths are relative to it with `/`. `suggest_names` gives the nearest names for an error."""

    root: Path
    suggest_names: Callable[[str], list[str]]

    def read(self, relative_path: str) -> str:
        """The text of a note or another text file. Raises VaultError for what is missing, unreadable, too large or not in the vault."""
        return filesystem.read_text(self.root, relative_path)

    def parse(self, relative_path: str) -> "ParsedNote":
        """Raises VaultError when there is no such note."""
        from zkchat_cli.vault import note_parser  # 5 ms, and the budget bar comes first

        if not os.path.isfile(filesystem.resolve_inside(self.root, relative_path)):  # noqa: PTH113 - Path.is_file raises for what is no name
            raise self.missing_note(relative_path)
        relative_path = posixpath.normpath(relative_path)
        return note_parser.parse_note(relative_path, self.read(relative_path))

    def missing_note(self, relative_path: str) -> VaultError:
        """The error about a note that is not there. Raises VaultError if the vault is not there."""
        filesystem.resolve_root(self.root)
        name = filesystem.short_path(relative_path)
        near = ", ".join(f"[[{name}]]" for name in self.suggest_names(relative_path))
        return VaultError(f"there is no note {name} in {self.root}", f"Nearest: {near}" if near else filesystem.HOW_TO_SEARCH)

    def chunks(self, relative_path: str, start_line: int = 1, end_line: int | None = None) -> list[ContentChunk]:
        """The note's chunks that overlap those lines, cut to them. Raises VaultError when there is no such note."""
        parsed = self.parse(relative_path)
        found = []
        for p in parsed.chunks:
            first, last = max(start_line, p.start_line), min(end_line or p.end_line, p.end_line)
            if first <= last:
                is_whole = (first, last) == (p.start_line, p.end_line)
                text = p.text if is_whole else "\n".join(p.text.split("\n")[first - p.start_line : last - p.start_line + 1])
                heading = p.heading if first == p.start_line else parsed.heading_at(first)
                found.append(make_chunk(parsed.relative_path, parsed.title, heading, first, last, text))
        return found

    def first_chunk(self, relative_path: str) -> ContentChunk | None:
        """None for a note that was deleted since it was indexed."""
        try:
            return next(iter(self.chunks(relative_path)), None)
        except VaultError:
            return None

    def chunk_text(self, relative_path: str, title: str, text: str) -> list[ContentChunk]:
        """A text from outside of the vault (code, a table, a log, another note), cut into chunks at its headings and blank lines."""
        from zkchat_cli.vault import chunking, markup, note_parser

        is_note = relative_path.lower().endswith(NOTE_SUFFIXES)
        marks = note_parser.parse_note(relative_path, text).markup if is_note else markup.Markup()
        chunks = chunking.chunk_note(text, 0, marks)
        return [make_chunk(relative_path, title, p.heading, p.start_line, p.end_line, p.text) for p in chunks if p.text.strip()]

    def section(self, relative_path: str, anchor: str) -> tuple[int, int]:
        """First and last line of a heading's section, or of a block (`^id`). Raises VaultError when the note does not have it."""
        from zkchat_cli.vault import sections

        note = self.parse(relative_path)
        if found := sections.find_section(anchor, note.text, note.markup):
            return found
        raise sections.missing_section(relative_path, "block" if "^" in anchor else "heading", anchor, note.markup)

    def link_lines(self, rows: Iterable[LinkRow]) -> tuple[ContentChunk, ...]:
        """The lines of the links, word for word, as chunks to cite; the index's snippet if a link is gone. Each note is read once."""

        @cache
        def read(path: str) -> "ParsedNote | None":
            try:
                return self.parse(path)
            except VaultError:  # deleted or locked since it was indexed
                return None

        found: dict[ContentChunk, None] = {}  # without the repeats of a line with several links
        for row in rows:
            note = read(row.source)
            title, heading, text = note.title if note else row.source, None, row.context_snippet
            line = (note.text if note else "").split("\n")[row.line - 1 : row.line]
            if note and line and row.raw in line[0] and len(line[0]) <= LONGEST_LINE:
                heading, text = note.heading_at(row.line), line[0]
            found[make_chunk(row.source, title, heading, row.line, row.line, text)] = None
        return tuple(found)
