"""Read a note, a section of it or some of its lines, as numbered chunks."""

from zkchat_cli.tools.base import MAX_POSITION, Arguments, Tool, ToolArgumentError, ToolOutput, clamp_position, number, text
from zkchat_cli.vault.vault import Vault

MOST = 40


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    path, heading = vault.locate(arguments["relative_path"])
    first, last = vault.section(path, heading) if heading else (1, MAX_POSITION)
    start, end = max(1, clamp_position(arguments, "start_line", first)), clamp_position(arguments, "end_line", last)
    if end < start:
        raise ToolArgumentError(f"{TOOL.name}: end_line {end} is before start_line {start}; lines count from 1")
    found = vault.chunks(path, start, end)
    if not found:
        whole = vault.chunks(path)
        lines = f": its text is in lines {whole[0].start_line} to {whole[-1].end_line}" if whole else ""
        return ToolOutput(note=f"{path} has no text there{lines}.")
    shown = tuple(found[:MOST])
    if len(found) > MOST:
        return ToolOutput(shown, note=f"Cut after line {shown[-1].end_line}: read on with start_line={shown[-1].end_line + 1}.")
    return ToolOutput(shown)


TOOL = Tool(
    name="read_zk_document",
    description="Read a note, a section or some lines of it; returns numbered excerpts.",
    parameters={
        "relative_path": text("path, or a wikilink as [[Note#Heading]]"),
        "start_line": number("first line, from 1"),
        "end_line": number("last line"),
    },
    required=("relative_path",),
    run=_run,
)
