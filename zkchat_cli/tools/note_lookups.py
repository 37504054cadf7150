"""What the tools for the model and those for other programs both look up in the notes. The model
gets it as excerpts that it can cite, other programs as JSON.
"""

from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.links.graph import LinkPath
from zkchat_cli.vault.vault import Vault


class FoundPassages(NamedTuple):
    """The best passages for a query; `more` says how to get others, if there are any."""

    passages: tuple[ContentChunk, ...]
    more: str


def search_passages(vault: Vault, query: str, limit: int, most: int) -> FoundPassages:
    """The `limit` best passages, best first. A tool may be asked for `most` at a time."""
    # One more shows whether there are more
    found = vault.search(query, limit + 1)
    more = ""
    if len(found) > limit:
        more = f"There is more: ask again with a limit up to {most}, or with other words."
    return FoundPassages(tuple(found[:limit]), more)


class LinesToRead(NamedTuple):
    """Lines of a note, from 1; `last` is None for the end of the note."""

    path: str
    first: int
    last: int | None


def locate_lines(
    vault: Vault, note: str, start_line: int | None, end_line: int | None
) -> LinesToRead:
    """The lines to read if a note, or a section of it ([[Note#Heading]]), and perhaps a first or
    last line are named. Raises VaultError for an unknown note or heading.
    """
    path, heading = vault.locate(note)
    first = 1
    last: int | None = None
    if heading:
        first, last = vault.reader.section(path, heading)
    return LinesToRead(path, start_line or first, end_line or last)


class NoteConnection(NamedTuple):
    """The paths of two notes, and the shortest path of links between them, if there is one."""

    source: str
    target: str
    path: LinkPath | None


def connect_notes(vault: Vault, source: str, target: str) -> NoteConnection:
    """How links connect two notes, in either direction. Raises VaultError for an unknown note."""
    start = vault.locate(source).path
    end = vault.locate(target).path
    return NoteConnection(start, end, vault.graph.shortest_path(start, end))
