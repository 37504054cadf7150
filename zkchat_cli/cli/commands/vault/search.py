"""`zkchat vault search` and `resolve`: find excerpts by a query, notes by a link."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import MAX_PIPED, CommandContext, command, command_group, examples, refuse_oversized

if TYPE_CHECKING:
    from zkchat_cli.models import ContentChunk, LinkResolution
    from zkchat_cli.vault.vault import Vault

COMMANDS = command_group()


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault search '\"due before\" -sorting tag:project path:Archive/'"))
def search(
    ctx: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query, or - to read one per line.")],
    limit: options.LimitOption = 10,
) -> None:
    """Search the notes; best excerpts first."""
    with ctx.indexed_vault() as (notes, _):
        for line in _lines(query):
            found = notes.search(line, limit)
            for warning in notes.take_warnings():
                ctx.screen.warn(warning.message, warning.hint)
            if ctx.as_json:
                documents = [_result_document(chunk) for chunk in found]
                ctx.screen.json({"query": line, "results": documents} if query == "-" else documents)
            else:
                _print_results(ctx, notes, line, found)
        ctx.embed_for_a_moment(notes)


def _print_results(ctx: CommandContext, notes: "Vault", query: str, found: "list[ContentChunk]") -> None:
    for chunk in found:
        heading, snippet = notes.snippet(chunk, query)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        ctx.screen.print(f"{where}   {chunk.relative_path}:{snippet.line}", "bold")
        ctx.screen.print(f"  {snippet.text}")
    if not found:
        ctx.screen.remark("Nothing found. Try fewer or other words.")


def _result_document(chunk: "ContentChunk") -> dict[str, Any]:
    place = {"relative_path", "title", "heading", "start_line", "end_line"}
    return chunk.model_dump(mode="json", include={*place, "score", "score_words", "score_meaning", "text"})


def _lines(argument: str) -> Iterator[str]:
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
        for line in _lines(text):
            links = notes.resolve_links(line, source_path)
            if ctx.as_json:
                ctx.screen.json([_link_document(link) for link in links])
                continue
            for link in links:
                target = link.target or f"not found{'; nearest: ' + ', '.join(link.candidates) if link.candidates else ''}"
                rejected = f", {link.reason} (not {', '.join(link.candidates)})" if link.status == "ambiguous" else ""
                ctx.screen.print(f"{link.raw} → {target}{rejected}")
            if not links:
                ctx.screen.remark("No links in the text.")


def _link_document(link: "LinkResolution") -> dict[str, Any]:
    return link.model_dump(mode="json", exclude={"text", "line"})


def _source_path(ctx: CommandContext, notes: "Vault", note: str) -> str:
    """The path of a note named by its path or name; `note` itself if there is no such note."""
    source = notes.find_file(note) or notes.resolve(note).target
    if source is None:
        ctx.screen.warn(f"there is no note {note}", "links are resolved as if it existed")
    return source or note
