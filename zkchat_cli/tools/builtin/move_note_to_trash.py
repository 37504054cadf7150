"""Proposes to move a note to the trash."""

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def move_note_to_trash(vault: Vault, path: Note) -> ToolOutput:
    """Move a note to the vault's trash folder. The user is asked first."""
    found = vault.locate(path).path
    return ToolOutput(change=vault.editor.trash(found))


TOOL = declare_tool(move_note_to_trash, writes=True)
