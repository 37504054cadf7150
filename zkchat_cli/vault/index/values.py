"""The values that the index gives and takes. They say nothing about how an index is stored."""

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.dates import Period

# Gets the number of notes that are done, and of all
Progress = Callable[[int, int], None]


class NoteEntry(NamedTuple):
    """A note in a list."""

    path: str
    title: str
    tags: tuple[str, ...]


class NoteFilter(NamedTuple):
    """Which notes count. Tags and parts of paths are folded; a tag includes those nested in it."""

    # All notes below this folder; empty for the whole vault
    folder: str = ""
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    path_parts: tuple[str, ...] = ()
    without_path_parts: tuple[str, ...] = ()
    # One of the note's dates is in it, or the day it was changed if it has none
    period: Period | None = None
    # Whether that day counts for notes that were written with many others in one minute:
    # they were copied
    also_copies: bool = True


class LinkRow(NamedTuple):
    """A link in a note; `target` is None if it is broken."""

    source: str
    target: str | None
    raw: str
    line: int
    context_snippet: str


def make_chunk(
    path: str, title: str, heading: str | None, start: int, end: int, text: str
) -> ContentChunk:
    """A chunk with an id made from its place and its text."""
    place_and_text = f"{path}\0{start}\0{text}".encode("utf-8", "replace")
    return ContentChunk(
        id=blake2b(place_and_text, digest_size=6).hexdigest(),
        relative_path=path,
        title=title,
        heading=heading,
        start_line=start,
        end_line=end,
        text=text,
    )


def chunk_key(title: str, headings: str, text: str) -> int:
    """The same for chunks that would be embedded as the same windows: a note that is moved keeps
    its vectors.
    """
    last = headings.rpartition("\n")[2]
    embedded = f"{title}\0{last}\0{text}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(embedded, digest_size=8).digest(), signed=True)
