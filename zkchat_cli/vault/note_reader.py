"""The notes as their files are now, whatever the index knows: texts, chunks, the lines of links,
and of what a link means after `#`.

Names of headings are compared without case and punctuation. Hyphens count as spaces, because other
programs write `#how-to-begin`.
"""

import difflib
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.block_scanner import LIST_MARKER
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.values import LinkRow, make_chunk
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, fold_name

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Heading, Markup
    from zkchat_cli.vault.note_parser import ParsedNote

# Characters of a line that is sent whole because it has a link
LONGEST_LINE = 5_000


@dataclass(frozen=True, slots=True)
class NoteReader:
    """Reads files below `root`; paths are relative to it with `/`. `suggest_names` gives the
    nearest names for an error.
    """

    root: Path
    suggest_names: Callable[[str], list[str]]

    def read(self, relative_path: str) -> str:
        """The text of a note or another text file. Raises VaultError for what is missing,
        unreadable, too large or not in the vault.
        """
        return filesystem.read_text(self.root, relative_path)

    def parse(self, relative_path: str) -> "ParsedNote":
        """Raises VaultError when there is no such note."""
        # 5 ms, and the budget bar comes first
        from zkchat_cli.vault import note_parser

        if not os.path.isfile(filesystem.resolve_inside(self.root, relative_path)):  # noqa: PTH113, RUF100
            raise self.missing_note(relative_path)
        relative_path = posixpath.normpath(relative_path)
        return note_parser.parse_note(relative_path, self.read(relative_path))

    def missing_note(self, relative_path: str) -> VaultError:
        """The error about a note that is not there. Raises VaultError if the vault is not there."""
        filesystem.resolve_root(self.root)
        name = filesystem.short_path(relative_path)
        near = ", ".join(f"[[{name}]]" for name in self.suggest_names(relative_path))
        return VaultError(
            f"there is no note {name} in {self.root}",
            f"Nearest: {near}" if near else filesystem.HOW_TO_SEARCH,
        )

    def chunks(
        self, relative_path: str, start_line: int = 1, end_line: int | None = None
    ) -> list[ContentChunk]:
        """The note's chunks that overlap those lines, cut to them. Raises VaultError when there is
        no such note.
        """
        parsed = self.parse(relative_path)
        found = []
        for p in parsed.chunks:
            first = max(start_line, p.start_line)
            last = min(end_line or p.end_line, p.end_line)
            if first <= last:
                text = "\n".join(p.text.split("\n")[first - p.start_line : last - p.start_line + 1])
                heading = p.heading if first == p.start_line else parsed.heading_at(first)
                found.append(
                    make_chunk(parsed.relative_path, parsed.title, heading, first, last, text)
                )
        return found

    def first_chunk(self, relative_path: str) -> ContentChunk | None:
        """None for a note that was deleted since it was indexed."""
        with suppress(VaultError):
            return next(iter(self.chunks(relative_path)), None)
        return None

    def chunk_text(self, relative_path: str, title: str, text: str) -> list[ContentChunk]:
        """A text from outside of the vault (code, a table, a log, another note), cut into chunks at
        its headings and blank lines.
        """
        from zkchat_cli.vault import markup, note_parser

        is_note = relative_path.lower().endswith(NOTE_SUFFIXES)
        marks = note_parser.parse_note(relative_path, text).markup if is_note else markup.Markup()
        chunks = note_parser.chunk_note(text, 0, marks)
        return [
            make_chunk(relative_path, title, p.heading, p.start_line, p.end_line, p.text)
            for p in chunks
            if p.text.strip()
        ]

    def section(self, relative_path: str, anchor: str) -> tuple[int, int]:
        """First and last line of a heading's section, or of a block (`^id`). Raises VaultError when
        the note does not have it.
        """
        note = self.parse(relative_path)
        if found := find_section(anchor, note.text, note.markup):
            return found
        raise missing_section(
            relative_path, "block" if "^" in anchor else "heading", anchor, note.markup
        )

    def link_lines(self, rows: Iterable[LinkRow]) -> tuple[ContentChunk, ...]:
        """The lines of the links, word for word, as chunks to cite; the index's snippet if a link
        is gone. Each note is read once.
        """

        @cache
        def read(path: str) -> "ParsedNote | None":
            # Deleted or locked since it was indexed
            with suppress(VaultError):
                return self.parse(path)
            return None

        # Without the repeats of a line with several links
        found: dict[ContentChunk, None] = {}
        for row in rows:
            note = read(row.source)
            title = note.title if note else row.source
            heading = None
            text = row.context_snippet
            line = (note.text if note else "").split("\n")[row.line - 1 : row.line]
            if note and line and row.raw in line[0] and len(line[0]) <= LONGEST_LINE:
                heading = note.heading_at(row.line)
                text = line[0]
            found[make_chunk(row.source, title, heading, row.line, row.line, text)] = None
        return tuple(found)


