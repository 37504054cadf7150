"""The links in a note: where each leads, with its line, which can be cited."""

from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput
from zkchat_cli.vault.index.database import LinkRow
from zkchat_cli.vault.vault import Vault

MOST = 50
MAX_SHOWN = 200


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["relative_path"])
    rows = vault.links(path)
    shown = rows[:MOST]
    more = f"{len(rows) - MOST} more: read {path} from start_line={shown[-1].line}." if len(rows) > MOST else ""
    none = "" if rows else "It links to nothing."
    data = {"path": path, "count": len(rows), "links": [_describe_link(row) for row in shown]}
    return ToolOutput(tuple(dict.fromkeys(vault.link_lines(shown))), data, more or none)


def _describe_link(row: LinkRow) -> dict[str, object]:
    return {"link": truncate(row.raw, MAX_SHOWN), "line": row.line, "path": row.target}


TOOL = Tool(
    name="find_forward_links",
    description="The links in a note: where each leads (null if broken), and their lines as excerpts.",
    parameters={"relative_path": NOTE},
    required=("relative_path",),
    run=_run,
)
