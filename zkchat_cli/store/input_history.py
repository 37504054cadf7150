"""The lines typed in chats: one file per vault in the format of prompt_toolkit's FileHistory.

The files are in the store's folder, because deleting a conversation also deletes the lines that
were its questions.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from zkchat_cli.errors import StoreError, reason
from zkchat_cli.fileio import atomic_write, make_private_folder, open_regular, read_file
from zkchat_cli.text.words import replace_surrogates

# Bytes of a file that are read to delete lines, and of one that is loaded
MAX_BYTES = 100_000_000
MAX_LOADED = 10_000_000
_NAME_LENGTH = 16
# An entry begins with its date; the typed lines after it begin with `+`
_ENTRY = re.compile(rb"^(?=# )", re.MULTILINE)


def history_file(folder: Path, vault: str) -> Path:
    """The file for the notes of `vault`; `folder` is the store's."""
    digest = hashlib.sha256(vault.encode("utf-8", "surrogateescape")).hexdigest()
    return folder / "history" / digest[:_NAME_LENGTH]


def read_lines(file: Path) -> Iterator[str]:
    """The lines, newest first. A long file is read only in its last megabytes; a file that cannot
    be read gives no lines.
    """
    with suppress(OSError), open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        opened.seek(max(0, size - MAX_LOADED))
        text = opened.read(MAX_LOADED).decode("utf-8", "replace")
        # The text before the first date is a part of an entry
        _, *entries = text.split("\n# ")
        for entry in reversed(entries):
            yield _typed_lines(entry)


def append_line(file: Path, text: str) -> None:
    """Add the typed lines. If that is not possible nothing happens: a full disk costs a line of
    history, not the chat.
    """
    typed = "".join(f"+{line}\n" for line in replace_surrogates(text).split("\n"))
    with suppress(OSError):
        make_private_folder(file.parent)
        file.touch(mode=0o600)
        open_regular(file).close()
        with file.open("ab") as opened:
            opened.write(f"\n# {datetime.now()}\n{typed}".encode())


def delete_lines(file: Path, texts: set[str]) -> None:
    """Delete the entries that are one of these texts, or a command with such a text (`/edit`).
    Raises OSError.
    """
    if not file.exists():
        return
    entries = _ENTRY.split(read_file(file, MAX_BYTES))
    remaining = [entry for entry in entries if texts.isdisjoint(_typed_texts(entry))]
    if len(remaining) < len(entries):
        atomic_write(file, b"".join(remaining), private=True)


def delete_typed(texts: Mapping[Path, set[str]]) -> None:
    """Delete these texts from each file. Raises StoreError."""
    for file, lines in texts.items():
        try:
            delete_lines(file, lines)
        except OSError as e:
            message = (
                f"nothing was deleted: {file}, which may have what you typed, cannot be "
                f"changed: {reason(e)}"
            )
            raise StoreError(
                message, "Delete that file if you do not need the lines you typed."
            ) from e


def _typed_texts(entry: bytes) -> list[str]:
    """The typed text. For a command also its argument (`/rename TITLE`), and the part of it after a
    number (`/edit 2 QUESTION`).
    """
    typed = _typed_lines(entry.decode("utf-8", "replace")).strip()
    if not typed.startswith("/"):
        return [typed]
    *_, argument = typed.split(maxsplit=1)
    *_, after_number = argument.split(maxsplit=1)
    return [typed, argument, after_number]


def _typed_lines(entry: str) -> str:
    """The typed lines of an entry, without the `+` at their beginning."""
    return "\n".join(line[1:] for line in entry.split("\n") if line.startswith("+"))
