"""Chat with the notes in an editor, over the Agent Client Protocol."""

import os
import sys

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, optional_package

ORDER = 130
COMMAND = command_group()


@command(COMMAND, *options.CHAT, examples=["zkchat acp --vault ~/notes"])
def acp(ctx: CommandContext, unsafe: options.UnsafeOption = False) -> None:
    """Chat with the notes in an editor, over the Agent Client Protocol.

    Editors such as Zed and Neovim start it. Conversations are the same as in the terminal. It needs
    `pip install 'zkchat[acp]'`.
    """
    from zkchat_cli.logging_setup import log_to_stderr

    log_to_stderr()
    with optional_package("the editor's protocol", "acp"):
        # This imports the protocol's SDK, which only this command needs
        from zkchat_cli.acp import server
    from zkchat_cli.app import factory

    if sys.stdin.isatty():
        ctx.screen.remark(
            "Waiting for an editor on standard input: editors start this by themselves. "
            "Ctrl-C ends it."
        )
    server.serve(
        lambda folder: factory.open_app(
            ctx.startup_options(unsafe=unsafe, store_later=True), os.environ, folder
        )
    )
