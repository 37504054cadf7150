"""Read a note, or some of its lines, as numbered chunks."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool
from zkchat_cli.vault import Vault

MOST = 40


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    path = arguments["relative_path"]
    found = vault.chunks(path, arguments.get("start_line", 1), arguments.get("end_line"))
    shown = tuple(found[:MOST])
    if len(found) > len(shown):
        return Finding(shown, note=f"Cut after line {shown[-1].end_line}: read on with start_line={shown[-1].end_line + 1}.")
    return Finding(shown, note="" if shown else f"{path} has no text there.")


TOOL = Tool(
    name="read_zk_document",
    description="Read a note by its path in the vault, whole or some lines of it; returns numbered excerpts.",
    parameters={
        "relative_path": {"type": "string", "description": "path of the note, as search results and links give it"},
        "start_line": {"type": "integer", "description": "first line wanted, from 1"},
        "end_line": {"type": "integer", "description": "last line wanted"},
    },
    required=("relative_path",),
    run=_run,
)
