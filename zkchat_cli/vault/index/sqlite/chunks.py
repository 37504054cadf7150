"""The chunks of the notes in SQLite."""

import json
from collections.abc import Sequence

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.languages import language_of_surroundings, main_language, written_language
from zkchat_cli.vault.index.sqlite.connection import damage_error
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.sqlite.filters import AllowedNotes
from zkchat_cli.vault.index.values import (
    ChunkPlace,
    ChunkText,
    NoteFilter,
    RankingCandidate,
    chunk_key,
    make_chunk,
)
from zkchat_cli.vault.note_chunks import BYTES_PER_TOKEN, estimate_size

# Notes of a folder, chunks of a note and characters of a chunk that tell their language
SAMPLED_NOTES = 50
SAMPLED_CHUNKS = 20
SAMPLED_CHARACTERS = 1_000
# Behind every path
LAST_CHARACTER = "\U0010ffff"


class SqliteChunkIndex:
    """A `ChunkIndex`."""

    def __init__(self, database: IndexDatabase, allowed: AllowedNotes) -> None:
        self._database = database
        self._allowed = allowed

    def read(self, ids: Sequence[int]) -> list[ContentChunk]:
        sql = """
            SELECT notes.path, title, heading, start_line, end_line, text, headings,
                chunks.key, fence
            FROM json_each(?) AS wanted
            JOIN chunks ON chunks.id = wanted.value
            JOIN notes ON notes.id = note_id
            ORDER BY wanted.key
        """
        found: list[ContentChunk] = []
        for row in self._database.rows(sql, json.dumps(ids)):
            path, title, heading, start, end, text, headings, key, fence = row
            if chunk_key(title, headings, text) != key:
                problem = f"a part of {path} is not as it was stored"
                raise damage_error(self._database.file, problem)
            found.append(make_chunk(path, title, heading, start, end, text, fence))
        return found

    def candidates(
        self, ids: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[RankingCandidate]:
        sql = f"""
            SELECT chunks.id, note_id, title, aliases, tags, anchors, headings, text,
                size / {BYTES_PER_TOKEN}.0
            FROM json_each(?) AS wanted
            JOIN chunks ON chunks.id = wanted.value
            JOIN notes ON notes.id = note_id
            WHERE TRUE {self._allowed.condition("note_id", allowed, "chunks.id")}
        """
        found: list[RankingCandidate] = []
        for row in self._database.rows(sql, json.dumps(ids)):
            *_, text, _ = row
            found.append(RankingCandidate._make((*row, estimate_size(text))))
        return found

    def places(
        self, ids: Sequence[int], keys: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[ChunkPlace]:
        within = self._allowed.condition("note_id", allowed if keys else None, "id")
        sql = f"""
            SELECT id, note_id, key FROM chunks WHERE id IN (
                SELECT value FROM json_each(?)
                UNION
                SELECT id FROM chunks WHERE key IN (SELECT value FROM json_each(?)) {within}
            )
        """
        rows = self._database.rows(sql, json.dumps(ids), json.dumps(keys))
        return [ChunkPlace(*row) for row in rows]

    def first_of_note(self, note_id: int, limit: int) -> list[int]:
        sql = "SELECT id FROM chunks WHERE note_id = ? ORDER BY id LIMIT ?"
        return [id_ for (id_,) in self._database.rows(sql, note_id, limit)]

    def keys(self, named: Sequence[str] = ()) -> list[int]:
        sql = """
            WITH linked AS (
                SELECT target, COUNT(DISTINCT note_id) AS notes FROM links
                WHERE target IS NOT NULL GROUP BY target
            ),
            ranked AS (
                SELECT id, path,
                    ROW_NUMBER() OVER (ORDER BY mtime_ns DESC) AS newest,
                    IIF(
                        linked.notes, ROW_NUMBER() OVER (ORDER BY linked.notes DESC), NULL
                    ) AS most_linked
                FROM notes LEFT JOIN linked ON target = path
            )
            SELECT key FROM chunks JOIN ranked ON ranked.id = note_id
            ORDER BY
                path NOT IN (SELECT value FROM json_each(?)),
                MIN(newest, COALESCE(most_linked, newest)), chunks.id
        """
        return [key for (key,) in self._database.rows(sql, json.dumps(list(named)))]

    def texts(self, keys: Sequence[int]) -> dict[int, ChunkText]:
        sql = """
            SELECT key, title, headings, text, note_id, path
            FROM chunks JOIN notes ON notes.id = note_id
            WHERE key IN (SELECT value FROM json_each(?))
        """
        texts: dict[int, ChunkText] = {}
        languages = _SurroundingLanguages(self._database)
        for key, title, headings, text, note_id, path in self._database.rows(sql, json.dumps(keys)):
            language = written_language(text) or languages.of_note(note_id, path)
            texts[key] = ChunkText(title, headings, text, language)
        return texts


class _SurroundingLanguages:
    """The languages of notes and folders, each looked up once."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._of_notes: dict[int, str | None] = {}
        self._of_folders: dict[str, str | None] = {}

    def of_note(self, note_id: int, path: str) -> str | None:
        """The language of a note; of a short one, its folder's or the vault's."""
        if note_id not in self._of_notes:
            language = self._told_by_note(note_id)
            folder = path.rpartition("/")[0]
            if language is None and folder:
                # "0" is the character behind "/"
                language = self._told_between(f"{folder}/", f"{folder}0")
            self._of_notes[note_id] = language or self._told_between("", LAST_CHARACTER)
        return self._of_notes[note_id]

    def _told_by_note(self, note_id: int) -> str | None:
        sql = f"""
            SELECT substr(text, 1, {SAMPLED_CHARACTERS}) FROM chunks WHERE note_id = ?
            ORDER BY id LIMIT {SAMPLED_CHUNKS}
        """
        return language_of_surroundings(
            "\n".join(text for (text,) in self._database.rows(sql, note_id))
        )

    def _told_between(self, first: str, last: str) -> str | None:
        """The language of most of the first notes with paths between these."""
        if first not in self._of_folders:
            sql = f"""
                SELECT group_concat(text, char(10)) FROM (
                    SELECT note_id, substr(text, 1, {SAMPLED_CHARACTERS}) AS text FROM chunks
                    WHERE note_id IN (
                        SELECT id FROM notes WHERE path > ? AND path < ? LIMIT {SAMPLED_NOTES}
                    )
                ) GROUP BY note_id
            """
            texts = [text for (text,) in self._database.rows(sql, first, last)]
            self._of_folders[first] = main_language(texts)
        return self._of_folders[first]
