"""Chat with your notes in the terminal."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli import paths
from zkchat_cli.app import startup_options
from zkchat_cli.cli import command
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.terminal.hyperlinks import opener
from zkchat_cli.terminal.interrupts import InterruptHandler, typing_ahead
from zkchat_cli.terminal.screen import PROMPT, Screen
from zkchat_cli.terminal.startup import StartedSession

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models import Conversation

DEMO_TIP = "to try: What is an evergreen note?   then /sources 1, /why 1, /context, /help"
"""What the built-in notes answer, and what can be checked of it."""

COMMAND = command.app()


@COMMAND.command(epilog=command.examples("zkchat chat --vault ~/notes", "zkchat chat -c"))
def chat(
    resume: Annotated[str | None, typer.Option("--resume", metavar="ID", help="Go on with this conversation.")] = None,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the vault's latest conversation.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Chat with the built-in notes, offline.")] = False,
    agent: command.AgentOption = None,
    strategy: command.StrategyOption = None,
    max_context: command.MaxContextOption = None,
    unsafe: command.UnsafeOption = False,
    yes: command.YesOption = False,
    no_store: command.NoStoreOption = False,
    vault: command.VaultOption = None,
    model: command.ModelOption = None,
    config_file: command.ConfigOption = None,
) -> None:
    """Chat with your notes. Where standard input is no terminal: one message a line, plain output."""
    from zkchat_cli.config import loader

    screen = Screen.of()
    if sys.stdin is None:
        raise UsageError("there is no standard input to read messages from", 'Start it in a terminal, or say zkchat ask "…".')
    if demo and vault is not None:
        raise UsageError("--demo brings its own notes", "Leave out --vault, or leave out --demo.")
    if not demo and vault is None and model is None and config_file is None:
        vault, model = command.first_start(screen)
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    approve, asking = None, None
    if unsafe or yes:
        from zkchat_cli.terminal.change_approval import ApprovalPrompt, policy  # what it loads a chat that changes nothing does without

        approve = policy(unsafe=unsafe, yes=yes, screen=screen, interactive=interactive)
        asking = approve if isinstance(approve, ApprovalPrompt) else None
    with ExitStack() as opened:

        def opening() -> StartedSession:
            from zkchat_cli.app import factory  # what a session is made of takes longer to load than the prompt, which does without
            from zkchat_cli.app.demo import demo_folder, demo_vault
            from zkchat_cli.store.retention import Retention

            notes = demo_vault(paths.app_paths(loader.environment(), config_file)) if demo else vault
            new = resume is None and not continue_
            choices = startup_options.StartupOptions(
                notes, model, config_file, strategy, max_context, store=not no_store, store_later=new, agent=agent, unsafe=unsafe
            )
            bench = replace(opened.enter_context(command.opened(choices)), approve=approve)
            session = bench.session(_conversation(bench, resume, continue_=continue_))
            old = Retention(bench.store, bench.loaded.values, factory.now(), but=session.conversation.id)
            old.start()
            unstored = bench.unstored
            warnings = ((f"this chat is not stored: {unstored.message}", unstored.hint),) if unstored is not None else ()
            unkept = bench.cache.notice if bench.cache is not None else None
            tip = DEMO_TIP if bench.vault.root == demo_folder(bench.loaded.places).resolve() else ""
            return StartedSession(bench, session, (*warnings, *(each for each in (unkept, old.notice) if each is not None)), tip)

        if interactive:
            _refuse_at_once(vault)
            with typing_ahead() as typed:  # what is typed already is for the prompt
                from zkchat_cli.terminal.repl import Repl  # prompt_toolkit takes 0.1 s to import: pipes do without

                repl = Repl(opening, screen, keep_history=not no_store, unsafe=unsafe, asking=asking, typed=typed)
                code = repl.run()
            if (last := repl.current()) is not None:
                last.save_last()
        else:
            from zkchat_cli.terminal.change_approval import tell_unable  # as above

            made = opening()
            for warning in made.warnings:
                screen.warn(*warning)
            tell_unable(made.session.parts, screen, unsafe=unsafe)
            settings = made.bench.loaded.values.references
            screen = replace(
                screen.with_settings(made.bench.loaded.values.terminal), address=opener(made.bench.vault.root, settings.link_style)
            )
            with screen.progress_bar("Indexing") as progress:
                index = made.bench.vault.refresh(progress=progress)
            for problem in index.problems:
                screen.warn(problem)
            code = _piped(made.session, screen, settings.max_displayed)
    raise typer.Exit(code)


def _refuse_at_once(vault: Path | None) -> None:
    """What can be seen to be wrong without loading anything needs no prompt that goes again."""
    if vault is not None and not os.path.isdir(os.path.expanduser(vault)):  # noqa: PTH111, PTH112 - as Path has them they may raise
        from zkchat_cli.vault import filesystem  # which says what is wrong with it

        filesystem.root_of(vault)


def _conversation(bench: "App", resume: str | None, *, continue_: bool) -> "Conversation | None":
    return bench.store.find(resume, str(bench.vault.root)) if resume is not None or continue_ else None


def _piped(session: "ZkChatSession", screen: Screen, max_sources: int) -> int:
    """One message a line. Returns 0, or 128 + the signal that ended it. Raises the first error when all lines have been answered."""
    with InterruptHandler() as interruptions:
        try:
            with interruptions.stoppable():
                _answer_lines(session, screen, max_sources)
        except KeyboardInterrupt:
            if interruptions.ending is None:
                raise
            return 128 + interruptions.ending
    return 0


def _answer_lines(session: "ZkChatSession", screen: Screen, max_sources: int) -> None:
    """An error is told and the next line is read; the first one decides the exit code."""
    from zkchat_cli.terminal.command_runner import run_piped  # the session has loaded what they need
    from zkchat_cli.terminal.turn_renderer import show_error
    from zkchat_cli.terminal.turn_view import note_printer

    aside = note_printer(screen, lambda: session.verbose)
    first: ZkchatError | None = None
    for line in _lines(screen):
        try:
            going_on = run_piped(line, session, screen, aside, max_sources)
            if going_on is None:
                break
            session = going_on
        except ZkchatError as e:
            show_error(e, aside)
            first = first or e
    try:
        session.save_last()
    except ZkchatError as e:
        show_error(e, aside)
        first = first or e
    if first is not None:
        first.told = True
        raise first


def _lines(screen: Screen) -> Iterator[str]:
    """The lines of standard input that say something. Where a person types them (`zkchat chat | cat`), a prompt on stderr asks for each."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    asking = sys.stdin.isatty() and screen.err_is_terminal
    if asking:
        screen.progress("zkchat: the output goes into a pipe or a file, so this is the plain chat: one message a line, Ctrl-D ends it.")
    while True:
        if asking:
            screen.err.write(PROMPT)
            screen.err.flush()
        line = command.no_more_than_fits(sys.stdin.readline(command.MOST_PIPED + 1))
        if not line:
            return
        if line.strip():
            yield line.strip()
