"""Ask one question and print the answer with its sources."""

import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Argument, Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.answer_output import AnswerOutput, print_steps, print_turn
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.errors import StoreError, UsageError
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.text import IN_SHELL, UNSTORED, summarize_problems

if TYPE_CHECKING:
    from zkchat_cli import events
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.problem_solver import IterativeProblemSolver
    from zkchat_cli.chat.session import ZkChatSession

ORDER = 20
COMMAND = command_group()
# Exit code if the goal of --iterations was not reached
NOT_REACHED = 1
REACHED = ("done", "answered")

# Seconds without the end of a pipe until a line says what is waited for
SILENT_SECONDS = 1.0


@command(
    COMMAND,
    *options.PROMPT,
    examples=[
        'zkchat ask "what did I decide about the roof?"',
        'git log -5 | zkchat ask "which of my notes does this touch?"',
        'zkchat ask @plan.md "what is missing?"',
        'zkchat ask --iterations 5 "list each decision about the roof, with its date"',
        'zkchat --show-context @researcher "what did I decide about the roof?"',
    ],
)
def ask(
    ctx: CommandContext,
    prompt: Annotated[
        list[str] | None,
        Argument(
            metavar="[PROMPT]...",
            help="The question; piped text comes before it.",
            autocompletion=options.complete_mentions,
        ),
    ] = None,
    continue_: Annotated[
        bool,
        Option(
            "--continue",
            "-c",
            help=(
                "Continue the latest conversation; without PROMPT, finish an answer that was "
                "cut off."
            ),
        ),
    ] = False,
    cid: options.ConversationOption = None,
    answer_only: Annotated[
        bool, Option("--answer-only", help="Print the answer without its sources.")
    ] = False,
    stream_json: Annotated[
        bool,
        Option(
            "--stream-json", help="Print one JSON event per line; the last is what --json prints."
        ),
    ] = False,
    iterations: Annotated[
        int | None,
        Option(
            "--iterations",
            metavar="N",
            min=1,
            max=100,
            help=(
                "Work on PROMPT as a goal, in at most N answers; exit code 1 if it is not reached."
            ),
        ),
    ] = None,
    show_context: Annotated[
        bool,
        Option(
            "--show-context",
            help="Print what the prompt is made of before the answer, on standard error.",
        ),
    ] = False,
    unsafe: options.UnsafeOption = False,
    yes: options.YesOption = False,
    no_store: options.NoStoreOption = False,
) -> None:
    """Ask one question about your notes; print the answer and its sources.

    Several arguments form one message. Text from a pipe, up to ten million characters, is put
    before it; only the arguments can name files.
    """
    writes_json = ctx.as_json or stream_json
    continuing = continue_ or cid is not None
    question = _read_question(prompt or [], is_required=not continuing or bool(iterations))
    with ctx.open_app(store=not no_store, store_later=not continuing, unsafe=unsafe) as opened:
        app = _with_approval(ctx, opened, unsafe=unsafe, yes=yes, can_ask=not writes_json)
        screen = ctx.screen if writes_json else ctx.screen.with_width()
        max_sources = app.loaded.values.references.max_displayed
        output = AnswerOutput(
            screen=replace(screen, address=note_opener(app.vault.root)),
            hints=UNSTORED if no_store else IN_SHELL,
            max_sources=0 if answer_only else max_sources,
            as_json=writes_json,
            is_stream=stream_json,
            shows_context=show_context,
        )
        session = _open_session(ctx, app, output.screen, is_new=not continuing, cid=cid)
        solver = _open_solver(session, question, iterations)
        try:
            _print_turns(session, question, solver, output)
            if not continuing:
                _rename_after_question(session, question)
        finally:
            for warning, hint in session.services.faults.take_notices():
                output.screen.warn(warning, hint)
        ctx.embed_for_a_moment(app.vault, app.message_embedder())
    if solver is not None and solver.outcome not in REACHED:
        raise Exit(NOT_REACHED)


