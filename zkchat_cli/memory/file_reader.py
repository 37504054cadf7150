"""Reads memory files. A bad file (binary, huge, a link out of the vault) is a warning, never an error.

Every prompt needs these files, so a file is read again only when its stamp has changed.
"""

import os
import posixpath
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_beginning
from zkchat_cli.vault import filesystem

MAX_BYTES = 1_000_000
"""More than any share of a window takes."""
FOLDER_TICK = 3_000_000_000
"""Nanoseconds: some file systems count modification times in steps of two seconds, so a folder may change twice at one time."""
CUT_MARK = "\n[… cut: this file is longer than its share of the context window]"

Stamp = tuple[int, int, int]
MISSING: Stamp = (0, 0, 0)
Warn = Callable[[str, str], None]
"""Takes the problem and what to do about it."""


class MemoryFiles:
    """The memory files below one folder."""

    def __init__(self, root: Path, warn: Warn) -> None:
        self._root = root
        self.warn = warn
        self._texts: dict[str, tuple[Stamp, str]] = {}
        self._without: dict[str, tuple[Stamp, tuple[str, ...]]] = {}
        """The folders without certain files, with their stamps."""
        self._stamps: dict[str, Stamp] = {}

    def record_stamps(self) -> dict[str, Stamp]:
        """A record that is kept from now on: the stamp of every path that is read or looked for, missing ones included."""
        self._stamps = {}
        return self._stamps

    def has_none(self, folder: str, names: tuple[str, ...]) -> bool:
        """Whether a folder has none of these files, as most have. It is looked into again only when entries came or went."""
        stamp = self.stamp(folder)
        if self._without.get(folder) != (stamp, names):
            is_settled = time.time_ns() - stamp[1] > FOLDER_TICK and not any("/" in name for name in names)
            if not is_settled or any(self._has_entry(posixpath.join(folder, name)) for name in names):
                return False
            self._without[folder] = stamp, names
        self._stamps[folder] = stamp
        return True

    def read(self, path: str) -> str | None:
        """The trimmed text; None if there is no such file, empty if it cannot be used."""
        stamp = self._stamps[path] = self.stamp(path)
        if stamp == MISSING:
            return None  # the usual case: most folders have no memory file
        try:
            file = filesystem.resolve_inside(self._root, path)
            if not S_ISREG(file.stat().st_mode):
                return None
            if path not in self._texts or self._texts[path][0] != stamp:
                self._texts[path] = stamp, self._decode(path, read_beginning(file, MAX_BYTES + 1))
            return self._texts[path][1]
        except VaultError as e:
            if not self._has_entry(path):
                return None
            self.warn(f"memory: {e.message}", e.hint)
        except FileNotFoundError:
            return None
        except OSError as e:
            self.warn(f"memory: {filesystem.printable(path)} cannot be read: {reason(e)}", "Check its permissions.")
        return ""

    def stamp(self, path: str) -> Stamp:
        """Changes when the file changes; `MISSING` where there is nothing."""
        file = f"{self._root}/{path}"
        try:
            stat = os.lstat(file)  # Path costs more, and this runs for each prompt
        except (OSError, ValueError):
            return MISSING
        if S_ISLNK(stat.st_mode):
            with suppress(OSError):  # the stamp of a broken link is its own
                stat = os.stat(file)  # noqa: PTH116
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _has_entry(self, path: str) -> bool:
        """Whether something of this name exists, broken links and unreadable files included."""
        return bool(path) and "\0" not in path and os.path.lexists(f"{self._root}/{path}")

    def _decode(self, path: str, raw: bytes) -> str:
        name = filesystem.printable(path)
        if b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            self.warn(f"memory: {name} is not a text file; it is left out", "Memory is Markdown or plain text.")
            return ""
        is_complete = len(raw) <= MAX_BYTES
        text, problem = filesystem.decode(raw if is_complete else filesystem.trim_to_whole_lines(raw[:MAX_BYTES]))
        if problem:
            self.warn(f"memory: {name} is {problem}", "")
        return text.strip() if is_complete else text.strip() + CUT_MARK
