"""Print the manual page, or install it so that `man zkchat` finds it."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.cli.manual_page import find_manual, install_manual
from zkchat_cli.terminal.job_control import run_in_foreground

ORDER = 200
COMMAND = command_group()


@command(
    COMMAND,
    examples=["zkchat man", "zkchat man --install"],
)
def man(
    ctx: CommandContext,
    install: Annotated[
        bool, Option("--install", help="Copy it into the manual pages of your account.")
    ] = False,
) -> None:
    """Show the manual page, print its source into a pipe, or install it.

    Once it is installed, `man zkchat` does. A package of your
    system installs it by itself. `zkchat --install-completion` completes commands in your shell.
    """
    page = find_manual(Path(sys.prefix))
    viewer = shutil.which("man")
    if not install and viewer is not None and sys.stdout.isatty():
        run_in_foreground([viewer, str(page)])
        return
    if not install:
        ctx.screen.print(page.read_text("utf-8").rstrip("\n"))
        return
    target = install_manual(page, Path.home(), os.environ)
    ctx.print_result({"installed": str(target)}, f"Installed {target}; man zkchat shows it.")
