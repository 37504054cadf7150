"""Write a new note."""

from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, text
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    return ToolOutput(change=vault.editor.create(arguments["path"], arguments["content"]))


TOOL = Tool(
    name="create_note",
    description="Write a new note; nothing is overwritten. The user is asked first.",
    parameters={"path": text("path in the vault, as Folder/Note.md"), "content": text("Markdown, the whole note")},
    required=("path", "content"),
    run=_run,
    writes=True,
)
