"""Notes about a query, or related to a note by links and words: each with why and an excerpt."""

from typing import Annotated

from zkchat_cli.tools.base import ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 5, 15


def find_zk_documents_related_to(
    vault: Vault,
    query: Annotated[str, "what the notes should be about"] = "",
    relative_path: Annotated[str, "path or wikilink of a note; instead of query"] = "",
    limit: Annotated[int, f"1 to {MOST}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    query, path = query.strip(), relative_path.strip()
    if bool(query) == bool(path):
        raise ToolArgumentError("find_zk_documents_related_to needs query or relative_path" + (", not both" if query else ""))
    limit = min(max(limit, 1), MOST)
    found = vault.related_notes(vault.locate(path)[0], limit + 1) if path else vault.notes_about(query, limit + 1)
    if not found:
        return ToolOutput(note="No note is related to it by links or words." if path else "Nothing found. Try fewer or other words.")
    shown = found[:limit]
    more = f"There are more: ask for a limit up to {MOST}." if len(found) > limit and limit < MOST else ""
    data = {"documents": [{"path": note.chunk.relative_path, "why": "; ".join(note.why)} for note in shown]}
    return ToolOutput(tuple(note.chunk for note in shown), data, more)


TOOL = declare_tool(find_zk_documents_related_to)
