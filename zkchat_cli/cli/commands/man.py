"""Print the manual page, or install it so that `man zkchat` finds it."""

import os
import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.cli.manual_page import find_manual, install_manual

ORDER = 200
COMMAND = command_group()


@command(
    COMMAND,
    examples=["zkchat man | man -l -", "zkchat man --install"],
)
def man(
    ctx: CommandContext,
    install: Annotated[
        bool, Option("--install", help="Copy it into the manual pages of your account.")
    ] = False,
) -> None:
    """Print the manual page, or install it.

    `zkchat man | man -l -` shows it. Once it is installed, `man zkchat` does. A package of your
    system installs it by itself. `zkchat --install-completion` completes commands in your shell.
    """
    page = find_manual(Path(sys.prefix))
    if not install:
        ctx.screen.print(page.read_text("utf-8").rstrip("\n"))
        return
    target = install_manual(page, Path.home(), os.environ)
    ctx.print_result({"installed": str(target)}, f"Installed {target}; man zkchat shows it.")
