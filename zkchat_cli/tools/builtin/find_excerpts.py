"""Searches the notes."""

from typing import Annotated

from zkchat_cli.tools.base import ToolOutput, declare_tool
from zkchat_cli.tools.note_lookups import search_passages
from zkchat_cli.vault.embeds import with_embedded
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
    found = search_passages(vault, query, limit, MOST_EXCERPTS)
    if not found.passages:
        return ToolOutput(note="Nothing found. Try fewer or other words.")
    return ToolOutput(tuple(with_embedded(vault, found.passages)), note=found.more)


TOOL = declare_tool(find_excerpts, verb="searched", editor_kind="search", core=True)
