"""Changing files of the vault: all of a change or nothing, and never over somebody else's edit.

Each file is replaced or moved in one step. If one of these steps fails or Ctrl-C is pressed, the
steps before it are undone. What happens if the process is killed is in journal.py.
"""

import codecs
import errno
import os
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.text.sequence_diff import find_edits
from zkchat_cli.text.unified_diff import DEV_NULL, NO_NEWLINE, unified_diff
from zkchat_cli.text.words import normalize_line_ends
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable, resolve_inside
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Obsidian's trash folder: its notes are not in the vault any more, and Obsidian can restore them
TRASH = ".trash"
# Files that an error names
MOST_NAMED = 3
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")


def decode_note(raw: bytes) -> str:
    """A note's text with `\\n` line ends and without byte order mark. Raises UnicodeDecodeError for
    bytes that are not UTF-8.
    """
    return normalize_line_ends(raw.decode("utf-8-sig"))


def encode_like(raw: bytes, text: str) -> bytes:
    """The text as bytes, for a file that has these bytes now. Lines that stay keep their bytes; new
    ones get the usual line end. A byte order mark stays.
    """
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    counts = Counter(_LINE_ENDS.findall(raw))
    line_end = b"\n"
    if counts:
        line_end, _ = counts.most_common(1)[0]
    new = split_lines(text.encode())
    uniform = mark + b"".join(new).replace(b"\n", line_end)
    if len(counts) <= 1:
        return uniform
    old = split_lines(raw.removeprefix(mark))
    encoded: list[bytes] = []
    at = 0
    for edit in find_edits([_LINE_ENDS.sub(b"\n", line) for line in old], new):
        encoded += old[at : edit.old.start]
        encoded += [line.replace(b"\n", line_end) for line in new[edit.new.start : edit.new.stop]]
        at = edit.old.stop
    mixed = mark + b"".join([*encoded, *old[at:]])
    # A `\r` before a line that is only `\n` would be one end of a line
    return mixed if decode_note(mixed) == text else uniform


def split_lines(raw: bytes) -> list[bytes]:
    """The lines of a note with their ends, which only the last line can lack."""
    return _LINES.findall(raw)


class FileChange(NamedTuple):
    """The change of one file: its path and content as they were read, and its new path and content.
    A new file has no `path`.
    """

    path: str | None
    new_path: str
    before: bytes
    after: bytes

    @property
    def diff(self) -> str:
        """The change as a unified diff, as `git diff` shows it; of equal texts only the header."""
        old_name = DEV_NULL if self.path is None else f"a/{printable(self.path)}"
        new_name = f"b/{printable(self.new_path)}"
        before = _diff_lines(self.before)
        after = _diff_lines(self.after)
        hunks = unified_diff(before, after)
        return "\n".join([f"--- {old_name}", f"+++ {new_name}", *hunks]) + "\n"


def _diff_lines(raw: bytes) -> list[str]:
    """The lines of a note as `git diff` compares them."""
    *lines, last = decode_note(raw).split("\n")
    return [*lines, f"{last}\n{NO_NEWLINE}"] if last else lines


