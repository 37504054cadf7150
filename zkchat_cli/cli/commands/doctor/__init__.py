"""Check settings, vault, index, store, models, keys, disk and terminal, each with the next step."""

import shutil
import textwrap
from typing import Annotated, Any

import typer

from zkchat_cli import __version__
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.screen import Screen

COMMAND = command_group()
WIDEST = 11
"""Letters of the longest check's name."""


@command(COMMAND, "as_json", "vault", "model", "config_file")
def doctor(
    ctx: CommandContext,
    ask_model: Annotated[bool, typer.Option("--call", help="Also ask the model for one token, which may cost something.")] = False,
) -> None:
    """Check that everything zkchat needs is there and works."""
    from zkchat_cli.cli.commands.doctor.checks import checks

    found = checks(ctx.startup_options(), ask_model=ask_model)
    failed = [check for check in found if not check["ok"]]
    wrong = f"{len(failed)} of {len(found)} checks failed: {', '.join(check['name'] for check in failed)}"
    step = "Follow the steps that they name."
    if ctx.as_json:
        error = {"code": failed[0]["code"], "message": wrong, "hint": step} if failed else None
        ctx.screen.json({"version": __version__, "ok": not failed, "checks": found, "error": error})
    for check in [] if ctx.as_json else found:
        _print(check, ctx.screen)
    if failed:
        ctx.screen.warn(wrong)
        told = ZkchatError(wrong, step)
        told.reported, told.code = True, failed[0]["code"]
        raise told


def _print(check: dict[str, Any], screen: Screen) -> None:
    """A check, broken between words on a terminal, and below it what to do."""
    mark, style = ("✗", "red") if not check["ok"] else ("!", "yellow") if check["next_step"] else ("✓", "green")
    screen.print(_within(f"{mark} {check['name']:<{WIDEST}} ", check["detail"], screen), style)
    if check["next_step"]:
        screen.print(_within(" " * (WIDEST + 3), f"→ {check['next_step']}", screen), "yellow")


def _within(before: str, text: str, screen: Screen) -> str:
    if not screen.out.isatty():
        return before + text
    columns = max(shutil.get_terminal_size().columns - 1, WIDEST + 20)
    after = " " * len(before)
    return textwrap.fill(text, columns, initial_indent=before, subsequent_indent=after, break_long_words=False, break_on_hyphens=False)
