"""The index of one vault kept in step with its files: opened, brought up to date, built anew when it cannot serve, and asked.

Everything goes through one lock. A build happens in a file beside the old index and takes its place when it is whole, so an interrupted
one loses nothing, and other processes go on with the old one until then.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import Listing
from zkchat_cli.vault.index import indexer
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.index.file_lock import replacing
from zkchat_cli.vault.index.indexer import IndexChanges, Progress

_LEFTOVER_SECONDS = 3600

T = TypeVar("T")


class IndexRefresh(NamedTuple):
    """What a refresh did; `rebuilt` says why the whole index was made anew since the last one, if it was."""

    changes: IndexChanges = IndexChanges()
    seconds: float = 0.0
    rebuilt: str | None = None


class IndexManager:
    """May be used by several threads. Asking is cheap; the index is opened, or built, by the first question."""

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
        return os.path.exists(self.file)  # noqa: PTH110 - where it may not be looked for, there is none

    def is_ignored(self, path: str) -> bool:
        """Whether the index passes over what stands at this path (`vault.ignore`)."""
        return filesystem.is_ignored(self._ignore, path)

    def refresh(self, *, full: bool, progress: Progress | None, only: Collection[str] | None) -> IndexRefresh:
        """Make the index say what the files say: all of them, or `only` those that are known to have changed."""
        begin = time.perf_counter()
        of_some = only if self.exists and not full else None
        seen = self._refreshes
        listing = filesystem.scan(self.root, self._ignore) if of_some is None else None  # nearly all of the time: others may ask meanwhile
        with self._lock:
            if self._refreshes != seen:  # what was indexed meanwhile may be newer
                listing = None
            self._refreshes += 1
            if listing is None and of_some is not None:
                listing = self._look(of_some)
            listing = listing or filesystem.scan(self.root, self._ignore)
            if not listing.stamps and listing.only is None:
                self._forget()
                raise VaultError(
                    f"there are no Markdown notes in {self.root}",
                    "Choose a folder with .md files by --vault, ZKCHAT_VAULT or the configuration.",
                )
            changes = self._rebuild(listing, progress) if full or not self.exists else self._update(listing, progress)
            return IndexRefresh(changes, time.perf_counter() - begin, self.take_rebuilt())

    def take_rebuilt(self) -> str | None:
        """Why the index was made anew since this was last asked, if it was."""
        with self._lock:
            rebuilt, self._rebuilt = self._rebuilt, None
            return rebuilt

    def _look(self, paths: Collection[str]) -> Listing | None:
        """The files at these paths; None when only a scan can tell: a folder among them came or went."""
        listing = filesystem.scan_paths(self.root, paths, self._ignore)
        gone = set(paths) - listing.stamps.keys() - listing.attachments if listing else ()
        return None if any(self.ask(partial(IndexDatabase.has_folder, path=path)) for path in gone) else listing

    def ask(self, question: Callable[[IndexDatabase], T]) -> T:
        """Ask the index; one that is missing or turns out damaged is built first, once."""
        with self._lock:
            if not self.exists:
                self._build()
            try:
                return question(self._opened())
            except IndexDamaged as e:
                self._rebuilt = e.message
                self._build()
                return question(self._opened())

    def ask_if_free(self, question: Callable[[IndexDatabase], T]) -> T | None:
        """`ask`, or None while somebody else in this process works on the index."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self.ask(question)
        finally:
            self._lock.release()

    def _build(self) -> None:
        rebuilt = self._rebuilt
        self.refresh(full=True, progress=None, only=None)
        self._rebuilt = rebuilt  # who asked does not tell; the next refresh does

    def _opened(self) -> IndexDatabase:
        if self._index and self._index.moved():
            self.close()
        if not self._index:
            self._sweep(self.file.parent)
            self._index = IndexDatabase.open(self.file)
        return self._index

    def _update(self, listing: Listing, progress: Progress | None) -> IndexChanges:
        try:
            index = self._opened()
            if listing.only is None and indexer.is_current(index, listing):
                return IndexChanges()
            changes = indexer.refresh(index, self.root, listing, progress)
            if index.moved():  # what another process has put in its place meanwhile may not know these changes
                return self._update(filesystem.scan(self.root, self._ignore), progress)
            return changes
        except IndexDamaged as e:
            self._rebuilt = e.message
            return self._rebuild(listing if listing.only is None else filesystem.scan(self.root, self._ignore), progress)

    def _rebuild(self, listing: Listing, progress: Progress | None) -> IndexChanges:
        """A new index, made in a file of its own and put in place when it is whole: an interrupted one loses nothing."""
        self.close()
        folder = self.file.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep(folder)
            handle, name = tempfile.mkstemp(".new", self.file.stem + ".", folder)
            os.close(handle)
        except OSError as e:
            raise VaultError(f"the index folder {folder} cannot be written: {e.strerror}", "Free it, or set ZKCHAT_HOME.") from e
        file = Path(name)
        try:
            index = IndexDatabase.create(file)
            try:
                changes = indexer.refresh(index, self.root, listing, progress)
                index.publish(self.file)
            finally:
                index.close()
        finally:
            file.unlink(missing_ok=True)
        return changes

    def _forget(self) -> None:
        """No notes, no index: what was deleted leaves no trace in it.

        Vectors are kept until the next `embed`: an empty folder is more often a disk that is not mounted, and they were expensive.
        """
        self.close()
        with replacing(self.file):
            for file in (self.file, Path(f"{self.file}-wal"), Path(f"{self.file}-shm")):
                with suppress(OSError):
                    file.unlink()

    def _sweep(self, folder: Path) -> None:
        """Remove what interrupted builds left, once nobody can be working on it any more."""
        for leftover in folder.glob(f"{self.file.stem}.*.new*"):
            with suppress(OSError):
                if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                    leftover.unlink()
