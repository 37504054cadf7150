"""Writing a file in one step: every writer of zkchat that replaces a file uses `atomic_write`."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

SCRATCH_PREFIX = ".zkchat-"
"""Scratch files are hidden and recognizable, so that a scan skips them and the next writer can delete old ones."""


def scratch_file(file: Path) -> Path:
    """A new name in the folder of `file` for text that will replace it; short, because `file` may have the longest name allowed."""
    return file.with_name(f"{SCRATCH_PREFIX}{secrets.token_hex(6)}.tmp")


def atomic_write(file: Path, data: str | bytes, *, private: bool = False) -> None:
    """Replace the whole content of a file: it holds the old data or the new, never a part of it, even after a power cut.

    A link to a file is followed and stays a link. An existing file keeps its mode; a new one gets the usual one. A `private` file always
    gets mode 0600, and its missing folders 0700. Raises OSError and UnicodeError; the file is unchanged then.
    """
    raw = data if isinstance(data, bytes) else data.encode()
    file = Path(os.path.realpath(file))
    if private:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = 0o600 if private else file.stat().st_mode & 0o7777 if file.exists() else None
    scratch = scratch_file(file)
    try:
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if mode is not None else 0o666), "wb") as out:
            out.write(raw)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            scratch.chmod(mode)
        scratch.replace(file)
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
