"""Finds the path of links between two notes."""

from typing import TypedDict

from zkchat_cli.tools.served_tool import Document, Note, ServedVault, declare_served_tool


class NotePath(TypedDict):
    source: str
    target: str
    notes: list[str] | None
    links: list[Document] | None


def link_path(served: ServedVault, source: Note, target: Note) -> NotePath:
    """The shortest path of links between two notes, in either direction; null if no links connect
    them.
    """
    start, _ = served.vault.locate(source)
    end, _ = served.vault.locate(target)
    found = served.vault.graph.shortest_path(start, end)
    if found is None:
        return {"source": start, "target": end, "notes": None, "links": None}
    notes, links = found
    return {
        "source": start,
        "target": end,
        "notes": notes,
        "links": [link._asdict() for link in links],
    }


TOOL = declare_served_tool(link_path, order=70)
