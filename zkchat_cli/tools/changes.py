"""Change notes. A tool proposes the change; the user is asked before it is made."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def append_to_note(
    vault: Vault,
    path: Note,
    text: Annotated[str, "Markdown"],
    heading: Annotated[
        str, "the heading, such as Heading or Above#Heading; without one: at the end"
    ] = "",
) -> ToolOutput:
    """Add text at the end of a note or under one of its headings. The user is asked first."""
    found, linked_heading = vault.locate(path)
    return ToolOutput(change=vault.editor.append(found, text, heading or linked_heading))


def create_note(
    vault: Vault,
    path: Annotated[str, "path in the vault, such as Folder/Note.md"],
    content: Annotated[str, "Markdown, the whole note"],
) -> ToolOutput:
    """Write a new note; nothing is overwritten. The user is asked first."""
    return ToolOutput(change=vault.editor.create(path, content))


def edit_section(
    vault: Vault,
    path: Note,
    heading: Annotated[str, "the heading, such as Heading or Above#Heading"],
    new_text: Annotated[str, "Markdown without the heading; empty: leaves the heading alone"] = "",
) -> ToolOutput:
    """Replace everything under a heading of a note, including the headings below it. Read it first.
    The user is asked first.
    """
    return ToolOutput(change=vault.editor.edit_section(vault.locate(path)[0], heading, new_text))


def move_note_to_trash(vault: Vault, path: Note) -> ToolOutput:
    """Move a note to the vault's trash folder. The user is asked first."""
    return ToolOutput(change=vault.editor.trash(vault.locate(path)[0]))


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
    return ToolOutput(change=vault.editor.rename(vault.locate(path)[0], new_path))


TOOLS = [
    declare_tool(tool, writes=True)
    for tool in (append_to_note, create_note, edit_section, move_note_to_trash, rename_note)
]