def _open_solver(
    session: "ZkChatSession", question: "_Question", iterations: int | None
) -> "IterativeProblemSolver | None":
    """What works on the question as a goal, if a number of answers is given."""
    if iterations is None:
        return None
    from zkchat_cli.chat.problem_solver import IterativeProblemSolver

    return IterativeProblemSolver(session, question.text, iterations, question.typed)


class _Question(NamedTuple):
    """The message, and the part of it that was typed."""

    text: str
    typed: str


def _read_question(words: "Sequence[str]", *, is_required: bool) -> _Question:
    """The message of the arguments and of the pipe. Raises UsageError for an empty one, if a
    message `is_required`.
    """
    piped = "" if sys.stdin.isatty() else _read_pipe()
    typed = " ".join(words).strip("\n")
    text = "\n\n".join(part.strip("\n") for part in (piped, typed) if part.strip())
    if not text and is_required:
        raise UsageError(
            "there is nothing to ask", 'For example: zkchat ask "…", or pipe a text in.'
        )
    # Piped text is data: beside a question, it must not import files
    return _Question(text, typed if typed.strip() else text)


def _read_pipe() -> str:
    """The text on standard input; if its end does not come soon, a line says so."""
    waiting = threading.Timer(SILENT_SECONDS, _remark_waiting)
    waiting.daemon = True
    waiting.start()
    try:
        return read_piped(sys.stdin.read)
    finally:
        waiting.cancel()


def _remark_waiting() -> None:
    print(  # noqa: T201
        "zkchat: waiting for the end of standard input. Add </dev/null if it has no end.",
        file=sys.stderr,
        flush=True,
    )


def _with_approval(
    ctx: CommandContext, app: "App", *, unsafe: bool, yes: bool, can_ask: bool
) -> "App":
    """The app; a user at the terminal approves changes and calls."""
    from zkchat_cli.terminal.approval import (
        ask_about_call,
        ask_about_cost,
        choose_approval,
        read_answer,
    )

    is_interactive = can_ask and sys.stdin.isatty() and sys.stdout.isatty()
    ask_user = partial(read_answer, screen=ctx.screen) if is_interactive else None
    return replace(
        app,
        approve=choose_approval(ctx.screen, ask_user, unsafe=unsafe, yes=yes),
        approve_call=partial(ask_about_call, ask=ask_user) if ask_user else None,
        approve_cost=partial(ask_about_cost, ask=ask_user) if ask_user else None,
    )


def _open_session(
    ctx: CommandContext, app: "App", screen: Screen, *, is_new: bool, cid: str | None
) -> "ZkChatSession":
    """The session on a new conversation, or on the one with that id (None: the latest), with an
    up-to-date index. Prints what the user should know.
    """
    index = ctx.refresh(app.vault)
    session = app.session(None if is_new else app.find(cid))
    session.apply_scan(index)
    if index.added or index.changed:
        for problem in summarize_problems(index.problems):
            screen.warn(problem)
    for warning, hint in app.warnings(session):
        screen.warn(warning, hint)
    return session


def _begin_turn(
    session: "ZkChatSession", question: _Question
) -> "Generator[events.Event, None, None]":
    if question.text:
        return session.send(question.text, typed=question.typed)
    return session.continue_answer()


def _rename_after_question(session: "ZkChatSession", question: _Question) -> None:
    """Use the typed question as the title, which is better than the piped text before it.

    A failure is ignored: a title is not worth an error.
    """
    from zkchat_cli.chat.turn_recorder import default_title

    if question.typed != question.text:
        with suppress(StoreError):
            session.stored_state().update(title=default_title(question.typed))


def _print_turns(
    session: "ZkChatSession",
    question: _Question,
    solver: "IterativeProblemSolver | None",
    output: AnswerOutput,
) -> None:
    """Run one turn, or those of a solver, and print them."""
    if solver is not None:
        print_steps(session, solver, output)
        return
    # Closing it stores the partial answer if the reader is gone
    with closing(_begin_turn(session, question)) as turn:
        print_turn(session, turn, output)
