"""The lines that were typed in chats: a file a vault, for the prompt's arrow keys, in the format of prompt_toolkit's FileHistory.

It lies beside the store because what is deleted there goes from here as well: a question is typed before it is said.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from zkchat_cli.errors import StoreError

LONGEST_COMMAND = 3
"""Words of a command before the text that it is given, as in `/edit 2 TEXT`."""
_LENGTH = 16


def file_of(folder: Path, vault: str) -> Path:
    """Where the lines typed with the notes of `vault` are, in the folder of the store."""
    return files(folder) / name_of(vault)


def files(folder: Path) -> Path:
    return folder / "history"


def name_of(vault: str) -> str:
    """What the file of a vault is called."""
    return hashlib.sha256(vault.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def fingerprint(said: str) -> bytes:
    """By which a line is known that is this message; 16 bytes."""
    return hashlib.blake2b(said.strip().encode("utf-8", "replace"), digest_size=_LENGTH).digest()


def erase(file: Path, said: bytes) -> None:
    """Take every line out that is one of some messages, or a command that was given one: their fingerprints, one after the other. Raises
    StoreError that names the file when it cannot be written."""
    beside = file.with_name(f"{file.name}.tmp")
    try:
        beside.unlink(missing_ok=True)  # of one that was killed
        if not said or not file.exists():
            return
        doomed = {said[at : at + _LENGTH] for at in range(0, len(said), _LENGTH)}
        entries = list(_entries(file.read_bytes()))
        kept = [entry for entry in entries if doomed.isdisjoint(map(fingerprint, _messages(_text(entry))))]
        if len(kept) < len(entries):
            _replace(file, beside, b"\n".join(kept))
    except OSError as e:
        raise StoreError(
            f"The conversation is deleted, but {file} may still hold what was typed in it: {e.strerror or e}",
            "Delete that file if you do not need the lines you typed.",
        ) from e


def _entries(content: bytes) -> Iterator[bytes]:
    """An entry is lines that begin with `+`; what stands before it (an empty line, a date) belongs to it."""
    entry: list[bytes] = []
    for line in content.split(b"\n"):
        if entry and entry[-1].startswith(b"+") and not line.startswith(b"+"):
            yield b"\n".join(entry)
            entry = []
        entry.append(line)
    yield b"\n".join(entry)


def _text(entry: bytes) -> str:
    lines = entry.decode("utf-8", "replace").split("\n")
    return "\n".join(line[1:] for line in lines if line.startswith("+")).strip()


def _messages(line: str) -> Iterator[str]:
    """What a line may have said: itself, or the text given to a command."""
    yield line
    if line.startswith("/"):
        for words in range(1, LONGEST_COMMAND + 1):
            yield "".join(line.split(maxsplit=words)[words:])


def _replace(file: Path, beside: Path, content: bytes) -> None:
    """At once: a chat that is running adds to the old file or to the new one."""
    with os.fdopen(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)
    beside.replace(file)
