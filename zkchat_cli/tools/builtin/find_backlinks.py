"""Finds the links to a note."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

# Links in one answer
MOST_LINKS = 20


def find_backlinks(
    vault: Vault,
    relative_path: Note,
    offset: Annotated[int, f"links to skip; {MOST_LINKS} come at a time"] = 0,
) -> ToolOutput:
    """The lines in other notes that link to a note, as excerpts."""
    path = vault.locate(relative_path).path
    links = vault.graph.backlinks(path)
    begin = max(0, offset)
    end = begin + MOST_LINKS
    shown = links[begin:end]
    note = ""
    if not shown:
        note = "No other note links to it."
    elif end < len(links):
        note = f"{len(links) - end} more: ask again with offset={end}."
    data = {"path": path, "backlinks": len(links)}
    return ToolOutput(vault.reader.link_lines(shown), data, note)


TOOL = declare_tool(find_backlinks)
