"""`zkchat vault search` and `resolve`: find excerpts by a query, notes by a link."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import MAX_PIPED, CommandContext, command, command_group, examples, refuse_oversized

if TYPE_CHECKING:
    from zkchat_cli.models import ContentChunk, LinkResolution
    from zkchat_cli.vault.vault import Vault
    from zkchat_cli.views.text import StyledLine

COMMANDS = command_group()
RESULT_KEYS = {"relative_path", "title", "heading", "start_line", "end_line", "score", "score_words", "score_meaning", "text"}


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault search '\"due before\" -sorting tag:project path:Archive/'"))
def search(
    ctx: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query, or - to read one per line.")],
    limit: options.LimitOption = 10,
) -> None:
    """Search the notes; best excerpts first."""
    with ctx.indexed_vault() as (notes, _):
        for line in _input_lines(query):
            found = notes.search(line, limit)
            ctx.print_warnings(notes)
            documents = [chunk.model_dump(mode="json", include=RESULT_KEYS) for chunk in found]
            document = {"query": line, "results": documents} if query == "-" else documents
            ctx.print_result(document, _result_lines(notes, line, found), "Nothing found. Try fewer or other words.")
        ctx.embed_for_a_moment(notes)


def _result_lines(notes: "Vault", query: str, found: "list[ContentChunk]") -> "Iterator[StyledLine]":
    from zkchat_cli.views.text import styled_line

    for chunk in found:
        heading, snippet = notes.snippet(chunk, query)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        yield styled_line(f"{where}   {chunk.relative_path}:{snippet.line}", "bold")
        yield styled_line(f"  {snippet.text}")


def _input_lines(argument: str) -> Iterator[str]:
    """The argument, or for `-` each line of standard input as it arrives."""
    if argument != "-":
        yield argument
        return
    while line := refuse_oversized(sys.stdin.readline(MAX_PIPED + 1)):
        yield line.rstrip("\r\n")


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault resolve '[[Note#Heading]]'"))
def resolve(
    ctx: CommandContext,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text with links, or - to read one text per line.")],
    source: Annotated[str | None, typer.Option("--from", metavar="NOTE", help="Resolve as if the text were in this note.")] = None,
) -> None:
    """Show the target of each link in a text."""
    with ctx.indexed_vault() as (notes, _):
        source_path = _source_path(ctx, notes, source) if source else None
        for line in _input_lines(text):
            links = notes.resolve_links(line, source_path)
            documents = [link.model_dump(mode="json", exclude={"text", "line"}) for link in links]
            ctx.print_result(documents, "\n".join(map(_resolution_line, links)), "No links in the text.")


def _resolution_line(link: "LinkResolution") -> str:
    target = link.target or f"not found{'; nearest: ' + ', '.join(link.candidates) if link.candidates else ''}"
    rejected = f", {link.reason} (not {', '.join(link.candidates)})" if link.status == "ambiguous" else ""
    return f"{link.raw} → {target}{rejected}"


def _source_path(ctx: CommandContext, notes: "Vault", note: str) -> str:
    """The path of a note named by its path or name; `note` itself if there is no such note. Raises VaultError for several."""
    if source := notes.find_file(note):
        return source
    if notes.resolve(note).target is not None:
        return notes.locate(note)[0]
    ctx.screen.warn(f"there is no note {note}", "links are resolved as if it existed")
    return note
