"""Agent runs: several turns of one conversation that work on a goal, until it is met or nothing new comes of it.

Each iteration is a turn as any other (stored, within budget, compacted when due), with one tool more: `finish`, by which the model says
that the goal is met, or what of it is not. The run ends then; when its rounds are used up; or when an iteration only did, or said, what an
earlier one had. What is known of an unfinished run stands in the log, so that another process can go on with it.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from zkchat_cli import events
from zkchat_cli.chat.command_hints import IN_CHAT, CommandHints
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.marks import CitationMarkParser
from zkchat_cli.errors import UsageError
from zkchat_cli.models import RunReport, Timings, TokenUsage, TurnReport, ZkChatMessage, split_into_exchanges
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools import load_finish_tool
from zkchat_cli.tools.base import FINISH

ITERATIONS, MOST_ITERATIONS = 5, 100
LONGEST_GOAL = 160
"""Characters of a goal that are shown when it is taken up again."""
INSTRUCTIONS = """You are working on a goal by yourself, in several rounds; nobody answers questions meanwhile.
In each round: say in a line what is still missing and what you do next, do it with the tools, and check what you have against the goal. \
Do not repeat a search that you have made.
As soon as the goal is met, or you are sure that the notes do not allow it, call finish with the whole answer, citations included, and \
with what is unmet."""


def run_goal(
    session: ZkChatSession, goal: str = "", iterations: int = ITERATIONS, *, typed: str | None = None, ways: CommandHints = IN_CHAT
) -> Generator[events.Event, None, None]:
    """Run turns on a goal and yield their events, the last one TurnCompleted, whose report has the `run`, or TurnFailed.

    Without a goal, go on with the conversation's unfinished one. `typed` is what the user wrote of a goal that came through a pipe besides,
    as in `ZkChatSession.send`; `ways` says what goes on with a run whose model failed. Closing it stops the turn that is running; what
    came is stored.
    Raises UsageError when there is no goal, or the number of iterations is none.
    """
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise UsageError(f"a run cannot have {iterations} iterations", f"It may have 1 to {MOST_ITERATIONS}.")
    if goal.strip():
        return _run(session, goal.strip(), iterations, goal if typed is None else typed, ways.run_goes_on)
    left = _left(session.history)
    if left is None or left.goal is None:
        raise UsageError("there is no unfinished goal in this conversation", "Name one: /solve GOAL, or zkchat ask --iterations N GOAL")
    return _run(session, left.goal, iterations, None, ways.run_goes_on, left)


def unfinished(history: Sequence[ZkChatMessage]) -> str | None:
    """The goal of the last run on this branch of the log, unless it was met."""
    left = _left(history)
    return left.goal if left is not None else None


def _left(history: Sequence[ZkChatMessage]) -> ZkChatMessage | None:
    """The question of the last iteration of a run that did not meet its goal."""
    for turn in reversed(list(split_into_exchanges(history))):
        if turn[0].goal is not None:
            ended = _finished(turn)
            return None if ended is not None and not ended[1] else turn[0]
    return None


def _finished(turn: Sequence[ZkChatMessage]) -> tuple[str, str] | None:
    """The answer and what is unmet, if the model has ended the run in this turn."""
    for message in turn:
        if message.tool_name == FINISH and message.tool_run is not None and message.tool_run.ok:
            arguments = message.tool_run.arguments
            return str(arguments.get("answer", "")), str(arguments.get("unmet") or "").strip()
    return None


@dataclass
class _RunProgress:
    """What the iterations so far did, said and found. `goes_on` is what goes on with a run that failed; empty: nothing."""

    goes_on: str
    calls: set[str] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    reports: list[TurnReport] = field(default_factory=list)
    fresh: int = 0

    def take(self, turn: Sequence[ZkChatMessage], report: TurnReport) -> bool:
        """Take an iteration in; whether it brought anything that none before it had."""
        calls = {f"{c.name} {json.dumps(c.arguments, sort_keys=True)}" for m in turn for c in m.tool_calls}
        chunks = {chunk.id for message in turn for chunk in message.chunks}
        answer = " ".join(report.answer.split())
        self.fresh = len(chunks - self.chunks)
        again = (bool(calls) and calls <= self.calls) or answer in self.answers
        self.calls |= calls
        self.chunks |= chunks
        self.answers.add(answer)
        self.reports.append(report)
        return self.fresh > 0 or not again

    def failed(self, last: events.TurnFailed, number: int, of: int) -> Iterator[events.Event]:
        """The end of a run whose model failed: what there is of an answer, how to go on, and why."""
        answer = last.partial if last.partial.strip() or not self.reports else self.reports[-1].answer
        if answer.strip():
            yield events.TextDelta(answer if answer.endswith("\n") else f"{answer}\n")
        yield events.Notice(f"the run ended in iteration {number} of {of}", f"{self.goes_on} goes on" if self.goes_on else "")
        yield replace(last, partial=answer)

    def report(self, run: RunReport) -> TurnReport:
        """The last turn's report with what all of them cost."""
        last = self.reports[-1]
        timings = {name: round(sum(getattr(r.timings_ms, name) for r in self.reports), 2) for name in Timings.model_fields}
        update = {
            "run": run,
            "tools": tuple(tool for report in self.reports for tool in report.tools),
            "usage": _sum([report.usage for report in self.reports]),
            "compaction": next((r.compaction for r in reversed(self.reports) if r.compaction is not None), None),
            "timings_ms": Timings(**timings),
        }
        return last.model_copy(update=update)


