"""Chat with the notes in an editor, over the Agent Client Protocol."""

import os
import sys
from typing import Annotated

from typer import Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.cli.key_prompt import store_key

ORDER = 130
COMMAND = command_group()
SetKeyOption = Annotated[
    str | None,
    Option(
        metavar="PROVIDER",
        help="Store a provider's API key, as `zkchat keys set` does, and end: editors log in so.",
    ),
]


@command(COMMAND, *options.CHAT, examples=["zkchat acp --vault ~/notes"])
def acp(
    ctx: CommandContext, unsafe: options.UnsafeOption = False, set_key: SetKeyOption = None
) -> None:
    """Chat with the notes in an editor, over the Agent Client Protocol.

    Editors such as Zed and Neovim start it. Conversations are the same as in the terminal.
    """
    from zkchat_cli.acp import agent
    from zkchat_cli.app import factory
    from zkchat_cli.logging_setup import log_to_stderr

    if set_key is not None:
        store_key(ctx, set_key)
        return
    log_to_stderr()
    if sys.stdin.isatty():
        ctx.screen.remark(
            "Waiting for an editor on standard input: editors start this by themselves. "
            "Ctrl-C ends it."
        )
    agent.serve(
        lambda folder: factory.open_app(
            ctx.startup_options(unsafe=unsafe, store_later=True), os.environ, folder
        ),
        sys.stdin.buffer,
        sys.stdout.buffer,
    )
