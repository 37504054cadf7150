"""`zkchat vault links`, `backlinks`, `path`, `mentions` and `broken`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import DECLINED, CommandContext, command, command_group, examples
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.text.sanitize import sanitize_name

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.models import Mention, MentionKind
    from zkchat_cli.vault.index.database import LinkRow
    from zkchat_cli.vault.vault import Vault

COMMANDS = command_group()

NoteArgument = Annotated[str, typer.Argument(metavar="NOTE", help="Path or name of a note.")]
_USES: "dict[MentionKind, str]" = {
    "named": "named by you",
    "import": "imported",
    "memory": "from memory",
    "found": "found",
    "cited": "cited",
}


@command(COMMANDS, *options.NOTES)
def links(ctx: CommandContext, note: NoteArgument) -> None:
    """The links in a note."""
    with ctx.indexed_vault() as (notes, _):
        path = path_of(notes, note)
        _print_links(ctx, notes.links(path), f"{path} has no links.")


@command(COMMANDS, *options.NOTES)
def backlinks(ctx: CommandContext, note: NoteArgument) -> None:
    """The links that point to a note."""
    with ctx.indexed_vault() as (notes, _):
        path = path_of(notes, note)
        _print_links(ctx, notes.backlinks(path), f"Nothing links to {path}.")


@command(COMMANDS, *options.NOTES, epilog=examples('zkchat vault path "Roof" "Heat pump"'))
def path(
    ctx: CommandContext,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Path or name of a note.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Path or name of the other note.")],
) -> None:
    """The shortest path of links from one note to another."""
    with ctx.indexed_vault() as (notes, _):
        ends = path_of(notes, source), path_of(notes, target)
        found = notes.shortest_path(*ends)
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


@command(COMMANDS, *options.NOTES)
def mentions(ctx: CommandContext, note: NoteArgument) -> None:
    """The conversations and answers that used a note, newest first."""
    from zkchat_cli.views import conversation_list

    screen = ctx.screen
    with ctx.open_app() as app:
        app.vault.refresh()
        found = _find_mentions(app, note)
    if ctx.as_json:
        screen.json([mention.model_dump(mode="json") for mention in found])
        return
    conversation = None
    for mention in found:
        if mention.conversation_id != conversation:
            conversation = mention.conversation_id
            screen.print(sanitize_name(f"{conversation}  {mention.title or 'untitled'}"), "bold")
        asked = f"  {mention.question}" if mention.question else ""
        screen.print(sanitize_name(f"  {conversation_list.format_time(mention.timestamp)}{asked}"))
        screen.print(f"      {_use_text(mention)}", "dim")
    if not found:
        screen.remark("No answer has used this note.")


def _find_mentions(app: "App", note: str) -> "tuple[Mention, ...]":
    """Mentions of a note; its path is enough if the note was deleted after an answer used it."""
    root = str(app.vault.root)
    try:
        path = path_of(app.vault, note)
    except VaultError:
        if found := app.store.mentions(root, note):
            return found
        raise
    return app.store.mentions(root, path)


def _use_text(mention: "Mention") -> str:
    how = ", ".join(_USES[kind] for kind in mention.how)
    numbers = f" {' '.join(f'[{number}]' for number in mention.numbers)}" if mention.numbers else ""
    verified = (
        f", {mention.held} of {mention.citations} citation{'s' if mention.citations > 1 else ''} verified" if mention.citations else ""
    )
    return f"{how}{numbers}{verified}"


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault broken --fix"))
def broken(
    ctx: CommandContext,
    fix: Annotated[bool, typer.Option("--fix", help="Show repairs for links with one possible target, and ask.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --fix: repair without asking.")] = False,
) -> None:
    """Links without a target, and the nearest names."""
    from zkchat_cli.tools.base import plural

    if fix:
        _fix(ctx, yes=yes)
        return
    if yes:
        raise UsageError("--yes needs --fix", "zkchat vault broken --fix shows the repairs.")
    with ctx.indexed_vault() as (notes, _):
        links = notes.broken_links()
    if ctx.as_json:
        ctx.screen.json([{**row(link.row), "candidates": list(link.candidates)} for link in links])
        return
    for link in links:
        near = f"   nearest: {', '.join(link.candidates)}" if link.candidates else ""
        ctx.screen.print(f"{link.row.source}:{link.row.line}  {link.row.raw}{near}")
    ctx.screen.remark(plural(len(links), "broken link") if links else "No broken links.")


def _fix(ctx: CommandContext, *, yes: bool) -> None:
    from zkchat_cli.cli.commands.vault.fix_links import confirm_at_terminal, fix_links

    with ctx.indexed_vault() as (notes, _):
        agreed = fix_links(notes, ctx.screen, yes=yes, as_json=ctx.as_json, confirm=confirm_at_terminal(ctx.screen))
    if not agreed:
        raise typer.Exit(DECLINED)


def path_of(notes: "Vault", note: str) -> str:
    """The path of a note named by its path, name or link. Raises VaultError with the nearest ones."""
    if path := notes.find_file(note):
        return path
    link = notes.resolve(note.strip().removeprefix("[[").removesuffix("]]"))
    if link.target is None:
        near = ", ".join(link.candidates)
        raise VaultError(f"there is no note {note}", f"Nearest: {near}" if near else "zkchat vault search finds notes by words.")
    return link.target


def _print_links(ctx: CommandContext, rows: "Sequence[LinkRow]", none: str) -> None:
    if ctx.as_json:
        ctx.screen.json([row(each) for each in rows])
        return
    for each in rows:
        ctx.screen.print(f"{each.source}:{each.line}  {each.raw} → {each.target or 'not found'}")
    if not rows:
        ctx.screen.remark(none)


def row(link: "LinkRow") -> dict[str, Any]:
    """A link as JSON."""
    return {name: getattr(link, name) for name in ("source", "target", "raw", "line", "context_snippet")}
