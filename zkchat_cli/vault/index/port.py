"""The interface of an index: the questions of search, links, edits and the vault, and its update.

Nothing here says how an index is stored: `index/sqlite/` does, and the contract is in
tests/test_index_port.py. Notes and chunks have numbers. Those of chunks ascend in the order in
which their notes were put into the index, so the highest are the newest.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.values import (
    BrokenLinkRow,
    ChunkPlace,
    ChunkText,
    IndexSizes,
    KnownNote,
    LinkEdge,
    LinkRow,
    NoteContent,
    NoteEntry,
    NoteFilter,
    RankingCandidate,
    WordCount,
)
from zkchat_cli.vault.index.word_match import Phrase, WordMatch
from zkchat_cli.vault.links.wikilinks import LinkName

Direction = Literal["out", "in", "both"]


class NameIndex(Protocol):
    """What files are called, and by which names notes are found."""

    def has_file(self, path: str) -> bool:
        """Whether there is a note or an attachment at this path."""
        ...

    def with_key(self, key: str) -> list[LinkName]:
        """All names with this key (`link_key`), of notes and attachments."""
        ...

    def with_ids(self, ids: Sequence[int]) -> list[LinkName]:
        """The names with these numbers."""
        ...

    def with_pairs(self, pairs: str, limit: int) -> list[int]:
        """The numbers of at most `limit` names of notes that have these character pairs
        (`character_pairs`, separated by spaces) one after the other.
        """
        ...

    def aliases_and_titles(self) -> list[LinkName]:
        """The names of notes that are not their files', aliases first."""
        ...


class LinkIndex(Protocol):
    """The links between notes, resolved."""

    def links_from(self, path: str) -> list[LinkRow]:
        """The links in a note, in order, broken ones included."""
        ...

    def links_to(self, path: str) -> list[LinkRow]:
        """The links in other notes to this file, by source and line."""
        ...

    def links_between(self, source: str, target: str) -> list[LinkRow]:
        """The links of one note to another, in order."""
        ...

    def broken_links(self) -> list[BrokenLinkRow]:
        """All links to files that are not there, by source and line."""
        ...

    def edges(self, paths: Sequence[str], direction: Direction) -> set[LinkEdge]:
        """The pairs of one of these notes and another note that it links to (`out`), that links to
        it (`in`), or either.
        """
        ...

    def notes_linking(self, path: str, keys: Sequence[str]) -> list[str]:
        """The paths of the notes with a link to this file, or with one that is looked up by one of
        these keys (`link_key`), in order.
        """
        ...

    def notes_linked_in_chunk(self, chunk_id: int) -> list[int]:
        """The other notes that the links in a chunk point to."""
        ...


