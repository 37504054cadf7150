"""The values that the index gives and takes. They say nothing about how an index is stored."""

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.dates import Period
from zkchat_cli.vault.filesystem import Stamp

if TYPE_CHECKING:
    from zkchat_cli.vault.links.wikilinks import LinkName
    from zkchat_cli.vault.note_parser import ParsedNote

# Gets the number of notes that are done, and of all
Progress = Callable[[int, int], None]


class DatedSection(NamedTuple):
    """The first line of a section with a date in its heading, and its last day."""

    line: int
    day: str


class NoteEntry(NamedTuple):
    """A note in a list. `day`: the latest of its dates (in the wanted time), or the day it was
    changed if it has none, as `2024-05-01`; `changed` is that time in nanoseconds. `sections`:
    those of the wanted time, the newest first, in a note that has a heading for each day.
    """

    path: str
    title: str
    tags: tuple[str, ...]
    day: str
    changed: int
    sections: tuple[DatedSection, ...] = ()


class NoteFilter(NamedTuple):
    """The wanted notes. Tags and parts of paths are folded; a tag includes those nested in it."""

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


class BrokenLinkRow(NamedTuple):
    """A broken link, and its target as written."""

    row: LinkRow
    text: str


class LinkEdge(NamedTuple):
    """Two notes with a link between them, in either direction: `here` is the one that was named."""

    here: str
    there: str


class IndexSizes(NamedTuple):
    """How much the index holds; `tokens` are estimated, of all chunks."""

    notes: int
    chunks: int
    links: int
    broken_links: int
    tokens: int


class WordCount(NamedTuple):
    """A word as the notes have it, its stem, and how many chunks and names of notes have it."""

    stem: str
    term: str
    chunks: int
    notes: int


class ChunkPlace(NamedTuple):
    """A chunk, its note, and the key of its vectors."""

    id: int
    note_id: int
    key: int


class ChunkText(NamedTuple):
    """What a chunk is embedded from; `headings` has one per line. `language` is that of its text
    or, if it is too short to tell, of its note, its folder or the vault; None if none of them
    tells.
    """

    title: str
    headings: str
    text: str
    language: str | None = None


class RankingCandidate(NamedTuple):
    """A chunk of the index, with its size and its note's in tokens. Aliases, tags, anchors (the
    aliases of links to the note) and headings have one per line.
    """

    id: int
    note_id: int
    title: str
    aliases: str
    tags: str
    anchors: str
    headings: str
    body: str
    note_size: float
    size: int


class KnownNote(NamedTuple):
    """A note as it was indexed; `digest` is of the bytes read, None if they could not be read."""

    stamp: Stamp
    digest: bytes | None


class NoteContent(NamedTuple):
    """Everything that can be known of a note without the others; `problem` is empty without any."""

    path: str
    stamp: Stamp
    digest: bytes | None
    parsed: "ParsedNote"
    names: tuple["LinkName", ...]
    problem: str


def make_chunk(
    path: str,
    title: str,
    heading: str | None,
    start: int,
    end: int,
    text: str,
    fence: str | None = None,
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
        fence=fence,
    )


def chunk_key(title: str, headings: str, text: str) -> int:
    """The same for chunks that would be embedded as the same windows: a note that is moved keeps
    its vectors.
    """
    last = headings.rpartition("\n")[2]
    embedded = f"{title}\0{last}\0{text}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(embedded, digest_size=8).digest(), signed=True)