_PUNCTUATION = lazy_pattern(r"""[!"#$%&()*+,.:;<=>?@^_`{|}~/\[\]\\\s-]++""")
_BLOCK_ID = lazy_pattern(r"(?<!\S)\^([A-Za-z0-9-]++)[ \t]*+$")
_ITEM = lazy_pattern(rf"([ \t>]*){LIST_MARKER}[ \t]")


def find_section(name: str, text: str, markup: "Markup") -> tuple[int, int] | None:
    """The first and last line of the heading's section, or of the block (`^id` or `Heading#^id`);
    None if it does not exist.
    """
    lines = text.split("\n")
    last = name.rpartition("#")[2].strip()
    if last.startswith("^") and (block_id := last[1:].strip().lower()):
        return _find_block(block_id, lines, markup)
    for heading in matching_headings(name, markup):
        following = (
            h.line for h in markup.headings if h.line > heading.line and h.level <= heading.level
        )
        return heading.line, _without_blank_lines(
            heading.line, next(following, len(lines) + 1) - 1, lines
        )
    return None


def matching_headings(name: str, markup: "Markup") -> "Iterator[Heading]":
    """The headings that match a name, in order; a link means the first."""
    *above, title = [folded for part in name.split("#") if (folded := _fold(part))] or [""]
    for heading in markup.headings:
        path = map(_fold, heading.path)
        # In order; some may be left out
        if title and _fold(heading.text) == title and all(part in path for part in above):
            yield heading


def missing_section(path: str, kind: str, name: str, markup: "Markup") -> VaultError:
    """The error for a heading or block (`kind`) that a note does not have, with the nearest
    headings that it has.
    """
    names = {_fold(heading.text): heading.text for heading in markup.headings if heading.text}
    similar = difflib.get_close_matches(_fold(name.rpartition("#")[2])[:200], names, 3, 0.4)
    near = ", ".join(truncate(names[each], 80) for each in similar)
    return VaultError(
        f"{path} has no {kind} {truncate(name, 80)}",
        f"Nearest: {near}" if near else "Leave it out for the whole note.",
    )


def chunk_headings(chunk: ContentChunk) -> list[tuple[int, str]]:
    """The headings in a chunk with their lines in the note; none if it begins within a section:
    they may be comments in a script.
    """
    from zkchat_cli.vault.markup import read_markup  # 3 ms

    found = [
        (chunk.start_line + each.line - 1, each.text) for each in read_markup(chunk.text).headings
    ]
    return found if chunk.heading is None or any(text == chunk.heading for _, text in found) else []


def _fold(heading: str) -> str:
    return fold_name(_PUNCTUATION.sub(" ", heading).strip())


def _without_blank_lines(first: int, last: int, lines: list[str]) -> int:
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def _find_block(block_id: str, lines: list[str], markup: "Markup") -> tuple[int, int] | None:
    """The paragraph, the list item with its content, or, if the id is a line of its own, the block
    above it.
    """
    line = next(
        (
            n
            for n, text in enumerate(lines, 1)
            if (found := _BLOCK_ID.search(text)) and found[1].lower() == block_id
        ),
        None,
    )
    if line is None or any(begin <= line <= end for begin, end in markup.code):
        return None
    titles = {heading.line for heading in markup.headings}
    first = line
    last = line
    is_alone = _strip_marks(lines[line - 1]).startswith("^")
    if is_alone:
        above = next((n for n in range(line - 1, 0, -1) if _strip_marks(lines[n - 1])), line)
        first = (
            line
            if above in titles
            else next((begin for begin, end in markup.code if begin <= above <= end), above)
        )
    while (
        first > 1
        and first - 1 not in titles
        and _strip_marks(lines[first - 2])
        and (is_alone or not _ITEM.match(lines[first - 1]))
    ):
        first -= 1
    if not is_alone and (item := _ITEM.match(lines[first - 1])):
        while last < len(lines) and (
            not lines[last].strip()
            or len(lines[last]) - len(lines[last].lstrip(" \t>")) > len(item[1])
        ):
            last += 1
    return first, _without_blank_lines(line, last, lines)


def _strip_marks(line: str) -> str:
    return line.strip(" \t>")
