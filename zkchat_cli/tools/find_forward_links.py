"""The links in a note: where each leads, and the line it stands on, which can be cited."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool, join, limited
from zkchat_cli.vault import LinkRow, Vault
from zkchat_cli.words import shorten

DEFAULT_LIMIT, MOST = 20, 50
LONGEST_SHOWN = 200


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    path, _ = vault.locate(arguments["relative_path"])
    limit, clamped = limited(arguments, DEFAULT_LIMIT, MOST)
    rows = vault.links(path)
    shown = rows[:limit]
    more = ""
    if len(rows) > limit:
        left_out, line = len(rows) - limit, shown[-1].line
        more = f"{left_out} more: read {path} from start_line={line}" + (f", or ask for a limit up to {MOST}." if limit < MOST else ".")
    none = "" if rows else "It links to nothing."
    data = {"path": path, "count": len(rows), "links": [_described(row) for row in shown]}
    return Finding(tuple(dict.fromkeys(vault.quoted(shown))), data, join(clamped, more, none))


def _described(row: LinkRow) -> dict[str, object]:
    return {"link": shorten(row.raw, LONGEST_SHOWN), "line": row.line, "path": row.target}


TOOL = Tool(
    name="find_forward_links",
    description="The links in a note: the path each leads to (null if broken), and their lines as numbered excerpts.",
    parameters={
        "relative_path": {"type": "string", "description": "path of the note, or a wikilink"},
        "limit": {"type": "integer", "description": f"how many links, 1 to {MOST}; {DEFAULT_LIMIT} if not given"},
    },
    required=("relative_path",),
    run=_run,
)
