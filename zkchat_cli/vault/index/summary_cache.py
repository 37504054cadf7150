"""Summaries of notes, cached in a file beside the index by the hash of the text they were made from.

Not in the index itself: a model's summaries cost money and must outlast a rebuild; a summary must not wait while another process updates
the index for seconds; and a write to the index would make semantic search check all vectors again. If this file cannot be used, no summary
is found or stored, and nothing else happens.
"""

import logging
import os
import posixpath
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import filesystem, front_matter
from zkchat_cli.vault.filesystem import NoteBytes
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.index.manager import IndexManager, IndexRefresh
from zkchat_cli.vault.index.sidecar_db import SidecarDatabase, T
from zkchat_cli.vault.links.wikilinks import stem

VERSION = 1
"""Raise it whenever the summaries of the same text change."""
BUSY_SECONDS = 0.01
READ = 64 * 1024
"""Bytes of a note that are read for its summary, however long it is."""
_log = logging.getLogger(__name__)

_SUMMARIES = """CREATE TABLE summaries (
    hash BLOB NOT NULL,                  -- of the note's bytes, as in the index
    model TEXT NOT NULL,                 -- that wrote it; empty: taken from the note
    kind TEXT NOT NULL,
    text TEXT NOT NULL,                  -- empty: the note has nothing to summarize
    PRIMARY KEY (hash, model)
) WITHOUT ROWID"""


class CachedSummary(NamedTuple):
    """`kind` is what the summary was taken from, `model` the model that wrote it; empty if it is the note's own text."""

    text: str
    kind: str
    model: str = ""


class NoteOpening(NamedTuple):
    """The beginning of a note: its body without the front matter, and the title and description."""

    title: str
    description: str | None
    text: str


class SummaryStore(SidecarDatabase):
    """Never raises and never waits. Threads and processes may share it."""

    what = "summaries"
    version = VERSION
    schema = (_SUMMARIES,)

    def __init__(self, file: Path) -> None:
        super().__init__(file, busy_seconds=BUSY_SECONDS)

    def get(self, content: bytes) -> tuple[CachedSummary, ...]:
        """The summaries of a text, the note's own words first."""
        sql = "SELECT text, kind, model FROM summaries WHERE hash = ? ORDER BY model"
        return self._query(lambda db: tuple(CachedSummary(*row) for row in db.execute(sql, (content,))), ())

    def put(self, content: bytes, summary: CachedSummary) -> None:
        row = (content, summary.model, summary.kind, summary.text)
        self._write(lambda db: db.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?)", row))

    def hashes(self) -> set[bytes]:
        """The hashes of all texts with summaries."""
        return self._query(lambda db: {bytes(content) for (content,) in db.execute("SELECT DISTINCT hash FROM summaries")}, set())

    def delete(self, contents: Iterable[bytes]) -> None:
        rows = [(content,) for content in contents]
        self._write(lambda db: db.executemany("DELETE FROM summaries WHERE hash = ?", rows))

    def _query(self, query: Callable[[sqlite3.Connection], T], default: T, *, create: bool = False) -> T:
        """The query's result; `default` when the file cannot be used."""
        try:
            return super()._query(query, default, create=create)
        except (VaultError, OSError) as e:
            _log.info("summaries are not cached: %s", e)
            return default


class SummaryCache:
    """Summaries by the paths of notes. Never raises; threads may share it."""

    def __init__(self, root: Path, index: IndexManager, store: SummaryStore) -> None:
        self._root = root
        self._index = index
        self._store = store
        self.close = store.close

    def read_opening(self, relative_path: str) -> NoteOpening | None:
        """The beginning of a note's file; None when it cannot be read."""
        try:
            with filesystem.resolve_inside(self._root, relative_path).open("rb", buffering=0) as file:
                raw = file.read(READ)
            filesystem.refuse_binary(relative_path, raw)
        except (VaultError, OSError):
            return None
        if len(raw) == READ:
            raw = filesystem.trim_to_whole_lines(raw)
        text, _ = filesystem.decode(NoteBytes(raw))
        properties = front_matter.read_front_matter(text)
        body = text.split("\n", properties.lines)[-1]
        return NoteOpening(properties.text("title") or stem(relative_path), properties.text("description", "summary"), body)

    def get(self, relative_path: str) -> tuple[CachedSummary, ...]:
        """The summaries of the note's current text, its own words first."""
        content = self._hash(relative_path)
        return self._store.get(content) if content else ()

    def put(self, relative_path: str, summary: CachedSummary) -> None:
        """Store a summary of the note's current text, if the index knows that text."""
        if content := self._hash(relative_path):
            self._store.put(content, summary)

    def prune(self, refreshed: IndexRefresh, *, full: bool) -> None:
        """Delete summaries of texts that no note has any more, after a rebuild or when notes were removed."""
        if (full or refreshed.rebuilt or refreshed.changes.removed) and (cached := self._store.hashes()):
            used = self._index.ask(lambda index: index.rows("SELECT hash FROM notes WHERE hash IS NOT NULL"))
            self._store.delete(cached.difference(bytes(content) for (content,) in used))

    def _hash(self, relative_path: str) -> bytes | None:
        """The hash of the note's text in the index; None if it has no such note, or the file has changed since.

        The file is not read, and the path is not resolved again, which took half of the time: the index has only paths in the vault.
        """
        path = posixpath.normpath(relative_path)

        def known(index: IndexDatabase) -> list[tuple[Any, ...]]:
            return index.rows("SELECT hash, mtime_ns, ctime_ns, size FROM notes WHERE path = ?", path)

        if not self._index.exists:
            return None
        try:
            if not (found := self._index.ask(known)):
                return None
            stamp = filesystem.stamp(os.stat(os.path.join(self._root, path)))  # noqa: PTH116, PTH118 - as the scan does
        except (VaultError, OSError):
            return None
        return next((content for content, *known_stamp in found if tuple(known_stamp) == stamp), None)
