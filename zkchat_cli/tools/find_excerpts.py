"""Search the user's notes by words; returns numbered excerpts with path, heading and lines, best first."""

from typing import Annotated

from zkchat_cli.tools.base import ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 6, 20


def find_excerpts(
    vault: Vault,
    query: Annotated[str, 'words to search for; "a phrase", tag:x, path:x, after:2024-05, before:, on: and -word narrow it'],
    limit: Annotated[int, f"1 to {MOST}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    limit = min(max(limit, 1), MOST)
    found = vault.search(query, limit + 1)
    if not found:
        return ToolOutput(note="Nothing found. Try fewer or other words.")
    more = f"There is more: ask again with a limit up to {MOST}, or with other words." if len(found) > limit else ""
    return ToolOutput(tuple(found[:limit]), note=more)


TOOL = declare_tool(find_excerpts)
