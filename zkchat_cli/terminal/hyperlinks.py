"""Addresses that a terminal opens when a note's path, a link or a citation is clicked on.

They are made of ASCII alone, percent-encoded byte by byte: whatever a file is called, its name cannot end the escape sequence it stands in
or begin another. Of a model only addresses of the web and of mail are taken; a note's is made here, of a path within the vault.
"""

import os
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from zkchat_cli.errors import ZkchatError

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

LONGEST_ADDRESS = 2000
"""Terminals take no longer ones (VTE: 2083 bytes)."""

WEB = ("http://", "https://", "mailto:")

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


@dataclass(frozen=True, slots=True)
class LinkTargets:
    """What a click in an answer opens, as an address or None: a note by what stands in `[[…]]`, a source by its number."""

    note: Callable[[str], str | None] = lambda _: None
    source: Callable[[int], str | None] = lambda _: None


NOTHING = LinkTargets()


def opens(session: "ZkChatSession", address: Opener | None) -> LinkTargets:
    """For the answers of this conversation. `address` tells what opens the note at a path."""
    if address is None:
        return NOTHING

    @lru_cache(maxsize=1000)  # what is still being said is drawn many times
    def note(name: str) -> str | None:
        try:
            path = session.vault.resolve(name).target
        except ZkchatError:
            return None
        return address(path) if path else None

    def source(number: int) -> str | None:
        chunk = session.references.chunk(number)
        return address(chunk.relative_path) if chunk else None

    return LinkTargets(note, source)


def web_address(target: str) -> str | None:
    """An address of the web or of mail; None for anything else."""
    if not target.lower().startswith(WEB):
        return None
    made = quote(target, safe="%/:=&?~#+!$,;'@()*[]")
    return made if len(made) <= LONGEST_ADDRESS else None
