"""Check settings, vault, index, store, models and keys, with the next step for each problem."""

from zkchat_cli import __version__
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.errors import ZkchatError

COMMAND = command_group()
NAME_WIDTH = 11
"""Length of the longest name of a check."""


@command(COMMAND, "as_json", "vault", "model", "config_file")
def doctor(ctx: CommandContext) -> None:
    """Check that everything zkchat needs works."""
    from zkchat_cli.cli.commands.doctor.checks import checks

    found = checks(ctx.startup_options())
    failed = [check for check in found if not check["ok"]]
    summary = f"{len(failed)} of {len(found)} checks failed: {', '.join(check['name'] for check in failed)}"
    step = "Follow the next step of each."
    if ctx.as_json:
        error = {"code": failed[0]["code"], "message": summary, "hint": step} if failed else None
        ctx.screen.json({"version": __version__, "ok": not failed, "checks": found, "error": error})
    for check in [] if ctx.as_json else found:
        mark, style = ("✓", "green") if check["ok"] else ("✗", "red")
        ctx.screen.print(f"{mark} {check['name']:<{NAME_WIDTH}} {check['detail']}", style)
        if check["next_step"]:
            ctx.screen.print(f"{'':<{NAME_WIDTH + 3}}→ {check['next_step']}", "yellow")
    if failed:
        ctx.screen.warn(summary)
        failure = ZkchatError(summary, step)
        failure.reported, failure.code = True, failed[0]["code"]
        raise failure
