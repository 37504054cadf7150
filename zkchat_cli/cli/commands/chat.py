"""Chat with your notes in the terminal."""

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.job_control import InterruptHandler, terminal_mode
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.startup import StartedSession
from zkchat_cli.vault.filesystem import holds_notes
from zkchat_cli.views.text import summarize_problems

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.terminal.repl import Repl

DEMO_TIP = "to try: What is an evergreen note?   then /sources 1, /why 1, /context, /help"
"""A question that the demo notes answer, and commands to check the answer with."""

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
    screen = ctx.screen
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    named = ctx.shared["vault"] or ctx.shared["config_file"] or os.environ.get("ZKCHAT_VAULT")
    is_first = (
        interactive
        and not demo
        and not (named or ctx.user_settings.get("vault", {}).get("path") or holds_notes(Path.cwd()))
    )
    overrides: dict[str, object] = {}
    if is_first:
        from zkchat_cli.terminal.onboarding import run_onboarding  # takes 0.4 s

        try:
            ctx.shared["vault"], ctx.shared["model"], overrides = run_onboarding(
                ctx.shared["model"], os.environ, screen
            )
        except EOFError:
            raise Exit from None
    repl: Repl | None = None
    with ExitStack() as resources:

        def start_session() -> StartedSession:
            from zkchat_cli.app.settings import demo_folder

            # Imports models
            from zkchat_cli.terminal.approval import ask_about_call, choose_approval

            ask = repl.read_answer if repl else None
            approve = choose_approval(screen, ask, unsafe=unsafe, yes=yes)
            new = resume is None and not continue_
            opened = ctx.open_app(
                demo=demo, store=not no_store, store_later=new, unsafe=unsafe, overrides=overrides
            )
            approve_call = partial(ask_about_call, ask=ask) if ask else None
            app = replace(
                resources.enter_context(opened), approve=approve, approve_call=approve_call
            )
            session = app.session(None if new else app.find(resume))
            tip = DEMO_TIP if app.vault.root == demo_folder(app.loaded.paths).resolve() else ""
            return StartedSession(
                app, session, app.warnings(session), tip, suggests_question=is_first
            )

        if interactive:
            with terminal_mode(buffered=True):  # keys pressed before the prompt appears
                # Imports prompt_toolkit (0.1 s), which pipes do not need
                from zkchat_cli.terminal import repl as repl_module

                repl = repl_module.Repl(start_session, screen, keep_history=not no_store)
                code = repl.run()
            if (last := repl.current()) is not None:
                last.flush()
        else:
            started = start_session()
            for warning in started.warnings:
                screen.warn(*warning)
            screen = replace(screen, address=note_opener(started.app.vault.root))
            for problem in summarize_problems(ctx.refresh(started.app.vault).problems):
                screen.warn(problem)
            interruptions = InterruptHandler()
            with interruptions.installed():
                try:
                    with interruptions.stoppable():
                        _answer_lines(
                            started.session,
                            screen,
                            started.app.loaded.values.references.max_displayed,
                        )
                    code = 0
                except KeyboardInterrupt:
                    if interruptions.termination_signal is None:
                        raise
                    code = 128 + interruptions.termination_signal
    raise Exit(code)


def _answer_lines(session: "ZkChatSession", screen: Screen, max_sources: int) -> None:
    """Answer each line. Print an error and go on with the next line; the first error is raised
    after the last line.
    """
    # Imports that the session has made already
    from zkchat_cli.terminal.command_runner import run_piped
    from zkchat_cli.terminal.turn_renderer import remark_printer, show_error

    print_remark = remark_printer(screen, lambda: session.runtime.settings.chat.show_details)
    errors: list[ZkchatError] = []
    current: ZkChatSession | None = session
    while current is not None and (line := read_piped(sys.stdin.readline)):
        session = current
        try:
            current = (
                run_piped(line.strip(), session, screen, print_remark, max_sources)
                if line.strip()
                else session
            )
        except ZkchatError as e:
            show_error(e, print_remark)
            errors.append(e)
    try:
        session.flush()
    except ZkchatError as e:
        show_error(e, print_remark)
        errors.append(e)
    if errors:
        errors[0].reported = True
        raise errors[0]
