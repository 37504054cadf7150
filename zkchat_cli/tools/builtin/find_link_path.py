"""Finds how two notes are connected."""

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def find_link_path(vault: Vault, source: Note, target: Note) -> ToolOutput:
    """How two notes are connected: the shortest way over links, with the linking lines as
    excerpts.
    """
    start, _ = vault.locate(source)
    end, _ = vault.locate(target)
    found = vault.graph.shortest_path(start, end)
    if found is None:
        return ToolOutput(
            data={"source": start, "target": end, "path": None},
            note="No path of links connects them.",
            outcome="not connected by links",
        )
    notes, links = found
    return ToolOutput(vault.reader.link_lines(links), {"path": notes})


TOOL = declare_tool(find_link_path)
