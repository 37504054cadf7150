"""Lists notes."""

from typing import Annotated, TypedDict

from pydantic import Field

from zkchat_cli.tools.served_tool import Day, Document, ServedVault, Tag, declare_served_tool

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
    limit: Annotated[int, Field(ge=1, le=MOST_NOTES)] = 50,
) -> NoteList:
    """List notes by path, with titles and tags."""
    found = served.vault.catalog.list_notes(folder or "", tag or "", since or "", until or "")
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
