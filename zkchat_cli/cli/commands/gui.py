"""Chat with your notes in a window."""

import os
import sys
from pathlib import Path

from typer import Exit

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, optional_package
from zkchat_cli.errors import UsageError

ORDER = 140
COMMAND = command_group()


@command(COMMAND, *options.CHAT, examples=["zkchat gui --vault ~/notes", "zkchat gui --demo"])
def gui(
    ctx: CommandContext,
    resume: options.ResumeOption = None,
    demo: options.DemoOption = False,
    unsafe: options.UnsafeOption = False,
) -> None:
    """Chat with your notes in a window.

    Conversations are the same as in the terminal. It needs `pip install 'zkchat[gui]'`."""
    try:
        with optional_package("the window", "gui"):
            # This imports Qt, which only the window needs
            from zkchat_cli.gui.application import run_window
    except ImportError as e:
        # A library of the system, which pip does not install
        raise UsageError(
            f"Qt cannot be loaded: {e}",
            "Install what it names, for example with: apt install libegl1 libxkbcommon0",
        ) from e
    if sys.platform == "linux" and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    ):
        raise UsageError(
            "there is no display for a window", "zkchat chat is the same in the terminal."
        )
    from zkchat_cli.app import factory

    more = {"demo": demo, "store_later": resume is None, "unsafe": unsafe}
    raise Exit(
        run_window(
            lambda: factory.open_app(ctx.startup_options(**more), os.environ, Path.cwd()), resume
        )
    )
