"""Check settings, vault, index, store and models, with the next step for each problem."""

from typing import Annotated, Any

from typer import Option

from zkchat_cli import __version__
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import styled_line

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
    (search by meaning). --repair says what was lost, and keeps the damaged file under a name with
    the date.
    """
    from zkchat_cli.cli.commands.doctor.checks import run_checks

    repaired = _repair_store(ctx) if repair else None
    found = run_checks(ctx)
    failed = [check for check in found if not check["ok"]]
    names = ", ".join(check["name"] for check in failed)
    error = ZkchatError(
        f"{len(failed)} of {len(found)} checks failed: {names}", "Follow the next step of each."
    )
    error.reported = True
    error.code = failed[0]["code"] if failed else ""
    lines = []
    for check in found:
        mark, style = ("✓", "green") if check["ok"] else ("✗", "red")
        lines.append(styled_line(f"{mark} {check['name']:<{NAME_WIDTH}} {check['detail']}", style))
        if check["next_step"]:
            lines.append(styled_line(f"{'':<{NAME_WIDTH + 3}}→ {check['next_step']}", "yellow"))
    document = {"version": __version__, "ok": not failed, "checks": found, "repaired": repaired}
    ctx.print_result(document | {"error": error.to_json() if failed else None}, lines)
    if failed:
        ctx.screen.warn(error.message)
        raise error


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
    kept, saved_rows, lost_rows = done
    saved, lost = (
        ", ".join(plural(n, k.removesuffix("s")) for k, n in rows.items())
        for rows in (saved_rows, lost_rows)
    )
    ctx.screen.warn(f"the store was damaged: saved {saved}; known to be lost: {lost}")
    ctx.screen.warn(f"the damaged file is kept as {kept}")
    return {"kept": str(kept), "saved": saved_rows, "lost": lost_rows}
