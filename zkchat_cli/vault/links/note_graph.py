"""The links of a vault, followed in either direction, and the notes that they relate."""

from collections.abc import Callable, Iterable
from itertools import islice

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.block_places import BlockPlaces
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.values import LinkRow
from zkchat_cli.vault.links import graph
from zkchat_cli.vault.links.graph import LinkPath, LinkRelation, RelatedNote
from zkchat_cli.vault.links.link_resolver import LinkResolver
from zkchat_cli.vault.links.name_suggestions import BrokenLink, is_attachment
from zkchat_cli.vault.links.neighbourhood import Neighbourhood, find_neighbourhood
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.note_reader import NoteReader

# Notes that are compared to find related ones
MOST_COMPARED = 50


class NoteGraph:
    """The graph of one vault. `search` finds the chunks for a query, at most so many;
    `block_places` finds blocks by their ids.
    """

    def __init__(
        self,
        index: IndexManager,
        reader: NoteReader,
        resolver: LinkResolver,
        search: Callable[[str, int], list[ContentChunk]],
    ) -> None:
        self._index = index
        self._reader = reader
        self._resolver = resolver
        self._search = search
        self.block_places = BlockPlaces(reader)

    def links(self, relative_path: str) -> list[LinkRow]:
        """The links in a note, in order, broken ones included. Raises VaultError when there is no
        such note.
        """
        self._require_file(relative_path)
        return self._index.ask(lambda index: index.links.links_from(relative_path))

    def backlinks(self, relative_path: str) -> list[LinkRow]:
        """The links in other notes to this note or attachment. Raises VaultError when there is no
        such file.
        """
        self._require_file(relative_path)
        return self._index.ask(lambda index: index.links.links_to(relative_path))

    def broken_links(self) -> list[BrokenLink]:
        """All links of the vault that point to nothing, by source and line."""
        broken = self._index.ask(lambda index: index.links.broken_links())
        near = self._resolver.suggest_notes(text for _, text in broken)
        found: list[BrokenLink] = []
        for row, text in broken:
            # A link to an attachment never means a note, and no link means the note that it is in
            excluded = NOTE_SUFFIXES if is_attachment(text) else ()
            candidates = [
                path
                for path in near.get(text, ())
                if path != row.source and not path.endswith(excluded)
            ]
            found.append(BrokenLink(row, text, tuple(candidates)))
        return found

    def shortest_path(self, source: str, target: str) -> LinkPath | None:
        """A shortest path over links in either direction; None if there is none. Raises VaultError
        for a missing file.
        """
        for end in (source, target):
            self._require_file(end)
        return self._index.ask(lambda index: graph.shortest_path(index, source, target))

    def neighbourhood(self, paths: Iterable[str], depth: int, limit: int) -> Neighbourhood:
        """The notes at most `depth` links from these, at most `limit` of all, with the links
        between them. Paths without a file are left out.
        """
        return self._index.ask(lambda index: find_neighbourhood(index, paths, depth, limit))

    def related_notes(self, relative_path: str, limit: int = 10) -> list[RelatedNote]:
        """The notes most related to a note by links and words, best first. Raises VaultError if
        there is no such note.
        """
        note = self._reader.parse(relative_path)
        keywords = graph.extract_keywords(note)
        by_links = self.related_by_links(note.relative_path)
        found = self._search(" ".join(keywords), MOST_COMPARED)
        by_words = [chunk for chunk in found if chunk.relative_path != note.relative_path]
        related = graph.related_notes(keywords, by_links, by_words, self._reader.first_chunk)
        return list(islice(related, max(limit, 0)))

    def related_by_links(self, relative_path: str) -> dict[str, LinkRelation]:
        """The notes linked with a note or with its neighbours, most related first."""
        return self._index.ask(
            lambda index: graph.related_by_links(index, relative_path, MOST_COMPARED)
        )

    def notes_about(self, question: str, limit: int = 10) -> list[RelatedNote]:
        """The notes that answer a question best, each with its best chunk."""
        from zkchat_cli.vault.search.note_search import MOST_CHUNKS_OF_A_NOTE
        from zkchat_cli.vault.search.query import as_words, parse_query

        query = as_words(question)
        by_words = self._search(query, limit * MOST_CHUNKS_OF_A_NOTE)
        keywords = parse_query(query).words
        related = graph.related_notes(keywords, {}, by_words, self._reader.first_chunk)
        return list(islice(related, max(limit, 0)))

    def _require_file(self, relative_path: str) -> None:
        """Raises VaultError with the nearest names if the index has no such file."""
        if not self._index.ask(lambda index: index.names.has_file(relative_path)):
            raise self._reader.missing_note(relative_path)
