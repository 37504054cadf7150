"""Proposes another name or folder for a note."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def rename_note(
    vault: Vault,
    path: Note,
    new_path: Annotated[
        str, "new path in the vault, such as Folder/Name.md; Folder/ keeps the name"
    ],
) -> ToolOutput:
    """Rename or move a note; every link in the vault still leads where it led. The user is asked
    first.
    """
    found = vault.locate(path).path
    return ToolOutput(change=vault.editor.rename(found, new_path))


TOOL = declare_tool(rename_note, writes=True)
