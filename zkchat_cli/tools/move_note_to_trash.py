"""Move a note to the vault's trash folder, from which it can be restored."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.trash(path))


TOOL = Tool(
    name="move_note_to_trash",
    description="Move a note to the vault's trash folder. The user is asked first.",
    parameters={"path": NOTE},
    required=("path",),
    run=_run,
    writes=True,
)
