"""Finds the links in a note."""

from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

# Links in one answer
MOST_LINKS = 50


def find_forward_links(vault: Vault, relative_path: Note) -> ToolOutput:
    """The links in a note: where each leads (null if broken), and their lines as excerpts."""
    path = vault.locate(relative_path).path
    rows = vault.graph.links(path)
    shown = rows[:MOST_LINKS]
    note = ""
    if not rows:
        note = "It links to nothing."
    elif len(rows) > MOST_LINKS:
        note = f"{len(rows) - MOST_LINKS} more: read {path} from start_line={shown[-1].line}."
    links = [
        {"link": truncate(row.raw, MAX_SHOWN), "line": row.line, "path": row.target}
        for row in shown
    ]
    data = {"path": path, "count": len(rows), "links": links}
    return ToolOutput(vault.reader.link_lines(shown), data, note)


TOOL = declare_tool(find_forward_links)
