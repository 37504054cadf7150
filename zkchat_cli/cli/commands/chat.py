"""Chat with your notes in the terminal."""

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.cli.failure import CommandFailed
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.job_control import InterruptHandler, terminal_mode
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.startup import StartedSession
from zkchat_cli.vault.filesystem import holds_notes
from zkchat_cli.views.text import summarize_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.terminal.approval import ReadAnswer
    from zkchat_cli.terminal.repl import Repl

DEMO_TIP = "to try: What is an evergreen note?   then /sources 1, /why 1, /context, /help"
"""A question that the demo notes answer, and commands to check the answer with."""

# Exit code of a program that a signal ended, minus the number of the signal
TERMINATED = 128
ORDER = 10
COMMAND = command_group()


@command(COMMAND, *options.CHAT, examples=["zkchat chat --vault ~/notes", "zkchat chat -c"])
def chat(
    ctx: CommandContext,
    resume: options.ResumeOption = None,
    continue_: Annotated[
        bool, Option("--continue", "-c", help="Continue the vault's latest conversation.")
    ] = False,
    demo: options.DemoOption = False,
    unsafe: options.UnsafeOption = False,
    yes: options.YesOption = False,
    no_store: options.NoStoreOption = False,
) -> None:
    """Chat with your notes. If standard input is not a terminal: one message per line, plain
    output.
    """
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    overrides: dict[str, object] = {}
    is_first = interactive and not demo and _has_no_vault(ctx)
    if is_first:
        overrides = _run_onboarding(ctx)
    choices = _SessionChoices(
        resume=resume,
        is_new=resume is None and not continue_,
        demo=demo,
        store=not no_store,
        unsafe=unsafe,
        yes=yes,
        overrides=overrides,
        suggests_question=is_first,
    )
    with ExitStack() as resources:
        start_session = partial(_start_session, ctx, choices, resources)
        if interactive:
            code = _run_screen(start_session, ctx.screen, keep_history=not no_store)
        else:
            code = _run_pipe(ctx, start_session(None))
    raise Exit(code)


class _SessionChoices(NamedTuple):
    """The conversation to open, and what the options say about it."""

    resume: str | None
    is_new: bool
    demo: bool
    store: bool
    unsafe: bool
    yes: bool
    # Settings that this chat changes, by key
    overrides: dict[str, object]
    # Whether the chat suggests a first question
    suggests_question: bool


def _start_session(
    ctx: CommandContext,
    choices: _SessionChoices,
    resources: ExitStack,
    ask: "ReadAnswer | None",
) -> StartedSession:
    """Open the app, which `resources` close, and the session. `ask` asks the user; None: nobody
    can be asked.
    """
    from zkchat_cli.app.settings import demo_folder

    # Imports the models of pydantic, which the first prompt does not need
    from zkchat_cli.terminal.approval import ask_about_call, ask_about_cost, choose_approval

    approve = choose_approval(ctx.screen, ask, unsafe=choices.unsafe, yes=choices.yes)
    opened = ctx.open_app(
        demo=choices.demo,
        store=choices.store,
        store_later=choices.is_new,
        unsafe=choices.unsafe,
        overrides=choices.overrides,
    )
    app = replace(
        resources.enter_context(opened),
        approve=approve,
        approve_call=partial(ask_about_call, ask=ask) if ask else None,
        approve_cost=partial(ask_about_cost, ask=ask) if ask else None,
    )
    session = app.session(None if choices.is_new else app.find(choices.resume))
    is_demo = app.vault.root == demo_folder(app.loaded.paths).resolve()
    return StartedSession(
        app,
        session,
        app.warnings(session),
        DEMO_TIP if is_demo else "",
        suggests_question=choices.suggests_question,
    )


def _has_no_vault(ctx: CommandContext) -> bool:
    """Whether nothing says which notes to chat with, so that the user must be asked."""
    if ctx.shared["vault"] or ctx.shared["config_file"] or os.environ.get("ZKCHAT_VAULT"):
        return False
    if ctx.user_settings.get("vault", {}).get("path"):
        return False
    return not holds_notes(Path.cwd())


def _run_onboarding(ctx: CommandContext) -> dict[str, object]:
    """Ask which notes and which model to use; returns the settings to change in this chat.

    Exits if the user ends the questions.
    """
    # This import takes 0.4 s
    from zkchat_cli.terminal.onboarding import run_onboarding

    try:
        vault, model, overrides = run_onboarding(ctx.shared["model"], os.environ, ctx.screen)
    except EOFError:
        raise Exit from None
    ctx.shared["vault"] = vault
    ctx.shared["model"] = model
    return overrides


def _run_screen(
    start_session: "Callable[[ReadAnswer | None], StartedSession]",
    screen: Screen,
    *,
    keep_history: bool,
) -> int:
    """Chat in the terminal until the user leaves. Returns the exit code."""
    repl: Repl

    def start() -> StartedSession:
        return start_session(repl.read_answer)

    # Keeps the keys that are pressed before the prompt appears
    with terminal_mode(buffered=True):
        # Imports prompt_toolkit (0.1 s), which pipes do not need
        from zkchat_cli.terminal import repl as repl_module

        repl = repl_module.Repl(start, screen, keep_history=keep_history)
        code = repl.run()
    last = repl.current()
    if last is not None:
        last.flush()
    return code


def _run_pipe(ctx: CommandContext, started: StartedSession) -> int:
    """Answer each line of standard input. Returns the exit code."""
    screen = ctx.screen
    for warning, hint in started.warnings:
        screen.warn(warning, hint)
    screen = replace(screen, address=note_opener(started.app.vault.root))
    report = ctx.refresh(started.app.vault)
    started.session.apply_scan(report)
    for problem in summarize_problems(report.problems):
        screen.warn(problem)
    max_sources = started.app.loaded.values.references.max_displayed
    interruptions = InterruptHandler()
    with interruptions.installed():
        try:
            with interruptions.stoppable():
                _answer_lines(started.session, screen, max_sources)
        except KeyboardInterrupt:
            if interruptions.termination_signal is None:
                raise
            return TERMINATED + interruptions.termination_signal
    return 0


def _answer_lines(session: "ZkChatSession", screen: Screen, max_sources: int) -> None:
    """Answer each line.

    Prints an error and continues with the next line; the first error is raised after the last line.
    """
    # The session has already imported this
    from zkchat_cli.terminal.command_runner import run_piped
    from zkchat_cli.terminal.turn_renderer import remark_printer, show_error

    print_remark = remark_printer(screen, lambda: session.runtime.settings.chat.show_details)
    errors: list[ZkchatError] = []
    current: ZkChatSession | None = session
    while current is not None:
        line = read_piped(sys.stdin.readline)
        if not line:
            break
        session = current
        if not line.strip():
            continue
        try:
            current = run_piped(line.strip(), session, screen, print_remark, max_sources)
        except ZkchatError as e:
            show_error(e, print_remark)
            errors.append(e)
    try:
        session.flush()
    except ZkchatError as e:
        show_error(e, print_remark)
        errors.append(e)
    if errors:
        raise CommandFailed(errors[0], is_printed=True)
