"""Opens the index of a vault, keeps it up to date with the files, and rebuilds it when it is unusable.

Everything goes through one lock. A rebuild happens in a file beside the old index and replaces it when complete: an interrupted one loses
nothing, and other processes use the old index until then.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import Listing
from zkchat_cli.vault.index import indexer
from zkchat_cli.vault.index.database import IndexDatabase, delete_database
from zkchat_cli.vault.index.file_lock import replacing
from zkchat_cli.vault.index.indexer import IndexChanges, Progress

_LEFTOVER_SECONDS = 3600

T = TypeVar("T")


class IndexRefresh(NamedTuple):
    """What a refresh changed; `rebuilt` is why the whole index was rebuilt since the last one, if it was."""

    changes: IndexChanges = IndexChanges()
    seconds: float = 0.0
    rebuilt: str | None = None


class IndexManager:
    """Threads may share it. The first question opens the index, or builds it."""

    def __init__(self, root: Path, file: Path, ignore: Sequence[str] = ()) -> None:
        self.root = root
        self.file = file
        self._ignore = tuple(ignore)
        self._index: IndexDatabase | None = None
        self._rebuilt: str | None = None
        self._refreshes = 0
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._index:
                self._index.close()
            self._index = None

    @property
    def exists(self) -> bool:
        return os.path.exists(self.file)  # noqa: PTH110 - False also where the folder cannot be read

    def is_ignored(self, path: str) -> bool:
        """Whether `vault.ignore` excludes this path from the index."""
        return filesystem.is_ignored(self._ignore, path)

    def refresh(self, *, full: bool, progress: Progress | None, only: Collection[str] | None) -> IndexRefresh:
        """Bring the index up to date with all files, or with `only` those that are known to have changed."""
        begin = time.perf_counter()
        paths = only if self.exists and not full else None
        seen = self._refreshes
        listing = filesystem.scan(self.root, self._ignore) if paths is None else None  # takes most of the time, so without the lock
        with self._lock:
            if self._refreshes != seen:  # another thread may have indexed newer files meanwhile
                listing = None
            self._refreshes += 1
            if listing is None and paths is not None:
                listing = self._scan_paths(paths)
            listing = listing or filesystem.scan(self.root, self._ignore)
            if not listing.stamps and listing.only is None:
                self._delete()
                raise VaultError(
                    f"there are no Markdown notes in {self.root}",
                    "Choose a folder with .md files by --vault, ZKCHAT_VAULT or the configuration.",
                )
            changes = self._rebuild(listing, progress) if full or not self.exists else self._update(listing, progress)
            return IndexRefresh(changes, time.perf_counter() - begin, self.take_rebuilt())

    def take_rebuilt(self) -> str | None:
        """Why the index was rebuilt since the last call, if it was."""
        with self._lock:
            rebuilt, self._rebuilt = self._rebuilt, None
            return rebuilt

    def ask(self, question: Callable[[IndexDatabase], T]) -> T:
        """Run a query; a missing or damaged index is built first, once."""
        with self._lock:
            if not self.exists:
                self._build()
            try:
                return question(self._open())
            except IndexDamaged as e:
                self._rebuilt = e.message
                self._build()
                return question(self._open())

    def ask_if_free(self, question: Callable[[IndexDatabase], T]) -> T | None:
        """`ask`, or None while another thread uses the index."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self.ask(question)
        finally:
            self._lock.release()

    def _scan_paths(self, paths: Collection[str]) -> Listing | None:
        """The files at these paths; None if a folder among them came or went, which takes a full scan."""
        listing = filesystem.scan_paths(self.root, paths, self._ignore)
        gone = set(paths) - listing.stamps.keys() - listing.attachments if listing else ()
        return None if any(self.ask(partial(IndexDatabase.has_folder, path=path)) for path in gone) else listing

    def _build(self) -> None:
        rebuilt = self._rebuilt
        self.refresh(full=True, progress=None, only=None)
        self._rebuilt = rebuilt  # for the next refresh, which reports it

    def _open(self) -> IndexDatabase:
        if self._index and self._index.is_replaced():
            self.close()
        if not self._index:
            self._delete_leftovers()
            self._index = IndexDatabase.open(self.file)
        return self._index

    def _update(self, listing: Listing, progress: Progress | None) -> IndexChanges:
        try:
            index = self._open()
            if listing.only is None and indexer.is_current(index, listing):
                return IndexChanges()
            changes = indexer.refresh(index, self.root, listing, progress)
            if index.is_replaced():  # the new index of another process may not have these changes
                return self._update(filesystem.scan(self.root, self._ignore), progress)
            return changes
        except IndexDamaged as e:
            self._rebuilt = e.message
            return self._rebuild(listing if listing.only is None else filesystem.scan(self.root, self._ignore), progress)

    def _rebuild(self, listing: Listing, progress: Progress | None) -> IndexChanges:
        self.close()
        folder = self.file.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._delete_leftovers()
            handle, name = tempfile.mkstemp(".new", self.file.stem + ".", folder)
            os.close(handle)
        except OSError as e:
            raise VaultError(f"the index folder {folder} cannot be written: {e.strerror}", "Free it, or set ZKCHAT_HOME.") from e
        file = Path(name)
        try:
            with closing(IndexDatabase.create(file)) as index:
                changes = indexer.refresh(index, self.root, listing, progress)
                index.publish(self.file)
        finally:
            file.unlink(missing_ok=True)
        return changes

    def _delete(self) -> None:
        """Delete the index of a vault without notes: no trace of deleted notes stays in it.

        Vectors stay until the next `embed`: an empty folder is more often a disk that is not mounted, and they were expensive.
        """
        self.close()
        with replacing(self.file):
            delete_database(self.file)

    def _delete_leftovers(self) -> None:
        """Delete what interrupted rebuilds left, once it is too old to be another process's work."""
        for leftover in self.file.parent.glob(f"{self.file.stem}.*.new*"):
            with suppress(OSError):
                if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                    leftover.unlink()
