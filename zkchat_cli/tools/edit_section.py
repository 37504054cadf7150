"""Replace the text under a heading of a note."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput, text
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.edit_section(path, arguments["heading"], arguments.get("new_text", "")))


TOOL = Tool(
    name="edit_section",
    description="Replace all that stands under a heading of a note, headings within it included. Read it first. The user is asked first.",
    parameters={
        "path": NOTE,
        "heading": text("the heading, as Heading or Above#Heading"),
        "new_text": text("Markdown without the heading; empty: leaves the heading alone"),
    },
    required=("path", "heading"),
    run=_run,
    writes=True,
)
