"""The links to a note, each with its line, which can be cited."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput, clamp_position, number
from zkchat_cli.vault.vault import Vault

MOST = 20


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["relative_path"])
    first = max(0, clamp_position(arguments, "offset", 0))
    rows = vault.backlinks(path)
    shown = rows[first : first + MOST]
    after = first + len(shown)
    more = f"{len(rows) - after} more: ask again with offset={after}." if shown and after < len(rows) else ""
    none = "" if shown else f"There are {len(rows)} backlinks, none from offset {first} on." if rows else "No other note links to it."
    return ToolOutput(tuple(dict.fromkeys(vault.link_lines(shown))), {"path": path, "backlinks": len(rows)}, more or none)


TOOL = Tool(
    name="find_backlinks",
    description="The lines in other notes that link to a note, as excerpts.",
    parameters={"relative_path": NOTE, "offset": number(f"links to skip; {MOST} come at a time")},
    required=("relative_path",),
    run=_run,
)