class WordIndex(Protocol):
    """The chunks and names of notes by their words. With `weights` of the fields, the best by
    BM25 come first.
    """

    def count_chunks(self, match: WordMatch, most: int | None = None) -> int:
        """How many chunks match, counted up to `most`."""
        ...

    def find_chunks(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        """The best matching chunks, by `weights` of headings and text; without these the newest."""
        ...

    def count_named(self, match: WordMatch, most: int | None = None) -> int:
        """How many notes have names that match, counted up to `most`."""
        ...

    def find_named(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        """The notes with the best matching names, by `weights` of title, aliases, tags and anchors;
        without these those with the highest numbers.
        """
        ...

    def notes_with_chunk(self, match: WordMatch, limit: int, *, ranked: bool) -> list[str]:
        """The paths of the notes of at most `limit` matching chunks: of the best ones if `ranked`,
        else of the oldest.
        """
        ...

    def newest_chunks(
        self,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter,
        by_date: bool,
    ) -> list[int]:
        """The first chunk, without an excluded phrase in it or in its note's names, of each of the
        newest notes; `by_date`: of those with the latest dates.
        """
        ...


class ChunkIndex(Protocol):
    """The parts that notes are cut into."""

    def read(self, ids: Sequence[int]) -> list[ContentChunk]:
        """These chunks in this order, without deleted ones. Raises IndexDamaged for a chunk that is
        not what was stored, so that nobody is shown other words than the note's.
        """
        ...

    def candidates(
        self, ids: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[RankingCandidate]:
        """What these chunks are ranked by, without those that the filter excludes."""
        ...

    def places(
        self, ids: Sequence[int], keys: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[ChunkPlace]:
        """The chunks with these numbers, and those with these keys that the filter allows."""
        ...

    def first_of_note(self, note_id: int, limit: int) -> list[int]:
        """The first chunks of a note."""
        ...

    def keys(self, named: Sequence[str] = ()) -> list[int]:
        """The keys of all chunks: first those of the notes at the `named` paths, then of the newest
        and of the most linked notes, alternately.
        """
        ...

    def texts(self, keys: Sequence[int]) -> dict[int, ChunkText]:
        """What the chunks with these keys are embedded from, with their languages."""
        ...


class Vocabulary(Protocol):
    """The words of the notes with their stems, in each language that the notes are written in."""

    def languages(self) -> tuple[str, ...]:
        """The languages that the notes are written in."""
        ...

    def with_stems(self, language: str, stems: Sequence[str]) -> list[WordCount]:
        """The words of a language with one of these stems."""
        ...

    def with_part(self, language: str, part: str, limit: int) -> list[WordCount]:
        """At most `limit` words of a language with a stem that begins or ends with this part."""
        ...


class NoteIndex(Protocol):
    """The open index of one vault, for one thread at a time."""

    @property
    def names(self) -> NameIndex:
        """The names of files and notes."""
        ...

    @property
    def links(self) -> LinkIndex:
        """The links between them."""
        ...

    @property
    def words(self) -> WordIndex:
        """The words of chunks and names."""
        ...

    @property
    def chunks(self) -> ChunkIndex:
        """The chunks of the notes."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """All words of the notes."""
        ...

    @property
    def is_usable(self) -> bool:
        """Whether it was made by this version of zkchat and of Python's Unicode tables."""
        ...

    @property
    def is_new(self) -> bool:
        """Whether nothing has been written to it yet."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All questions inside see one state of the index, whatever other processes write
        meanwhile.
        """
        ...

    def update(
        self, files: VaultFiles, *, anew: bool = False
    ) -> "AbstractContextManager[IndexUpdate]":
        """Change the index to these files, in one transaction that ends with the block; `anew`:
        from nothing. Links and the names of notes are settled at its end. An exception in the block
        leaves the index as it was.
        """
        ...

    def stamp(self) -> object:
        """A value that changes whenever any process writes to the index."""
        ...

    def files(self) -> VaultFiles:
        """The files that the index knows, without notes that could not be read."""
        ...

    def sizes(self) -> IndexSizes:
        """How much the index holds."""
        ...

    def problems(self) -> list[str]:
        """What could not be indexed, as "path: problem", by path."""
        ...

    def note_paths(self) -> list[str]:
        """The paths of all notes, in order."""
        ...

    def newest_notes(self, chunks: int) -> list[str]:
        """The paths of the notes of so many of the newest chunks, the newest first."""
        ...

    def list_notes(self, wanted: NoteFilter) -> list[NoteEntry]:
        """The notes that the filter allows, by path."""
        ...

    def tag_counts(self) -> Mapping[str, int]:
        """How many notes have each tag, as they spell it."""
        ...

    def check_integrity(self) -> None:
        """Read the whole index. Raises IndexDamaged for any damage that can be found."""
        ...


class IndexUpdate(Protocol):
    """A change of the index. Notes are put oldest change first."""

    def known_notes(self) -> Mapping[str, KnownNote]:
        """The notes of the index by path, of the scanned paths if not all were scanned."""
        ...

    def put_note(self, content: NoteContent) -> None:
        """Add a note, or replace what is known of it."""
        ...

    def restamp_note(self, path: str, stamp: Stamp) -> None:
        """A note has another time, and still the same content."""
        ...

    def remove_note(self, path: str) -> None:
        """Forget a note."""
        ...


class IndexStorage(Protocol):
    """The place that keeps the index of one vault."""

    def exists(self) -> bool:
        """Whether an index was stored."""
        ...

    def open_index(self) -> NoteIndex:
        """The stored index, or a new one. Raises IndexDamaged, IndexUnwritable, VaultError."""
        ...

    def open_in_memory(self) -> NoteIndex:
        """A new index that is gone when it is closed."""
        ...

    def close(self, index: NoteIndex) -> None:
        """Close an index that was opened here."""
        ...

    def delete(self) -> None:
        """Delete the stored index, which is closed, as far as possible."""
        ...

    def write_checksum(self) -> None:
        """Record what was stored when the index is closed, so that `open` notices damage."""
        ...
