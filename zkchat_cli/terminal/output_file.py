"""Files that the user names with `-o FILE`: written completely or not at all."""

import os
from pathlib import Path

from zkchat_cli.errors import StoreError, reason
from zkchat_cli.fileio import atomic_write

ANOTHER = "Name another place with -o."


def check(file: Path) -> None:
    """Raise StoreError when the file cannot be written: before a model is paid for an answer that would be lost."""
    target = _target(file)
    if target.is_dir():
        raise StoreError(f"{file} cannot be written: it is a folder", ANOTHER)
    if not target.parent.is_dir():
        raise StoreError(f"{file} cannot be written: there is no folder {target.parent}", "Make it, or name another place with -o.")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise StoreError(f"{file} cannot be written: it is protected", ANOTHER)


def save(file: Path, text: str) -> None:
    """Replace the file's content by `text`; a pipe or a device is written to. Raises StoreError; the file is unchanged then."""
    target = _target(file)
    data = text.encode("utf-8", "backslashreplace")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            atomic_write(target, data)
    except (OSError, ValueError) as e:
        raise StoreError(f"{file} cannot be written: {getattr(e, 'strerror', None) or e}", ANOTHER) from e


def _target(file: Path) -> Path:
    try:
        return file.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as e:  # a circle of links, an unknown user's home, a NUL in the name
        raise StoreError(f"{file} cannot be written: {reason(e)}", ANOTHER) from e
