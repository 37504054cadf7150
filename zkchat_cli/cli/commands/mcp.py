"""Serve the notes to other programs over the Model Context Protocol."""

import os
import secrets
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from zkchat_cli.cli.command import CommandContext, command, command_group, examples, optional_package
from zkchat_cli.errors import UsageError

COMMAND = command_group("Serve the notes to other programs over the Model Context Protocol.")
TOKEN_VARIABLE = "ZKCHAT_MCP_TOKEN"
CLIENTS = ("claude-code", "codex", "cursor", "zed", "vscode")


@command(COMMAND, "vault", "config_file", default=True, epilog=examples("zkchat mcp", "zkchat mcp install claude-code"))
def serve(
    ctx: CommandContext,
    invoked: typer.Context,
    http: Annotated[
        int | None, typer.Option("--http", metavar="PORT", help="Serve on this port of 127.0.0.1 instead of standard input and output.")
    ] = None,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="With tools that change notes; the client asks before each change.")] = False,
) -> None:
    """Serve the notes to other programs over the Model Context Protocol.

    Programs such as Claude Code, Codex and Zed start it and use standard input and output. With --http it serves several clients, which
    need the token that it prints, or that of ZKCHAT_MCP_TOKEN. It needs `pip install 'zkchat[mcp]'`.
    """
    if invoked.invoked_subcommand is not None:
        return
    from zkchat_cli.logging_setup import log_to_stderr

    log_to_stderr()
    with optional_package("the MCP server", "mcp"):
        from zkchat_cli.mcp import server  # import the SDK: more than a second that no other command needs
    from zkchat_cli.mcp.note_tools import NoteTools
    from zkchat_cli.store.chat_session_store import ChatSessionStore

    with ctx.open_vault() as vault:
        store_file = ctx.config.paths.store_file
        notes = server.NoteServer(NoteTools(vault, lambda: closing(ChatSessionStore.open_to_read(store_file))))
        if unsafe:
            from zkchat_cli.memory.project import MemoryPaths, memory_file_names

            names = memory_file_names(ctx.config.values.memory)
            server.add_write_tools(notes, vault, MemoryPaths(vault.root, names, ctx.paths.agents_folder))
        if http is None:
            if sys.stdin.isatty():
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # the SDK would first wait for the line that it reads
                ctx.screen.remark("Waiting for a program on standard input. `zkchat mcp install` lets one start it. Ctrl-C ends it.")
            notes.run()
            return
        token = os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
        shown = f"the token of {TOKEN_VARIABLE}" if os.environ.get(TOKEN_VARIABLE) else f"the token {token}"
        server.serve_http(notes, http, token, lambda address: ctx.screen.remark(f"{address} with {shown}"))


@command(COMMAND, "vault", "config_file", epilog=examples("zkchat mcp install codex --vault ~/notes", "zkchat mcp install zed --print"))
def install(
    ctx: CommandContext,
    client: Annotated[
        str, typer.Argument(metavar="CLIENT", help=f"{', '.join(CLIENTS[:-1])} or {CLIENTS[-1]}.", autocompletion=lambda: list(CLIENTS))
    ],
    print_only: Annotated[bool, typer.Option("--print", help="Print what to add to its configuration, and change nothing.")] = False,
    skill: Annotated[bool, typer.Option("--skill", help="Write a skill, too, that tells agents when to search, cite and verify.")] = False,
) -> None:
    """Add the server to the configuration of a program, with a backup."""
    import difflib

    from zkchat_cli.app import factory
    from zkchat_cli.mcp import clients

    target = clients.known_clients(os.environ, Path.home()).get(client)
    if target is None:
        raise UsageError(f"there is no client {client}", f"The clients are {', '.join(CLIENTS)}.")
    with ctx.open_vault() as vault:  # raises VaultError for a folder that the server could not open
        root = str(vault.root)
    program = [sys.executable, "-P", "-m", "zkchat_cli", "mcp", "--vault", root]  # -P: no modules from the folder that the client works in
    if ctx.shared["config_file"]:
        program += ["--config", str(ctx.shared["config_file"].resolve())]
    old = "" if print_only else clients.read_text(target.file)
    files = {target.file: clients.text_with_server(target, program, old)}
    if skill:
        files[target.skill_file] = clients.SKILL_FILE.read_text()
    for file, text in files.items():
        if print_only:
            ctx.screen.print(text.rstrip())
            ctx.screen.remark(f"{target.title} reads it from {file}")
        elif (before := clients.read_text(file)) == text:
            ctx.screen.remark(f"{file} has it already: nothing was changed.")
        else:
            backup = clients.write_with_backup(file, text, factory.now())
            diff = difflib.unified_diff(before.splitlines(), text.splitlines(), "before", "after", lineterm="")
            ctx.screen.print("\n".join(diff))
            ctx.screen.remark(f"{file} was changed; the old one is {backup}" if backup else f"{file} was written")
    if not print_only:
        ctx.screen.remark(f"Restart {target.title} to use it.")
