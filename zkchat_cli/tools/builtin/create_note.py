"""Proposes a new note."""

from typing import Annotated

from zkchat_cli.tools.base import ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def create_note(
    vault: Vault,
    path: Annotated[str, "path in the vault, such as Folder/Note.md"],
    content: Annotated[str, "Markdown, the whole note"],
) -> ToolOutput:
    """Write a new note; nothing is overwritten. The user is asked first."""
    return ToolOutput(change=vault.editor.create(path, content))


TOOL = declare_tool(create_note, writes=True)
