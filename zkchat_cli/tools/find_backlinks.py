"""The lines in other notes that link to a note, as excerpts."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

MOST = 20


def find_backlinks(vault: Vault, relative_path: Note, offset: Annotated[int, f"links to skip; {MOST} come at a time"] = 0) -> ToolOutput:
    path, _ = vault.locate(relative_path)
    rows = vault.backlinks(path)
    shown = rows[max(0, offset) :][:MOST]
    after = max(0, offset) + MOST
    note = f"{len(rows) - after} more: ask again with offset={after}." if after < len(rows) else ""
    data = {"path": path, "backlinks": len(rows)}
    return ToolOutput(vault.link_lines(shown), data, note if shown else "No other note links to it.")


TOOL = declare_tool(find_backlinks)
