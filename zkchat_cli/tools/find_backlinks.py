"""The links that point to a note, each with the line it stands on, which can be cited."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool, join, limited, position
from zkchat_cli.vault import Vault

DEFAULT_LIMIT, MOST = 10, 50


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    path, _ = vault.locate(arguments["relative_path"])
    limit, clamped = limited(arguments, DEFAULT_LIMIT, MOST)
    first = max(0, position(arguments, "offset", 0))
    rows = vault.backlinks(path)
    shown = rows[first : first + limit]
    after = first + len(shown)
    more = f"{len(rows) - after} more: ask again with offset={after}." if shown and after < len(rows) else ""
    none = "" if shown else f"There are {len(rows)} backlinks, none from offset {first} on." if rows else "No other note links to it."
    return Finding(tuple(dict.fromkeys(vault.quoted(shown))), {"path": path, "backlinks": len(rows)}, join(clamped, more, none))


TOOL = Tool(
    name="find_backlinks",
    description="The lines of other notes that link to a note, as numbered excerpts.",
    parameters={
        "relative_path": {"type": "string", "description": "path of the note, or a wikilink"},
        "limit": {"type": "integer", "description": f"how many links, 1 to {MOST}; {DEFAULT_LIMIT} if not given"},
        "offset": {"type": "integer", "description": "links to skip"},
    },
    required=("relative_path",),
    run=_run,
)
