"""`zkchat vault links`, `backlinks`, `mentions`, `broken`: what leads where, and which answers came by."""

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
_HOW: "dict[MentionKind, str]" = {
    "named": "named by you",
    "import": "imported",
    "link": "linked from a note you named",
    "memory": "from memory",
    "found": "found",
    "cited": "cited",
}


@command(COMMANDS, *options.NOTES)
def links(ctx: CommandContext, note: NoteArgument) -> None:
    """The links in a note."""
    with ctx.indexed_vault() as (notes, _):
        at = path_of(notes, note)
        _print(ctx, notes.links(at), f"{at} links to nothing.")


@command(COMMANDS, *options.NOTES)
def backlinks(ctx: CommandContext, note: NoteArgument) -> None:
    """The links that point to a note."""
    with ctx.indexed_vault() as (notes, _):
        at = path_of(notes, note)
        _print(ctx, notes.backlinks(at), f"Nothing links to {at}.")


@command(COMMANDS, *options.NOTES)
def mentions(ctx: CommandContext, note: NoteArgument) -> None:
    """The conversations and answers that used a note, the newest first."""
    from zkchat_cli.views import conversation_list

    screen = ctx.screen
    with ctx.open_app() as app:
        app.vault.refresh()
        found = _mentions(app, note)
    if ctx.as_json:
        screen.json([mention.model_dump(mode="json") for mention in found])
        return
    conversation = None
    for mention in found:
        if mention.conversation_id != conversation:
            conversation = mention.conversation_id
            screen.print(sanitize_name(f"{conversation}  {mention.title or 'untitled'}"), "bold")
        asked = f"  {mention.question}" if mention.question else ""
        screen.print(sanitize_name(f"  {conversation_list.day(mention.timestamp)}{asked}"))
        screen.print(f"      {_used(mention)}", "dim")
    if not found:
        screen.remark("No answer has used this note.")


def _mentions(app: "App", note: str) -> "tuple[Mention, ...]":
    """Of a note that is gone the path is enough, if an answer has used it."""
    root = str(app.vault.root)
    try:
        path = path_of(app.vault, note)
    except VaultError:
        if found := app.store.mentions(root, note):
            return found
        raise
    return app.store.mentions(root, path)


def _used(mention: "Mention") -> str:
    how = ", ".join(_HOW[kind] for kind in mention.how)
    numbers = f" {' '.join(f'[{number}]' for number in mention.numbers)}" if mention.numbers else ""
    held = f", {mention.held} of {mention.citations} citation{'s' if mention.citations > 1 else ''} held" if mention.citations else ""
    return f"{how}{numbers}{held}"


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault broken --fix"))
def broken(
    ctx: CommandContext,
    headings: Annotated[bool, typer.Option("--headings", help="Also links to headings and blocks that their notes do not have.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Show how links that surely meant a note would be mended, and ask.")] = False,
    unsure: Annotated[bool, typer.Option("--unsure", help="With --fix: the others too, with the nearest name.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --fix: mend them without asking.")] = False,
) -> None:
    """The links that lead nowhere, and what they may have meant."""
    from zkchat_cli.tools.base import plural

    if fix:
        _mend(ctx, unsure=unsure, yes=yes)
        return
    if yes or unsure:
        raise UsageError(f"{'--yes' if yes else '--unsure'} goes with --fix", "zkchat vault broken --fix shows what would be mended.")
    with ctx.indexed_vault() as (notes, _):
        found = notes.broken_links()
        links = [*found.links, *(notes.broken_headings() if headings else ())]
    if ctx.as_json:
        ctx.screen.json([{**row(link.row), "candidates": list(link.candidates)} for link in links])
    for link in [] if ctx.as_json else links:
        near = f"   nearest: {', '.join(link.candidates)}" if link.candidates else ""
        ctx.screen.print(f"{link.row.source}:{link.row.line}  {link.row.raw}{near}")
    if not ctx.as_json:
        ctx.screen.remark(plural(len(links), "broken link") if links else "No broken links.")
    if found.looked_up < found.names:
        hint = "zkchat vault resolve '[[NAME]]' looks for those of any other"
        ctx.screen.warn(f"nearest notes are given for the first {found.looked_up} of {found.names} names", hint)


def _mend(ctx: CommandContext, *, unsure: bool, yes: bool) -> None:
    from zkchat_cli.cli.commands.vault.fix_links import fix_links, somebody

    with ctx.indexed_vault() as (notes, _):
        git, says = ctx.config.values.vault.git, somebody(ctx.screen)
        agreed = fix_links(notes, ctx.screen, git=git, unsure=unsure, yes=yes, as_json=ctx.as_json, says=says)
    if not agreed:
        raise typer.Exit(DECLINED)


def path_of(notes: "Vault", note: str) -> str:
    """The note that a path or a name means. Raises VaultError that names the nearest ones."""
    if path := notes.find_file(note):
        return path
    link = notes.resolve(note.strip().removeprefix("[[").removesuffix("]]"))
    if link.target is None:
        near = ", ".join(link.candidates)
        raise VaultError(f"there is no note {note}", f"Nearest: {near}" if near else "zkchat vault search finds notes by their words.")
    return link.target


def _print(ctx: CommandContext, rows: "Sequence[LinkRow]", none: str) -> None:
    if ctx.as_json:
        ctx.screen.json([row(each) for each in rows])
        return
    for each in rows:
        ctx.screen.print(f"{each.source}:{each.line}  {each.raw} → {each.target or 'not found'}")
    if not rows:
        ctx.screen.remark(none)


def row(link: "LinkRow") -> dict[str, Any]:
    """A link of a note as JSON."""
    return {name: getattr(link, name) for name in ("source", "target", "raw", "line", "context_snippet")}
