"""Finds notes about a query, or related to a note."""

from typing import Annotated

from zkchat_cli.tools.base import ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

DEFAULT_RELATED = 5
MOST_RELATED = 15


def find_zk_documents_related_to(
    vault: Vault,
    query: Annotated[str, "what the notes should be about"] = "",
    relative_path: Annotated[str, "path or wikilink of a note; instead of query"] = "",
    limit: Annotated[int, f"1 to {MOST_RELATED}, default {DEFAULT_RELATED}"] = DEFAULT_RELATED,
) -> ToolOutput:
    """Notes about a query, or related to a note by links and words: each with why and an
    excerpt.
    """
    query = query.strip()
    path = relative_path.strip()
    if bool(query) == bool(path):
        both = ", not both" if query else ""
        raise ToolArgumentError(f"find_zk_documents_related_to needs query or relative_path{both}")
    limit = min(max(limit, 1), MOST_RELATED)
    # One more shows whether there are more
    if path:
        found = vault.graph.related_notes(vault.locate(path).path, limit + 1)
        nothing = "No note is related to it by links or words."
    else:
        found = vault.graph.notes_about(query, limit + 1)
        nothing = "Nothing found. Try fewer or other words."
    if not found:
        return ToolOutput(note=nothing)
    more = ""
    if len(found) > limit and limit < MOST_RELATED:
        more = f"There are more: ask for a limit up to {MOST_RELATED}."
    shown = found[:limit]
    documents = [{"path": note.chunk.relative_path, "why": "; ".join(note.why)} for note in shown]
    return ToolOutput(tuple(note.chunk for note in shown), {"documents": documents}, more)


TOOL = declare_tool(find_zk_documents_related_to, verb="searched", editor_kind="search")
