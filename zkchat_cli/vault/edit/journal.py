"""The record of a change of notes while it is made. If the process is killed, the change can be
completed or taken back.

It is written twice. The copy beside the index is in the user's own folders, where only they write:
the next zkchat of this user makes the rest of the change. The copy in the vault is a hidden file
for everybody else who opens the vault: another computer, another user, another `ZKCHAT_HOME`. They
are told, and `zkchat vault recover` proposes to make the rest or to take back what was made. That
copy may have come with somebody else's notes, so nothing is done unasked: it becomes a proposal
like any other, for Markdown notes in the vault, and is shown as a diff.
"""

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from zkchat_cli.errors import VaultError, on_one_line, reason
from zkchat_cli.fileio import open_regular
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.change_record import (
    VAULT_RECORD,
    ChangeRecord,
    parse_header,
    read_record,
    record_lines,
)
from zkchat_cli.vault.edit.remainder import (
    free_reserved_names,
    propose,
    remove_scratch_files,
)
from zkchat_cli.vault.edit.transaction import Change, apply_files
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Bytes of the first line of a record
MAX_HEADER = 10_000
# Characters of a summary in a message
MAX_SUMMARY = 200
HOW_TO_RECOVER = "`zkchat vault recover` shows it, and makes the rest or takes it back."


class UnfinishedChange(NamedTuple):
    """The first line of the vault's copy of a record: its id and what the change is. Both are empty
    if the copy is not complete, so that no note was changed yet.
    """

    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class ChangeJournal:
    """The records of changes in one vault: `own_file` beside the index, and one in the vault. Who
    does not have the whole vault in `view` is not told what a change of somebody else was.
    """

    root: Path
    own_file: Path
    view: VaultView = WHOLE_VAULT

    @property
    def vault_file(self) -> Path:
        """The copy in the vault."""
        return self.root / VAULT_RECORD

    def apply(self, change: Change) -> None:
        """Make a change; if it raises, nothing of it is made. Raises VaultError while another one
        is being made, or waits to be recovered.
        """
        self.finish_own()
        with ExitStack() as records:
            # Nothing can be recorded in a folder that cannot be written
            own = self._create(self.own_file, 0o600, records)
            copy = self._create(self.vault_file, 0o666, records)
            id_ = os.urandom(8).hex()
            record = ChangeRecord(id_, change.summary, copy is not None, change.files)
            lines = record_lines(record)
            for opened in filter(None, (own, copy)):
                # The disk may be full; the two may be on different ones
                with suppress(OSError):
                    _write(opened, lines)
            apply_files(self.root, change.files)

    def _create(self, file: Path, mode: int, records: ExitStack) -> IO[bytes] | None:
        """A new, locked file that is removed at the end of `records`; None if it cannot be written.
        Raises VaultError if it is there.
        """
        try:
            opened = open(file, "x+b", opener=partial(os.open, mode=mode))  # noqa: SIM115
        except FileExistsError as e:
            raise self._describe_conflict() from e
        except OSError:
            return None
        records.enter_context(opened)
        records.callback(file.unlink, missing_ok=True)
        with suppress(OSError):
            _lock(opened)
        return opened

    def _describe_conflict(self) -> VaultError:
        unfinished = self.unfinished()
        return _being_changed() if unfinished is None else unfinished_error(unfinished)

    def unfinished(self) -> UnfinishedChange | None:
        """The change that was stopped in the middle and is not this user's, if there is one."""
        try:
            with open_regular(self.vault_file) as opened:
                if not _is_abandoned(opened):
                    return None
                header = parse_header(opened.read(MAX_HEADER).partition(b"\n")[0])
        except OSError:
            # There is no such file, or it says nothing
            return None
        if header is None:
            return UnfinishedChange("", "")
        return UnfinishedChange(header.id, header.summary if self.view.is_whole else "")

    def describe_unfinished(self) -> str | None:
        """`unfinished` as a text that says what to do."""
        found = self.unfinished()
        if found is None:
            return None
        error = unfinished_error(found)
        return on_one_line(error.message, error.hint)

    def read_copy(self) -> ChangeRecord:
        """The whole record in the vault. One that is not complete has no files: no note was changed
        yet. Raises VaultError.
        """
        try:
            return read_record(self.vault_file) or ChangeRecord("", "a change", True, ())
        except OSError as e:
            raise VaultError(
                f"{self.vault_file} cannot be read: {reason(e)}", "Remove it by hand."
            ) from e

    def recover(self, record: ChangeRecord, change: Change) -> None:
        """Make a change that `propose_rest` or `propose_reversal` returned for the record in the
        vault, and remove that. Raises VaultError, and then no text has changed.
        """
        try:
            with open_regular(self.vault_file) as opened:
                if not _is_abandoned(opened):
                    raise _being_changed()
                free_reserved_names(self.root, record.files)
                apply_files(self.root, change.files)
                remove_scratch_files(self.root, record.files)
                self.vault_file.unlink()
        except OSError as e:
            raise VaultError(
                f"{VAULT_RECORD} or a note cannot be read or removed: {reason(e)}",
                "Check the permissions and the disk, and try again.",
            ) from e

    def finish_own(self) -> None:
        """Make the rest of a change if a process of this user was killed in the middle. A note that
        somebody has edited since keeps its text.
        """
        # If this fails, the next opening tries again
        with suppress(OSError), self.own_file.open("r+b") as own:
            if not _lock(own):
                return
            record = read_record(self.own_file)
            copy = self.unfinished()
            # An incomplete one was written by the same process
            is_own_copy = copy is not None and copy.id in ("", record.id if record else "")
            # Without its copy, somebody else has finished the change or taken it back
            if record is not None and (is_own_copy or not record.in_vault):
                self._make_rest(record)
            if is_own_copy:
                self.vault_file.unlink(missing_ok=True)
            self.own_file.unlink()

    def _make_rest(self, record: ChangeRecord) -> None:
        for file in record.files:
            # Its new place may be taken by now
            with suppress(VaultError):
                change = propose(self.root, record.summary, [file])
                free_reserved_names(self.root, [file])
                apply_files(self.root, change.files)
                remove_scratch_files(self.root, [file])


def unfinished_error(unfinished: UnfinishedChange) -> VaultError:
    """What to tell whoever opens a vault with an unfinished change."""
    what = truncate(sanitize_name(unfinished.summary), MAX_SUMMARY)
    message = "a change of notes was stopped in the middle"
    return VaultError(f"{message}: {what}" if what else message, HOW_TO_RECOVER)


def _being_changed() -> VaultError:
    return VaultError(
        "another zkchat is changing notes of this vault",
        "Nothing was changed. Try again when it is done.",
    )


def _write(opened: IO[bytes], lines: bytes) -> None:
    opened.write(lines)
    opened.flush()
    os.fsync(opened.fileno())


def _is_abandoned(opened: IO[bytes]) -> bool:
    """Whether no process is making the change of a record, as far as that can be known."""
    try:
        return _lock(opened)
    except OSError:
        return True


def _lock(opened: IO[bytes]) -> bool:
    """Lock a record until it is closed; False if another process has. Raises OSError where files
    cannot be locked.
    """
    if os.name == "posix":
        # Windows does not have this module
        import fcntl

        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
