"""Summaries of notes, kept in a file of their own beside the index, by the hash of the text they were made of.

Not in the index itself: a model's words cost money and have to outlast a rebuild; the index is locked for seconds while another process
brings it up to date, and a summary must not wait; and whatever is written there makes everybody who searches by meaning look again at all
vectors. Whatever is wrong with this file (no room, no permission, somebody else writing) means that nothing is known or kept, no more.
"""

import logging
import os
import posixpath
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
"""Raise it whenever `references.summaries` says another thing of the same text."""
BUSY_SECONDS = 0.01
READ = 64 * 1024
"""Bytes of a note that are read for its summary: the beginning of a note of 50 MB comes as fast as another's."""
_log = logging.getLogger(__name__)

_SUMMARIES = """CREATE TABLE summaries (
    hash BLOB NOT NULL,                  -- of the note's bytes, as in the index
    model TEXT NOT NULL,                 -- whose words these are; empty: the note's own
    kind TEXT NOT NULL,
    text TEXT NOT NULL,                  -- empty: there is nothing to be said
    PRIMARY KEY (hash, model)
) WITHOUT ROWID"""


class CachedSummary(NamedTuple):
    """A summary as it is kept: `kind` says what it was taken from, `model` whose words they are if not the note's own."""

    text: str
    kind: str
    model: str = ""


class NoteOpening(NamedTuple):
    """How a note begins: its body without the front matter, and what that says of it."""

    title: str
    description: str | None
    text: str


class SummaryStore(SidecarDatabase):
    """The file of summaries. Several threads and processes may use it; it never raises, and nobody waits for it."""

    what = "summaries"
    version = VERSION
    schema = (_SUMMARIES,)

    def __init__(self, file: Path) -> None:
        super().__init__(file, busy_seconds=BUSY_SECONDS)

    def get(self, content: bytes) -> tuple[CachedSummary, ...]:
        """What is known of a text, the note's own words first."""
        sql = "SELECT text, kind, model FROM summaries WHERE hash = ? ORDER BY model"
        return self._quietly(lambda: self._ask(lambda db: tuple(CachedSummary(*row) for row in db.execute(sql, (content,))), ()), ())

    def put(self, content: bytes, summary: CachedSummary) -> None:
        row = (content, summary.model, summary.kind, summary.text)
        self._quietly(lambda: self._write(lambda db: db.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?)", row)), None)

    def contents(self) -> set[bytes]:
        """The hashes of all texts of which something is known."""
        sql = "SELECT DISTINCT hash FROM summaries"
        return self._quietly(lambda: self._ask(lambda db: {bytes(content) for (content,) in db.execute(sql)}, set()), set())

    def delete(self, contents: Iterable[bytes]) -> None:
        rows = [(content,) for content in contents]
        self._quietly(lambda: self._write(lambda db: db.executemany("DELETE FROM summaries WHERE hash = ?", rows)), None)

    def _quietly(self, action: Callable[[], T], otherwise: T) -> T:
        """What an action comes to; `otherwise` when the file is of no use now."""
        try:
            return action()
        except (VaultError, OSError) as e:
            _log.info("summaries are not kept: %s", e)
            return otherwise


class SummaryCache:
    """Summaries by the paths of notes, and what they are made from. Never raises; may be used by several threads."""

    def __init__(self, root: Path, upkeep: IndexManager, store: SummaryStore) -> None:
        self._root = root
        self._upkeep = upkeep
        self._store = store
        self.close = store.close

    def read_opening(self, relative_path: str) -> NoteOpening | None:
        """The beginning of a note as its file is now; None when it cannot be read."""
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
        body = text.split("\n", properties.lines)[-1] if properties.lines else text
        return NoteOpening(properties.text("title") or stem(relative_path), properties.text("description", "summary"), body)

    def get(self, relative_path: str) -> tuple[CachedSummary, ...]:
        """What is kept of the note as its file is now, its own words first."""
        content = self._content(relative_path)
        return self._store.get(content) if content else ()

    def put(self, relative_path: str, summary: CachedSummary) -> None:
        """Keep a summary of the note as its file is now; not before the index knows that text."""
        if content := self._content(relative_path):
            self._store.put(content, summary)

    def prune(self, refreshed: IndexRefresh, *, full: bool) -> None:
        """Drop what is kept of texts that no note has any more, when the index was made anew or notes have gone from it."""
        if (full or refreshed.rebuilt or refreshed.changes.removed) and (kept := self._store.contents()):
            there = self._upkeep.ask(lambda index: index.rows("SELECT hash FROM notes WHERE hash IS NOT NULL"))
            self._store.delete(kept.difference(bytes(content) for (content,) in there))

    def _content(self, relative_path: str) -> bytes | None:
        """The hash of the note's text, which the index knows: None where it has no such note, or the file has changed since.

        Nothing is read of the file, and a path that the index knows was found in the vault: to confine it again took half of the time.
        """
        path = posixpath.normpath(relative_path)

        def known(index: IndexDatabase) -> list[tuple[Any, ...]]:
            return index.rows("SELECT hash, mtime_ns, ctime_ns, size FROM notes WHERE path = ?", path)

        if not self._upkeep.exists:
            return None
        try:
            if not (found := self._upkeep.ask(known)):
                return None
            stamp = filesystem.stamp(os.stat(os.path.join(self._root, path)))  # noqa: PTH116, PTH118 - as the scan does
        except (VaultError, OSError):
            return None
        return next((content for content, *known_stamp in found if tuple(known_stamp) == stamp), None)
