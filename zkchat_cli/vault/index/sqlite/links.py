"""The links between notes in SQLite."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault.index.sqlite.chunks import SqliteChunkIndex
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.values import BrokenLinkRow, LinkEdge, LinkRow

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import Direction

# Characters of the line around a link
MAX_SNIPPET = 200

# CROSS JOIN keeps SQLite from reordering: it does not know the length of a JSON list
_EDGES_OUT = """
    SELECT here.path, links.target
    FROM json_each(:paths) AS wanted
    CROSS JOIN notes AS here ON here.path = wanted.value
    CROSS JOIN links ON links.note_id = here.id
    CROSS JOIN notes AS there ON there.path = links.target
    WHERE links.target != here.path
"""
_EDGES_IN = """
    SELECT links.target, there.path
    FROM json_each(:paths) AS wanted
    CROSS JOIN links ON links.target = wanted.value
    CROSS JOIN notes AS there ON there.id = links.note_id
    WHERE there.path != links.target
"""
_EDGES: dict["Direction", str] = {
    "out": _EDGES_OUT,
    "in": _EDGES_IN,
    "both": f"{_EDGES_OUT} UNION {_EDGES_IN}",
}


class _StoredLink(NamedTuple):
    """A link, and the chunk that its line may be in."""

    source: str
    target: str | None
    raw: str
    line: int
    chunk_id: int | None


class SqliteLinkIndex:
    """A `LinkIndex`."""

    def __init__(self, database: IndexDatabase, chunks: SqliteChunkIndex) -> None:
        self._database = database
        self._chunks = chunks

    def links_from(self, path: str) -> list[LinkRow]:
        return self._link_rows("notes.path = ?", path)

    def links_to(self, path: str) -> list[LinkRow]:
        return self._link_rows("links.target = ? AND notes.path != links.target", path)

    def links_between(self, source: str, target: str) -> list[LinkRow]:
        return self._link_rows("notes.path = ? AND links.target = ?", source, target)

    def broken_links(self) -> list[BrokenLinkRow]:
        sql = "SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"
        texts: dict[str, str] = dict(self._database.rows(sql))
        rows = self._link_rows("links.status = 'broken'")
        return [BrokenLinkRow(row, texts[row.raw]) for row in rows]

    def edges(self, paths: Sequence[str], direction: "Direction") -> set[LinkEdge]:
        rows = self._database.rows(_EDGES[direction], paths=json.dumps(paths))
        return {LinkEdge(here, there) for here, there in rows}

    def notes_linking(self, path: str, keys: Sequence[str]) -> list[str]:
        sql = """
            SELECT DISTINCT notes.path FROM links JOIN notes ON notes.id = links.note_id
            WHERE links.target = ? OR links.key IN (SELECT value FROM json_each(?))
            ORDER BY notes.path
        """
        return [source for (source,) in self._database.rows(sql, path, json.dumps(keys))]

    def notes_linked_in_chunk(self, chunk_id: int) -> list[int]:
        sql = """
            SELECT DISTINCT notes.id
            FROM chunks JOIN links USING (note_id) JOIN notes ON notes.path = links.target
            WHERE chunks.id = ? AND links.line BETWEEN start_line AND end_line
                AND notes.id != note_id
        """
        return [note_id for (note_id,) in self._database.rows(sql, chunk_id)]

    def _link_rows(self, condition: str, *values: object) -> list[LinkRow]:
        """Links with the line around them, taken from their chunk; a link in front matter has no
        other context.
        """
        sql = f"""
            SELECT notes.path, links.target, raw, line, (
                SELECT chunks.id FROM chunks
                WHERE chunks.note_id = links.note_id AND start_line <= line
                ORDER BY start_line DESC, chunks.id LIMIT 1
            )
            FROM links JOIN notes ON notes.id = links.note_id
            WHERE {condition} AND links.status IS NOT NULL
            ORDER BY notes.path, line, links.rowid
        """
        links = [_StoredLink(*row) for row in self._database.rows(sql, *values)]
        ids = list(dict.fromkeys(link.chunk_id for link in links if link.chunk_id))
        chunks = dict(zip(ids, self._chunks.read(ids), strict=True))
        found: list[LinkRow] = []
        for link in links:
            chunk = chunks[link.chunk_id] if link.chunk_id else None
            snippet = _snippet(link, chunk)
            found.append(LinkRow(link.source, link.target, link.raw, link.line, snippet))
        return found


def _snippet(link: _StoredLink, chunk: ContentChunk | None) -> str:
    """The line of the link, or only the link if the chunk does not have its line."""
    context = link.raw
    if chunk and link.line <= chunk.end_line:
        below = chunk.text.split("\n")[link.line - chunk.start_line :]
        if below:
            context = below[0].strip(" \t#>")
    return truncate_around(context, max(context.find(link.raw), 0), MAX_SNIPPET)
