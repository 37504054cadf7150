"""Reads an editor's prompt, which comes as blocks of text and of attached resources."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from zkchat_cli.acp.connection import Params

# Characters that a linked path cannot have
_UNLINKABLE = re.compile(r"[][|#^\n]")


class EditorMessage(NamedTuple):
    """The whole text of a message, and the part that the user typed; the editor's text must not
    import files.
    """

    text: str
    typed: str


def read_prompt(blocks: Sequence[Params], root: Path) -> EditorMessage:
    """The message in these blocks.

    A note that is attached by its address becomes a link to it; attached text comes before the
    typed text.
    """
    typed = []
    attached = []
    for block in blocks:
        match block.text("type"):
            case "text":
                typed.append(block.text("text"))
            case "resource_link":
                uri = block.text("uri")
                link = _link_to(uri, root)
                if link:
                    typed.append(link)
                else:
                    attached.append(f"See {block.text('name')} ({uri})")
            case "resource" if block.part("resource").has("text"):
                attached.append(_attached_text(block.part("resource"), root))
    message = " ".join(typed).strip()
    parts = [part for part in (*attached, message) if part]
    return EditorMessage("\n\n".join(parts), message)


def _attached_text(resource: Params, root: Path) -> str:
    """The text of a resource, below the path or the address that it comes from."""
    uri = resource.text("uri")
    return f"From {note_path(uri, root) or uri}:\n{resource.text('text')}"


def _link_to(uri: str, root: Path) -> str:
    """The link to a note in the vault; empty for any other address."""
    path = note_path(uri, root)
    return f"[[{path}]]" if path and not _UNLINKABLE.search(path) else ""


def note_path(uri: str, root: Path) -> str | None:
    """The path in the vault for an address `file:///…`; None if it is elsewhere."""
    # RuntimeError is raised for links in a circle
    with suppress(OSError, RuntimeError, ValueError):
        address = urlsplit(uri)
        if address.scheme == "file":
            return Path(unquote(address.path)).resolve().relative_to(root).as_posix()
    return None
