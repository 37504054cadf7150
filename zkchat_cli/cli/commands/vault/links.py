"""`zkchat vault links`, `backlinks`, `mentions` and `broken`."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples
from zkchat_cli.errors import UsageError
from zkchat_cli.text.numbers import plural

if TYPE_CHECKING:
    from zkchat_cli.models import NoteUsage
    from zkchat_cli.vault.index.database import LinkRow
    from zkchat_cli.vault.vault import Vault
    from zkchat_cli.views.text import StyledLine

COMMANDS = command_group()

NoteArgument = Annotated[str, typer.Argument(metavar="NOTE", help="Path, name or title of a note.")]


@command(COMMANDS, *options.NOTES)
def links(ctx: CommandContext, note: NoteArgument) -> None:
    """The links in a note."""
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        _print_links(ctx, notes.links(path), f"{path} has no links.")


@command(COMMANDS, *options.NOTES)
def backlinks(ctx: CommandContext, note: NoteArgument) -> None:
    """The links that point to a note."""
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        _print_links(ctx, notes.backlinks(path), f"Nothing links to {path}.")


@command(COMMANDS, *options.NOTES)
def mentions(
    ctx: CommandContext,
    top: Annotated[bool, typer.Option("--top", help="Those that answers used most: the only list so far.")] = True,  # noqa: ARG001
    limit: options.LimitOption = 20,
) -> None:
    """The notes that answers used most, over all conversations."""
    with ctx.open_app() as app:
        used = app.store.most_used_notes(str(app.vault.root), limit)
    ctx.print_result(used, _usage_lines(used, app.vault.root), "No answer has used a note.")


def _usage_lines(used: "Iterable[NoteUsage]", root: Path) -> "Iterator[StyledLine]":
    from zkchat_cli.views.text import StyledLine, StyledSpan

    for each in used:
        counts = f"{plural(each.answers, 'answer')}, {plural(each.citations, 'citation')}, {plural(each.conversations, 'conversation')}"
        path = StyledSpan(each.relative_path, "cyan", each.relative_path)
        mark = () if os.path.lexists(root / each.relative_path) else (StyledSpan("  deleted since", "yellow"),)
        yield StyledLine((path, *mark), (StyledSpan(f"{counts}, last on {each.last_used[:10]}", "dim"),))


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat vault broken --fix"))
def broken(
    ctx: CommandContext,
    fix: Annotated[bool, typer.Option("--fix", help="Show repairs for links with one possible target, and ask.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --fix: repair without asking.")] = False,
) -> None:
    """Links without a target, and the nearest names."""
    if yes and not fix:
        raise UsageError("--yes needs --fix", "zkchat vault broken --fix shows the repairs.")
    with ctx.indexed_vault() as (notes, _):
        if fix:
            _fix_links(ctx, notes, yes=yes)
            return
        links = notes.broken_links()
    lines = []
    for link in links:
        near = f"   nearest: {', '.join(link.candidates)}" if link.candidates else ""
        lines.append(f"{link.row.source}:{link.row.line}  {link.row.raw}{near}")
    documents = [{**link.row._asdict(), "candidates": list(link.candidates)} for link in links]
    ctx.print_result(documents, "\n".join(lines), "No broken links.")


def _fix_links(ctx: CommandContext, notes: "Vault", *, yes: bool) -> None:
    """Propose the only possible note for each broken link; repair with `yes`, or if the user agrees. Exits with DECLINED on a no."""
    from zkchat_cli.terminal.approval import show_diff
    from zkchat_cli.vault.links.broken import certain_target

    links = [(link, certain_target(link.text, link.candidates)) for link in notes.broken_links()]
    fixes = [link.row._replace(target=path) for link, path in links if path]
    change = notes.editor.fix_links(fixes)
    if not ctx.as_json:
        for fix in fixes if change.files else ():
            ctx.screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, ctx.screen)
    asks = change.files and not ctx.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        confirm(f"{change.summary[:1].upper()}{change.summary[1:]}?", "vault broken --fix", yes=yes)
    made = bool(change.files and (yes or asks))
    if made:
        notes.editor.apply(change)
    outcome = f"{change.summary}: {'done' if made else 'nothing was changed; use --yes'}; " if change.files else ""
    unclear = sum(path is None for _, path in links)
    text = f"{outcome}{plural(unclear, 'broken link')} without a certain target"
    documents = [
        {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates), "fix": path}
        for link, path in links
    ]
    ctx.print_result({"links": documents, "diff": change.diff, "made": made}, text)


def _note_path(notes: "Vault", note: str) -> str:
    """The path of a note named by its path, name, title or link. Raises VaultError for none and for several."""
    return notes.find_file(note) or notes.locate(note)[0]


def _print_links(ctx: CommandContext, links: "Sequence[LinkRow]", none: str) -> None:
    lines = (f"{each.source}:{each.line}  {each.raw} → {each.target or 'not found'}" for each in links)
    ctx.print_result([each._asdict() for each in links], "\n".join(lines), none)
