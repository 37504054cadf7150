"""Lists notes."""

from typing import Annotated, TypedDict

from pydantic import Field

from zkchat_cli.tools.served_tool import Day, Document, ServedVault, Tag, declare_served_tool
from zkchat_cli.vault.catalog import NoteSelection

MOST_NOTES = 200


class NoteList(TypedDict):
    total: int
    notes: list[Document]
    more: str | None


def list_notes(
    served: ServedVault,
    folder: Annotated[
        str | None, Field(description="Only in or below this folder.", max_length=4096)
    ] = None,
    tag: Tag = None,
    since: Day = None,
    until: Day = None,
    about: Annotated[
        str | None, Field(description="Only with these words, in any form.", max_length=1000)
    ] = None,
    property: Annotated[  # noqa: A002
        str | None, Field(description='Only with this property: "status: open".', max_length=1000)
    ] = None,
    newest: Annotated[bool, Field(description="The latest first, not by path.")] = False,
    limit: Annotated[int, Field(ge=1, le=MOST_NOTES)] = 50,
) -> NoteList:
    """List notes, with titles and tags."""
    wanted = NoteSelection(
        folder=folder or "",
        tag=tag or "",
        since=since or "",
        until=until or "",
        about=about or "",
        property=property or "",
        newest=newest,
    )
    found = served.vault.catalog.list_notes(wanted)
    notes = [
        {"relative_path": note.path, "title": note.title, "tags": note.tags}
        for note in found[:limit]
    ]
    left = len(found) - len(notes)
    more = None
    if left:
        more = f"{left} more: ask again with a folder, a tag, dates, or a limit up to {MOST_NOTES}."
    return {"total": len(found), "notes": notes, "more": more}


TOOL = declare_served_tool(list_notes, order=80)
