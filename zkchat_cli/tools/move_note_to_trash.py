"""Move a note to the vault's trash folder. The user is asked first."""

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def move_note_to_trash(vault: Vault, path: Note) -> ToolOutput:
    return ToolOutput(change=vault.editor.trash(vault.locate(path)[0]))


TOOL = declare_tool(move_note_to_trash, writes=True)
