"""Append text to a note or to one of its sections."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput, text
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, heading = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.append(path, arguments["text"], arguments.get("heading") or heading))


TOOL = Tool(
    name="append_to_note",
    description="Add text at the end of a note or under one of its headings. The user is asked first.",
    parameters={
        "path": NOTE,
        "text": text("Markdown"),
        "heading": text("the heading, as Heading or Above#Heading; left out: the note's end"),
    },
    required=("path", "text"),
    run=_run,
    writes=True,
)
