"""Lists the links to a note."""

from zkchat_cli.tools.served_tool import (
    Note,
    NoteLinks,
    ServedVault,
    declare_served_tool,
    note_links,
)


def backlinks(served: ServedVault, path: Note) -> NoteLinks:
    """The lines in other notes that link to a note."""
    found = served.vault.locate(path).path
    return note_links(found, served.vault.graph.backlinks(found))


TOOL = declare_served_tool(backlinks, order=50)
