"""The notes: a folder of Markdown files, its names, links and words, and what can be asked of them.

`Vault` is the whole interface; the rooms behind it are

    filesystem   scanning, confinement, decoding; `writing` a new note
    changes      edits, renames and what they do to links, proposed and then made; `editing` and `rewriting` compute the new texts,
                 `verbatim` keeps all else as it was, `diffs` show it, `replacing` does all of it or nothing
    markup       one walk over a text: headings, links, tags, code
    front_matter a note's properties
    markdown     a note's names, tags and chunks (`chunks`)
    sections     which lines of a note a heading or a block id means
    wikilinks    a link's syntax and what it points to; `namesakes` resolves many where many files have one name
    search       what a query means; `snippets` show what it found
    ranking      how well a chunk answers; `retrieval` finds those worth a look
    index        the SQLite file and its questions; `indexing` brings it up to date, `upkeep` opens, builds and repairs it,
                 `swapping` keeps two processes from opening and replacing it at once
    graph        notes joined by links: neighbours, ways, orphans, hubs; `broken` has the links that join nothing
    names        nearest names; `resolution` of links in messages uses them
    completing   what a link being typed may become; `fuzzy` finds texts by some of their letters
    catalogue    notes by folder, tag and title
    related      which notes belong together, and why
    quotations   the lines that links stand on
    texts        what the files say now, whatever the index knows of them
    semantic     search by meaning, where something computes `vectors`; `fusion` makes two rankings one
    keeping      how notes begin, and summaries of them, by the hash of their text; `beside` is the file it shares its ways with `vectors`

Opening is cheap; the index is opened, or built where there is none, by the first question that needs it.
"""

import os
import posixpath
import threading
from collections.abc import Collection, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from zkchat_cli.errors import ZkchatError
from zkchat_cli.models import ContentChunk, IndexReport, LinkResolution
from zkchat_cli.vault import filesystem, listing, sections
from zkchat_cli.vault.edit.note_editor import NoteEditor
from zkchat_cli.vault.index.database import IndexDatabase, LinkRow
from zkchat_cli.vault.index.indexer import Progress
from zkchat_cli.vault.index.manager import IndexManager, Refreshed
from zkchat_cli.vault.index.summary_cache import SummaryCache, SummaryStore
from zkchat_cli.vault.links import broken, graph, name_suggestions, text_links
from zkchat_cli.vault.links.broken import BrokenLink, BrokenLinks
from zkchat_cli.vault.links.completion import Completion, Completions
from zkchat_cli.vault.links.graph import Direction, Hub, LinkPath, Neighbour
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.listing import NoteEntry
from zkchat_cli.vault.markup import Heading
from zkchat_cli.vault.note_reader import Note, NoteReader
from zkchat_cli.vault.search import lexical as search_lexical
from zkchat_cli.vault.search import query as search_query
from zkchat_cli.vault.search import related, snippets
from zkchat_cli.vault.search.ranking import RANKING, Ranking
from zkchat_cli.vault.search.related import RelatedNote
from zkchat_cli.vault.search.semantic import Semantic, fused
from zkchat_cli.vault.search.snippets import Snippet
from zkchat_cli.vault.search.vector_store import Embedder, VectorStore

__all__ = [
    "BrokenLink",
    "BrokenLinks",
    "Completion",
    "Direction",
    "Heading",
    "Hub",
    "LinkPath",
    "LinkRow",
    "Neighbour",
    "Note",
    "NoteEntry",
    "RelatedNote",
    "Vault",
]

MOST_CHUNKS_OF_A_NOTE = 3
MOST_COMPARED = 50
"""Notes of which it is weighed how related they are."""
RANKED = 100
"""Chunks that each of two rankings brings to their fusion: what comes later hardly changes the first places."""


