"""The notes: a folder of Markdown files with their names, links and words, and every question that
can be asked about them.

Opening a vault is cheap: the index is opened, or built if it is missing, by the first question that
needs it, and the parser and the search are imported when they are first used (12 ms).
"""

import os
import posixpath
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import VaultError, ZkchatError, nearest_names
from zkchat_cli.markdown.inline import split_target
from zkchat_cli.models.notes import ContentChunk, IndexReport, LinkResolution
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.catalog import NoteCatalog
from zkchat_cli.vault.daily_formats import find_daily_formats
from zkchat_cli.vault.edit.journal import ChangeJournal
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.sqlite.storage import SqliteIndexStorage
from zkchat_cli.vault.index.sqlite.vector_store import SqliteVectorStore
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.links.link_resolver import LinkResolver
from zkchat_cli.vault.links.note_completer import Completion, NoteCompleter
from zkchat_cli.vault.links.note_graph import NoteGraph
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    WrittenLink,
    write_link,
)
from zkchat_cli.vault.note_reader import NoteReader
from zkchat_cli.vault.search.embedder import Embedder
from zkchat_cli.vault.search.embedding_thread import EmbeddingJob, EmbeddingThread
from zkchat_cli.vault.search.ensemble import SemanticEnsemble
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.sections import chunk_headings
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

if TYPE_CHECKING:
    from zkchat_cli.text.moment_formats import MomentFormat
    from zkchat_cli.vault.edit.note_editor import NoteEditor
    from zkchat_cli.vault.index.port import NoteIndex
    from zkchat_cli.vault.search.note_search import SearchResult
    from zkchat_cli.vault.search.snippet import Snippet

# For how long a scan counts as current, so that one command does not scan twice
SCAN_SECONDS = 2.0
# Notes that an error names
MOST_NAMED = 5


class FileLocation(NamedTuple):
    """A file of the vault, and the heading in it that a link names."""

    path: str
    heading: str | None


class _NamesAtATime(NamedTuple):
    """The names of the notes, and the stamp of the index that had them."""

    stamp: object
    completer: NoteCompleter


def _index_name(root: Path, view: VaultView) -> str:
    """The name of an index file, which no other vault and no other view has."""
    named = os.fsencode(root)
    if not view.is_whole:
        named += repr((sorted(view.folders), sorted(view.excluded))).encode()
    return f"{blake2b(named, digest_size=16).hexdigest()}.db"


