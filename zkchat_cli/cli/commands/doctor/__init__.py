"""Check settings, vault, index, store and models, with the next step for each problem."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from typer import Option

from zkchat_cli import __version__
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.cli.failure import CommandFailed
from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import StyledLine, styled_line

ORDER = 160
COMMAND = command_group()
# Length of the longest name of a check
NAME_WIDTH = 10


@command(COMMAND, "as_json", "vault", "model", "config_file")
def doctor(
    ctx: CommandContext,
    repair: Annotated[
        bool,
        Option("--repair", help="First save what can be read of a damaged store into a new one."),
    ] = False,
) -> None:
    """Check that everything zkchat needs works, with the next step for each problem.

    Checks settings, vault, index, store, vocabulary, provider, each configured server, and semantic
    (search by meaning). A check marked with ! is passed, but something is incomplete. --repair says
    what was lost, and keeps the damaged file under a name with the date.
    """
    from zkchat_cli.cli.commands.doctor.checks import run_checks

    repaired = _repair_store(ctx) if repair else None
    checks = run_checks(ctx)
    error = _failure_of(checks)
    document = {
        "version": __version__,
        "ok": error is None,
        "checks": checks,
        "repaired": repaired,
        "error": error.to_json() if error is not None else None,
    }
    lines: list[StyledLine] = []
    for check in checks:
        lines += _check_lines(check)
    ctx.print_result(document, lines)
    if error is not None:
        ctx.screen.warn(error.message)
        raise CommandFailed(error, is_printed=True)


def _failure_of(checks: Sequence[dict[str, Any]]) -> ZkchatError | None:
    """The error that names the failed checks, with the code of the first; None if all are well."""
    failed = [check for check in checks if not check["ok"]]
    if not failed:
        return None
    names = ", ".join(check["name"] for check in failed)
    error = ZkchatError(
        f"{len(failed)} of {len(checks)} checks failed: {names}", "Follow the next step of each."
    )
    error.code = failed[0]["code"]
    return error


def _check_lines(check: dict[str, Any]) -> Iterator[StyledLine]:
    if not check["ok"]:
        mark = "✗"
        style = "red"
    elif check["next_step"]:
        mark = "!"
        style = "yellow"
    else:
        mark = "✓"
        style = "green"
    yield styled_line(f"{mark} {check['name']:<{NAME_WIDTH}} {check['detail']}", style)
    if check["next_step"]:
        yield styled_line(f"{'':<{NAME_WIDTH + 3}}→ {check['next_step']}", "yellow")


def _repair_store(ctx: CommandContext) -> dict[str, Any] | None:
    """Repair the store and say what was saved and lost; None if it is not damaged. Raises
    StoreError.
    """
    from zkchat_cli.app import factory
    from zkchat_cli.store.sqlite.repair import repair_store

    file = ctx.config.paths.store_file
    done = repair_store(file, factory.now()[:10]) if file.exists() else None
    if done is None:
        ctx.screen.warn(f"the store {file} is not damaged; nothing was changed")
        return None
    kept, saved, lost = done
    ctx.screen.warn(
        f"the store was damaged: saved {_rows_text(saved)}; known to be lost: {_rows_text(lost)}"
    )
    ctx.screen.warn(f"the damaged file is kept as {kept}")
    return {"kept": str(kept), "saved": saved, "lost": lost}


def _rows_text(rows: Mapping[str, int]) -> str:
    """`3 conversations, 1 message`"""
    return ", ".join(plural(count, kind.removesuffix("s")) for kind, count in rows.items())
