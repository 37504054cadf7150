"""Rename or move a note; all links to it are rewritten."""

from zkchat_cli.tools.base import NOTE, Arguments, Tool, ToolOutput, text
from zkchat_cli.vault.vault import Vault


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, _ = vault.locate(arguments["path"])
    return ToolOutput(change=vault.editor.rename(path, arguments["new_path"]))


TOOL = Tool(
    name="rename_note",
    description="Rename or move a note; every link in the vault still leads where it led. The user is asked first.",
    parameters={"path": NOTE, "new_path": text("new path in the vault, as Folder/Name.md; Folder/ keeps the name")},
    required=("path", "new_path"),
    run=_run,
    writes=True,
)
