"""Finds how two notes are connected."""

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.tools.note_lookups import connect_notes
from zkchat_cli.vault.vault import Vault


def find_link_path(vault: Vault, source: Note, target: Note) -> ToolOutput:
    """How two notes are connected: the shortest way over links, with the linking lines as
    excerpts.
    """
    found = connect_notes(vault, source, target)
    if found.path is None:
        return ToolOutput(
            data={"source": found.source, "target": found.target, "path": None},
            note="No path of links connects them.",
            outcome="not connected by links",
        )
    return ToolOutput(vault.reader.link_lines(found.path.links), {"path": found.path.notes})


TOOL = declare_tool(find_link_path)
