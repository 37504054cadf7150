"""Chat with your notes in the terminal."""

import sys
from contextlib import closing, suppress
from dataclasses import replace
from typing import Annotated, TextIO

import typer

from zkchat_cli import cli, config, slash, wiring
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.events import TurnFailed
from zkchat_cli.models import Conversation
from zkchat_cli.session import ZkChatSession
from zkchat_cli.terminal.keyboard import Interruptions
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turns import show, show_error, to_stderr
from zkchat_cli.wiring import Bench, Choices

COMMAND = cli.app()


@COMMAND.command()
def chat(
    resume: Annotated[str | None, typer.Option("--resume", metavar="ID", help="Go on with this conversation.")] = None,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the vault's latest conversation.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Chat with the built-in notes, offline.")] = False,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    no_store: cli.NoStoreOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config_file: cli.ConfigOption = None,
) -> None:
    """Chat with your notes. Where standard input is no terminal: one message a line, plain output."""
    screen = Screen.of()
    if sys.stdin is None:
        raise UsageError("there is no standard input to read messages from", 'Start it in a terminal, or say zkchat ask "…".')
    if demo:
        if vault is not None:
            raise UsageError("--demo brings its own notes", "Leave out --vault, or leave out --demo.")
        vault = wiring.demo_vault(config.places(config.environment(), config_file))
    with cli.opened(Choices(vault, model, config_file, strategy, max_context, store=not no_store)) as bench:
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        if not interactive or not bench.vault.indexed:
            with screen.progress_bar("Indexing") as progress:
                index = bench.vault.refresh(progress=progress)
            for problem in index.problems:
                screen.warn(problem)
        session = bench.session(_conversation(bench, resume, continue_=continue_))
        if interactive:
            from zkchat_cli.terminal.repl import Repl  # prompt_toolkit takes 0.1 s to import: pipes do without

            code = Repl(bench, session, screen, keep_history=not no_store).run()
        else:
            code = _piped(session, screen, bench.loaded.values.references.max_displayed)
    raise typer.Exit(code)


def _conversation(bench: Bench, resume: str | None, *, continue_: bool) -> Conversation | None:
    return bench.store.find(resume, str(bench.vault.root)) if resume or continue_ else None
