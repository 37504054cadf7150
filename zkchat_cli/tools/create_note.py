"""Write a new note."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools.base import Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


def _run(arguments: Mapping[str, Any], vault: Vault) -> ToolOutput:
    return ToolOutput(change=vault.editor.create(arguments["path"], arguments["content"]))


TOOL = Tool(
    name="create_note",
    description="Write a new note; nothing is overwritten. The user is asked first.",
    parameters={
        "path": {"type": "string", "description": "path in the vault, as Folder/Note.md"},
        "content": {"type": "string", "description": "Markdown, the whole note"},
    },
    required=("path", "content"),
    run=_run,
    writes=True,
)
