"""Searches the notes."""

from typing import Annotated

from zkchat_cli.tools.base import ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

DEFAULT_EXCERPTS = 6
MOST_EXCERPTS = 20


def find_excerpts(
    vault: Vault,
    query: Annotated[
        str,
        'words to search for; "a phrase", tag:x, path:x, after:2024-05, before:, on: and '
        "-word narrow it",
    ],
    limit: Annotated[int, f"1 to {MOST_EXCERPTS}, default {DEFAULT_EXCERPTS}"] = DEFAULT_EXCERPTS,
) -> ToolOutput:
    """Search the user's notes by words; returns numbered excerpts with path, heading and lines,
    best first.
    """
    limit = min(max(limit, 1), MOST_EXCERPTS)
    # One more shows whether there are more
    found = vault.search(query, limit + 1)
    note = ""
    if not found:
        note = "Nothing found. Try fewer or other words."
    elif len(found) > limit:
        note = f"There is more: ask again with a limit up to {MOST_EXCERPTS}, or with other words."
    return ToolOutput(tuple(found[:limit]), note=note)


TOOL = declare_tool(find_excerpts, verb="searched", editor_kind="search", core=True)
