"""The words of the notes with their stems in SQLite."""

import json
from collections.abc import Sequence

from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.values import WordCount


class SqliteVocabulary:
    """A `Vocabulary`."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    def languages(self) -> tuple[str, ...]:
        return tuple((self._database.meta("languages") or "").split())

    def with_stems(self, language: str, stems: Sequence[str]) -> list[WordCount]:
        sql = """
            SELECT stem, term, chunks, notes FROM vocabulary
            WHERE language = ? AND stem IN (SELECT value FROM json_each(?))
        """
        rows = self._database.rows(sql, language, json.dumps(stems))
        return [WordCount(*row) for row in rows]

    def with_part(self, language: str, part: str, limit: int) -> list[WordCount]:
        sql = """
            SELECT stem, term, chunks, notes FROM vocabulary
            WHERE language = ? AND (stem LIKE ? OR stem LIKE ?) LIMIT ?
        """
        rows = self._database.rows(sql, language, f"{part}%", f"%{part}", limit)
        return [WordCount(*row) for row in rows]
