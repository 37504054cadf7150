"""How two notes are connected: the shortest way over links, with the linking lines as excerpts."""

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def find_link_path(vault: Vault, source: Note, target: Note) -> ToolOutput:
    start, end = vault.locate(source)[0], vault.locate(target)[0]
    found = vault.shortest_path(start, end)
    if found is None:
        data = {"source": start, "target": end, "path": None}
        return ToolOutput(data=data, note="No path of links connects them.", outcome="not connected by links")
    return ToolOutput(vault.link_lines(found.links), {"path": list(found.notes)})


TOOL = declare_tool(find_link_path)
