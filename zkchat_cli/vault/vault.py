"""The notes: a folder of Markdown files with their names, links and words, and every question that
can be asked about them.

Opening a vault is cheap: the index is opened, or built if it is missing, by the first question that
needs it, and the parser and the search are imported when they are first used (12 ms).
"""

import difflib
import os
import posixpath
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import VaultError, ZkchatError
from zkchat_cli.models.notes import ContentChunk, IndexReport, LinkResolution
from zkchat_cli.text import words
from zkchat_cli.text.dates import Period
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.edit.transaction import finish_interrupted
from zkchat_cli.vault.index.database import IndexDatabase, LinkRow, Progress, has_tag, in_period
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.links import graph, name_suggestions
from zkchat_cli.vault.links.name_suggestions import (
    LEAST_SIMILARITY,
    TYPO_SIMILARITY,
    BrokenLink,
    Completion,
    NoteCompleter,
    is_attachment,
)
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    WrittenLink,
    possible_names,
    resolve,
    split_target,
    strip_suffix,
    write_link,
)
from zkchat_cli.vault.note_reader import NoteReader, chunk_headings
from zkchat_cli.vault.search.semantic import EmbeddingJob, EmbeddingThread, SemanticSearch
from zkchat_cli.vault.search.vector_store import Embedder

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.note_editor import NoteEditor
    from zkchat_cli.vault.search.query import Snippet

# For how long a scan counts as current, so that one command does not scan twice
SCAN_SECONDS = 2.0
# Notes that are compared to find related ones
MOST_COMPARED = 50
# Notes, folders or tags that an error names
MOST_NAMED = 5
MOST_SUGGESTIONS = 3
# Broken names that get suggestions, at 3 ms each
MOST_SUGGESTED = 1000
# Names of missing notes that are searched by meaning, at 10 ms each
MOST_SUGGESTED_BY_MEANING = 50
# The cosine of a note that a broken link may mean
SUGGESTION_COSINE = 0.4


class NoteEntry(NamedTuple):
    """A note in a list."""

    path: str
    title: str
    tags: tuple[str, ...]


