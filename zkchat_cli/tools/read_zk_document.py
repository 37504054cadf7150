"""Read a note, a section or some lines of it; returns numbered excerpts."""

from typing import Annotated

from zkchat_cli.tools.base import ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

MOST = 40


def read_zk_document(
    vault: Vault,
    relative_path: Annotated[str, "path, or a wikilink such as [[Note#Heading]]"],
    start_line: Annotated[int | None, "first line, from 1"] = None,
    end_line: Annotated[int | None, "last line"] = None,
) -> ToolOutput:
    path, heading = vault.locate(relative_path)
    first, last = vault.section(path, heading) if heading else (1, None)
    start, end = start_line or first, end_line or last
    if end is not None and end < start:
        raise ToolArgumentError(f"read_zk_document: end_line {end} is before start_line {start}; lines count from 1")
    found = vault.chunks(path, start, end)
    shown = tuple(found[:MOST])
    if len(found) > MOST:
        return ToolOutput(shown, note=f"Cut after line {shown[-1].end_line}: read on with start_line={shown[-1].end_line + 1}.")
    return ToolOutput(shown, note="" if shown else f"{path} has no text there; it ends in line {vault.chunks(path)[-1].end_line}.")


TOOL = declare_tool(read_zk_document)
