"""Reading memory files: what is wrong with one (it is binary, huge, a link that leaves the vault) is a warning and never an error.

They are looked at for every prompt, so a file is read again only when it has changed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import NoteBytes

LARGEST = 1_000_000
"""Bytes of a memory file that are read: more than any share of a window takes."""
CUT = "\n[… cut: this file is longer than its share of the context window]"

Stamp = tuple[int, int, int]
MISSING: Stamp = (0, 0, 0)
Warn = Callable[[str, str], None]
"""Takes what is wrong, and what to do about it."""


class MemoryFiles:
    """The files of a vault, or of another folder, as memory reads them."""

    def __init__(self, root: Path, warn: Warn) -> None:
        self._root = root
        self.warn = warn
        self._read: dict[str, tuple[Stamp, str]] = {}
        self.looked_at: dict[str, Stamp] = {}
        """Every path that was read, or looked for, and how it was then."""

    def read(self, path: str) -> str | None:
        """The file's text, trimmed; None when there is none of that path, empty when it cannot be of use."""
        stamp = self.looked_at[path] = self.stamp(path)
        if stamp == MISSING and self._is_nothing(path):
            return None  # as in most folders
        try:
            file = filesystem.resolve_inside(self._root, path)
            if not S_ISREG(file.stat().st_mode):
                return None
            if path not in self._read or self._read[path][0] != stamp:
                with file.open("rb") as opened:
                    self._read[path] = stamp, self._text(path, opened.read(LARGEST + 1))
            return self._read[path][1]
        except VaultError as e:
            if path and "\0" not in path and os.path.lexists(self._root / path):
                self.warn(f"memory: {e.message}", e.hint)
                return ""
        except FileNotFoundError:
            pass
        except OSError as e:
            self.warn(f"memory: {filesystem.printable(path)} cannot be read: {(e.strerror or str(e)).lower()}", "Check its permissions.")
            return ""
        return None

    def _is_nothing(self, path: str) -> bool:
        try:
            os.lstat(f"{self._root}/{path}")
        except FileNotFoundError:
            return True
        except (OSError, ValueError):
            return False  # what is wrong with it is told by who opens it
        return False

    def stamp(self, path: str) -> Stamp:
        """What is another when the file has changed; the same for all that are not there."""
        try:
            stat = os.stat(f"{self._root}/{path}")  # noqa: PTH116 - for each prompt
        except (OSError, ValueError):
            return MISSING
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _text(self, path: str, raw: bytes) -> str:
        shown = filesystem.printable(path)
        if b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            self.warn(f"memory: {shown} is not a text file; it is left out", "Memory is Markdown or plain text.")
            return ""
        whole = len(raw) <= LARGEST
        text, problem = filesystem.decode(NoteBytes(raw if whole else filesystem.trim_to_whole_lines(raw[:LARGEST])))
        if problem:
            self.warn(f"memory: {shown} is {problem}", "")
        return text.strip() if whole else text.strip() + CUT
