"""What the files of a vault say now, whatever its index knows of them: whole texts, notes, their chunks, sections and lines."""

import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault import filesystem, link_context, note_parser, sections
from zkchat_cli.vault.chunking import chunk_note
from zkchat_cli.vault.edit import new_note
from zkchat_cli.vault.index.database import LinkRow, chunk
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.markup import Heading, Markup
from zkchat_cli.vault.note_parser import ParsedNote


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it stands in its file now. `text` is its body, which begins on line `first_line`, after the front matter."""

    relative_path: str
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    description: str | None
    headings: tuple[Heading, ...]
    text: str
    first_line: int = 1


class NoteReader(ABC):
    """The texts of the folder `root`. Paths are relative to it with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @abstractmethod
    def suggest_names(self, name: str, limit: int = 3) -> list[str]:
        """The names of the notes that `name` may have meant, the nearest first: for errors."""

    def read(self, relative_path: str) -> str:
        """The text of a note or another text file. Raises VaultError for what is missing, unreadable, too large or not in the vault."""
        return filesystem.read_text(self.root, relative_path)

    def create(self, relative_path: str, text: str) -> str:
        """Write a new note; the path as the index will have it. It is found by the next refresh.

        Raises VaultError for what is not in the vault, is hidden, exists already or cannot be written.
        """
        new_note.create(self.root, relative_path, text)
        return posixpath.normpath(relative_path)

    def place_for(self, relative_path: str) -> tuple[str, str | None]:
        """The path of a new note, and the outermost folder that is missing for it. Raises VaultError where `create` would."""
        return new_note.place_for(self.root, relative_path)

    def note(self, relative_path: str) -> Note:
        """The note as its file is now. Raises VaultError when there is no such note."""
        parsed = self._parsed(relative_path)
        lines = parsed.front_matter.lines
        body = parsed.text.split("\n", lines)[-1] if lines else parsed.text
        return Note(
            parsed.relative_path, parsed.title, parsed.aliases, parsed.tags, parsed.description, parsed.markup.headings, body, lines + 1
        )

    def chunks(self, relative_path: str, start_line: int = 1, end_line: int | None = None) -> list[ContentChunk]:
        """The note's chunks that overlap those lines, cut to them. Raises VaultError when there is no such note."""
        parsed = self._parsed(relative_path)
        found = []
        for p in parsed.chunks:
            first, last = max(start_line, p.start_line), min(end_line or p.end_line, p.end_line)
            if first <= last:
                whole = (first, last) == (p.start_line, p.end_line)
                text = p.text if whole else "\n".join(p.text.split("\n")[first - p.start_line : last - p.start_line + 1])
                found.append(chunk(parsed.relative_path, parsed.title, p.heading, first, last, text))
        return found

    def chunk_text(self, relative_path: str, title: str, text: str) -> list[ContentChunk]:
        """A text that is no note (code, a table, a log) cut into chunks at its blank lines."""
        whole = Markup() if not relative_path.lower().endswith(NOTE_SUFFIXES) else note_parser.parse_note(relative_path, text).markup
        return [
            chunk(relative_path, title, p.heading, p.start_line, p.end_line, p.text) for p in chunk_note(text, 0, whole) if p.text.strip()
        ]

    def section(self, relative_path: str, anchor: str) -> tuple[int, int]:
        """First and last line of a heading with all under it, or of a block (`^id`). Raises VaultError when the note has none such."""
        note = self._parsed(relative_path)
        if found := sections.find_section(anchor, note.text, note.markup):
            return found
        near = ", ".join(truncate(heading, 80) for heading in sections.similar_headings(anchor, note.markup))
        what = f"{relative_path} has no {'block' if '^' in anchor else 'heading'} {truncate(anchor, 80)}"
        raise VaultError(what, f"Nearest: {near}" if near else "Read the whole note.")

    def link_lines(self, rows: Sequence[LinkRow]) -> list[ContentChunk]:
        """The line that each link stands on as a chunk; links of one line share it."""
        return link_context.of(rows, self._parsed_or_none)

    def _first_chunk(self, relative_path: str) -> ContentChunk | None:
        try:
            return next(iter(self.chunks(relative_path)), None)
        except VaultError:  # it went since it was indexed
            return None

    def _parsed_or_none(self, relative_path: str) -> ParsedNote | None:
        """None for a note that went or was locked since it was indexed."""
        try:
            return self._parsed(relative_path)
        except VaultError:
            return None

    def _parsed(self, relative_path: str) -> ParsedNote:
        file = filesystem.resolve_inside(self.root, relative_path)
        relative_path = posixpath.normpath(relative_path)
        note = filesystem.read_note(self.root, relative_path) if os.path.isfile(file) else None  # noqa: PTH113 - as in `locate`
        if note is None:
            raise self._missing(relative_path)
        if note.problem and not note.raw:
            raise VaultError(f"{filesystem.printable(relative_path)}: {note.problem}", "Check its permissions.")
        filesystem.refuse_binary(relative_path, note.raw)
        return note_parser.parse_note(relative_path, filesystem.decode(note)[0])

    def _missing(self, relative_path: str) -> VaultError:
        shown = truncate(filesystem.printable(relative_path), 80)
        near = self.suggest_names(relative_path)
        hint = f"Nearest: {', '.join(f'[[{name}]]' for name in near)}" if near else "`zkchat vault search` finds notes by their words."
        return VaultError(f"there is no note {shown} in {self.root}", hint)
