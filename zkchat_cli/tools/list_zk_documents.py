"""List notes: paths, titles, tags."""

from typing import Annotated

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolOutput, declare_tool
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 30, 100
MAX_TAGS = 10


def list_zk_documents(
    vault: Vault,
    folder: Annotated[str, "only in or below this folder"] = "",
    tag: Annotated[str, "only with this tag or one nested in it"] = "",
    since: Annotated[str, 'only notes with this date or later: 2024-05-01, "last week"'] = "",
    until: Annotated[str, "only notes with this date or earlier"] = "",
    limit: Annotated[int, f"1 to {MOST}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
    offset: Annotated[int, "notes to skip"] = 0,
) -> ToolOutput:
    found = vault.list_notes(folder, tag, since, until)
    shown = found[max(0, offset) :][: min(max(limit, 1), MOST)]
    after = max(0, offset) + len(shown)
    note = f"{len(found) - after} more: ask again with offset={after}, a folder or a tag." if after < len(found) else ""
    documents: list[dict[str, object]] = []
    for entry in shown:
        documents.append({"path": entry.path})
        if entry.title != note_name(entry.path):
            documents[-1]["title"] = truncate(entry.title, MAX_SHOWN)
        if entry.tags:
            documents[-1]["tags"] = [truncate(tag, MAX_SHOWN) for tag in entry.tags[:MAX_TAGS]]
    data = {"total": len(found), "documents": documents}
    return ToolOutput(data=data, note=note if shown else "No such note.", outcome=f"{len(shown)} of {plural(len(found), 'note')}")


TOOL = declare_tool(list_zk_documents)
