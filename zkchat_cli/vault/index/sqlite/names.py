"""The names of files and notes in SQLite."""

import json
from collections.abc import Sequence
from typing import Any

from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import LinkName


class SqliteNameIndex:
    """A `NameIndex`."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    def has_file(self, path: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM names WHERE path = ?", path))

    def with_key(self, key: str) -> list[LinkName]:
        sql = "SELECT path, kind, spelled FROM names WHERE key = ?"
        return _link_names(self._database.rows(sql, key))

    def with_ids(self, ids: Sequence[int]) -> list[LinkName]:
        sql = """
            SELECT names.path, kind, spelled
            FROM json_each(?) AS wanted CROSS JOIN names ON names.rowid = wanted.value
        """
        return _link_names(self._database.rows(sql, json.dumps(ids)))

    def with_pairs(self, pairs: str, limit: int) -> list[int]:
        sql = "SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?"
        return [id_ for (id_,) in self._database.rows(sql, f'"{pairs}"', limit)]

    def aliases_and_titles(self) -> list[LinkName]:
        sql = """
            SELECT path, kind, spelled FROM names
            WHERE kind IN ('alias', 'title') ORDER BY kind, key, path
        """
        return _link_names(self._database.rows(sql))


def _link_names(rows: list[tuple[Any, ...]]) -> list[LinkName]:
    return [LinkName(*row) for row in rows]
