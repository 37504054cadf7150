"""Lists the links in a note."""

from zkchat_cli.tools.served_tool import (
    Note,
    NoteLinks,
    ServedVault,
    declare_served_tool,
    note_links,
)


def links(served: ServedVault, path: Note) -> NoteLinks:
    """The links in a note, in order; those without a target are broken."""
    found = served.vault.locate(path).path
    return note_links(found, served.vault.graph.links(found))


TOOL = declare_served_tool(links, order=60)
