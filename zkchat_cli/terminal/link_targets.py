"""The addresses that a click in the terminal opens."""

import posixpath
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

# Terminals ignore longer ones (VTE: 2083 bytes)
MAX_ADDRESS = 2000
WEB = ("http://", "https://", "mailto:")


class LinkTargets(NamedTuple):
    """The addresses that a click on a link in an answer opens (OSC 8).

    There is one for a note, by the text in `[[…]]`, and one for a source, by its number; None if
    nothing opens it. Addresses are percent-encoded ASCII, so that a file name cannot end the escape
    sequence or begin another one.
    """

    note: Callable[[str], str | None] = lambda _: None
    source: Callable[[int], str | None] = lambda _: None


NO_LINKS = LinkTargets()


def note_opener(root: Path) -> Callable[[str], str | None]:
    """Returns a function from a path relative to `root` to the address that opens the note.

    A path that leads out of `root`, which an imported conversation can contain, has no address.
    """

    def address(relative_path: str) -> str | None:
        normal = posixpath.normpath(relative_path)
        if normal.startswith(("/", "..")) or "\0" in normal or Path(normal).drive:
            return None
        uri = (root / normal).as_uri()
        return uri if len(uri) <= MAX_ADDRESS else None

    return address


def web_address(target: str) -> str | None:
    """A web or mail address, encoded; None for anything else that a model may have written."""
    if not target.lower().startswith(WEB):
        return None
    address = quote(target, safe="%/:=&?~#+!$,;'@()*[]")
    return address if len(address) <= MAX_ADDRESS else None
