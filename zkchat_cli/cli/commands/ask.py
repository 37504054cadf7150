"""Ask one question and print the answer with its sources."""

import re
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Argument, Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.cli.failure import CommandFailed
from zkchat_cli.errors import StoreError, UsageError
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.text import IN_SHELL, UNSTORED, CommandHints, plain_text, summarize_problems

if TYPE_CHECKING:
    from zkchat_cli import events
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.problem_solver import IterativeProblemSolver
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.reports import TurnReport

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
        output = _Output(
            screen=replace(screen, address=note_opener(app.vault.root)),
            hints=UNSTORED if no_store else IN_SHELL,
            max_sources=0 if answer_only else max_sources,
            as_json=writes_json,
            is_stream=stream_json,
            shows_context=show_context,
        )
        session = _open_session(ctx, app, output.screen, is_new=not continuing, cid=cid)
        solver = None
        if iterations is not None:
            from zkchat_cli.chat.problem_solver import IterativeProblemSolver

            solver = IterativeProblemSolver(session, question.text, iterations, question.typed)
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


class _Question(NamedTuple):
    """The message, and the part of it that was typed."""

    text: str
    typed: str


class _Output(NamedTuple):
    """The screen and the format in which the turn is printed."""

    screen: Screen
    hints: CommandHints
    max_sources: int
    as_json: bool
    # One JSON object for each event, the last one with the report
    is_stream: bool
    shows_context: bool


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
    from zkchat_cli.terminal.approval import ask_about_call, choose_approval, read_answer

    is_interactive = can_ask and sys.stdin.isatty() and sys.stdout.isatty()
    ask_user = partial(read_answer, screen=ctx.screen) if is_interactive else None
    return replace(
        app,
        approve=choose_approval(ctx.screen, ask_user, unsafe=unsafe, yes=yes),
        approve_call=partial(ask_about_call, ask=ask_user) if ask_user else None,
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


def _overview(session: "ZkChatSession") -> "Iterable[str]":
    """What the last prompt was made of."""
    from zkchat_cli.views.prompt_overview import overview_lines  # 15 ms

    prompt = session.last_prompt
    return overview_lines(prompt) if prompt is not None else ()


def _rename_after_question(session: "ZkChatSession", question: _Question) -> None:
    """Use the typed question as the title, which is better than the piped text before it.

    A failure is ignored: a title is not worth an error.
    """
    from zkchat_cli.chat.turn_recorder import default_title

    if question.typed != question.text:
        with suppress(StoreError):
            session.stored_state().rename(default_title(question.typed))


def _print_turns(
    session: "ZkChatSession",
    question: _Question,
    solver: "IterativeProblemSolver | None",
    output: _Output,
) -> None:
    """Run one turn, or those of a solver, and print them."""
    print_turn = _print_json if output.as_json else _print_text
    if solver is None:
        # Closing it stores the partial answer if the reader is gone
        with closing(_begin_turn(session, question)) as turn:
            print_turn(session, turn, output)
        return
    from zkchat_cli.views import solver_steps

    costs = session.runtime.settings.context.show_token_count
    if not solver.works_in_steps:
        output.screen.warn(solver_steps.single_answer_text(solver))
    while solver.outcome is None:
        if solver.steps and not output.as_json:
            output.screen.print()
        with closing(solver.run_step()) as turn:
            print_turn(session, turn, output, solver)
        if solver.works_in_steps:
            usage = session.usage if costs else None
            output.screen.remark(plain_text([solver_steps.finished_step_line(solver, usage)]))
    if solver.works_in_steps:
        command = "zkchat ask -c --iterations N GOAL"
        end = solver_steps.outcome_line(solver, command, costs=costs)
        output.screen.remark(plain_text([end]))


def _print_text(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    output: _Output,
    _: "IterativeProblemSolver | None" = None,
) -> None:
    """Print the answer while it comes, and its sources."""
    from zkchat_cli.terminal.turn_renderer import DisplayOptions, remark_printer, show_turn

    display = DisplayOptions(
        output.max_sources,
        session.services.faults,
        hints=output.hints,
        budget=session.runtime.settings.context.show_token_count,
        overview=partial(_overview, session) if output.shows_context else tuple,
    )
    last = show_turn(turn, output.screen, remark_printer(output.screen), display)
    _completed_report(last)
    _store_turn(session, output.screen)


def _print_json(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    output: _Output,
    solver: "IterativeProblemSolver | None" = None,
) -> None:
    """Print the report of the turn, of several turns after the last one; in a stream an object for
    each event instead, the last one with the report.
    """
    from zkchat_cli import events

    last = None
    needs_overview = output.shows_context
    for event in turn:
        last = event
        if needs_overview and isinstance(event, events.PromptBuilt):
            needs_overview = False
            output.screen.remark("\n".join(_overview(session)))
        _remark_event(event, output, with_changes=not output.is_stream)
        if output.is_stream and not isinstance(event, events.PromptBuilt):
            output.screen.json({"type": _type_name(event), **_event_document(event, solver)})
    report = _completed_report(last, is_streamed=output.is_stream)
    _store_turn(session, output.screen)
    if not output.is_stream and (solver is None or solver.outcome is not None):
        output.screen.json(_report_document(report, solver))


def _report_document(
    report: "TurnReport", solver: "IterativeProblemSolver | None"
) -> dict[str, Any]:
    """The report of a turn; that of a solver's last one has all of its steps."""
    is_last = solver is not None and solver.outcome is not None
    steps = solver.to_json() if solver is not None and is_last else None
    return {**report.model_dump(mode="json"), "iterations": steps}


def _store_turn(session: "ZkChatSession", screen: Screen) -> None:
    """Store the turn if the store refused it before. If it still does, that is a warning and no
    failure: the answer was given.
    """
    try:
        session.flush(unless_told=True)
    except StoreError as e:
        screen.warn(e.message, e.hint)


def _type_name(event: "events.Event") -> str:
    """The name of an event in JSON: `text_delta`"""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", type(event).__name__).lower()


def _event_document(
    event: "events.Event", solver: "IterativeProblemSolver | None"
) -> dict[str, Any]:
    from zkchat_cli import events

    document: dict[str, Any] = event._asdict()
    match event:
        case events.TurnCompleted(report):
            document = _report_document(report, solver)
        case events.TurnFailed(error, _, _):
            document["error"] = error.to_json()
    return document


def _remark_event(event: "events.Event", output: _Output, *, with_changes: bool) -> None:
    """Print on standard error what a person should see in addition to the JSON."""
    from zkchat_cli import events
    from zkchat_cli.terminal.approval import show_change
    from zkchat_cli.views.turn_steps import describe_compaction

    match event:
        case events.Notice(message, hint):
            output.screen.warn(message, hint)
        case events.CompactionDone(compaction):
            output.screen.remark(describe_compaction(compaction, output.hints, short=True))
        case events.ChangeProposed() | events.ChangeDecided() if with_changes:
            show_change(event, output.screen)


def _completed_report(last: "events.Event | None", *, is_streamed: bool = False) -> "TurnReport":
    """The report of a completed turn, which its last event has. Raises CommandFailed with the
    partial answer of a failed one; `is_streamed`: the event has been printed.
    """
    from zkchat_cli import events

    if isinstance(last, events.TurnFailed):
        raise CommandFailed(last.error, partial=last.partial, is_streamed=is_streamed)
    assert isinstance(last, events.TurnCompleted)
    return last.report
