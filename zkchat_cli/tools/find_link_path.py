"""The shortest path of links between two notes, with the line of each link, which can be cited."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    source, target = (vault.locate(arguments[end])[0] for end in ("source", "target"))
    found = vault.shortest_path(source, target)
    if found is None:
        data = {"source": source, "target": target, "path": None}
        return ToolOutput(data=data, note="No path of links connects them.", outcome="not connected by links")
    note = "" if found.links else "Both are the same note."
    return ToolOutput(tuple(dict.fromkeys(vault.link_lines(found.links))), {"path": list(found.notes)}, note)


TOOL = Tool(
    name="find_link_path",
    description="How two notes are connected: the shortest way over links, with the linking lines as excerpts.",
    parameters={"source": NOTE, "target": NOTE},
    required=("source", "target"),
    run=_run,
)
