"""`zkchat vault index` and `status`: update the index, and show what it contains."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.text.numbers import plural

if TYPE_CHECKING:
    from zkchat_cli.models import IndexReport
    from zkchat_cli.vault.vault import Vault
    from zkchat_cli.views.text import StyledLine

COMMANDS = command_group()


@command(COMMANDS, *options.NOTES)
def index(
    ctx: CommandContext,
    full: Annotated[bool, typer.Option("--full", help="Rebuild the index.")] = False,
    semantic: Annotated[bool, typer.Option("--semantic", help="Compute all vectors for search by meaning.")] = False,
) -> None:
    """Update the index; the chat computes vectors in the background, `--semantic` computes all now."""
    with ctx.indexed_vault(full=full) as (notes, report):
        if semantic:
            with ctx.screen.progress_bar("Embedding") as progress:
                notes.embed(progress)
        _print_report(ctx, notes, report.model_copy(update={"semantic": notes.status().semantic}))


@command(COMMANDS, *options.NOTES)
def status(ctx: CommandContext) -> None:
    """What the index contains, and which notes have problems."""
    with ctx.open_vault() as notes:
        if not notes.has_index:
            notes.refresh()
        _print_report(ctx, notes, notes.status())


def _print_report(ctx: CommandContext, notes: "Vault", report: "IndexReport") -> None:
    ctx.print_result(report, _report_lines(report))
    ctx.print_warnings(notes)


def _report_lines(report: "IndexReport") -> "Iterator[StyledLine]":
    from zkchat_cli.views.semantic_status import describe_semantic_status
    from zkchat_cli.views.text import styled_line

    counts = (plural(report.notes, "note"), plural(report.chunks, "chunk"), plural(report.links, "link"))
    yield styled_line(", ".join(counts) + (f", {report.broken_links:,} of them broken" if report.links else ""))
    if report.added or report.changed or report.removed:
        yield styled_line(f"{report.added:,} added, {report.changed:,} changed, {report.removed:,} removed in {report.seconds:.2f} s")
    if report.semantic is not None:
        yield styled_line(f"search by meaning: {describe_semantic_status(report.semantic)}")
    for problem in report.problems:
        yield styled_line(f"  ! {problem}", "yellow")
