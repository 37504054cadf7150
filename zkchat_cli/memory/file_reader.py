"""Reads memory files. A bad file (binary, huge, a link out of the vault) is a warning, never an error.

Every prompt needs these files, so a file is read again only when its stamp has changed.
"""

import os
from collections.abc import Callable
from pathlib import Path

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_beginning
from zkchat_cli.vault import filesystem

MAX_BYTES = 1_000_000
"""More than any share of a window takes."""
CUT_MARK = "\n[… cut: this file is longer than its share of the context window]"

Warn = Callable[[str, str], None]
"""Takes the problem and what to do about it."""


class MemoryFiles:
    """The memory files below one folder."""

    def __init__(self, root: Path, warn: Warn) -> None:
        self._root = root
        self.warn = warn
        self._texts: dict[str, tuple[filesystem.Stamp, str]] = {}

    def read(self, path: str) -> str | None:
        """The trimmed text; None if there is no such file, empty if it cannot be used."""
        try:
            stamp = filesystem.stamp(os.stat(f"{self._root}/{path}"))  # noqa: PTH116 - Path costs more, and this runs for each prompt
        except (OSError, ValueError):
            return None  # the usual case: most folders have no memory file
        try:
            file = filesystem.resolve_inside(self._root, path)
            if not file.is_file():
                return None
            if path not in self._texts or self._texts[path][0] != stamp:
                self._texts[path] = stamp, self._decode(path, read_beginning(file, MAX_BYTES + 1))
            return self._texts[path][1]
        except VaultError as e:
            self.warn(f"memory: {e.message}", e.hint)
        except FileNotFoundError:
            return None
        except OSError as e:
            self.warn(f"memory: {filesystem.printable(path)} cannot be read: {reason(e)}", "Check its permissions.")
        return ""

    def _decode(self, path: str, raw: bytes) -> str:
        name = filesystem.printable(path)
        if b"\0" in raw:
            self.warn(f"memory: {name} is not a text file; it is left out", "Memory is Markdown or plain text.")
            return ""
        is_cut = len(raw) > MAX_BYTES
        text, problem = filesystem.decode(raw[: raw.rfind(b"\n") + 1] or raw if is_cut else raw)
        if problem:
            self.warn(f"memory: {name} is {problem}", "")
        return text.strip() + (CUT_MARK if is_cut else "")
