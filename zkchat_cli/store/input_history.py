"""The lines typed in chats: one file per vault in the format of prompt_toolkit's FileHistory.

The files are in the store's folder, because deleting a conversation also deletes the lines that
were its questions.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from zkchat_cli.fileio import atomic_write, make_private_folder, open_regular, read_file
from zkchat_cli.text.words import replace_surrogates

MAX_BYTES = 100_000_000
MAX_LOADED = 10_000_000
# An entry begins with its date; the typed lines after it begin with `+`
_ENTRY = re.compile(rb"^(?=# )", re.MULTILINE)


def history_file(folder: Path, vault: str) -> Path:
    """The file for the notes of `vault`; `folder` is the store's."""
    return (
        folder
        / "history"
        / hashlib.sha256(vault.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    )


def read_lines(file: Path) -> Iterator[str]:
    """The lines, newest first; of a long file those in its last megabytes, and none of one that
    cannot be read.
    """
    with suppress(OSError), open_regular(file) as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - MAX_LOADED))
        # A line that was typed begins with +
        entries = opened.read(MAX_LOADED).decode("utf-8", "replace").split("\n# ")[1:]
        for entry in reversed(entries):
            yield "\n".join(line[1:] for line in entry.split("\n") if line.startswith("+"))


def append_line(file: Path, text: str) -> None:
    """Add what was typed. Without effect where that is not possible: a full disk costs a line of
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
    """Delete the entries that are one of these texts, or a command with one, such as `/edit`.
    Raises OSError.
    """
    if not file.exists():
        return
    remaining = []
    entries = _ENTRY.split(read_file(file, MAX_BYTES))
    for entry in entries:
        lines = entry.decode("utf-8", "replace").split("\n")
        typed = ["\n".join(line[1:] for line in lines if line.startswith("+")).strip()]
        # The argument, and that after a number: `/rename TITLE`, `/edit 2 QUESTION`
        if typed[0].startswith("/"):
            argument = typed[0].split(maxsplit=1)[-1]
            typed += [argument, argument.split(maxsplit=1)[-1]]
        if texts.isdisjoint(typed):
            remaining.append(entry)
    if len(remaining) < len(entries):
        atomic_write(file, b"".join(remaining), private=True)
