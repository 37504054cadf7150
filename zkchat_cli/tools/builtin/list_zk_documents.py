"""Lists notes."""

from typing import Annotated

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolOutput, declare_tool
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

DEFAULT_LISTED = 30
MOST_LISTED = 100
# Tags of one note in an answer
MOST_TAGS = 10


def list_zk_documents(
    vault: Vault,
    folder: Annotated[str, "only in or below this folder"] = "",
    tag: Annotated[str, "only with this tag or one nested in it"] = "",
    since: Annotated[str, 'only notes with this date or later: 2024-05-01, "last week"'] = "",
    until: Annotated[str, "only notes with this date or earlier"] = "",
    limit: Annotated[int, f"1 to {MOST_LISTED}, default {DEFAULT_LISTED}"] = DEFAULT_LISTED,
    offset: Annotated[int, "notes to skip"] = 0,
) -> ToolOutput:
    """List notes: paths, titles, tags."""
    found = vault.catalog.list_notes(folder, tag, since, until)
    begin = max(0, offset)
    shown = found[begin:][: min(max(limit, 1), MOST_LISTED)]
    end = begin + len(shown)
    note = ""
    if not shown:
        note = "No such note."
    elif end < len(found):
        note = f"{len(found) - end} more: ask again with offset={end}, a folder or a tag."
    documents: list[dict[str, object]] = []
    for entry in shown:
        document: dict[str, object] = {"path": entry.path}
        if entry.title != note_name(entry.path):
            document["title"] = truncate(entry.title, MAX_SHOWN)
        if entry.tags:
            document["tags"] = [truncate(tag, MAX_SHOWN) for tag in entry.tags[:MOST_TAGS]]
        documents.append(document)
    return ToolOutput(
        data={"total": len(found), "documents": documents},
        note=note,
        outcome=f"{len(shown)} of {plural(len(found), 'note')}",
    )


TOOL = declare_tool(list_zk_documents, verb="listed notes")
