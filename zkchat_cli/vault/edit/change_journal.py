"""The journal of a change of notes while it is made, so that a killed process leaves all of the change or nothing.

It is a file beside the index: a line with the steps, written before the first scratch file, and a second line once all new texts are in
scratch files. The next zkchat that opens the vault then makes the rest of the steps; without that line it removes the scratch files.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.fileio import read_file
from zkchat_cli.vault.filesystem import LARGEST_NOTE

_COMMITTED = "committed"
MAX_JOURNAL = 100_000_000


class FileStep(NamedTuple):
    """One file: its new text in a scratch file (none if the text stays), its old path (none if it is new), its new path, and the hash of
    the text that it had."""

    scratch: Path | None
    source: Path | None
    target: Path
    before: str


def content_hash(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


@contextmanager
def record_steps(journal: Path, steps: Sequence[FileStep]) -> Iterator[Callable[[], None]]:
    """Keep the steps in the journal until they are made or undone. Call the function when all scratch files are written.

    Raises VaultError while another process makes a change. Where no journal can be written there is none.
    """
    try:
        opened = open(journal, "x+b", opener=partial(os.open, mode=0o600))  # noqa: SIM115 - closed below
    except FileExistsError as e:
        raise VaultError("another zkchat is changing notes of this vault", "Nothing was changed. Try again when it is done.") from e
    except OSError:
        yield lambda: None
        return
    with opened:
        try:
            with suppress(OSError):  # a full disk, but not that of the notes
                _lock(opened)
                _write_line(opened, json.dumps(steps, default=str))
            yield partial(_write_line, opened, _COMMITTED)
        finally:
            journal.unlink(missing_ok=True)


def finish_interrupted(journal: Path) -> None:
    """Make or undo the rest of a change whose process was killed. A note that somebody has edited since stays as it is."""
    with suppress(OSError), journal.open("r+b") as opened:
        if not _lock(opened):  # its process is alive
            return
        with suppress(ValueError, TypeError):  # half of a line
            steps, committed, *_ = (*opened.read(MAX_JOURNAL).decode().split("\n"), "")
            for scratch, source, target, before in json.loads(steps or "[]"):
                step = FileStep(scratch and Path(scratch), source and Path(source), Path(target), before)
                _finish_step(step, committed=committed == _COMMITTED)
        journal.unlink()


def _finish_step(step: FileStep, *, committed: bool) -> None:
    scratch, target, file = step.scratch, step.target, step.source or step.target
    if scratch and scratch.exists():
        if committed and content_hash(read_file(file, LARGEST_NOTE) if file.exists() else b"") == step.before:
            scratch.replace(file)
        else:
            scratch.unlink()
    # an empty target is a reserved name; two spellings of a name may mean one file
    if committed and file != target and file.exists() and (not target.exists() or not target.stat().st_size or file.samefile(target)):
        file.replace(target)


def _write_line(opened: BinaryIO, line: str) -> None:
    opened.write(f"{line}\n".encode())
    opened.flush()
    os.fsync(opened.fileno())


def _lock(opened: BinaryIO) -> bool:
    """Lock the journal until it is closed; False if another process has."""
    if os.name == "posix":
        import fcntl  # not on Windows

        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
