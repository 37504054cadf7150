"""`zkchat vault links`, `backlinks`, `path`, `mentions` and `broken`."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.text.numbers import plural

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.models import Mention, MentionKind, NoteUsage
    from zkchat_cli.vault.index.database import LinkRow
    from zkchat_cli.vault.vault import Vault
    from zkchat_cli.views.text import StyledLine

COMMANDS = command_group()

NoteArgument = Annotated[str, typer.Argument(metavar="NOTE", help="Path, name or title of a note.")]
_USE_NAMES: "dict[MentionKind, str]" = {
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
        path = _note_path(notes, note)
        _print_links(ctx, notes.links(path), f"{path} has no links.")


@command(COMMANDS, *options.NOTES)
def backlinks(ctx: CommandContext, note: NoteArgument) -> None:
    """The links that point to a note."""
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        _print_links(ctx, notes.backlinks(path), f"Nothing links to {path}.")


@command(COMMANDS, *options.NOTES, epilog=examples('zkchat vault path "Roof" "Heat pump"'))
def path(
    ctx: CommandContext,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Path, name or title of a note.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Path, name or title of the other note.")],
) -> None:
    """The shortest path of links from one note to another."""
    with ctx.indexed_vault() as (notes, _):
        ends = _note_path(notes, source), _note_path(notes, target)
        found = notes.shortest_path(*ends)
    steps = found and [link._asdict() for link in found.links]
    lines = list(found.notes[:1]) if found else []
    for here, link, there in zip(found.notes, found.links, found.notes[1:], strict=False) if found else ():
        lines.append(f"  {'→' if link.source == here else '←'} {there}   {link.raw} in {link.source}:{link.line}")
    document = {"source": ends[0], "target": ends[1], "notes": found and found.notes, "links": steps}
    ctx.print_result(document, "\n".join(lines), f"No path of links from {ends[0]} to {ends[1]}.")


@command(COMMANDS, *options.NOTES)
def mentions(
    ctx: CommandContext,
    note: Annotated[str, typer.Argument(metavar="[NOTE]", help="Path, name or title of a note.")] = "",
    top: Annotated[bool, typer.Option("--top", help="The notes that answers used most, over all conversations.")] = False,
    limit: options.LimitOption = 20,
) -> None:
    """The conversations and answers that used a note, newest first."""
    if top == bool(note):
        raise UsageError("mentions takes a note, or --top", "For example: zkchat vault mentions --top")
    with ctx.open_app() as app:
        if top:
            used = app.store.most_used_notes(str(app.vault.root), limit)
            ctx.print_result(used, _usage_lines(used, app.vault.root), "No answer has used a note.")
            return
        app.vault.refresh()
        found = _find_mentions(app, note)
    ctx.print_result(found, _mention_lines(found), "No answer has used this note.")


def _usage_lines(used: "Iterable[NoteUsage]", root: Path) -> "Iterator[StyledLine]":
    from zkchat_cli.views.text import StyledLine, StyledSpan

    for each in used:
        counts = f"{plural(each.answers, 'answer')}, {plural(each.citations, 'citation')}, {plural(each.conversations, 'conversation')}"
        path = StyledSpan(each.relative_path, "cyan", each.relative_path)
        mark = () if os.path.lexists(root / each.relative_path) else (StyledSpan("  deleted since", "yellow"),)
        yield StyledLine((path, *mark), (StyledSpan(f"{counts}, last on {each.last_used[:10]}", "dim"),))


def _mention_lines(found: "Iterable[Mention]") -> "Iterator[StyledLine]":
    from zkchat_cli.views.conversation_list import format_time
    from zkchat_cli.views.text import styled_line

    for (id_, title), mentions in groupby(found, key=lambda mention: (mention.conversation_id, mention.title)):
        yield styled_line(f"{id_}  {title or 'untitled'}", "bold")
        for mention in mentions:
            yield styled_line(f"  {format_time(mention.timestamp)}  {mention.question or ''}".rstrip())
            yield styled_line(f"      {_describe_use(mention)}", "dim")


def _find_mentions(app: "App", note: str) -> "tuple[Mention, ...]":
    """Mentions of a note; its path is enough if the note was deleted after an answer used it."""
    root = str(app.vault.root)
    try:
        path = _note_path(app.vault, note)
    except VaultError:
        if found := app.store.mentions(root, note):
            return found
        raise
    return app.store.mentions(root, path)


def _describe_use(mention: "Mention") -> str:
    how = ", ".join(_USE_NAMES[kind] for kind in mention.how)
    numbers = f" {' '.join(f'[{number}]' for number in mention.numbers)}" if mention.numbers else ""
    verified = f", {mention.held} of {plural(mention.citations, 'citation')} verified" if mention.citations else ""
    return f"{how}{numbers}{verified}"


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
    from zkchat_cli.vault.edit.note_editor import LinkFix
    from zkchat_cli.vault.links.broken import certain_target

    links = notes.broken_links()
    targets = [certain_target(link.text, link.candidates) for link in links]
    fixes = [LinkFix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, targets, strict=True) if path]
    change = notes.editor.fix_links(fixes)
    if not ctx.as_json:
        for fix in fixes if change.files else ():
            ctx.screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, ctx.screen)
    asks = change.files and not ctx.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        confirm(f"{change.summary[:1].upper()}{change.summary[1:]}?", "vault broken --fix", yes=yes)
    made = notes.editor.apply(change) if change.files and (yes or asks) else None
    unclear = targets.count(None)
    if change.files:
        skipped = f"; {unclear} skipped, no certain target" if unclear else ""
        text = f"{change.summary}: {'done' if made else 'nothing was changed; use --yes'}{skipped}"
    else:
        text = f"No certain target for {plural(unclear, 'broken link')}." if unclear else "No broken links."
    documents = [
        {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates), "fix": path}
        for link, path in zip(links, targets, strict=True)
    ]
    ctx.print_result({"links": documents, "diff": change.diff, "made": made is not None}, text)
    if made is not None and made.interrupted:
        raise KeyboardInterrupt


def _note_path(notes: "Vault", note: str) -> str:
    """The path of a note named by its path, name, title or link. Raises VaultError for none and for several."""
    return notes.find_file(note) or notes.locate(note)[0]


def _print_links(ctx: CommandContext, links: "Sequence[LinkRow]", none: str) -> None:
    lines = (f"{each.source}:{each.line}  {each.raw} → {each.target or 'not found'}" for each in links)
    ctx.print_result([each._asdict() for each in links], "\n".join(lines), none)
