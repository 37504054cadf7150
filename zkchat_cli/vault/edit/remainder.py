"""What is left of a change of notes that was stopped in the middle, found by comparing what it
would do with the notes as they are now.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import SCRATCH_PREFIX, read_file
from zkchat_cli.vault.edit.change_record import VAULT_RECORD, ChangeRecord
from zkchat_cli.vault.edit.transaction import (
    Change,
    FileChange,
    free_trash_path,
    resolve_path,
)
from zkchat_cli.vault.filesystem import LARGEST_NOTE, short_path
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Notes that a proposal names
MOST_NAMED = 5


def propose_rest(root: Path, record: ChangeRecord) -> Change:
    """What is left of a change. Raises VaultError if the record names anything but notes."""
    return propose(root, f"finish: {record.summary}", record.files)


def propose_reversal(root: Path, record: ChangeRecord, view: VaultView = WHOLE_VAULT) -> Change:
    """What takes back the part of a change that was made. A created note goes to the trash of the
    view, unless it was edited since. Raises VaultError like `propose_rest`.
    """
    _check_paths(root, record.files)
    made = [file for file in reversed(record.files) if not _is_left_as_created(root, file)]
    return propose(
        root, f"take back: {record.summary}", [_reverse(root, file, view) for file in made]
    )


def propose(root: Path, summary: str, files: Sequence[FileChange]) -> Change:
    """What is left of the changes of these files. Raises VaultError like `propose_rest`."""
    _check_paths(root, files)
    try:
        remainders = [_find_remainder(root, file) for file in files]
    except OSError as e:
        raise VaultError(
            f"a note of the change cannot be read: {reason(e)}",
            "Check the permissions and the disk; nothing was changed.",
        ) from e
    edited = [each.edited for each in remainders if each.edited is not None]
    note = ""
    if edited:
        names = ", ".join(map(short_path, edited[:MOST_NAMED]))
        more = ", …" if len(edited) > MOST_NAMED else ""
        note = f"Edited since, so the text stays as it is: {names}{more}."
    left = tuple(each.change for each in remainders if each.change is not None)
    return Change(summary, left, note)


class _Remainder(NamedTuple):
    """What is left to do for a file, and its path if somebody has edited it since."""

    change: FileChange | None
    edited: str | None = None


def _find_remainder(root: Path, file: FileChange) -> _Remainder:
    """What is left of the change of one file."""
    old = None if file.path is None else _read_content(root, file.path)
    if file.path is None or old is None or _is_reserved(root, file.path, file.new_path):
        return _find_remainder_in_place(root, file)
    if old == file.before:
        return _Remainder(file)
    edited = None if old == file.after else file.path
    if file.path == file.new_path:
        return _Remainder(None, edited)
    # Other notes link to its new place
    return _Remainder(FileChange(file.path, file.new_path, old, old), edited)


def _find_remainder_in_place(root: Path, file: FileChange) -> _Remainder:
    """What is left of the change of a file that has nothing at its old path."""
    new = _read_content(root, file.new_path)
    if file.path is None and not new:
        return _Remainder(file)
    if new is None or new == file.after:
        return _Remainder(None)
    if file.path is not None and new == file.before:
        return _Remainder(FileChange(file.new_path, file.new_path, new, file.after))
    return _Remainder(None, file.new_path)


def _reverse(root: Path, file: FileChange, view: VaultView) -> FileChange:
    if file.path is None:
        trash = free_trash_path(root, file.new_path, view)
        return FileChange(file.new_path, trash, file.after, file.after)
    return FileChange(file.new_path, file.path, file.after, file.before)


def _is_left_as_created(root: Path, file: FileChange) -> bool:
    """Whether a file that the change created has another text by now, or none."""
    return file.path is None and _read_content(root, file.new_path) != file.after


def _is_reserved(root: Path, path: str, other_path: str) -> bool:
    """Whether the file at `path` only reserves the name, while the note is at the other path."""
    if path == other_path or _read_content(root, path) != b"":
        return False
    return _read_content(root, other_path) is not None


def free_reserved_names(root: Path, files: Sequence[FileChange]) -> None:
    """Remove the empty files that reserve the new names of these."""
    for file in files:
        is_new = file.path is None and _read_content(root, file.new_path) == b""
        if is_new or (file.path is not None and _is_reserved(root, file.new_path, file.path)):
            resolve_path(root, file.new_path).unlink()


def remove_scratch_files(root: Path, files: Sequence[FileChange]) -> None:
    """Remove what a killed process had written beside these, and had not put in its place."""
    folders = {resolve_path(root, file.path or file.new_path).parent for file in files}
    for folder in folders:
        for scratch in folder.glob(f"{SCRATCH_PREFIX}*.tmp"):
            scratch.unlink(missing_ok=True)


def _read_content(root: Path, path: str) -> bytes | None:
    """The bytes of a note; None if there is none. Raises VaultError for a path outside of the
    vault, and OSError.
    """
    try:
        return read_file(resolve_path(root, path), LARGEST_NOTE)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _check_paths(root: Path, files: Iterable[FileChange]) -> None:
    """Raise VaultError unless all paths are those of Markdown notes in the vault, or in its
    trash.
    """
    for file in files:
        for path in filter(None, (file.path, file.new_path)):
            if "\0" in path or not path.lower().endswith(NOTE_SUFFIXES):
                raise VaultError(
                    f"{VAULT_RECORD} names {short_path(path)}, and that is not a note",
                    f"zkchat has not written it. Delete {VAULT_RECORD}.",
                )
            resolve_path(root, path)
