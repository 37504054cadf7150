"""Opens the index of a vault, keeps it up to date with the files, and rebuilds it when it is
unusable.

Until a refresh or a rebuild is complete, other processes use the old index, and an interrupted one
loses nothing. A damaged index is deleted, because everything in it can be computed again; where
none can be stored, the index is in memory.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import VaultFiles
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

if TYPE_CHECKING:
    from zkchat_cli.text.moment_formats import MomentFormat
    from zkchat_cli.vault.index.indexer import Changes
    from zkchat_cli.vault.index.port import IndexStorage, NoteIndex

T = TypeVar("T")


class IndexManager:
    """Threads may share it. The first question opens the index, or builds it, of the notes in the
    `view`.
    """

    def __init__(
        self,
        root: Path,
        storage: "IndexStorage",
        ignore: Sequence[str] = (),
        formats: tuple["MomentFormat", ...] = (),
        view: VaultView = WHOLE_VAULT,
    ) -> None:
        self.root = root
        self._storage = storage
        self._ignore = ignore
        self._formats = formats
        self._view = view
        self._index: NoteIndex | None = None
        self._rebuilt: str | None = None
        # Why the index is in memory, if it is
        self.unwritable: IndexUnwritable | None = None
        self._lock = threading.RLock()

    @property
    def exists(self) -> bool:
        """Whether an index is stored, so that the next refresh is short."""
        return self._storage.exists()

    def close(self) -> None:
        """Close the index; the next question opens it again."""
        with self._lock:
            is_stored = self._index is not None and not self.unwritable
            self._release()
            if is_stored:
                self._storage.write_checksum()

    def _release(self) -> None:
        if self._index:
            self._storage.close(self._index)
        self._index = None
        self.unwritable = None

    def refresh(
        self,
        *,
        full: bool = False,
        progress: Progress | None = None,
        only: Collection[str] | None = None,
    ) -> IndexReport:
        """See `Vault.refresh`."""
        begin = time.perf_counter()
        with self._lock:
            changes = self._run(lambda index: self._update(index, only, progress, full=full))
            report = self.report()
            seconds = round(time.perf_counter() - begin, 4)
            return report.model_copy(update={**changes._asdict(), "seconds": seconds})

    def report(self) -> IndexReport:
        """What the index holds, and why it was rebuilt since the last report, if it was."""
        sizes, problems = self.ask(lambda index: (index.sizes(), index.problems()))
        rebuilt = self._rebuilt
        self._rebuilt = None
        return IndexReport(
            notes=sizes.notes,
            chunks=sizes.chunks,
            links=sizes.links,
            broken_links=sizes.broken_links,
            problems=tuple(problems),
            rebuilt=rebuilt,
        )

    def ask(self, question: Callable[["NoteIndex"], T]) -> T:
        """Ask the index; one that is missing, damaged or of another version is built first."""

        def answer(index: "NoteIndex") -> T:
            with index.snapshot():
                if index.is_usable:
                    return question(index)
            self._update(index)
            return answer(index)

        with self._lock:
            return self._run(answer)

    def ask_if_free(self, question: Callable[["NoteIndex"], T]) -> T | None:
        """`ask`, or None while another thread uses the index."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self.ask(question)
        finally:
            self._lock.release()

    def _run(self, work: Callable[["NoteIndex"], T]) -> T:
        """Work with the open index: with an empty one if it turns out to be damaged, with one in
        memory if it cannot be written.
        """
        try:
            try:
                return work(self._open())
            except IndexDamaged as e:
                self._release()
                self._storage.delete()
                self._rebuilt = e.message
                return work(self._open())
        except IndexUnwritable as e:
            if self.unwritable:
                raise
            self._release()
            self.unwritable = e
            self._rebuilt = f"it is in memory for this run, because {e.message}"
            self._index = self._storage.open_in_memory()
            return work(self._index)

    def _open(self) -> "NoteIndex":
        """The index, opened if it is not yet."""
        if not self._index:
            self._index = self._storage.open_index()
        return self._index

    def _update(
        self,
        index: "NoteIndex",
        only: Collection[str] | None = None,
        progress: Progress | None = None,
        *,
        full: bool = False,
    ) -> "Changes":
        """Index all files of the vault, or `only` these if the index need not be built anew."""
        # Deferred: the parser of notes takes 6 ms, and the budget bar comes first
        from zkchat_cli.vault.index import indexer

        anew = full or not index.is_usable
        files = self._scan_some(only) if only is not None and not anew else None
        if files is None:
            files = self._scan_all()
            if not anew and index.files() == files:
                return indexer.Changes()
        if not index.is_usable and not index.is_new:
            self._rebuilt = (
                "it was made by another version of zkchat or Python, or with other date formats"
            )
        return indexer.refresh(index, self.root, files, progress, self._formats, anew=anew)

    def _scan_some(self, paths: Collection[str]) -> VaultFiles | None:
        """These files; None if all must be scanned."""
        return filesystem.scan_paths(self.root, paths, self._ignore, self._view)

    def _scan_all(self) -> VaultFiles:
        """All files of the view. Raises VaultError, and deletes the index, if the vault has no
        notes. A part of a vault may have none yet.
        """
        files = filesystem.scan(self.root, self._ignore, self._view)
        if files.stamps or not self._view.is_whole:
            return files
        self._release()
        # No trace of deleted notes stays in it
        self._storage.delete()
        hint = "Choose a folder with .md files: --vault, ZKCHAT_VAULT or vault.path."
        raise VaultError(f"there are no Markdown notes in {self.root}", hint)
