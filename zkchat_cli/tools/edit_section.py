"""Replace the text under a heading of a note."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools.base import Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


def _run(arguments: Mapping[str, Any], vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.edit_section(path, arguments["heading"], arguments.get("new_text", "")))


TOOL = Tool(
    name="edit_section",
    description="Replace all that stands under a heading of a note, headings within it included. Read it first. The user is asked first.",
    parameters={
        "path": {"type": "string", "description": "path or wikilink"},
        "heading": {"type": "string", "description": "the heading, as Heading or Above#Heading"},
        "new_text": {"type": "string", "description": "Markdown without the heading; empty: leaves the heading alone"},
    },
    required=("path", "heading"),
    run=_run,
    writes=True,
)
