"""The lines typed in chats: one file per vault in the format of prompt_toolkit's FileHistory.

The files are in the store's folder, because deleting a conversation also deletes the lines that were its questions.
"""

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from zkchat_cli.fileio import atomic_write, read_file

MAX_BYTES = 100_000_000
_ENTRY = re.compile(rb"^(?=# )", re.MULTILINE)
"""An entry begins with its date; the typed lines after it begin with `+`."""


def history_file(folder: Path, vault: str) -> Path:
    """The file for the notes of `vault`; `folder` is the store's."""
    return folder / "history" / hashlib.sha256(vault.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def delete_lines(file: Path, texts: Collection[str]) -> None:
    """Delete the entries that are one of these texts. Raises OSError."""
    if not texts or not file.exists():
        return
    entries = _ENTRY.split(read_file(file, MAX_BYTES))
    remaining = [entry for entry in entries if _typed_text(entry) not in texts]
    if len(remaining) < len(entries):
        atomic_write(file, b"".join(remaining), private=True)


def _typed_text(entry: bytes) -> str:
    lines = entry.decode("utf-8", "replace").split("\n")
    return "\n".join(line[1:] for line in lines if line.startswith("+")).strip()
