"""Addresses that a terminal opens when the user clicks on a path, a link or a citation (OSC 8).

They are percent-encoded ASCII, so that a file name cannot end the escape sequence or begin another one. From a model only web and mail
addresses are accepted; the address of a note is made here, from a path in the vault.
"""

import posixpath
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from zkchat_cli.errors import ZkchatError

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

MAX_ADDRESS = 2000  # terminals ignore longer ones (VTE: 2083 bytes)

WEB = ("http://", "https://", "mailto:")


def note_opener(root: Path) -> Callable[[str], str | None]:
    """Returns the address that opens the note at a path relative to `root`. A path that leads out of it, which an imported conversation
    can contain, has none."""

    def address(relative_path: str) -> str | None:
        normal = posixpath.normpath(relative_path)
        return None if normal.startswith(("/", "..")) or "\0" in normal or Path(normal).drive else _short((root / normal).as_uri())

    return address


class LinkTargets(NamedTuple):
    """The addresses of links in an answer, or None: a note by the text in `[[…]]`, a source by its number."""

    note: Callable[[str], str | None] = lambda _: None
    source: Callable[[int], str | None] = lambda _: None


NO_LINKS = LinkTargets()


def link_targets(session: "ZkChatSession") -> LinkTargets:
    address = note_opener(session.vault.root)

    @lru_cache(maxsize=1000)  # an open block is drawn many times
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
    """A web or mail address, encoded; None for anything else."""
    return _short(quote(target, safe="%/:=&?~#+!$,;'@()*[]")) if target.lower().startswith(WEB) else None


def _short(address: str) -> str | None:
    return address if len(address) <= MAX_ADDRESS else None
