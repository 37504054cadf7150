"""Changing files of the vault: all of a change or nothing of it, whatever breaks off in between, and never over what somebody else wrote.

New texts are first written beside the files they replace, where a full disk harms nothing; then names are exchanged. What the files were,
and what will be written beside them, is in a journal outside of the vault before anything in the vault is touched: who finds one there,
because the program was killed, puts the files back and takes away the rest.
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

MOST_AT_ONCE = 16
TRASH = ".trash"
"""Obsidian's own: what is in it is not a note any more, and Obsidian brings it back."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: where it is (None: nowhere yet) and was found to hold `before`; where it will be, holding `after`."""

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
        """All of it as a unified diff."""
        return "".join(
            unified_diff(
                BytePreservingText.of(f.before).text,
                BytePreservingText.of(f.after).text,
                f.path and printable(f.path),
                printable(f.new_path),
            )
            for f in self.files
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path at which something is different afterwards."""
        return tuple(dict.fromkeys(path for f in self.files for path in (f.path, f.new_path) if path is not None))


@dataclass(slots=True)
class _Step:
    """A file change on disk. `folders` are those made for it, the outermost first."""

    change: FileChange
    source: Path | None
    target: Path
    scratch: Path | None
    folders: tuple[Path, ...] = ()

    @property
    def moves(self) -> bool:
        return self.source != self.target


def place(root: Path, relative_path: str) -> Path:
    """The real file at a path that may be changed. Raises VaultError for what is out of the vault or hidden, the trash excepted."""
    parts = PurePosixPath(relative_path).parts
    if parts[:1] != (TRASH,):
        return resolve_inside(root, relative_path)
    if os.path.realpath(root / TRASH) != str(root / TRASH):
        raise VaultError(f"{TRASH} is a link, and nothing is put where it leads", "Make it a folder of the vault.")
    return root / TRASH / resolve_inside(root, "/".join(parts[1:])).relative_to(root)


def apply(root: Path, change: Change, journal: Path) -> None:
    """Make a change. Raises VaultError, and then nothing has changed: when a file is not as it was read, a place is taken, or the disk
    refuses.
    """
    journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file_lock.replacing(journal):
        _put_back(root, journal)
        steps = [_planned(root, each) for each in change.files]
        try:
            _note(journal, root, steps)
            for step in steps:
                _prepare(step)
            _settle([step.scratch for step in steps if step.scratch is not None])
            for step in steps:
                _carry_out(step)
        except BaseException as e:
            if journal.exists():
                _put_back(root, journal)
            if isinstance(e, OSError):
                failed = printable(os.path.basename(str(e.filename or "")))  # noqa: PTH119 - it may be no path at all
                name = failed if failed and not failed.startswith(SCRATCH_PREFIX) else printable(change.files[0].new_path)
                cause = (e.strerror or str(e)).lower()
                raise VaultError(f"{name} cannot be written: {cause}", "Nothing was changed. Free it, and try again.") from e
            raise
        journal.unlink(missing_ok=True)


def is_applied(root: Path, change: Change, journal: Path) -> bool:
    """Whether the files are as the change was to leave them, and nothing will put them back."""
    return not journal.exists() and all(_read(place(root, each.new_path)) == each.after for each in change.files)


def recover(root: Path, journal: Path) -> VaultError | None:
    """Put back what a change that was broken off had done; what to tell of it, if there was one."""
    if not journal.exists():
        return None
    with file_lock.replacing(journal):
        return _put_back(root, journal)


def _planned(root: Path, change: FileChange) -> _Step:
    """Everything that can be refused is refused here."""
    source = place(root, change.path) if change.path is not None else None
    target = place(root, change.new_path)
    if source is not None:
        _require_unchanged(source, change)
    scratch = scratch_file(target) if source is None or change.before != change.after else None
    step = _Step(change, source, target, scratch, tuple(folder for folder in reversed(target.parents) if not folder.exists()))
    if step.moves and change.path is not None and (root / change.path).is_symlink():
        raise VaultError(f"{printable(change.path)} is a link to another file", "Name that one.")
    if step.moves and os.path.lexists(target) and not (source is not None and _is_same(source, target)):
        raise VaultError(f"{printable(change.new_path)} exists already", "Name another; nothing is ever overwritten.")
    return step


def _prepare(step: _Step) -> None:
    """Everything that takes room on the disk is written."""
    for folder in step.folders:
        folder.mkdir(exist_ok=True)
    if step.scratch is not None:
        with step.scratch.open("xb") as out:
            out.write(step.change.after)
        if step.source is not None:
            shutil.copymode(step.source, step.scratch)


def _settle(scratches: Sequence[Path]) -> None:
    """Wait until the disk has them: several at once, or the thousand notes that link to a renamed one would take it six seconds."""
    if len(scratches) == 1:
        _sync(scratches[0])
        return
    with ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="settle") as pool:
        list(pool.map(_sync, scratches))


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _require_unchanged(file: Path, change: FileChange) -> None:
    now = _read(file)
    if now is None:
        raise VaultError(f"{printable(str(change.path))} is not there any more", "Look for it again.")
    if now != change.before:
        raise VaultError(
            f"{printable(str(change.path))} was changed by somebody else since it was read", "Nothing was changed. Read it again first."
        )
    if not os.access(file, os.W_OK):
        raise VaultError(f"{printable(str(change.path))} may not be written", "Check its permissions; nothing was changed.")


def _carry_out(step: _Step) -> None:
    """Exchange names; each of these is done or not."""
    if step.source is not None:
        _require_unchanged(step.source, step.change)
    if not step.moves:
        assert step.scratch is not None
        step.scratch.replace(step.target)
        return
    if not (step.source is not None and _is_same(step.source, step.target)):
        step.target.touch(exist_ok=False)  # only one can take a name
    if step.scratch is None:
        assert step.source is not None
        step.source.replace(step.target)
        return
    step.scratch.replace(step.target)
    if step.source is not None and not _is_same(step.source, step.target):
        step.source.unlink()


def _is_same(a: Path, b: Path) -> bool:
    """Whether two names are one file, as where case does not count."""
    try:
        return a.samefile(b)
    except OSError:
        return False


# the journal, and the way back


def _note(journal: Path, root: Path, steps: Sequence[_Step]) -> None:
    document = {
        "root": os.fsdecode(root),
        "steps": [
            {
                "source": str(step.source) if step.source is not None else None,
                "target": str(step.target),
                "scratch": str(step.scratch) if step.scratch is not None else None,
                "folders": [str(folder) for folder in step.folders],
                "before": base64.b64encode(step.change.before).decode(),
                "after": _hash(step.change.after),
            }
            for step in steps
        ],
    }
    atomic_write(journal, json.dumps(document), private=True)


def _put_back(root: Path, journal: Path) -> VaultError | None:
    """Undo what the journal says; what could not be is told, and its text kept in a file that the message names."""
    try:
        document = json.loads(journal.read_text(encoding="utf-8", errors="surrogateescape"))
        steps: list[dict[str, Any]] = document["steps"] if document["root"] == os.fsdecode(root) else []
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        steps = []
    left = [name for step in reversed(steps) if (name := _undone(step)) is not None]
    if left:
        kept = journal.with_name(f"{journal.stem}-{secrets.token_hex(4)}.kept.json")
        journal.replace(kept)
        names = ", ".join(printable(Path(name).name) for name in left)
        told = f"a change of the notes was broken off, and {names} was edited since and left alone"
        return VaultError(told, f"What it was stands in {kept}")
    journal.unlink(missing_ok=True)
    return VaultError("a change of the notes had been broken off in the middle", "Everything was put back as it was.")


def _undone(step: dict[str, Any]) -> str | None:
    """Undo one step, as far as it had come. Returns the file that is neither as it was nor as it was to be, and is left alone."""
    before = base64.b64decode(step["before"])
    source, target = (Path(step[name]) if step[name] is not None else None for name in ("source", "target"))
    assert target is not None
    if step["scratch"] is not None:
        Path(step["scratch"]).unlink(missing_ok=True)
    now = _read(target)
    ours = now is not None and _hash(now) == step["after"]
    problem = None
    if source == target:
        if ours:
            atomic_write(target, before)
        elif now != before:
            problem = str(target)
    else:
        if source is not None and _read(source) is None:
            atomic_write(source, before)
        if ours or now == b"":
            target.unlink(missing_ok=True)
        _remove(tuple(map(Path, step["folders"])))
    return problem


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _hash(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def _remove(folders: Sequence[Path]) -> None:
    """Folders that were made, if they are empty."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()
