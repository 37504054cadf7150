"""A folder of notes with its vault, and the contents of an index, to compare two of them."""

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from zkchat_cli.vault.search.embedder import Embedder
from zkchat_cli.vault.vault import Vault


class NotesFolder:
    """`notes.write("Alpha.md", "text")`, `notes.vault.refresh()`, `notes.found("text")`."""

    def __init__(self, tmp_path: Path, embedder: Embedder | None = None, **files: str) -> None:
        self.root = tmp_path / "notes"
        self.cache = tmp_path / "cache"
        self.embedder = embedder
        self.root.mkdir()
        for name, text in files.items():
            self.write(name + ".md", text)
        self.vault = self.another()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        # The clock of a file system may be too coarse for two writes of a test
        if before:
            os.utime(file, ns=(before + 10_000_000, before + 10_000_000))

    def another(self) -> Vault:
        return Vault.open(self.root, self.cache, embedder=self.embedder)

    def found(self, query: str, limit: int = 10) -> list[str]:
        return [chunk.relative_path for chunk in self.vault.search(query, limit)]

    def figures(self) -> tuple[int, int, int, int]:
        report = self.vault.status()
        return report.notes, report.chunks, report.links, report.broken_links

    def check(self) -> None:
        """The index after many small changes equals a new one."""
        with tempfile.TemporaryDirectory() as elsewhere:
            fresh = Vault.open(self.root, Path(elsewhere))
            fresh.refresh()
            fresh.close()
            grown = index_contents(self.vault.index_file)
            made = index_contents(fresh.index_file)
        for table in made:
            assert grown[table] == made[table], table


_CHUNK = """
    SELECT id, (SELECT path FROM notes WHERE notes.id = note_id) || ' ' || start_line || ' ' || (
        SELECT COUNT(*) FROM chunks AS before
        WHERE before.note_id = chunks.note_id AND before.id < chunks.id
    )
    FROM chunks
"""
_ROWS = {
    "words": _CHUNK,
    "note_words": "SELECT id, path FROM notes",
    "name_pairs": "SELECT rowid, path || ' ' || kind || ' ' || spelled FROM names",
}
"""The FTS5 tables, with the meaning of their row numbers, which differ between two indexes."""

_TABLES = {
    "notes": "SELECT path, mtime_ns, size, hash, title, aliases, tags, anchors FROM notes",
    "names": "SELECT key, path, kind, spelled FROM names",
    "chunks": (
        "SELECT path, heading, headings, start_line, end_line, text FROM chunks JOIN notes ON "
        "notes.id = note_id"
    ),
    "links": (
        "SELECT path, line, kind, raw, text, alias, embed, key, target, status FROM links JOIN "
        "notes ON notes.id = note_id"
    ),
    "tags": "SELECT tag, path FROM tags JOIN notes ON notes.id = note_id",
    "problems": "SELECT path, text, from_scan FROM problems",
    "vocabulary": "SELECT * FROM vocabulary",
    "meta": "SELECT key, value FROM meta",
}


def index_contents(index_file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in an index except row numbers: its tables, and for FTS5 the places of each word,
    the length of each row, and the sums.
    """
    db = sqlite3.connect(index_file)
    held = {table: db.execute(sql).fetchall() for table, sql in _TABLES.items()}
    for table, sql in _ROWS.items():
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        rows = dict(db.execute(sql).fetchall())
        db.execute(
            f"CREATE VIRTUAL TABLE temp.places_of_{table} USING fts5vocab (main, {table}, instance)"
        )
        places = db.execute(f"SELECT doc, term, col, offset FROM temp.places_of_{table}")
        held[table] = [(rows[row], *place) for row, *place in places]
        held[f"{table}, lengths"] = [
            (rows[row], length) for row, length in db.execute(f"SELECT id, sz FROM {table}_docsize")
        ]
        held[f"{table}, sums"] = db.execute(
            f"SELECT block FROM {table}_data WHERE id = 1"
        ).fetchall()
    db.close()
    return {table: sorted(rows, key=repr) for table, rows in held.items()}