class Vault:
    """One folder of notes. Paths are relative to it with `/`. Threads may share it; questions are
    answered one at a time.
    """

    def __init__(
        self,
        root: Path,
        index_file: Path,
        ignore: Sequence[str] = (),
        embedder: Embedder | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        self.root = root
        self._today = today
        self.name = root.name or str(root)
        self.index_file = index_file
        self._index = IndexManager(root, index_file, ignore)
        self.refresh = self._index.refresh
        self._ask = self._index.ask
        self._completer: tuple[tuple[object, ...], NoteCompleter] | None = None
        self._journal = index_file.with_suffix(".changes")
        finish_interrupted(self._journal)
        self._embedding: EmbeddingThread | None = None
        self.semantic = (
            SemanticSearch(embedder, index_file.with_suffix(".vectors.db"), self._index)
            if embedder
            else None
        )
        reader = self._reader = NoteReader(root, self.suggest_names)
        self.read = reader.read
        self.note = reader.parse
        self.chunks = reader.chunks
        self.chunk_text = reader.chunk_text
        self.section = reader.section
        self.link_lines = reader.link_lines

    @classmethod
    def open(
        cls,
        folder: Path,
        cache_dir: Path,
        *,
        ignore: Sequence[str] = (),
        embedder: Embedder | None = None,
    ) -> "Vault":
        """The vault in `folder`, with its index below `cache_dir`. Raises VaultError for a folder
        that is missing or cannot be read.
        """
        root = filesystem.resolve_root(folder)
        return cls(
            root,
            cache_dir / "index" / f"{blake2b(os.fsencode(root), digest_size=16).hexdigest()}.db",
            ignore,
            embedder,
        )

    @cached_property
    def editor(self) -> "NoteEditor":
        from zkchat_cli.vault.edit.note_editor import NoteEditor  # 5 ms that only changes need

        return NoteEditor(self.root, self._index, self.refresh, self._journal)

    def close(self) -> None:
        if self._embedding:
            self._embedding.stop()
            self._embedding = None
        self._index.close()
        if self.semantic:
            self.semantic.close()

    @property
    def has_index(self) -> bool:
        """Whether there is an index, so that the next refresh is short."""
        return os.path.exists(self.index_file)  # noqa: PTH110, RUF100

    def check_index(self) -> IndexReport:
        """Read the whole index, if there is one, and bring it up to date. Raises IndexUnwritable if
        it must be in memory.
        """
        if self.has_index:
            self._ask(IndexDatabase.check_integrity)
        report = self.refresh()
        if self._index.unwritable:
            raise self._index.unwritable
        return report

    def status(self) -> IndexReport:
        """What the index holds, without looking at the files."""
        report = self._index.report()
        return (
            report.model_copy(update={"semantic": self.semantic.status()})
            if self.semantic
            else report
        )

    def search(self, query: str, limit: int = 10) -> list[ContentChunk]:
        """The best chunks for any text, best first, few from one note, by words and by meaning:
        vectors that the best by words lack are computed, for about a second. A query with "phrases"
        or -words goes by words alone. A model that fails is a warning.
        """
        from zkchat_cli.vault.search import lexical
        from zkchat_cli.vault.search.query import parse_query

        parsed = parse_query(query, self._today())
        is_about_words = not parsed.words or parsed.phrases or parsed.without
        by_meaning = None if is_about_words else self.semantic

        def found() -> tuple[list[ContentChunk], list[int]]:
            match = (
                by_meaning.match(parsed.text, filtered=parsed.is_filtered) if by_meaning else None
            )
            return self._ask(lambda index: lexical.search(index, parsed, match, limit))

        chunks, without_vectors = found()
        if by_meaning and by_meaning.compute_first(parsed.text, without_vectors):
            chunks, _ = found()
        return chunks

    def snippet(self, chunk: ContentChunk, query: str) -> "tuple[str | None, Snippet]":
        """The heading and the lines of a chunk that show best why `query` found it."""
        from zkchat_cli.vault.search import query as queries

        terms = queries.parse_query(query, self._today()).terms
        found = queries.snippet(chunk.text, chunk.start_line, terms, languages=self.languages())
        above = [heading for line, heading in chunk_headings(chunk) if line <= found.line]
        return (above[-1] if above else None) or chunk.heading, found

    def languages(self) -> tuple[str, ...]:
        return self._ask(lambda index: index.languages())

    def similarities(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The cosines of the query and each text. None without a model, and for a query in a script
        that it does not know.
        """
        return self.semantic.similarities(query, texts) if self.semantic else None

    def embed(self, progress: Progress | None = None, seconds: float = float("inf")) -> None:
        """Compute missing vectors for at most `seconds`, if there is an embedder. What fails is a
        warning; computed vectors are stored.
        """
        if self.semantic:
            end = time.monotonic() + seconds
            self.semantic.compute_missing(progress, lambda: time.monotonic() > end)

    def embed_in_background(
        self, is_busy: Callable[[], bool], messages: EmbeddingJob | None = None
    ) -> None:
        """Compute missing vectors, of `messages` too, in a thread until the vault is closed, but
        not while `is_busy`.
        """
        if self.semantic and not self._embedding:
            self._embedding = EmbeddingThread(self.semantic, is_busy, messages)

    def take_warnings(self) -> list[ZkchatError]:
        """Failures of search by meaning since the last call; each is reported once."""
        return self.semantic.take_warnings() if self.semantic else []

    def find_file(self, path: str) -> str | None:
        """The file at this path, absolute or in the vault, with or without `.md`; None if it may be
        a name or a link.
        """
        if "\0" in path:
            return None
        inside = (
            os.path.relpath(os.path.realpath(path), self.root) if Path(path).is_absolute() else path
        )
        path = posixpath.normpath(replace_surrogates(inside.replace(os.sep, "/")))
        return self._ask(
            lambda index: next(
                (
                    p
                    for p in (path, *(path + suffix for suffix in NOTE_SUFFIXES))
                    if index.has_file(p)
                ),
                None,
            )
        )

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
        return self._resolve(links, source)

    def resolve(self, target: str, source: str | None = None) -> LinkResolution:
        """What `[[target]]` points to, with or without brackets; `Note#heading` and `Note|alias`
        are understood.
        """
        target = replace_surrogates(target)
        bare = target.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
        link = WrittenLink(target, "wikilink", *split_target(bare))
        [resolution] = self._resolve([link], source)
        return resolution

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a name, a path or an alias may mean, the likeliest first."""
        link = WrittenLink("", "wikilink", replace_surrogates(name))
        found = self._ask(lambda index: resolve(link, None, index.names))
        return tuple(
            path
            for path in (found.target, *found.candidates)
            if path and path.lower().endswith(NOTE_SUFFIXES)
        )

    def link_to(self, path: str) -> str:
        """`[[name]]` with the name of `link_name`."""
        return write_link(path, self.link_name(path))

    def link_name(self, path: str) -> str:
        """The shortest name of the file at `path` for a link from outside of notes: with folders as
        far as other files have its name.
        """

        def find(index: IndexDatabase) -> str:
            links = {
                name: resolve(WrittenLink("", "wikilink", name), None, index.names)
                for name in possible_names(path)
            }
            right = {name: link.status for name, link in links.items() if link.target == path}
            return next(
                (name for name, status in right.items() if status == "found"), None
            ) or next(iter(right), strip_suffix(path))

        return self._ask(find)

    def notes_quoted(self, text: str) -> Iterator[str]:
        """The paths of notes that may contain this text: those with all of its longest words, then
        those with most of its rare ones.
        """
        from zkchat_cli.vault.search import lexical

        yield from self._ask(lambda index: lexical.notes_with_longest(index, text))
        yield from self._ask(lambda index: lexical.notes_with_rarest(index, text))

    def _resolve(self, written: Sequence[WrittenLink], source: str | None) -> list[LinkResolution]:
        """The links with their targets, without those that mean no note; broken ones with the notes
        that they may mean.
        """
        found = self._ask(
            lambda index: [(link, resolve(link, source, index.names)) for link in written]
        )
        near = self._suggest_notes(
            link.text for link, resolved in found if resolved.status == "broken"
        )
        links: list[LinkResolution] = []
        for link, resolved in found:
            if resolved.status is not None:
                fields = link._asdict() | resolved._asdict()
                del fields["place"]
                if resolved.status == "broken":
                    fields["candidates"] = near.get(link.text, ())
                links.append(LinkResolution(**fields))
        return links

    def _suggest_notes(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The paths that names of missing notes may mean: those of a similar name; with search by
        meaning those of much the same name, else those of a similar meaning.
        """
        from zkchat_cli.vault.search.query import as_words

        wanted = list(islice(dict.fromkeys(names), MOST_SUGGESTED))
        suggest = name_suggestions.suggest_names
        least = TYPO_SIMILARITY if self.semantic else LEAST_SIMILARITY
        near = self._ask(
            lambda index: {
                name: [path for _, path in suggest(index, name, MOST_SUGGESTIONS, least)]
                for name in wanted
            }
        )
        unknown = [
            name for name in wanted if self.semantic and not near[name] and not is_attachment(name)
        ]
        # The note of a day is like no other by its meaning
        phrases = [name for name in unknown if any(map(str.isalpha, name))]
        for name in phrases[:MOST_SUGGESTED_BY_MEANING]:
            found = self.search(as_words(name), MOST_SUGGESTIONS)
            near[name] = [
                chunk.relative_path
                for chunk in found
                if (chunk.score_meaning or 0) >= SUGGESTION_COSINE
            ]
        return {name: tuple(dict.fromkeys(paths)) for name, paths in near.items()}

    def suggest_names(self, name: str) -> list[str]:
        """The names of notes nearest to a misspelt one, nearest first."""
        return self._ask(
            lambda index: [
                spelled
                for spelled, _ in name_suggestions.suggest_names(index, name, MOST_SUGGESTIONS)
            ]
        )

    def complete(self, typed: str, limit: int = 30) -> list[Completion]:
        """The notes whose names contain the letters typed, best first; without any, those changed
        last. Never waits for a refresh.
        """

        def update(index: IndexDatabase) -> tuple[tuple[object, ...], NoteCompleter]:
            stamp = index.stamp()
            return (
                self._completer
                if self._completer and self._completer[0] == stamp
                else (stamp, NoteCompleter(index))
            )

        self._completer = completer = (self._index.ask_if_free if self._completer else self._ask)(
            update
        ) or self._completer
        return completer[1].find(replace_surrogates(typed), limit) if completer else []

    def note_paths(self) -> list[str]:
        return self._ask(lambda index: index.paths())

    def links(self, relative_path: str) -> list[LinkRow]:
        """The links in a note, in order, broken ones included. Raises VaultError when there is no
        such note.
        """
        self._require_file(relative_path)
        return self._ask(lambda index: index.link_rows("notes.path = ?", relative_path))

    def backlinks(self, relative_path: str) -> list[LinkRow]:
        """The links in other notes to this note or attachment. Raises VaultError when there is no
        such file.
        """
        self._require_file(relative_path)
        return self._ask(lambda index: index.links_to(relative_path))

    def broken_links(self) -> list[BrokenLink]:
        """All links of the vault that point to nothing, by source and line."""

        def find(index: IndexDatabase) -> list[BrokenLink]:
            texts: dict[str, str] = dict(
                index.rows("SELECT DISTINCT raw, text FROM links WHERE status = 'broken'")
            )
            return [
                BrokenLink(row, texts[row.raw])
                for row in index.link_rows("links.status = 'broken'")
            ]

        links = self._ask(find)
        near = self._suggest_notes(link.text for link in links)
        found: list[BrokenLink] = []
        # A link to an attachment never means a note, and no link means the note that it is in
        for link in links:
            excluded = NOTE_SUFFIXES if is_attachment(link.text) else ()
            paths = (
                path
                for path in near.get(link.text, ())
                if path != link.row.source and not path.endswith(excluded)
            )
            found.append(link._replace(candidates=tuple(paths)))
        return found

    def locate(self, text: str) -> tuple[str, str | None]:
        """The file that a path, name, title or link certainly means, and the heading of the link.
        Raises VaultError if there is none.
        """
        text = replace_surrogates(text.strip())
        if os.path.isfile(filesystem.resolve_inside(self.root, text)):  # noqa: PTH113, RUF100
            return posixpath.normpath(text), None
        link = self.resolve(text)
        name = filesystem.short_path(text)
        if link.target is None:
            near = ", ".join(link.candidates)
            raise VaultError(
                f"there is no note {name}",
                f"Nearest: {near}" if near else "Search finds notes by their words.",
            )
        if link.status == "ambiguous":
            paths = [link.target, *link.candidates]
            raise VaultError(
                f"{name} may mean {len(paths)} notes",
                f"Give a path: {', '.join(paths[:MOST_NAMED])}",
            )
        return link.target, link.heading

    def list_notes(
        self, folder: str = "", tag: str = "", since: str = "", until: str = ""
    ) -> list[NoteEntry]:
        """The notes below a folder, with a tag or one nested in it, and a date from `since` through
        `until` ("2024-05-01", "last week"), by path. Raises VaultError for a folder or tag that no
        note has, UsageError for what is no date.
        """
        from zkchat_cli.vault.search.query import read_date

        prefix = (
            f"{posixpath.normpath(replace_surrogates(folder).strip().strip('/'))}/".removeprefix(
                "./"
            )
        )
        conditions = ["substr(path, 1, ?) = ?"]
        values = list[object]((len(prefix), prefix))
        if since or until:
            first = read_date("since", since, self._today()).first if since else date.min
            last = read_date("until", until, self._today()).last if until else date.max
            conditions.append(in_period(Period(first, last), values))
        if wanted := words.fold(replace_surrogates(tag).strip().strip("#/")):
            conditions.append(has_tag(wanted, values))
        sql = f"SELECT path, title, tags FROM notes WHERE {' AND '.join(conditions)} ORDER BY path"
        rows = self._ask(lambda index: index.rows(sql, *values))
        if not rows:
            folders = {
                each.as_posix()
                for path in self.note_paths()
                for each in PurePosixPath(path).parents
            } - {"."}
            if prefix and prefix[:-1] not in folders:
                raise _unknown_name("folder", folder, sorted(folders))
            tags = self.tags()
            if wanted and not any(f"{words.fold(each)}/".startswith(f"{wanted}/") for each in tags):
                raise _unknown_name("tag", tag, tags)
        return [
            NoteEntry(path, title, tuple(written.split("\n")) if written else ())
            for path, title, written in rows
        ]

    def tags(self) -> list[str]:
        """All tags without `#`, the most frequent first."""
        rows = self._ask(lambda index: index.rows("SELECT tags FROM notes WHERE tags != ''"))
        counts = Counter(tag for (tags,) in rows for tag in tags.split("\n"))
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    def shortest_path(self, source: str, target: str) -> tuple[list[str], list[LinkRow]] | None:
        """The notes and links of a shortest path in either direction; None if there is none. Raises
        VaultError for a missing file.
        """
        for end in (source, target):
            self._require_file(end)
        return self._ask(lambda index: graph.shortest_path(index, source, target))

    def related_notes(self, relative_path: str, limit: int = 10) -> list[graph.RelatedNote]:
        """The notes most related to a note by links and words, best first. Raises VaultError if
        there is no such note.
        """
        note = self._reader.parse(relative_path)
        keywords = graph.extract_keywords(note)
        by_links = self.notes_related_by_links(note.relative_path)
        by_words = (
            chunk
            for chunk in self.search(" ".join(keywords), MOST_COMPARED)
            if chunk.relative_path != note.relative_path
        )
        return list(
            islice(
                graph.related_notes(keywords, by_links, by_words, self._reader.first_chunk),
                max(limit, 0),
            )
        )

    def notes_related_by_links(self, relative_path: str) -> dict[str, graph.LinkRelation]:
        return self._ask(lambda index: graph.related_by_links(index, relative_path, MOST_COMPARED))

    def notes_about(self, question: str, limit: int = 10) -> list[graph.RelatedNote]:
        """The notes that answer a question best, each with its best chunk."""
        from zkchat_cli.vault.search.lexical import MOST_CHUNKS_OF_A_NOTE
        from zkchat_cli.vault.search.query import as_words, parse_query

        words = as_words(question)
        by_words = self.search(words, limit * MOST_CHUNKS_OF_A_NOTE)
        return list(
            islice(
                graph.related_notes(
                    parse_query(words).words, {}, by_words, self._reader.first_chunk
                ),
                max(limit, 0),
            )
        )

    def _require_file(self, relative_path: str) -> None:
        if not self._ask(lambda index: index.has_file(relative_path)):
            raise self._reader.missing_note(relative_path)


def _unknown_name(kind: str, name: str, known: list[str]) -> VaultError:
    near = difflib.get_close_matches(name[:200], known, 3, 0.4) or known
    hint = f"There are: {', '.join(near[:MOST_NAMED])}" + (", …" if len(near) > MOST_NAMED else "")
    return VaultError(
        f"no note has the {kind} {filesystem.short_path(name)}",
        hint if near else "No note has any.",
    )
