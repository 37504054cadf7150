"""Changing files of the vault: all of a change or nothing, whatever interrupts it, and never over somebody else's edit.

New texts are first written to scratch files, where a full disk does no harm; then files are renamed. Before anything in the vault is
touched, a journal outside of the vault records the old texts and the scratch files. Whoever finds a journal, because zkchat was killed,
restores the files and deletes the rest.
"""

import base64
import json
import os
import secrets
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

from zkchat_cli.errors import VaultError
from zkchat_cli.fileio import SCRATCH_PREFIX, atomic_write, scratch_file
from zkchat_cli.vault.edit.byte_preserving import BytePreservingText
from zkchat_cli.vault.edit.diff import unified_diff
from zkchat_cli.vault.filesystem import printable, resolve_inside
from zkchat_cli.vault.index import file_lock

SYNC_THREADS = 16
"""A renamed note with a thousand links to it means a thousand files to sync, which takes six seconds one after the other."""
TRASH = ".trash"
"""Obsidian's trash folder: its notes are not in the vault any more, and Obsidian can restore them."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: its path (None: it is new) and the content it had when it was read; its new path and content."""

    path: str | None
    new_path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """A proposed change of notes: a one-line summary, the changed files, and a `note` for whoever approves it.

    `memory_file` is the changed file that instructs later conversations, if any. `replaced_text` is the section that gets replaced: whoever
    proposed the change may not have read it.
    """

    summary: str
    files: tuple[FileChange, ...]
    note: str = ""
    memory_file: str | None = None
    replaced_text: str = ""

    @property
    def diff(self) -> str:
        """The whole change as a unified diff."""
        texts = ((BytePreservingText.of(f.before).text, BytePreservingText.of(f.after).text, f) for f in self.files)
        return "".join(unified_diff(old, new, f.path and printable(f.path), printable(f.new_path)) for old, new, f in texts)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that change, old and new."""
        return tuple(dict.fromkeys(path for f in self.files for path in (f.path, f.new_path) if path is not None))


@dataclass(frozen=True, slots=True)
class _Step:
    """A file change on disk. `folders` are the missing folders of the target, outermost first."""

    change: FileChange
    source: Path | None
    target: Path
    scratch: Path | None
    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class FileTransaction:
    """Applies changes below `root`, one at a time, and restores interrupted ones from the `journal`."""

    root: Path
    journal: Path

    def apply(self, change: Change) -> None:
        """Raises VaultError, and then nothing has changed: a file is not as it was read, a path is taken, or the disk refuses."""
        self.journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file_lock.replacing(self.journal):
            self._restore()
            steps = [_plan_step(self.root, each) for each in change.files]
            try:
                self._write_journal(steps)
                for step in steps:
                    _prepare(step)
                _sync([step.scratch for step in steps if step.scratch is not None])
                for step in steps:
                    _exchange(step)
            except BaseException as e:
                if self.journal.exists():
                    self._restore()
                if isinstance(e, OSError):
                    raise _disk_error(e, change) from e
                raise
            self.journal.unlink(missing_ok=True)

    def is_applied(self, change: Change) -> bool:
        """Whether all files are as `apply` leaves them, with no journal that would restore them."""
        return not self.journal.exists() and all(_read(resolve_path(self.root, f.new_path)) == f.after for f in change.files)

    def recover(self) -> VaultError | None:
        """Undo an interrupted change; returns the warning about it, if there was one."""
        if not self.journal.exists():
            return None
        with file_lock.replacing(self.journal):
            return self._restore()

    def _write_journal(self, steps: Sequence[_Step]) -> None:
        entries = [
            {
                "source": step.source and str(step.source),
                "target": str(step.target),
                "scratch": step.scratch and str(step.scratch),
                "folders": [str(folder) for folder in step.folders],
                "before": base64.b64encode(step.change.before).decode(),
                "after": _hash(step.change.after),
            }
            for step in steps
        ]
        atomic_write(self.journal, json.dumps({"root": os.fsdecode(self.root), "steps": entries}), private=True)

    def _restore(self) -> VaultError | None:
        """Undo what the journal records. Files edited since then are left alone; their old texts stay in a file that the warning names."""
        try:
            document = json.loads(self.journal.read_text(encoding="utf-8"))
            steps: list[dict[str, Any]] = document["steps"] if document["root"] == os.fsdecode(self.root) else []
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            steps = []
        edited = [name for step in reversed(steps) if (name := _undo(step)) is not None]
        if not edited:
            self.journal.unlink(missing_ok=True)
            return VaultError("a change of the notes was interrupted", "Everything was restored as it was before.")
        backup = self.journal.with_name(f"{self.journal.stem}-{secrets.token_hex(4)}.kept.json")
        self.journal.replace(backup)
        names = ", ".join(printable(Path(name).name) for name in edited)
        return VaultError(
            f"a change of the notes was interrupted, and {names} was edited since and left alone", f"The old text is in {backup}"
        )


def resolve_path(root: Path, relative_path: str) -> Path:
    """The real file at a path that may be changed. Raises VaultError outside of the vault and for hidden files, except in the trash."""
    parts = PurePosixPath(relative_path).parts
    if parts[:1] != (TRASH,):
        return resolve_inside(root, relative_path)
    if os.path.realpath(root / TRASH) != str(root / TRASH):
        raise VaultError(f"{TRASH} is a link, and nothing is moved to where it leads", "Make it a folder of the vault.")
    return root / TRASH / resolve_inside(root, "/".join(parts[1:])).relative_to(root)


def _plan_step(root: Path, change: FileChange) -> _Step:
    """Refuses everything that can be refused before a file is touched."""
    source = resolve_path(root, change.path) if change.path is not None else None
    target = resolve_path(root, change.new_path)
    if source is not None:
        _require_unchanged(source, change)
    if source != target:
        if change.path is not None and (root / change.path).is_symlink():
            raise VaultError(f"{printable(change.path)} is a link to another file", "Name that one.")
        if os.path.lexists(target) and not _is_same_file(source, target):
            raise VaultError(f"{printable(change.new_path)} exists already", "Name another; nothing is ever overwritten.")
    scratch = scratch_file(target) if source is None or change.before != change.after else None
    return _Step(change, source, target, scratch, tuple(folder for folder in reversed(target.parents) if not folder.exists()))


def _prepare(step: _Step) -> None:
    """Write everything that needs space on the disk."""
    for folder in step.folders:
        folder.mkdir(exist_ok=True)
    if step.scratch is not None:
        with step.scratch.open("xb") as out:
            out.write(step.change.after)
        if step.source is not None:
            shutil.copymode(step.source, step.scratch)


def _sync(files: Sequence[Path]) -> None:
    """Wait until the files are on the disk."""

    def sync(file: Path) -> None:
        handle = os.open(file, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    if len(files) == 1:
        sync(files[0])
        return
    with ThreadPoolExecutor(SYNC_THREADS, thread_name_prefix="sync") as pool:
        list(pool.map(sync, files))


def _exchange(step: _Step) -> None:
    """Put the new file in place by renaming, which is atomic."""
    if step.source is not None:
        _require_unchanged(step.source, step.change)
    if step.source != step.target and not _is_same_file(step.source, step.target):
        step.target.touch(exist_ok=False)  # reserves the name: fails when somebody else just took it
    replacement = step.scratch or step.source
    assert replacement is not None
    replacement.replace(step.target)
    if step.source is not None and step.scratch is not None and not _is_same_file(step.source, step.target):
        step.source.unlink(missing_ok=True)


def _require_unchanged(file: Path, change: FileChange) -> None:
    now, name = _read(file), printable(str(change.path))
    if now is None:
        raise VaultError(f"{name} is not there any more", "Look for it again.")
    if now != change.before:
        raise VaultError(f"{name} was changed by somebody else since it was read", "Nothing was changed. Read it again first.")
    if not os.access(file, os.W_OK):
        raise VaultError(f"{name} may not be written", "Check its permissions; nothing was changed.")


def _is_same_file(a: Path | None, b: Path) -> bool:
    """Whether both names mean one file: two spellings do where file names ignore case."""
    try:
        return a is not None and a.samefile(b)
    except OSError:
        return False


def _disk_error(e: OSError, change: Change) -> VaultError:
    failed = printable(os.path.basename(str(e.filename or "")))  # noqa: PTH119 - it may be no path at all
    name = failed if failed and not failed.startswith(SCRATCH_PREFIX) else printable(change.files[0].new_path)
    return VaultError(f"{name} cannot be written: {(e.strerror or str(e)).lower()}", "Nothing was changed. Free it, and try again.")


def _undo(step: dict[str, Any]) -> str | None:
    """Undo one step, as far as it was carried out. Returns the file that somebody has edited since, which is left alone."""
    before = base64.b64decode(step["before"])
    source, target = step["source"] and Path(step["source"]), Path(step["target"])
    if step["scratch"] is not None:
        Path(step["scratch"]).unlink(missing_ok=True)
    now = _read(target)
    is_ours = now is not None and _hash(now) == step["after"]
    if source == target:
        if is_ours:
            atomic_write(target, before)
        return str(target) if not is_ours and now != before else None
    if source is not None and _read(source) is None:
        atomic_write(source, before)
    if is_ours or now == b"":
        target.unlink(missing_ok=True)
    for folder in reversed(step["folders"]):
        with suppress(OSError):  # somebody has put something into it
            Path(folder).rmdir()
    return None


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _hash(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()
