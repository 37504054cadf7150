"""Move a note to the vault's trash folder, from which it can be restored."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools.base import Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


def _run(arguments: Mapping[str, Any], vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.trash(path))


TOOL = Tool(
    name="move_note_to_trash",
    description="Move a note to the vault's trash folder. The user is asked first.",
    parameters={"path": {"type": "string", "description": "path or wikilink"}},
    required=("path",),
    run=_run,
    writes=True,
)
