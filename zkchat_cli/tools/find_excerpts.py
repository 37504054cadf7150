"""Search the notes: numbered chunks with their paths and lines, best first."""

from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, clamp_limit, join_notes, number, text
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 6, 20


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    limit, clamped = clamp_limit(arguments, DEFAULT_LIMIT, MOST)
    found = vault.search(arguments["query"], limit + 1)
    if not found:
        return ToolOutput(note="Nothing found. Try fewer or other words.")
    more = ""
    if len(found) > limit:
        more = "There is more: ask again with " + (f"a limit up to {MOST}, or with other words." if limit < MOST else "other words.")
    return ToolOutput(tuple(found[:limit]), note=join_notes(clamped, more))


TOOL = Tool(
    name="find_excerpts",
    description="Search the user's notes by words; returns numbered excerpts with path, heading and lines, best first.",
    parameters={
        "query": text('words to search for; "a phrase", tag:x, path:x, after:2024-05, before:, on: and -word narrow it'),
        "limit": number(f"1 to {MOST}, default {DEFAULT_LIMIT}"),
    },
    required=("query",),
    run=_run,
)
