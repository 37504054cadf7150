"""The last changes of notes that were made, so that a later process can take them back.

Each change is a file beside the index, where only the user writes. The changes of one turn are
taken back together.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.fileio import atomic_write, make_private_folder
from zkchat_cli.vault.edit.change_record import ChangeRecord, read_record, record_lines
from zkchat_cli.vault.edit.remainder import propose_reversal
from zkchat_cli.vault.edit.transaction import TRASH, Change, FileChange

# Changes that can be taken back, and bytes of all their records
MOST_KEPT = 50
MOST_BYTES = 100_000_000
SUFFIX = ".jsonl"
NO_TURN = "none"


class Undo(NamedTuple):
    """The change that takes others back, and the records of these."""

    change: Change
    records: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """The records of the changes that were made in one vault, in a `folder`."""

    root: Path
    folder: Path

    def add(self, change: Change, turn: str) -> Path | None:
        """Record a change before it is made; `turn` groups those to take back together. Returns the
        record, or None if it cannot be written: then the change cannot be taken back.
        """
        record = ChangeRecord(secrets.token_hex(8), change.summary, False, change.files)
        with suppress(OSError):
            make_private_folder(self.folder)
            files = self._files()
            number = int(files[-1].name.partition("-")[0]) + 1 if files else 1
            file = self.folder / f"{number:09}-{turn or NO_TURN}{SUFFIX}"
            atomic_write(file, record_lines(record))
            self._forget_oldest([*files, file])
            return file
        return None

    def _files(self) -> list[Path]:
        """The records, the latest last."""
        with suppress(OSError):
            found = [each for each in self.folder.iterdir() if each.name.endswith(SUFFIX)]
            return sorted(each for each in found if each.name.partition("-")[0].isdecimal())
        return []

    def _forget_oldest(self, files: Sequence[Path]) -> None:
        """Keep the latest records that are not too many and not too large."""
        size = 0
        for number, file in enumerate(reversed(files)):
            size += file.stat().st_size
            if number >= MOST_KEPT or (number and size > MOST_BYTES):
                file.unlink(missing_ok=True)

    def propose_undo(self) -> Undo:
        """What takes back the last change, and the others of its turn. A note that was edited since
        keeps its text. Raises VaultError if no change is known.
        """
        files = self._last_files()
        known = [record for record in map(_read, files) if record is not None]
        if not known:
            raise VaultError(
                "there is no change of notes to take back",
                "Only changes that zkchat made for you, on this computer, can be.",
            )
        summary = "; ".join(record.summary for record in known)
        combined = combine([file for record in known for file in record.files])
        made = ChangeRecord(known[-1].id, summary, False, combined)
        return Undo(propose_reversal(self.root, made), tuple(files))

    def _last_files(self) -> list[Path]:
        """The records of the last change, and of the others of its turn; the latest last."""
        files = self._files()
        first = len(files) - 1
        while first > 0 and _turn_of(files[-1]) not in ("", NO_TURN):
            if _turn_of(files[first - 1]) != _turn_of(files[-1]):
                break
            first -= 1
        return files[max(0, first) :]


def _read(file: Path) -> ChangeRecord | None:
    with suppress(OSError):
        return read_record(file)
    return None


def _turn_of(file: Path) -> str:
    return file.name.partition("-")[2].removesuffix(SUFFIX)


def combine(files: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """Changes made one after another as one for each file, from its first state to its last."""
    by_path: dict[str, FileChange] = {}
    for file in files:
        earlier = None if file.path is None else by_path.pop(file.path, None)
        if earlier is not None:
            file = file._replace(path=earlier.path, before=earlier.before)
        by_path[file.new_path] = file
    # A note that was created and moved to the trash is where its reversal would put it
    return tuple(
        each
        for each in by_path.values()
        if each.path is not None or not each.new_path.startswith(f"{TRASH}/")
    )