def _run(
    session: ZkChatSession, goal: str, iterations: int, typed: str | None, goes_on: str, left: ZkChatMessage | None = None
) -> Generator[events.Event, None, None]:
    """`typed` is what the user has just written of the goal; None for one that is taken up again, whose files are not imported again.
    `left` is where that was left: an agent that was called by `@name` for it goes on with it."""
    usual, message = session.parts, goal
    called, notices = session.called(typed or "")
    addressed = again = None
    if called is not None and typed is not None:
        addressed, again = called.locate(goal, typed), called.text
        goal, typed = goal[: len(goal) - len(typed.strip())] + called.question.strip(), called.question
        session.use_agent(called.name)
    elif left is not None and left.addressed and left.agent:
        addressed = again = left.addressed.strip()
        notices = [*notices, events.Notice(f"the agent {left.agent} goes on with its goal")]
        session.use_agent(left.agent)
    if left is not None:
        notices = [events.Notice(f"going on with the goal “{truncate(goal, LONGEST_GOAL)}”"), *notices]
    session.parts = _working(session.parts)
    progress = _RunProgress(goes_on)
    try:
        yield from notices
        for number in range(1, iterations + 1):
            yield events.IterationStarted(number, iterations, goal)
            before = len(session.history)
            if number > 1 or typed is None:
                message, addressed = f"{again} {_message(goal, number, iterations)}" if again else _message(goal, number, iterations), again
            turn = session.send(message, typed=typed or "", goal=goal, documents=number == 1, addressed=addressed)
            report = yield from _iteration(turn)
            if isinstance(report, events.TurnFailed):
                yield from progress.failed(report, number, iterations)
                return
            messages = session.history[before:]
            news, ended = progress.take(messages, report), _finished(messages)
            yield events.IterationFinished(number, sum(tool.name != FINISH for tool in report.tools), progress.fresh)
            if ended is not None:
                run = RunReport(goal=goal, iterations=number, met=not ended[1], unmet=ended[1] or None, stopped="finished")
                break
            if not news:
                run = RunReport(goal=goal, iterations=number, met=False, stopped="repeated")
                break
        else:
            run = RunReport(goal=goal, iterations=iterations, met=False, stopped="rounds")
        yield from _told(progress.report(run))
    finally:
        session.lead(usual)


def _working(parts: Runtime) -> Runtime:
    """The parts of a session while it works on a goal."""
    return replace(parts, tools=(*parts.tools, load_finish_tool()), instructions=f"{parts.instructions}\n\n{INSTRUCTIONS}")


def _message(goal: str, number: int, of: int) -> str:
    """What the model is asked in an iteration after the first."""
    last = " This is the last round: call finish with what you have." if number == of else ""
    return f"{goal}\n\n(Round {number} of {of}: take this goal up where you left it.{last})"


def _iteration(running: Generator[events.Event, None, None]) -> Generator[events.Event, None, TurnReport | events.TurnFailed]:
    """One turn of the run; what is said in it is work, and only at the end of the run an answer."""
    with closing(running) as turn:
        for event in turn:
            match event:
                case events.TextDelta(said):
                    yield events.ReasoningDelta(said, aloud=True)
                case events.Cited():
                    pass
                case events.ToolCallStarted(call) | events.ToolCallFinished(call) if call.name == FINISH:
                    pass  # what it says is the run's end, and told as that
                case events.TurnCompleted(report):
                    return report
                case events.TurnFailed():
                    return event
                case _:
                    yield event
    raise AssertionError("a turn ends with its outcome")


def _told(report: TurnReport) -> Iterator[events.Event]:
    """The answer of the run, as a turn tells its own."""
    text = report.answer if report.answer.endswith("\n") else f"{report.answer}\n"
    reader = CitationMarkParser()
    yield events.TextDelta(text)
    for mark in (*reader.feed(text), *reader.close()):
        if not mark.defines:
            yield events.Cited(mark.numbers, mark.name, mark.start, mark.end)
    yield events.TurnCompleted(report)


def _sum(usages: Sequence[TokenUsage]) -> TokenUsage:
    cached = [usage.cached_tokens for usage in usages if usage.cached_tokens is not None]
    return TokenUsage(
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        estimated=any(usage.estimated for usage in usages),
        cached_tokens=sum(cached) if cached else None,
    )
