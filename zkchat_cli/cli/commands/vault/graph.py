"""`zkchat vault orphans`, `hubs`, `path` and `neighbours`: the graph of links."""

from typing import Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.cli.commands.vault.links import NoteArgument, path_of, row

COMMANDS = command_group()


@command(COMMANDS, *options.NOTES)
def orphans(
    ctx: CommandContext,
    linking: Annotated[bool, typer.Option("--linking", help="Include notes with outgoing links that nothing links to.")] = False,
) -> None:
    """Notes without links to or from other notes."""
    from zkchat_cli.tools.base import plural

    with ctx.indexed_vault() as (notes, _):
        found = notes.orphans(linking=linking)
    if ctx.as_json:
        ctx.screen.json([{"relative_path": path} for path in found])
        return
    for path in found:
        ctx.screen.print(path)
    ctx.screen.remark(plural(len(found), "note") if found else "No orphans.")


@command(COMMANDS, *options.NOTES)
def hubs(ctx: CommandContext, limit: options.LimitOption = 10) -> None:
    """The notes with the most links to them."""
    with ctx.indexed_vault() as (notes, _):
        found = notes.hubs(limit)
    if ctx.as_json:
        ctx.screen.json([{"relative_path": hub.path, "linked_from": hub.linked_from, "links_to": hub.links_to} for hub in found])
        return
    for hub in found:
        ctx.screen.print(f"{hub.linked_from:>5} in {hub.links_to:>5} out   {hub.path}")
    if not found:
        ctx.screen.remark("No links between notes.")


@command(COMMANDS, *options.NOTES, epilog=examples('zkchat vault path "Roof" "Heat pump"'))
def path(
    ctx: CommandContext,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Path or name of a note.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Path or name of the other note.")],
    directed: Annotated[bool, typer.Option("--directed", help="Follow links only in their direction.")] = False,
) -> None:
    """The shortest path of links from one note to another."""
    with ctx.indexed_vault() as (notes, _):
        ends = path_of(notes, source), path_of(notes, target)
        found = notes.shortest_path(*ends, directed=directed)
    if ctx.as_json:
        steps = found and [row(link) for link in found.links]
        ctx.screen.json({"source": ends[0], "target": ends[1], "notes": found and found.notes, "links": steps})
        return
    if found is None:
        ctx.screen.remark(f"No path of links from {ends[0]} to {ends[1]}.")
        return
    ctx.screen.print(found.notes[0])
    for here, link, there in zip(found.notes, found.links, found.notes[1:], strict=False):
        ctx.screen.print(f"  {'→' if link.source == here else '←'} {there}   {link.raw} in {link.source}:{link.line}")


@command(COMMANDS, *options.NOTES, epilog=examples('zkchat vault neighbours "Roof" --depth 2'))
def neighbours(
    ctx: CommandContext,
    note: NoteArgument,
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=100, help="Largest distance in links.")] = 1,
    limit: Annotated[int, typer.Option("-k", "--limit", metavar="N", min=1, help="Number of results.")] = 1000,
) -> None:
    """The notes linked with a note, nearest first."""
    with ctx.indexed_vault() as (notes, _):
        found = notes.neighbours(path_of(notes, note), depth, limit=limit + 1)
    if ctx.as_json:
        ctx.screen.json([{"relative_path": near.path, "distance": near.distance} for near in found[:limit]])
    for near in [] if ctx.as_json else found[:limit]:
        ctx.screen.print(f"{near.distance:>3}  {near.path}")
    if not ctx.as_json and not found:
        ctx.screen.remark("It has no links to or from other notes.")
    if len(found) > limit:
        ctx.screen.warn(f"only the nearest {limit} are shown", "Use -k N for more")