class Change(NamedTuple):
    """A proposed change of notes, with a `note` for whoever approves it, and the `memory_file`
    among the changed files, with the reason.
    """

    summary: str
    files: tuple[FileChange, ...]
    note: str = ""
    memory_file: str | None = None

    @property
    def diff(self) -> str:
        """The unified diffs of all files."""
        return "".join(each.diff for each in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """The old and new paths of all files, each once."""
        paths: dict[str, None] = {}
        for file in self.files:
            if file.path is not None:
                paths[file.path] = None
            paths[file.new_path] = None
        return tuple(paths)


class _Step(NamedTuple):
    """A change of one file, with its real path (None if it is new) and its new real path."""

    change: FileChange
    source: Path | None
    target: Path


def apply_files(root: Path, files: Sequence[FileChange]) -> None:
    """Make all of these changes. Raises VaultError, and then nothing has changed: a file is not as
    it was read, a path is taken, or the disk refuses.
    """
    steps = [_locate(root, each) for each in files]
    try:
        for step in steps:
            _require_unchanged(step)
        with ExitStack() as undo:
            for step in steps:
                _change_file(step, undo)
            undo.pop_all()
    except OSError as e:
        names = ", ".join(printable(each.new_path) for each in files[:MOST_NAMED])
        raise VaultError(
            f"{names} cannot be written: {reason(e)}",
            "Check the permissions and the disk; nothing was changed.",
        ) from e


def _locate(root: Path, change: FileChange) -> _Step:
    source = None if change.path is None else resolve_path(root, change.path)
    return _Step(change, source, resolve_path(root, change.new_path))


def resolve_path(root: Path, relative_path: str) -> Path:
    """The real file at a path that may be changed. Raises VaultError outside of the vault and for
    hidden files, except in the trash.
    """
    parts = PurePosixPath(relative_path).parts
    if parts[:1] != (TRASH,):
        return resolve_inside(root, relative_path)
    if os.path.realpath(root / TRASH) != str(root / TRASH):
        raise VaultError(
            f"{TRASH} is a symbolic link, and notes are not moved through links",
            "Make it a folder of the vault.",
        )
    return root / TRASH / resolve_inside(root, "/".join(parts[1:])).relative_to(root)


def free_trash_path(root: Path, path: str, view: VaultView = WHOLE_VAULT) -> str:
    """`.trash/Note.md` for `Folder/Note.md`, or the first free one of `.trash/Note 1.md` and so
    on. Who sees a part of the vault gets `.trash/Folder/Note.md`: the name would tell which notes
    of other folders are in the trash.
    """
    name = PurePosixPath(path)
    folder = TRASH if view.is_whole else f"{TRASH}/{name.parent}"
    free = f"{folder}/{name.name}"
    for number in count(1):
        if not os.path.lexists(resolve_path(root, free)):
            break
        free = f"{folder}/{name.stem} {number}{name.suffix}"
    return free


def path_taken(path: str) -> VaultError:
    """The error for a new path with a file."""
    return VaultError(
        f"{printable(path)} exists already",
        "Choose another name; existing notes are never overwritten.",
    )


def _change_file(step: _Step, undo: ExitStack) -> None:
    """Make one step; `undo` gets the calls that undo it."""
    change, source, target = step
    _require_unchanged(step)
    _reserve_target(step, undo)
    if change.before != change.after or source is None:
        if source is not None:
            undo.callback(atomic_write, source, change.before)
        atomic_write(source or target, change.after)
    if source is not None and source != target:
        # Registered before the move, because Ctrl-C can be pressed while it is made
        undo.callback(_move_back, target, source)
        source.replace(target)


def _reserve_target(step: _Step, undo: ExitStack) -> None:
    """Make the folders of the new path, and an empty file there that no other program can take."""
    target = step.target
    missing = [folder for folder in target.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        undo.callback(_remove_folder, folder)
    if not target.exists():
        # This fails if somebody else has just taken the name
        target.touch(exist_ok=False)
        undo.callback(target.unlink, missing_ok=True)
    elif step.source is None or not step.source.samefile(target):
        # Two spellings of a name may mean one file
        raise path_taken(step.change.new_path)


def _require_unchanged(step: _Step) -> None:
    file = step.source
    if file is None:
        return
    if read_file(file, LARGEST_NOTE) != step.change.before:
        name = printable(step.change.path or step.change.new_path)
        raise VaultError(
            f"{name} was changed by another program after it was read",
            "Nothing was changed. Read it again first.",
        )
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _move_back(target: Path, source: Path) -> None:
    if not source.exists() or source.samefile(target):
        target.replace(source)


def _remove_folder(folder: Path) -> None:
    # Another program may have put a file into the folder
    with suppress(OSError):
        folder.rmdir()
