"""What a user wants in a file (`-o FILE`): whole or not at all. What was there before stays until the new text is, to its last byte."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from zkchat_cli.errors import StoreError, reason

ANOTHER = "Name another place with -o."


def check(file: Path) -> None:
    """Refuse beforehand a place where nothing can be written: what is to be written may be dear. Raises StoreError."""
    target = _target(file)
    if target.is_dir():
        raise StoreError(f"{file} cannot be written: it is a folder", ANOTHER)
    if not target.parent.is_dir():
        raise StoreError(f"{file} cannot be written: there is no folder {target.parent}", "Make it, or name another place with -o.")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise StoreError(f"{file} cannot be written: it is protected", ANOTHER)


def save(file: Path, text: str) -> None:
    """Put `text` into `file`, in place of what it held, whose mode it keeps; a link is followed, and a pipe or device written to.

    Raises StoreError; then the file is as it was.
    """
    target = _target(file)
    data = text.encode("utf-8", "backslashreplace")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        number, aside = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        try:
            with os.fdopen(number, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            Path(aside).chmod(mode)
            Path(aside).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(aside).unlink()
            raise
    except (OSError, ValueError) as e:
        raise StoreError(f"{file} cannot be written: {getattr(e, 'strerror', None) or e}", ANOTHER) from e


def _target(file: Path) -> Path:
    try:
        return file.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as e:  # links in a circle, no such user's home, a NUL in the name
        raise StoreError(f"{file} cannot be written: {reason(e)}", ANOTHER) from e


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
