"""Reads a note."""

from typing import Annotated

from zkchat_cli.tools.base import ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.tools.note_lookups import locate_lines
from zkchat_cli.vault.embeds import with_embedded
from zkchat_cli.vault.vault import Vault

# Excerpts in one answer
MOST_READ = 40


def read_zk_document(
    vault: Vault,
    relative_path: Annotated[str, "path, or a wikilink such as [[Note#Heading]]"],
    start_line: Annotated[int | None, "first line, from 1"] = None,
    end_line: Annotated[int | None, "last line"] = None,
) -> ToolOutput:
    """Read a note, a section or some lines of it; returns numbered excerpts."""
    path, start, end = locate_lines(vault, relative_path, start_line, end_line)
    if end is not None and end < start:
        raise ToolArgumentError(
            f"read_zk_document: end_line {end} is before start_line {start}; lines count from 1"
        )
    found = vault.reader.chunks(path, start, end)
    shown = tuple(with_embedded(vault, found[:MOST_READ]))
    note = ""
    if not found:
        last_line = vault.reader.chunks(path)[-1].end_line
        note = f"{path} has no text there; it ends in line {last_line}."
    elif len(found) > MOST_READ:
        cut = found[MOST_READ - 1].end_line
        note = f"Cut after line {cut}: read on with start_line={cut + 1}."
    return ToolOutput(shown, note=note)


TOOL = declare_tool(read_zk_document, verb="read", editor_kind="read", core=True)
