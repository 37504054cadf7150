"""Finds the path of links between two notes."""

from typing import TypedDict

from zkchat_cli.tools.note_lookups import connect_notes
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
    found = connect_notes(served.vault, source, target)
    if found.path is None:
        return {"source": found.source, "target": found.target, "notes": None, "links": None}
    return {
        "source": found.source,
        "target": found.target,
        "notes": found.path.notes,
        "links": [link._asdict() for link in found.path.links],
    }


TOOL = declare_served_tool(link_path, order=70)
