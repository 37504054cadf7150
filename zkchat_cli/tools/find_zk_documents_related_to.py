"""Notes related to a query or to another note, each with its best chunk and the reasons."""

from zkchat_cli.tools.base import Arguments, Tool, ToolArgumentError, ToolOutput, clamp_limit, join_notes, number, text
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 5, 15


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    query, path = (str(arguments.get(name, "")).strip() for name in ("query", "relative_path"))
    if bool(query) == bool(path):
        raise ToolArgumentError(f"{TOOL.name} needs query or relative_path" + (", not both" if query else ""))
    limit, clamped = clamp_limit(arguments, DEFAULT_LIMIT, MOST)
    if path:
        path, _ = vault.locate(path)
    found = vault.related_notes(path, limit + 1) if path else vault.notes_about(query, limit + 1)
    if not found:
        return ToolOutput(note="No note is related to it by links or words." if path else "Nothing found. Try fewer or other words.")
    shown = found[:limit]
    more = f"There are more: ask for a limit up to {MOST}." if len(found) > limit and limit < MOST else ""
    data = {"documents": [{"path": note.chunk.relative_path, "why": "; ".join(note.why)} for note in shown]}
    return ToolOutput(tuple(note.chunk for note in shown), data, join_notes(clamped, more))


TOOL = Tool(
    name="find_zk_documents_related_to",
    description="Notes about a query, or related to a note by links and words: each with why and an excerpt.",
    parameters={
        "query": text("what the notes should be about"),
        "relative_path": text("path or wikilink of a note; instead of query"),
        "limit": number(f"1 to {MOST}, default {DEFAULT_LIMIT}"),
    },
    required=(),
    run=_run,
)