class Vault(NoteReader):
    """One folder of notes. Paths are relative to it with `/`. May be used by several threads, one at a time."""

    def __init__(self, root: Path, index_file: Path, ignore: Sequence[str] = (), embedder: Embedder | None = None) -> None:
        super().__init__(root)
        self.name = root.name or str(root)
        self.index_file = index_file
        self._upkeep = IndexManager(root, index_file, ignore)
        self._ask = self._upkeep.ask
        self._completing = threading.Lock()
        self._completions: tuple[tuple[object, ...], Completions] | None = None
        self.summaries = SummaryCache(root, self._upkeep, SummaryStore(index_file.with_suffix(".summaries.db")))
        self.editor = NoteEditor(root, self._upkeep, index_file.with_suffix(".changes.json"), self.refresh)
        self._semantic = Semantic(embedder, VectorStore(index_file.with_suffix(".vectors.db")), self._ask) if embedder else None

    @classmethod
    def open(cls, folder: Path, cache_dir: Path, *, ignore: Sequence[str] = (), embedder: Embedder | None = None) -> "Vault":
        """The vault in `folder`, with its index below `cache_dir`; with an `embedder`, it is searched by meaning too.

        Raises VaultError when there is no such folder or it cannot be read.
        """
        root = filesystem.resolve_root(folder)
        return cls(root, cache_dir / "index" / f"{blake2b(os.fsencode(root), digest_size=16).hexdigest()}.db", ignore, embedder)

    def close(self) -> None:
        for part in (self._upkeep, self.summaries, self._semantic):
            if part:
                part.close()

    @property
    def has_index(self) -> bool:
        """Whether there is an index already, so that the next refresh is short."""
        return self._upkeep.exists

    def refresh(self, *, full: bool = False, progress: Progress | None = None, only: Collection[str] | None = None) -> IndexReport:
        """Bring the index up to date with the files; `full`, or an index that cannot serve, builds it anew beside the old one.

        `progress(done, total)` counts notes that are read. `only`: paths of which it is known that nothing else has changed; folders among
        them mean that anything may have. Raises VaultError when the folder holds no Markdown file.
        """
        self.editor.recover()
        refreshed = self._upkeep.refresh(full=full, progress=progress, only=only)
        self.summaries.prune(refreshed, full=full)
        return self._ask(lambda index: self._report(index, refreshed))

    def status(self) -> IndexReport:
        """What the index holds, without looking at the files."""
        return self._ask(lambda index: self._report(index, Refreshed(rebuilt=self._upkeep.take_rebuilt())))

    def search(self, query: str, limit: int = 10, *, weights: Ranking = RANKING) -> list[ContentChunk]:
        """The best chunks for any text, best first, few from one note. `score` is higher for better, comparable within one search.

        By words, weighed by `weights`, and by meaning where there is an embedder; "phrases" ask for words alone. An embedder that fails is
        a warning.
        """
        asked = search_query.parse_query(query)
        if limit <= 0:
            return []
        if self._semantic and asked.is_plain:
            by_words = self._ask(lambda index: search_lexical.find(index, asked, RANKED, RANKED, weights))
            if by_meaning := self._semantic.nearest(query, RANKED):
                return fused(by_words, by_meaning, limit, MOST_CHUNKS_OF_A_NOTE)
        return self._ask(lambda index: search_lexical.find(index, asked, limit, MOST_CHUNKS_OF_A_NOTE, weights))

    def snippet(self, found: ContentChunk, query: str) -> tuple[str | None, Snippet]:
        """The lines of a chunk that show best why `query` found it, and the heading they stand under."""
        shown = snippets.snippet(found.text, found.start_line, search_query.parse_query(query).terms)
        return sections.heading_above(shown.line, found.text, found.start_line) or found.heading, shown

    def embed(self, progress: Progress | None = None, *, verify: bool = False) -> None:
        """Compute the vectors that are missing, if there is an embedder. What fails is a warning; what was computed is kept.

        `verify` looks whether the vectors that are there are still the model's, and computes all anew if not.
        """
        if self._semantic:
            self._semantic.embed(progress, verify=verify)

    def take_warnings(self) -> list[ZkchatError]:
        """What kept search by meaning from working, and changes that had been broken off, since this was last asked; each is told once."""
        return [*self.editor.take_warnings(), *(self._semantic.take_warnings() if self._semantic else ())]

    def find_file(self, written: str) -> str | None:
        """The file that exactly this path means, from the vault or the disk's root, `.md` or not; None if none: it may be a name, a link.

        Unlike a link a path may hold `#`, `|` and brackets, as a shell completes it.
        """
        if "\0" in written:
            return None
        inside = os.path.relpath(os.path.realpath(written), self.root) if Path(written).is_absolute() else written
        path = posixpath.normpath(filesystem.replace_surrogates(inside.replace(os.sep, "/")))
        return self._ask(lambda index: next((p for p in (path, *(path + suffix for suffix in NOTE_SUFFIXES)) if index.has_file(p)), None))

    def resolve_links(self, text: str, source: str | None = None) -> list[LinkResolution]:
        """The links of `text`, in its order, as if it stood in the note `source`, or in no note in the vault's root."""
        return self._ask(lambda index: text_links.of_text(index, text, source))

    def resolve(self, target: str, source: str | None = None) -> LinkResolution:
        """What `[[target]]` points to; `Note#heading` and `Note|alias` are understood, brackets are not needed."""
        return self._ask(lambda index: text_links.of_target(index, target, source))

    def suggest_names(self, name: str, limit: int = 3) -> list[str]:
        """The names of the notes that `name` may have meant, the nearest first."""
        return self._ask(lambda index: [spelled for spelled, _ in name_suggestions.suggest_names(index, name, limit)])

    def complete(self, typed: str, limit: int = 30) -> list[Completion]:
        """The notes whose names have the letters typed, the best first; for nothing typed, those that changed last.

        It does not wait for a refresh that is under way, but answers from what was there before.
        """
        return self._names_now().find(filesystem.replace_surrogates(typed), limit)

    def cached_paths(self) -> list[str]:
        """`notes`, as `complete` knows them: at once, whatever is going on."""
        return self._names_now().paths

    def _names_now(self) -> Completions:
        def renewed(index: IndexDatabase) -> tuple[tuple[object, ...], Completions]:
            known, stamp = self._completions, index.stamp()
            return known if known is not None and known[0] == stamp else (stamp, Completions.of(index))

        with self._completing:
            if self._completions is None:
                self._completions = self._ask(renewed)
            else:
                self._completions = self._upkeep.ask_if_free(renewed) or self._completions
            return self._completions[1]

    def note_paths(self) -> list[str]:
        """The paths of all notes, sorted."""
        return self._ask(lambda index: index.paths())

    def links(self, relative_path: str) -> list[LinkRow]:
        """The links in a note, in its order, broken ones included. Raises VaultError when there is no such note."""
        self._require(relative_path)
        return self._ask(lambda index: index.links_from(relative_path))

    def backlinks(self, relative_path: str) -> list[LinkRow]:
        """The links in other notes that point to this note or attachment. Raises VaultError when there is no such file."""
        self._require(relative_path)
        return self._ask(lambda index: index.links_to(relative_path))

    def broken_links(self) -> BrokenLinks:
        """Every link of the vault that points to nothing, by source and line, with the paths of the nearest names for the first of them."""

        def nearest(index: IndexDatabase, name: str) -> tuple[str, ...]:
            return tuple(path for _, path in name_suggestions.suggest_names(index, name, 3))

        return self._ask(lambda index: broken.notes(index, partial(nearest, index), text_links.MOST_NEAREST))

    def broken_headings(self) -> list[BrokenLink]:
        """Every link whose note exists while the heading or block it names does not, by source and line. Reads each such note once."""
        return self._ask(lambda index: broken.headings(index, self._parsed))

    def locate(self, text: str) -> tuple[str, str | None]:
        """The file that a path, a name, a title or a link certainly means, and the heading that the link names.

        Raises VaultError for a path that leads out of the vault, for what means nothing, and for what may mean several notes: the hint
        says which ones.
        """
        text = filesystem.replace_surrogates(text.strip())
        if os.path.isfile(filesystem.resolve_inside(self.root, text)):  # noqa: PTH113 - Path.is_file raises for names that are too long
            return posixpath.normpath(text), None
        link = self.resolve(text)
        titled = [] if link.target else self._ask(lambda index: listing.titled(index, text))
        return listing.certain(text, link, titled)

    def list_notes(self, folder: str = "", tag: str = "") -> list[NoteEntry]:
        """The notes in a folder or below it, with a tag or one nested in it, by path; of all folders and tags where none is given.

        Raises VaultError for a folder or tag that no note has; the hint names the nearest.
        """
        return self._ask(lambda index: listing.entries(index, filesystem.replace_surrogates(folder), filesystem.replace_surrogates(tag)))

    def neighbours(self, relative_path: str, depth: int = 1, direction: Direction = "both", limit: int = 1000) -> list[Neighbour]:
        """The notes at most `depth` links away, nearest first and then by path, `limit` at most; not the note itself.

        An attachment may be asked about, but is nobody's neighbour. Raises VaultError when there is no such file.
        """
        self._require(relative_path)
        return self._ask(lambda index: graph.neighbours(index, relative_path, depth, direction, limit))

    def shortest_path(self, source: str, target: str, *, directed: bool = False) -> LinkPath | None:
        """A shortest way over links from one note to another, always the same; None when there is none.

        Links lead both ways, or with `directed` only the way they point. Raises VaultError when one of the files does not exist.
        """
        for end in (source, target):
            self._require(end)
        return self._ask(lambda index: graph.shortest_path(index, source, target, directed=directed))

    def orphans(self, *, linking: bool = False) -> list[str]:
        """The notes that no other note links to and that link to none, by path; with `linking`, also those that do link to others."""
        return self._ask(lambda index: graph.orphans(index, linking=linking))

    def hubs(self, limit: int = 10) -> list[Hub]:
        """The notes that most other notes link to, the most linked first."""
        return self._ask(lambda index: graph.hubs(index, limit))

    def related_notes(self, relative_path: str, limit: int = 10) -> list[RelatedNote]:
        """The notes most related to a note by links and words, the best first, not itself. Raises VaultError if there is no such note."""
        note = self._parsed(relative_path)
        telling = related.telling_words(note)
        kin = self._ask(lambda index: graph.kin(index, note.relative_path, MOST_COMPARED))
        lexical = related.best_of_each(self.search(" ".join(telling), MOST_COMPARED))
        lexical.pop(note.relative_path, None)
        return list(islice(related.combine(telling, kin, lexical, self._first_chunk), max(limit, 0)))

    def notes_about(self, query: str, limit: int = 10) -> list[RelatedNote]:
        """The notes that answer a query best, each once with its best chunk."""
        asked = search_query.parse_query(query).words
        best = related.best_of_each(self.search(query, limit * MOST_CHUNKS_OF_A_NOTE))
        return [RelatedNote(found, related.reasons(None, related.shared_words(asked, found))) for found in best.values()][: max(limit, 0)]

    def _require(self, relative_path: str) -> None:
        if not self._ask(lambda index: index.has_file(relative_path)):
            raise self._missing(relative_path)

    def _report(self, index: IndexDatabase, refreshed: Refreshed) -> IndexReport:
        counts = index.counts()
        vectors = self._semantic.coverage(index) if self._semantic else None
        return IndexReport(
            **counts._asdict(),
            **refreshed.changes._asdict(),
            seconds=round(refreshed.seconds, 4),
            semantic=vectors == counts.chunks,
            vectors=vectors,
            problems=index.problems(),
            rebuilt=refreshed.rebuilt,
        )