class Vault:
    """One folder of notes, or the part of it that is in the `view`. Paths are relative to it with
    `/`. Threads may share it; questions are answered one at a time.

    `reader` reads notes as their files are now, `graph` follows links, `catalog` lists notes by
    folder, tag and date, `semantic` (None without an embedder) searches by meaning, and
    `main_semantic` does so by the first model alone.
    """

    def __init__(
        self,
        root: Path,
        index: IndexManager,
        index_file: Path,
        semantic: SemanticSearch | None = None,
        languages: SemanticEnsemble | None = None,
        today: Callable[[], date] = date.today,
        formats: tuple["MomentFormat", ...] = (),
        view: VaultView = WHOLE_VAULT,
    ) -> None:
        self.root = root
        self.view = view
        self.name = root.name or str(root)
        self.index_file = index_file
        self._index = index
        self._today = today
        # Beside the index: changes of notes while they are made
        self.journal = ChangeJournal(root, index_file.with_suffix(".changes"), view)
        # Beside the index: what a model has written about notes
        self.summaries_file = index_file.with_suffix(".summaries.jsonl")
        self.journal.finish_own()
        # The unfinished change that the last refresh has reported
        self._told_unfinished: str | None = None
        self._completer: _NamesAtATime | None = None
        self._embedding: EmbeddingThread | None = None
        self.main_semantic = semantic
        self._ensemble = languages
        self.semantic = languages or semantic
        self._resolver = LinkResolver(index, self.search if semantic else None)
        self.reader = NoteReader(root, self._resolver.suggest_names, formats, view)
        self.graph = NoteGraph(index, self.reader, self._resolver, self.search)
        self.catalog = NoteCatalog(root, index, today)

    @classmethod
    def open(
        cls,
        folder: Path,
        cache_dir: Path,
        *,
        ignore: Sequence[str] = (),
        daily_format: str = "",
        embedder: Embedder | None = None,
        languages_embedder: Embedder | None = None,
        today: Callable[[], date] = date.today,
        view: VaultView = WHOLE_VAULT,
    ) -> "Vault":
        """The vault in `folder`, with its index below `cache_dir`. Raises VaultError for a folder
        that is missing or cannot be read. `daily_format` is that of the names of daily notes. Each
        `view` has an index of its own.
        """
        root = filesystem.resolve_root(folder)
        index_file = cache_dir / "index" / _index_name(root, view)
        formats = find_daily_formats(root, daily_format)
        storage = SqliteIndexStorage(index_file, "\n".join(each.written for each in formats))
        index = IndexManager(root, storage, ignore, formats, view)
        semantic = None
        if embedder:
            vectors = SqliteVectorStore(index_file.with_suffix(".vectors.db"), embedder)
            semantic = SemanticSearch(embedder, vectors, index)
        ensemble = None
        if semantic and languages_embedder:
            vectors = SqliteVectorStore(index_file.with_suffix(".languages.db"), languages_embedder)
            ensemble = SemanticEnsemble(semantic, languages_embedder, vectors, index)
        return cls(root, index, index_file, semantic, ensemble, today, formats, view)

    @cached_property
    def editor(self) -> "NoteEditor":
        """Proposes and makes changes of the notes."""
        from zkchat_cli.vault.edit.note_editor import NoteEditor  # 5 ms that only changes need

        return NoteEditor(self.root, self._index, self.refresh, self.journal, self.view)

    def close(self) -> None:
        """Stop computing vectors, and close the index and the vectors."""
        if self._embedding:
            self._embedding.stop()
            self._embedding = None
        self._index.close()
        if self.semantic:
            self.semantic.close()

    @property
    def has_index(self) -> bool:
        """Whether there is an index, so that the next refresh is short."""
        return self._index.exists

    def refresh(
        self,
        *,
        full: bool = False,
        progress: Progress | None = None,
        only: Collection[str] | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files: with all of them read anew if it is `full`,
        with `only` those that changed if the caller knows them. `progress(done, total)` counts the
        notes read. Raises VaultError when the folder has no Markdown file.
        """
        report = self._index.refresh(full=full, progress=progress, only=only)
        unfinished = self.journal.describe_unfinished()
        told = self._told_unfinished
        self._told_unfinished = unfinished
        if unfinished is None or unfinished == told:
            return report
        return report.model_copy(update={"unfinished": unfinished})

    def check_index(self) -> IndexReport:
        """Read the whole index, if there is one, and bring it up to date. Raises IndexUnwritable if
        it must be in memory.
        """
        if self.has_index:
            self._index.ask(lambda index: index.check_integrity())
        report = self.refresh()
        if self._index.unwritable:
            raise self._index.unwritable
        return report

    def status(self) -> IndexReport:
        """What the index holds, without looking at the files."""
        semantic = self.semantic.status() if self.semantic else None
        unfinished = self.journal.describe_unfinished()
        return self._index.report().model_copy(
            update={"semantic": semantic, "unfinished": unfinished}
        )

    def search(self, query: str, limit: int = 10) -> list[ContentChunk]:
        """The best chunks for any text, best first, few from one note, by words and by meaning:
        vectors that the best by words lack are computed, for about a second. A query with
        "phrases" or -words, or of symbols only, goes by words alone. A model that fails is a
        warning.
        """
        from zkchat_cli.vault.search import note_search
        from zkchat_cli.vault.search.query import parse_query

        parsed = parse_query(query, self._today())
        is_about_words = parsed.has_no_meaning
        by_meaning = None if is_about_words else self.semantic

        def find() -> "SearchResult":
            matches = []
            if by_meaning:
                matches = by_meaning.matches(parsed.text, filtered=parsed.is_filtered)
            return self._index.ask(lambda index: note_search.search(index, parsed, matches, limit))

        found = find()
        if by_meaning and by_meaning.compute_first(parsed.text, found.without_vectors):
            found = find()
        return found.chunks

    def snippet(self, chunk: ContentChunk, query: str) -> "tuple[str | None, Snippet]":
        """The heading and the lines of a chunk that show best why `query` found it."""
        from zkchat_cli.vault.search.query import parse_query
        from zkchat_cli.vault.search.snippet import snippet

        terms = parse_query(query, self._today()).terms
        found = snippet(chunk.text, chunk.start_line, terms, languages=self.languages())
        above = [each.text for each in chunk_headings(chunk) if each.line <= found.line]
        heading = above[-1] if above else None
        return heading or chunk.heading, found

    def languages(self) -> tuple[str, ...]:
        """The languages that the notes are written in."""
        return self._index.ask(lambda index: index.vocabulary.languages())

    def similarities(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The cosines of the query and each text. None without a model, and for a query in a script
        that it does not know.
        """
        return self.semantic.similarities(query, texts) if self.semantic else None

    def embed(
        self,
        progress: Progress | None = None,
        seconds: float = float("inf"),
        *,
        all_languages: bool = False,
    ) -> None:
        """Compute missing vectors for at most `seconds`, if there is an embedder; with
        `all_languages` those for questions in other languages, too. What fails is a warning;
        computed vectors are stored.
        """
        if self._ensemble and all_languages:
            self._ensemble.want_all_languages()
        if self.semantic:
            end = time.monotonic() + seconds
            self.semantic.compute_missing(progress, lambda: time.monotonic() > end)

    def embed_in_background(
        self,
        is_busy: Callable[[], bool],
        messages: EmbeddingJob | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Compute missing vectors, of `messages` too, in a thread until the vault is closed, but
        not while `is_busy`. `progress(done, total)` counts the chunks of notes, in that thread.
        """
        if self.semantic and not self._embedding:
            self._embedding = EmbeddingThread(self.semantic, is_busy, messages, progress)

    def take_warnings(self) -> list[ZkchatError]:
        """Failures of search by meaning since the last call; each is reported once."""
        return self.semantic.take_warnings() if self.semantic else []

    def find_file(self, path: str) -> str | None:
        """The file at this path, absolute or in the vault, with or without `.md`; None if it may be
        a name or a link.
        """
        if "\0" in path:
            return None
        inside = path
        if Path(path).is_absolute():
            inside = os.path.relpath(os.path.realpath(path), self.root)
        exact = posixpath.normpath(replace_surrogates(inside.replace(os.sep, "/")))
        spellings = [exact, *(exact + suffix for suffix in NOTE_SUFFIXES)]

        def find(index: "NoteIndex") -> str | None:
            for spelling in spellings:
                if index.names.has_file(spelling):
                    return spelling
            return None

        return self._index.ask(find)

    def has_file(self, path: str) -> bool:
        """Whether a file that was at this path is still there, as far as is known: the vault's disk
        may not be mounted.
        """
        return os.path.lexists(self.root / path) or not self.root.is_dir()

    def resolve_links(self, text: str, source: str | None = None) -> list[LinkResolution]:
        """The links of `text` in order, as if it were in the note `source`, or in the vault's root;
        without those that mean no note.
        """
        from zkchat_cli.vault import note_parser

        links = note_parser.parse_note(source or "", replace_surrogates(text)).markup.links
        return self._resolver.resolve(links, source)

    def resolve(self, target: str, source: str | None = None) -> LinkResolution:
        """What `[[target]]` points to, with or without brackets; `Note#heading` and `Note|alias`
        are understood.
        """
        target = replace_surrogates(target)
        bare = target.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
        link = WrittenLink(target, "wikilink", *split_target(bare))
        [resolution] = self._resolver.resolve([link], source)
        return resolution

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a name, a path or an alias may mean, the likeliest first."""
        return self._resolver.notes_named(name)

    def link_to(self, path: str) -> str:
        """`[[name]]` with the name of `link_name`."""
        return write_link(path, self.link_name(path))

    def link_name(self, path: str) -> str:
        """The shortest name of the file at `path` for a link from outside of notes: with folders as
        far as other files have its name.
        """
        return self._resolver.shortest_name(path)

    def locate(self, text: str) -> FileLocation:
        """The file that a path, name, title or link certainly means, and the heading of the link.
        Raises VaultError if there is none.
        """
        text = replace_surrogates(text.strip())
        if filesystem.is_file_inside(self.root, text, self.view):
            return FileLocation(posixpath.normpath(text), None)
        link = self.resolve(text)
        name = filesystem.short_path(text)
        if link.target is None:
            hint = nearest_names(
                link.candidates, "Search finds notes by their words.", label="Nearest"
            )
            raise VaultError(f"there is no note {name}", hint)
        if link.status == "ambiguous":
            paths = [link.target, *link.candidates]
            hint = f"Give a path: {', '.join(paths[:MOST_NAMED])}"
            raise VaultError(f"{name} may mean {len(paths)} notes", hint)
        return FileLocation(link.target, link.heading)

    def notes_quoted(self, text: str) -> Iterator[str]:
        """The paths of notes that may contain this text: those with all of its longest words, then
        those with most of its rare ones.
        """
        from zkchat_cli.vault.search import quoted_notes

        yield from self._index.ask(lambda index: quoted_notes.notes_with_longest(index, text))
        yield from self._index.ask(lambda index: quoted_notes.notes_with_rarest(index, text))

    def complete(self, typed: str, limit: int = 30) -> list[Completion]:
        """The notes with the typed letters in a name, best first; without any, those changed
        last. Never waits for a refresh.
        """

        def update(index: "NoteIndex") -> _NamesAtATime:
            stamp = index.stamp()
            if self._completer and self._completer.stamp == stamp:
                return self._completer
            return _NamesAtATime(stamp, NoteCompleter(index))

        if self._completer is None:
            self._completer = self._index.ask(update)
        else:
            self._completer = self._index.ask_if_free(update) or self._completer
        return self._completer.completer.find(replace_surrogates(typed), limit)

    def note_paths(self) -> list[str]:
        """The paths of all notes, in order."""
        return self._index.ask(lambda index: index.note_paths())
