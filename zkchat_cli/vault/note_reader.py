"""The notes as their files are now, whatever the index knows."""

import posixpath
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.errors import VaultError, nearest_names
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.embedded_data import hide_data
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.values import LinkRow, make_chunk
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.sections import LineSpan, find_section, missing_section
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

if TYPE_CHECKING:
    from zkchat_cli.text.moment_formats import MomentFormat
    from zkchat_cli.vault.note_parser import ParsedNote

# Characters of a line that is sent whole because it has a link
LONGEST_LINE = 5_000


@dataclass(frozen=True, slots=True)
class NoteReader:
    """Reads files below `root` that are in the `view`; paths are relative to it with `/`.
    `suggest_names` gives the nearest names for an error.
    """

    root: Path
    suggest_names: Callable[[str], list[str]]
    # The formats of the names of daily notes
    formats: tuple["MomentFormat", ...] = ()
    view: VaultView = WHOLE_VAULT

    def read(self, relative_path: str) -> str:
        """The text of a note or another text file. Raises VaultError for what is missing,
        unreadable, too large or not in the vault.
        """
        return filesystem.read_text(self.root, relative_path, self.view)

    def read_if_there(self, relative_path: str) -> str | None:
        """The text of a note; None if `read` would raise an error."""
        with suppress(VaultError):
            return self.read(relative_path)
        return None

    def modified_at(self, relative_path: str) -> str | None:
        """When a file of the vault last changed, in ISO 8601 and UTC; None if that is unknown."""
        with suppress(OSError, VaultError, ValueError, OverflowError):
            changed = filesystem.resolve_inside(self.root, relative_path).stat().st_mtime
            return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
        return None

    def parse(self, relative_path: str) -> "ParsedNote":
        """The note as its file says. Raises VaultError when there is no such note."""
        # 5 ms, and the budget bar comes first
        from zkchat_cli.vault import note_parser

        if not filesystem.is_file_inside(self.root, relative_path, self.view):
            raise self.missing_note(relative_path)
        relative_path = posixpath.normpath(relative_path)
        return note_parser.parse_note(relative_path, self.read(relative_path), self.formats)

    def missing_note(self, relative_path: str) -> VaultError:
        """The error about a note that is not there. Raises VaultError if the vault is not there."""
        filesystem.resolve_root(self.root)
        name = filesystem.short_path(relative_path)
        near = [f"[[{name}]]" for name in self.suggest_names(relative_path)]
        return VaultError(
            f"there is no note {name} in {self.root}",
            nearest_names(near, filesystem.HOW_TO_SEARCH, label="Nearest"),
        )

    def chunks(
        self, relative_path: str, start_line: int = 1, end_line: int | None = None
    ) -> list[ContentChunk]:
        """The note's chunks that overlap those lines, cut to them. Raises VaultError when there is
        no such note.
        """
        # The modules of parsing, for the same reason as in `parse`
        from zkchat_cli.vault.note_chunks import fence_above

        parsed = self.parse(relative_path)
        note_lines = parsed.text.split("\n")
        found: list[ContentChunk] = []
        for chunk in parsed.chunks:
            first = max(start_line, chunk.start_line)
            last = min(end_line or chunk.end_line, chunk.end_line)
            if first > last:
                continue
            lines = chunk.text.split("\n")[first - chunk.start_line : last - chunk.start_line + 1]
            heading = chunk.heading if first == chunk.start_line else parsed.heading_at(first)
            path = parsed.relative_path
            text = "\n".join(lines)
            fence = fence_above(first, note_lines, parsed.markup)
            found.append(make_chunk(path, parsed.title, heading, first, last, text, fence))
        return found

    def first_chunk(self, relative_path: str, line: int = 1) -> ContentChunk | None:
        """The first chunk of a note from a line on; None if it was deleted since it was indexed."""
        with suppress(VaultError):
            return next(iter(self.chunks(relative_path, line)), None)
        return None

    def chunk_text(self, relative_path: str, title: str, text: str) -> list[ContentChunk]:
        """A text from outside of the vault (code, a table, a log, another note), cut into chunks at
        its headings and blank lines.
        """
        from zkchat_cli.vault import markup, note_chunks, note_parser

        is_note = relative_path.lower().endswith(NOTE_SUFFIXES)
        marks = markup.Markup()
        if is_note:
            parsed = note_parser.parse_note(relative_path, text)
            marks = parsed.markup
            text = parsed.shown_text
        chunks = note_chunks.chunk_note(text, 0, marks)
        return [
            make_chunk(
                relative_path,
                title,
                chunk.heading,
                chunk.start_line,
                chunk.end_line,
                chunk.text,
                chunk.fence,
            )
            for chunk in chunks
            if chunk.text.strip()
        ]

    def section(self, relative_path: str, anchor: str) -> LineSpan:
        """First and last line of a heading's section, or of a block (`^id`). Raises VaultError when
        the note does not have it.
        """
        note = self.parse(relative_path)
        found = find_section(anchor, note.text, note.markup)
        if found is None:
            kind = "block" if "^" in anchor else "heading"
            raise missing_section(relative_path, kind, anchor, note.markup)
        return found

    def link_lines(self, rows: Iterable[LinkRow]) -> tuple[ContentChunk, ...]:
        """The lines of the links, word for word, as chunks to cite; the index's snippet if a link
        is gone. Each note is read once.
        """
        read = cache(self._parse_if_there)
        # Without the repeats of a line with several links
        found: dict[ContentChunk, None] = {}
        for row in rows:
            found[_link_line(row, read(row.source))] = None
        return tuple(found)

    def _parse_if_there(self, relative_path: str) -> "ParsedNote | None":
        """The note; None if it was deleted or locked since it was indexed."""
        with suppress(VaultError):
            return self.parse(relative_path)
        return None


def _link_line(row: LinkRow, note: "ParsedNote | None") -> ContentChunk:
    """The line of a link as it is in the note now, or the index's snippet."""
    if note is None:
        return make_chunk(row.source, row.source, None, row.line, row.line, row.context_snippet)
    lines = note.text.split("\n")
    line = lines[row.line - 1] if row.line <= len(lines) else ""
    heading = None
    text = row.context_snippet
    if row.raw in line and len(line) <= LONGEST_LINE:
        heading = note.heading_at(row.line)
        text = hide_data(line)
    return make_chunk(row.source, note.title, heading, row.line, row.line, text)
