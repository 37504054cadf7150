"""Opens the index of a vault, keeps it up to date with the files, and rebuilds it when it is
unusable.

SQLite's transactions keep it safe: until a refresh or a rebuild is complete, other processes use
the old index, and an interrupted one loses nothing. A damaged file is deleted, because everything
in it can be computed again; where no file can be written, the index is in memory.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.database import (
    IndexDatabase,
    damage_error,
    delete_database,
    is_intact,
    write_checksum,
)
from zkchat_cli.vault.index.values import Progress

T = TypeVar("T")

_OPEN_COUNTS = Counter[Path]()
_OPEN_LOCK = threading.Lock()
"""A file is read for its checksum only while no manager of this process has it open: when a process
closes any descriptor of a file, POSIX drops all its locks on it, SQLite's too.
"""


class IndexManager:
    """Threads may share it. The first question opens the index, or builds it."""

    def __init__(self, root: Path, file: Path, ignore: Sequence[str] = ()) -> None:
        self.root = root
        self.file = file
        self._ignore = ignore
        self._index: IndexDatabase | None = None
        self._rebuilt: str | None = None
        # Why the index is in memory, if it is
        self.unwritable: IndexUnwritable | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            on_disk = self._index is not None and not self.unwritable
            self._release()
            with _OPEN_LOCK:
                if on_disk and not _OPEN_COUNTS[self.file]:
                    write_checksum(self.file)

    def _release(self) -> None:
        if self._index:
            with _OPEN_LOCK:
                self._index.close()
                _OPEN_COUNTS[self.file] -= not self.unwritable
        self._index = self.unwritable = None

    def refresh(
        self,
        *,
        full: bool = False,
        progress: Progress | None = None,
        only: Collection[str] | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files: with all of them read anew if it is `full`,
        with `only` those that changed if the caller knows them. `progress(done, total)` counts the
        notes read. Raises VaultError when the folder has no Markdown file.
        """
        begin = time.perf_counter()
        with self._lock:
            changes = self._run(lambda index: self._update(index, only, progress, full=full))
            return self.report(*changes, round(time.perf_counter() - begin, 4))

    def report(
        self, added: int = 0, changed: int = 0, removed: int = 0, seconds: float = 0.0
    ) -> IndexReport:
        """What the index holds, and why it was rebuilt since the last report, if it was."""
        sql = "SELECT path || ': ' || text FROM problems ORDER BY path"
        sizes, rows = self.ask(lambda index: (index.sizes(), index.rows(sql)))
        del sizes["tokens"]
        problems = tuple(problem for (problem,) in rows)
        rebuilt = self._rebuilt
        self._rebuilt = None
        return IndexReport(
            **sizes,
            added=added,
            changed=changed,
            removed=removed,
            seconds=seconds,
            problems=problems,
            rebuilt=rebuilt,
        )

    def ask(self, question: Callable[[IndexDatabase], T]) -> T:
        """Run a query; an index that is missing, damaged or of another version is built first."""

        def answer(index: IndexDatabase) -> T:
            with index.snapshot():
                if index.is_usable:
                    return question(index)
            self._update(index)
            return answer(index)

        with self._lock:
            return self._run(answer)

    def ask_if_free(self, question: Callable[[IndexDatabase], T]) -> T | None:
        """`ask`, or None while another thread uses the index."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self.ask(question)
        finally:
            self._lock.release()

    def _run(self, work: Callable[[IndexDatabase], T]) -> T:
        """Work with the open index: with an empty one if it turns out to be damaged, with one in
        memory if it cannot be written.
        """
        try:
            try:
                return work(self._open())
            except IndexDamaged as e:
                self._release()
                delete_database(self.file)
                self._rebuilt = e.message
                return work(self._open())
        except IndexUnwritable as e:
            if self.unwritable:
                raise
            self._release()
            self.unwritable = e
            self._rebuilt = f"it is in memory for this run, because {e.message}"
            self._index = IndexDatabase(self.file, in_memory=True)
            return work(self._index)

    def _open(self) -> IndexDatabase:
        """The index, opened if it is not yet."""
        if not self._index:
            with _OPEN_LOCK:
                if not _OPEN_COUNTS[self.file] and not is_intact(self.file):
                    raise damage_error(self.file, "it is not as it was written")
                self._index = IndexDatabase(self.file)
                _OPEN_COUNTS[self.file] += 1
        return self._index

    def _update(
        self,
        index: IndexDatabase,
        only: Collection[str] | None = None,
        progress: Progress | None = None,
        *,
        full: bool = False,
    ) -> tuple[int, int, int]:
        """Index all files of the vault, or `only` these if the index need not be built anew.
        Returns what `indexer.refresh` does.
        """
        # Parses notes: 6 ms, and the budget bar comes first
        from zkchat_cli.vault.index import indexer

        anew = full or not index.is_usable
        files = (
            None if only is None or anew else filesystem.scan_paths(self.root, only, self._ignore)
        )
        if files is None:
            files = filesystem.scan(self.root, self._ignore)
            if not files.stamps:
                self._release()
                # No trace of deleted notes stays in it
                delete_database(self.file)
                hint = "Choose a folder with .md files: --vault, ZKCHAT_VAULT or vault.path."
                raise VaultError(f"there are no Markdown notes in {self.root}", hint)
            if not anew and indexer.is_current(index, files):
                return 0, 0, 0
        if not index.is_usable and index.version:
            self._rebuilt = "it was made by another version of zkchat or Python"
        return indexer.refresh(index, self.root, files, progress, anew=anew)
