"""Serve the notes to other programs over the Model Context Protocol."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.store.chat_session_store import ChatSessionStore

COMMAND = command_group()


@command(COMMAND, "vault", "config_file", epilog=examples("zkchat mcp --vault ~/notes"))
def mcp(ctx: CommandContext) -> None:
    """Serve the notes to other programs over the Model Context Protocol, on standard input and output."""
    logging.basicConfig(level=logging.WARNING, format="zkchat: %(message)s", stream=sys.stderr)
    try:
        from zkchat_cli.mcp import server  # imports the SDK: more than a second that no other command needs
    except ModuleNotFoundError as e:
        raise UsageError("the MCP server needs a package that is not installed", "pip install 'zkchat[mcp]'") from e
    from zkchat_cli.mcp.note_tools import NoteTools

    @contextmanager
    def open_store() -> "Iterator[ChatSessionStore]":
        with ctx.open_store() as (store, _):
            yield store

    with ctx.open_vault() as vault:
        server.serve_stdio(server.make_server(NoteTools(vault, open_store)))
