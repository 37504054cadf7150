"""Conversations by id and title for a shell's completion, which has to answer at once: nothing but SQLite is loaded for it."""

import sqlite3
from contextlib import closing
from pathlib import Path

MOST = 50


def titles(file: Path, prefix: str) -> list[tuple[str, str]]:
    """The most recent conversations whose id begins so: id, and title with date. Empty where there is no store, or none to be read now."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0.05)) as db:
            query = (
                "SELECT id, coalesce(title, ''), substr(updated_at, 1, 10) FROM conversation"
                " WHERE substr(id, 1, length(?1)) = ?1 ORDER BY julianday(updated_at) DESC, seq DESC LIMIT ?2"
            )
            return [(id_, f"{title} ({day})".strip()) for id_, title, day in db.execute(query, (prefix, MOST))]
    except (sqlite3.Error, ValueError):
        return []
