"""Proposes to replace a section of a note."""

from typing import Annotated

from zkchat_cli.tools.base import Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def edit_section(
    vault: Vault,
    path: Note,
    heading: Annotated[str, "the heading, such as Heading or Above#Heading"],
    new_text: Annotated[str, "Markdown without the heading; empty: leaves the heading alone"] = "",
) -> ToolOutput:
    """Replace everything under a heading of a note, including the headings below it. Read it first.
    The user is asked first.
    """
    found = vault.locate(path).path
    return ToolOutput(change=vault.editor.edit_section(found, heading, new_text))


TOOL = declare_tool(edit_section, writes=True)
