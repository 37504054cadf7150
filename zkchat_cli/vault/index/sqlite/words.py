"""The words of chunks and names in FTS5 tables."""

from collections.abc import Sequence
from typing import Literal

from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.sqlite.filters import AllowedNotes
from zkchat_cli.vault.index.values import NoteFilter
from zkchat_cli.vault.index.word_match import Phrase, WordMatch, is_part

WordTable = Literal["words", "note_words"]

# The column that has the note of a row
_NOTE_OF_ROW: dict[WordTable, str] = {
    "words": "(SELECT note_id FROM chunks WHERE chunks.id = words.rowid)",
    "note_words": "note_words.rowid",
}


class SqliteWordIndex:
    """A `WordIndex`."""

    def __init__(self, database: IndexDatabase, allowed: AllowedNotes) -> None:
        self._database = database
        self._allowed = allowed

    def count_chunks(self, match: WordMatch, most: int | None = None) -> int:
        return self._count("words", match, most)

    def find_chunks(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        expression = match_expression(match, without)
        return self._find("words", expression, limit, allowed, weights)

    def count_named(self, match: WordMatch, most: int | None = None) -> int:
        return self._count("note_words", match, most)

    def find_named(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        expression = match_expression(match, without)
        return self._find("note_words", expression, limit, allowed, weights)

    def notes_with_chunk(self, match: WordMatch, limit: int, *, ranked: bool) -> list[str]:
        order = "bm25(words)" if ranked else "rowid"
        sql = f"""
            SELECT path FROM (
                SELECT rowid AS id, {order} AS place FROM words
                WHERE words MATCH ? ORDER BY {order} LIMIT ?
            ) AS found
            JOIN chunks USING (id) JOIN notes ON notes.id = note_id
            ORDER BY place
        """
        rows = self._database.rows(sql, match_expression(match), limit)
        return list(dict.fromkeys(str(path) for (path,) in rows))

    def newest_chunks(
        self,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter,
        by_date: bool,
    ) -> list[int]:
        self._allowed.fill(allowed)
        wanted = "TRUE"
        if without:
            wanted = """
                chunks.id NOT IN (SELECT rowid FROM words WHERE words MATCH :without)
                AND chunks.note_id NOT IN (
                    SELECT rowid FROM note_words WHERE note_words MATCH :without
                )
            """
        groups = "chunks.note_id"
        order = ""
        if by_date:
            wanted += " AND chunks.id NOT IN (SELECT value FROM temp.other_days)"
            groups += ", own.first"
            order = """
                COALESCE(
                    MAX(own.last),
                    (
                        SELECT MAX(dated.last) FROM current_dates AS dated
                        WHERE dated.note_id = chunks.note_id
                    )
                ) DESC,
            """
        sql = f"""
            SELECT MIN(chunks.id) AS first_chunk
            FROM temp.allowed CROSS JOIN chunks ON chunks.note_id = allowed.value
            LEFT JOIN current_dates AS own ON own.chunk_id = chunks.id
            WHERE {wanted} GROUP BY {groups}
            ORDER BY {order} first_chunk DESC LIMIT :limit
        """
        rows = self._database.rows(sql, without=_group_expression(without), limit=limit)
        return [id_ for (id_,) in rows]

    def _count(self, table: WordTable, match: WordMatch, most: int | None) -> int:
        sql = f"SELECT COUNT(*) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
        limit = -1 if most is None else most
        rows = self._database.rows(sql, match_expression(match), limit)
        return sum(int(count) for (count,) in rows)

    def _find(
        self,
        table: WordTable,
        expression: str,
        limit: int,
        allowed: NoteFilter | None,
        weights: Sequence[float] | None,
    ) -> list[int]:
        chunk = "words.rowid" if table == "words" else None
        order = f"{table}.rowid DESC"
        if weights is not None:
            order = f"bm25({table}, {', '.join(map(str, weights))})"
        sql = f"""
            SELECT {table}.rowid FROM {table}
            WHERE {table} MATCH ? {self._allowed.condition(_NOTE_OF_ROW[table], allowed, chunk)}
            ORDER BY {order} LIMIT ?
        """
        return [id_ for (id_,) in self._database.rows(sql, expression, limit)]


def match_expression(match: WordMatch, without: Sequence[Phrase] = ()) -> str:
    """An FTS5 expression. Every word is quoted: `AND`, `*`, `NEAR(` are words or nothing."""
    groups = [_group_expression(group) for group in match.groups]
    expression = groups[0] if len(groups) == 1 else " AND ".join(f"({each})" for each in groups)
    if match.only_headings:
        expression = f"headings : ({expression})"
    if without:
        return f"({expression}) NOT ({_group_expression(without)})"
    return expression


def _group_expression(phrases: Sequence[Phrase]) -> str:
    return " OR ".join(_phrase_expression(phrase) for phrase in phrases)


def _phrase_expression(phrase: Phrase) -> str:
    """Words next to each other; a single CJK character matches the bigrams that begin with it, and
    itself at the end of a run.
    """
    quoted = f'"{" ".join(phrase)}"'
    is_prefix = len(phrase) == 1 and is_part(phrase[0])
    return f"{quoted}*" if is_prefix else quoted
