"""Check settings, vault, index, store, models, keys, disk and terminal, with the next step for each problem."""

import shutil
import textwrap
from typing import Annotated, Any

import typer

from zkchat_cli import __version__
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.screen import Screen

COMMAND = command_group()
NAME_WIDTH = 11
"""Length of the longest name of a check."""


@command(COMMAND, "as_json", "vault", "model", "config_file")
def doctor(
    ctx: CommandContext,
    ask_model: Annotated[bool, typer.Option("--call", help="Also request one token from the model; this may cost something.")] = False,
) -> None:
    """Check that everything zkchat needs works."""
    from zkchat_cli.cli.commands.doctor.checks import checks

    found = checks(ctx.startup_options(), ask_model=ask_model)
    failed = [check for check in found if not check["ok"]]
    summary = f"{len(failed)} of {len(found)} checks failed: {', '.join(check['name'] for check in failed)}"
    step = "Follow the next step of each."
    if ctx.as_json:
        error = {"code": failed[0]["code"], "message": summary, "hint": step} if failed else None
        ctx.screen.json({"version": __version__, "ok": not failed, "checks": found, "error": error})
    for check in [] if ctx.as_json else found:
        _print_check(check, ctx.screen)
    if failed:
        ctx.screen.warn(summary)
        failure = ZkchatError(summary, step)
        failure.reported, failure.code = True, failed[0]["code"]
        raise failure


def _print_check(check: dict[str, Any], screen: Screen) -> None:
    """Print a check, wrapped between words on a terminal, and its next step below."""
    mark, style = ("✗", "red") if not check["ok"] else ("!", "yellow") if check["next_step"] else ("✓", "green")
    screen.print(_wrap(f"{mark} {check['name']:<{NAME_WIDTH}} ", check["detail"], screen), style)
    if check["next_step"]:
        screen.print(_wrap(" " * (NAME_WIDTH + 3), f"→ {check['next_step']}", screen), "yellow")


def _wrap(before: str, text: str, screen: Screen) -> str:
    if not screen.out.isatty():
        return before + text
    columns = max(shutil.get_terminal_size().columns - 1, NAME_WIDTH + 20)
    indent = " " * len(before)
    return textwrap.fill(text, columns, initial_indent=before, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
