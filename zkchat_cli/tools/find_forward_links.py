"""The links in a note: where each leads, and the line it stands on, which can be cited."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool
from zkchat_cli.vault import LinkRow, Vault
from zkchat_cli.words import shorten

MOST = 50
LONGEST_SHOWN = 200


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    path, _ = vault.locate(arguments["relative_path"])
    rows = vault.links(path)
    shown = rows[:MOST]
    more = f"{len(rows) - MOST} more: read {path} from start_line={shown[-1].line}." if len(rows) > MOST else ""
    none = "" if rows else "It links to nothing."
    data = {"path": path, "count": len(rows), "links": [_described(row) for row in shown]}
    return Finding(tuple(dict.fromkeys(vault.quoted(shown))), data, more or none)


def _described(row: LinkRow) -> dict[str, object]:
    return {"link": shorten(row.raw, LONGEST_SHOWN), "line": row.line, "path": row.target}


TOOL = Tool(
    name="find_forward_links",
    description="The links in a note: where each leads (null if broken), and their lines as excerpts.",
    parameters={
        "relative_path": {"type": "string", "description": "path or wikilink"},
    },
    required=("relative_path",),
    run=_run,
)
