"""Prints the turns of `ask`: the answer and its sources, or JSON."""

import re
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.cli.failure import CommandFailed
from zkchat_cli.errors import StoreError
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.text import CommandHints, plain_text

if TYPE_CHECKING:
    from zkchat_cli import events
    from zkchat_cli.chat.problem_solver import IterativeProblemSolver
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.reports import TurnReport


class AnswerOutput(NamedTuple):
    """The screen and the format in which the turn is printed."""

    screen: Screen
    hints: CommandHints
    max_sources: int
    as_json: bool
    # One JSON object for each event, the last one with the report
    is_stream: bool
    shows_context: bool


def print_turn(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    output: AnswerOutput,
    solver: "IterativeProblemSolver | None" = None,
) -> None:
    """Run a turn and print it; that of a solver's last step has all steps in JSON. Raises
    CommandFailed.
    """
    if output.as_json:
        _print_json(session, turn, output, solver)
    else:
        _print_text(session, turn, output)


def print_steps(
    session: "ZkChatSession", solver: "IterativeProblemSolver", output: AnswerOutput
) -> None:
    """Run the steps of a solver and print each with its cost. Raises CommandFailed."""
    from zkchat_cli.views import solver_steps

    costs = session.runtime.settings.context.show_token_count
    if not solver.works_in_steps:
        output.screen.warn(solver_steps.single_answer_text(solver))
    while solver.outcome is None:
        if solver.steps and not output.as_json:
            output.screen.print()
        try:
            with closing(solver.run_step()) as turn:
                print_turn(session, turn, output, solver)
        except CommandFailed as failure:
            failure.document = {"iterations": solver.to_json()}
            raise
        if solver.works_in_steps:
            usage = session.usage if costs else None
            output.screen.remark(plain_text([solver_steps.finished_step_line(solver, usage)]))
    if solver.works_in_steps:
        command = "zkchat ask -c --iterations N GOAL"
        end = solver_steps.outcome_line(solver, command, costs=costs)
        output.screen.remark(plain_text([end]))


def _overview(session: "ZkChatSession") -> "Iterable[str]":
    """What the last prompt was made of."""
    from zkchat_cli.views.prompt_overview import overview_lines  # 15 ms

    prompt = session.last_prompt
    return overview_lines(prompt) if prompt is not None else ()


def _print_text(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    output: AnswerOutput,
) -> None:
    """Print the answer while it comes, and its sources."""
    from zkchat_cli.terminal.approval import ApprovalPrompt
    from zkchat_cli.terminal.turn_renderer import DisplayOptions, remark_printer, show_turn

    display = DisplayOptions(
        output.max_sources,
        session.services.faults,
        hints=output.hints,
        budget=session.runtime.settings.context.show_token_count,
        diffs=not isinstance(session.services.approve, ApprovalPrompt),
        overview=partial(_overview, session) if output.shows_context else tuple,
    )
    last = show_turn(turn, output.screen, remark_printer(output.screen), display)
    _completed_report(last)
    _store_turn(session, output.screen)


def _print_json(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    output: AnswerOutput,
    solver: "IterativeProblemSolver | None",
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
        case events.ToolCallFinished(places=places):
            document["places"] = [place._asdict() for place in places]
    return document


def _remark_event(event: "events.Event", output: AnswerOutput, *, with_changes: bool) -> None:
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
