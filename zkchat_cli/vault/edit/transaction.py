"""Changing files of the vault: all of a change or nothing, and never over somebody else's edit.

Each file is replaced or moved in one step. If one of these steps fails or Ctrl-C is pressed, the
steps before it are undone. If the process is killed, the next zkchat that opens the vault makes the
rest of the change: it is in the journal, a file beside the index.

Who approves a change is a function passed in: a screen that asks, or an answer given in advance.
"""

import codecs
import difflib
import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import SCRATCH_PREFIX, atomic_write, read_file
from zkchat_cli.text.words import normalize_line_ends
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable, resolve_inside

# Obsidian's trash folder: its notes are not in the vault any more, and Obsidian can restore them
TRASH = ".trash"
MAX_JOURNAL = 100_000_000


def decode_note(raw: bytes) -> str:
    """A note's text with `\\n` line ends and without byte order mark. Raises UnicodeDecodeError for
    bytes that are not UTF-8.
    """
    return normalize_line_ends(raw.decode("utf-8-sig"))


def encode_like(raw: bytes, text: str) -> bytes:
    """The text as bytes, with the byte order mark and the usual line ends of a file that has these
    bytes now.
    """
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    line_end = "\r\n" if 2 * raw.count(b"\r\n") > raw.count(b"\n") else "\n"
    return mark + text.replace("\n", line_end).encode()


class FileChange(NamedTuple):
    """One file: its path (None: it is new) and content as it was read; its new path and content."""

    path: str | None
    new_path: str
    before: bytes
    after: bytes

    @property
    def diff(self) -> str:
        """The change as a unified diff, as `git diff` shows it; of equal texts only the header."""
        old_name = "/dev/null" if self.path is None else f"a/{printable(self.path)}"
        new_name = f"b/{printable(self.new_path)}"
        texts: list[list[str]] = []
        for raw in (self.before, self.after):
            *lines, last = decode_note(raw).split("\n")
            texts.append([*lines, f"{last}\n\\ No newline at end of file"] if last else lines)
        diff = [*difflib.unified_diff(texts[0], texts[1], old_name, new_name, lineterm="")]
        return "\n".join(diff or [f"--- {old_name}", f"+++ {new_name}"]) + "\n"


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
        return "".join(each.diff for each in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                path for f in self.files for path in (f.path, f.new_path) if path is not None
            )
        )


def content_hash(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def apply_files(root: Path, files: Sequence[FileChange], journal: Path) -> None:
    """Raises VaultError, and then nothing has changed: a file is not as it was read, a path is
    taken, or the disk refuses.
    """
    finish_interrupted(journal)
    steps = [
        (
            each,
            None if each.path is None else resolve_path(root, each.path),
            resolve_path(root, each.new_path),
        )
        for each in files
    ]
    try:
        for change, source, _ in steps:
            _require_unchanged(change, source)
        with _record_steps(journal, steps), ExitStack() as undo:
            for change, source, target in steps:
                _change_file(change, source, target, undo)
            undo.pop_all()
    except OSError as e:
        names = ", ".join(printable(each.new_path) for each in files[:3])
        raise VaultError(
            f"{names} cannot be written: {reason(e)}",
            "Check the permissions and the disk; nothing was changed.",
        ) from e


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


def path_taken(path: str) -> VaultError:
    return VaultError(
        f"{printable(path)} exists already",
        "Choose another name; existing notes are never overwritten.",
    )


def _change_file(change: FileChange, source: Path | None, target: Path, undo: ExitStack) -> None:
    _require_unchanged(change, source)
    for folder in reversed([folder for folder in target.parents if not folder.exists()]):
        folder.mkdir()
        undo.callback(_remove_folder, folder)
    if not target.exists():
        # Reserves the name: fails if somebody else just took it
        target.touch(exist_ok=False)
        undo.callback(target.unlink, missing_ok=True)
    elif source is None or not source.samefile(target):
        # Two spellings of a name may mean one file
        raise path_taken(change.new_path)
    if change.before != change.after or source is None:
        if source is not None:
            undo.callback(atomic_write, source, change.before)
        atomic_write(source or target, change.after)
    if source is not None and source != target:
        # Known before the move: Ctrl-C may come while it is made
        undo.callback(_move_back, target, source)
        source.replace(target)


def _require_unchanged(change: FileChange, file: Path | None) -> None:
    if file is not None and read_file(file, LARGEST_NOTE) != change.before:
        name = printable(change.path or change.new_path)
        raise VaultError(
            f"{name} was changed by another program after it was read",
            "Nothing was changed. Read it again first.",
        )
    if file is not None and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _move_back(target: Path, source: Path) -> None:
    if not source.exists() or source.samefile(target):
        target.replace(source)


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):  # somebody has put something into it
        folder.rmdir()


