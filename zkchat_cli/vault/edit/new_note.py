"""Writing a new note: inside the vault, never over a file that is there, whole or not at all."""

import os
import posixpath
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.fileio import SCRATCH_PREFIX, scratch_file
from zkchat_cli.vault.filesystem import printable, replace_surrogates, resolve_inside

LEFT_BEHIND = 3600.0
"""Seconds after which a scratch file is nobody's: the program that wrote it was killed."""


def place_for(root: Path, relative_path: str) -> tuple[str, str | None]:
    """The path of a new note, tidied, and the outermost folder that is missing for it, None where all are there.

    Raises VaultError for a path that leads out of the vault or is hidden, and for a file that exists.
    """
    if os.path.lexists(resolve_inside(root, relative_path)):
        raise VaultError(f"{printable(relative_path)} exists already", "Name another; nothing is ever overwritten.")
    path = posixpath.normpath(relative_path)
    above = [str(folder) for folder in reversed(PurePosixPath(path).parents)]
    return path, next((folder for folder in above if not (root / folder).exists()), None)


def create(root: Path, relative_path: str, text: str) -> None:
    """Write `text` as UTF-8 to a path in the vault, with the folders that are missing.

    Raises VaultError for a path that leads out of the vault or is hidden, for a file that exists, and when it cannot be written.
    """
    file = resolve_inside(root, relative_path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, replace_surrogates(text))
    except FileExistsError as e:
        what = (
            f"{printable(relative_path)} exists already" if os.path.lexists(file) else f"{printable(relative_path)}: a file is in the way"
        )
        raise VaultError(what, "Name another; nothing is ever overwritten.") from e
    except OSError as e:
        raise VaultError(f"{printable(relative_path)} cannot be written: {(e.strerror or str(e)).lower()}", "Name another place.") from e


def _write(file: Path, text: str) -> None:
    """Under a hidden name first, so that nobody reads half a note, nor finds one when the disk was full; then its name is taken, which
    only one can do, and it moves there."""
    _sweep(file.parent)
    scratch = scratch_file(file)
    try:
        with scratch.open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
        file.touch(exist_ok=False)
        scratch.replace(file)
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Take away what a program that was killed has left in a folder that is written to anyway."""
    for left in folder.glob(f"{SCRATCH_PREFIX}????????????.tmp"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_BEHIND:
                left.unlink()
