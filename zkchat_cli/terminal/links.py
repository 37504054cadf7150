"""Addresses that a terminal opens when a note's path is clicked on.

They are made of ASCII alone, percent-encoded byte by byte: whatever a file is called, its name cannot end the escape sequence it stands in
or begin another.
"""

import os
import posixpath
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

LONGEST_ADDRESS = 2000
"""Terminals take no longer ones (VTE: 2083 bytes)."""

Opener = Callable[[str], str | None]
"""From a path relative to the vault to what opens it; None for a path that nothing opens."""


def opener(root: Path, style: str) -> Opener:
    """What opens the notes below `root`: with `file` what the desktop opens them with, with `obsidian` Obsidian, with `none` nothing.

    A path that leads out of the vault (an imported conversation may hold one) opens nothing.
    """

    def address(relative_path: str) -> str | None:
        normal = posixpath.normpath(relative_path)
        if normal.startswith(("/", "..")) or "\0" in normal or Path(normal).drive:
            return None
        file = root / normal
        made = file.as_uri() if style == "file" else "obsidian://open?path=" + quote(os.fsencode(file), safe="")
        return made if len(made) <= LONGEST_ADDRESS else None

    return address if style != "none" else lambda _: None