@contextmanager
def _record_steps(
    journal: Path, steps: Sequence[tuple[FileChange, Path | None, Path]]
) -> Iterator[None]:
    """Keep the change in the journal, if one can be written, until it is made or undone. Raises
    VaultError while another is made.
    """
    try:
        opened = open(journal, "x+b", opener=partial(os.open, mode=0o600))  # noqa: SIM115
    except FileExistsError as e:
        raise VaultError(
            "another zkchat is changing notes of this vault",
            "Nothing was changed. Try again when it is done.",
        ) from e
    except OSError:
        yield
        return
    record = [
        (source, target, content_hash(change.before), change.after.decode())
        for change, source, target in steps
    ]
    with opened:
        try:
            # A full disk, but not that of the notes
            with suppress(OSError):
                _lock(opened)
                opened.write(json.dumps(record, default=str).encode())
                opened.flush()
                os.fsync(opened.fileno())
            yield
        finally:
            journal.unlink(missing_ok=True)


def finish_interrupted(journal: Path) -> None:
    """Make the rest of a change whose process was killed. A note that somebody has edited since
    stays as it is.
    """
    with suppress(OSError), journal.open("r+b") as opened:
        if not _lock(opened):  # its process is alive
            return
        # A part of a journal: no note was changed yet
        with suppress(ValueError, TypeError):
            for old, new, before, after in json.loads(opened.read(MAX_JOURNAL)):
                file = Path(old or new)
                target = Path(new)
                target.parent.mkdir(parents=True, exist_ok=True)
                for scratch in file.parent.glob(f"{SCRATCH_PREFIX}*.tmp"):
                    scratch.unlink()
                if content_hash(read_file(file, LARGEST_NOTE) if file.exists() else b"") == before:
                    atomic_write(file, after)
                # an empty target is a reserved name; two spellings of a name may mean one file
                is_free = (
                    not target.exists()
                    or not target.stat().st_size
                    or (file.exists() and file.samefile(target))
                )
                if file != target and file.exists() and is_free:
                    file.replace(target)
        journal.unlink()


def _lock(opened: BinaryIO) -> bool:
    """Lock the journal until it is closed; False if another process has."""
    if os.name == "posix":
        import fcntl  # not on Windows

        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


class Decision(NamedTuple):
    """Whether a change may be made; `reason` tells the user and the model why not."""

    allowed: bool
    reason: str = ""
    # Whether the user wants no more questions about the same tool
    always: bool = False


Approve = Callable[[Change], Decision]

ALLOWED = Decision(True)
DECLINED = Decision(False, "declined by the user: nothing was changed")
DECLINED_CALL = Decision(False, "declined by the user: it was not called")
UNASKED_CALL = Decision(
    False, "refused: nobody can be asked here; in a chat, the user could allow it"
)
UNASKED = Decision(
    False, "refused: nobody can be asked here, and --yes was not given; nothing was changed"
)


def approve_notes(change: Change) -> Decision:
    """`--yes` where nobody can be asked: approves every change except those of memory, which
    instructs later conversations.
    """
    if change.memory_file is None:
        return ALLOWED
    why = (
        f"refused: {change.memory_file} is memory, and --yes does not cover memory: approve it "
        "in a chat. Nothing was changed"
    )
    return Decision(False, why)


def mark_memory_file(change: Change, memory_file: str | None) -> Change:
    """The change with a warning that it edits memory, if it does."""
    if memory_file is None:
        return change
    warning = f"{memory_file} is memory: later conversations follow what it says."
    return change._replace(note=f"{change.note} {warning}".strip(), memory_file=memory_file)
