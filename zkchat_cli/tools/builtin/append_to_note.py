"""Proposes to add text to a note."""

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


TOOL = declare_tool(append_to_note, writes=True)
