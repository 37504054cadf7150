"""The links to a note, each with its line, which can be cited."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

MOST = 20


def find_backlinks(vault: Vault, relative_path: Note, offset: Annotated[int, f"links to skip; {MOST} come at a time"] = 0) -> ToolOutput:
    """The lines in other notes that link to a note, as excerpts."""
    path, _ = vault.locate(relative_path)
    first = max(0, offset)
    rows = vault.backlinks(path)
    shown = rows[first : first + MOST]
    after = first + len(shown)
    more = f"{len(rows) - after} more: ask again with offset={after}." if shown and after < len(rows) else ""
    none = "" if shown else f"There are {len(rows)} backlinks, none from offset {first} on." if rows else "No other note links to it."
    return ToolOutput(tuple(dict.fromkeys(vault.link_lines(shown))), {"path": path, "backlinks": len(rows)}, more or none)


TOOL = declare_tool(find_backlinks)
