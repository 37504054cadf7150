"""Agent runs: several turns of one conversation that work on a goal, until it is met or nothing new comes up.

Each iteration is an ordinary turn (stored, within budget, compacted when due) with one more tool, `finish`: the model calls it when the
goal is met, or to say what part of it cannot be. The run ends then, when its iterations are used up, or when an iteration only repeated an
earlier one. The log holds everything that is known of an unfinished run, so another process can resume it.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from zkchat_cli import events
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.turn import sum_usage
from zkchat_cli.chat.turn_runner import cited_events
from zkchat_cli.chat.user_message import UserInput
from zkchat_cli.citations.marks import CitationMarkParser
from zkchat_cli.errors import UsageError
from zkchat_cli.models import RunReport, Timings, TurnReport, ZkChatMessage, split_into_exchanges
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import FINISH

ITERATIONS, MOST_ITERATIONS = 5, 100
LONGEST_GOAL = 160
"""Characters of a goal that are shown when it is resumed."""
RESUME_IN_CHAT = "/solve"
INSTRUCTIONS = """You are working on a goal by yourself, in several rounds; nobody answers questions meanwhile.
In each round: say in a line what is still missing and what you do next, do it with the tools, and check what you have against the goal. \
Do not repeat a search that you have made.
As soon as the goal is met, or you are sure that the notes do not allow it, call finish with the whole answer, citations included, and \
with what is unmet."""


def run_goal(
    session: ZkChatSession, goal: str = "", iterations: int = ITERATIONS, *, typed: str | None = None, resume_hint: str = RESUME_IN_CHAT
) -> Generator[events.Event, None, None]:
    """Run turns on a goal and yield their events, the last one TurnCompleted, whose report has the `run`, or TurnFailed.

    Without a goal, resume the conversation's unfinished one. `typed` is what the user typed of a goal of which a part came through a pipe;
    `resume_hint` is the command that resumes a failed run. Closing the generator stops the turn that is running, which is stored.
    Raises UsageError when there is no goal, or the number of iterations is out of range.
    """
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise UsageError(f"a run cannot have {iterations} iterations", f"It may have 1 to {MOST_ITERATIONS}.")
    if goal.strip():
        return _run(session, goal.strip(), iterations, goal if typed is None else typed, resume_hint)
    last = _last_unfinished(session.history)
    if last is None or last.goal is None:
        raise UsageError("there is no unfinished goal in this conversation", "Name one: /solve GOAL, or zkchat ask --iterations N GOAL")
    return _run(session, last.goal, iterations, None, resume_hint, last)


def unfinished_goal(history: Sequence[ZkChatMessage]) -> str | None:
    """The goal of the last run on this branch of the log, unless it was met."""
    last = _last_unfinished(history)
    return last.goal if last is not None else None


def _last_unfinished(history: Sequence[ZkChatMessage]) -> ZkChatMessage | None:
    """The question of the last iteration of a run that did not meet its goal."""
    for turn in reversed(list(split_into_exchanges(history))):
        if turn[0].goal is not None:
            finish = _finish_call(turn)
            return None if finish is not None and not finish[1] else turn[0]
    return None


def _finish_call(turn: Sequence[ZkChatMessage]) -> tuple[str, str] | None:
    """The answer and the unmet part, if the model has finished the run in this turn."""
    for message in turn:
        if message.tool_name == FINISH and message.tool_run is not None and message.tool_run.ok:
            arguments = message.tool_run.arguments
            return str(arguments.get("answer", "")), str(arguments.get("unmet") or "").strip()
    return None


@dataclass
class _RunProgress:
    """Calls, chunks and answers of the iterations so far, and their reports."""

    calls: set[str] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    reports: list[TurnReport] = field(default_factory=list)
    new_chunks: int = 0

    def add(self, turn: Sequence[ZkChatMessage], report: TurnReport) -> bool:
        """Add an iteration; returns whether it brought anything new."""
        calls = {f"{c.name} {json.dumps(c.arguments, sort_keys=True)}" for m in turn for c in m.tool_calls}
        chunks = {chunk.id for message in turn for chunk in message.chunks}
        answer = " ".join(report.answer.split())
        self.new_chunks = len(chunks - self.chunks)
        repeated = (bool(calls) and calls <= self.calls) or answer in self.answers
        self.calls |= calls
        self.chunks |= chunks
        self.answers.add(answer)
        self.reports.append(report)
        return self.new_chunks > 0 or not repeated

    def failure_events(self, last: events.TurnFailed, number: int, of: int, resume_hint: str) -> Iterator[events.Event]:
        """The end of a run whose model failed: the answer so far, how to resume, and the error."""
        answer = last.partial if last.partial.strip() or not self.reports else self.reports[-1].answer
        if answer.strip():
            yield events.TextDelta(answer if answer.endswith("\n") else f"{answer}\n")
        yield events.Notice(f"the run ended in iteration {number} of {of}", f"{resume_hint} resumes it" if resume_hint else "")
        yield replace(last, partial=answer)

    def report(self, run: RunReport) -> TurnReport:
        """The last turn's report with the cost of all turns."""
        timings = {name: round(sum(getattr(r.timings_ms, name) for r in self.reports), 2) for name in Timings.model_fields}
        update = {
            "run": run,
            "tools": tuple(tool for report in self.reports for tool in report.tools),
            "usage": sum_usage([report.usage for report in self.reports]),
            "compaction": next((r.compaction for r in reversed(self.reports) if r.compaction is not None), None),
            "timings_ms": Timings(**timings),
        }
        return self.reports[-1].model_copy(update=update)


def _run(
    session: ZkChatSession, goal: str, iterations: int, typed: str | None, resume_hint: str, last: ZkChatMessage | None = None
) -> Generator[events.Event, None, None]:
    """`typed` is what the user has just typed of the goal; None for a resumed one, whose files are not imported again. `last` is where that
    stopped: an agent that was mentioned for it resumes it."""
    message, agent, place = goal, None, None
    mention, notices = session.find_mention(typed or "")
    written = ""
    if mention is not None and typed is not None:
        agent, place, written = mention.name, mention.locate(goal, typed), f"{mention.text} "
        goal, typed = goal[: len(goal) - len(typed.strip())] + mention.question.strip(), mention.question
    elif last is not None and last.addressed and last.agent:
        agent, written = last.agent, f"{last.addressed.strip()} "
        notices = [*notices, events.Notice(f"the agent {agent} resumes its goal")]
    if last is not None:
        notices = [events.Notice(f"resuming the goal “{truncate(goal, LONGEST_GOAL)}”"), *notices]
    runtime = session.runtime if agent is None else session.runtime_of_agent(agent)
    progress = _RunProgress()
    yield from notices
    for number in range(1, iterations + 1):
        yield events.IterationStarted(number, iterations, goal)
        before = len(session.history)
        if number > 1 or typed is None:
            message, place = written + _next_message(goal, number, iterations), written.strip() or None
        user_input = UserInput(message, typed or "", goal, documents=number == 1, mention=place)
        runtime = runtime.learn_from(session.runtime)  # what the last turn has found out about the model
        outcome = yield from _iteration(session.run_turn(user_input, runtime.with_goal(INSTRUCTIONS)))
        if isinstance(outcome, events.TurnFailed):
            yield from progress.failure_events(outcome, number, iterations, resume_hint)
            return
        messages = session.history[before:]
        is_new, finish = progress.add(messages, outcome), _finish_call(messages)
        yield events.IterationFinished(number, sum(tool.name != FINISH for tool in outcome.tools), progress.new_chunks)
        if finish is not None:
            run = RunReport(goal=goal, iterations=number, met=not finish[1], unmet=finish[1] or None, stopped="finished")
            break
        if not is_new:
            run = RunReport(goal=goal, iterations=number, met=False, stopped="repeated")
            break
    else:
        run = RunReport(goal=goal, iterations=iterations, met=False, stopped="rounds")
    yield from _answer_events(progress.report(run))


def _next_message(goal: str, number: int, of: int) -> str:
    """The message to the model in an iteration after the first."""
    last = " This is the last round: call finish with what you have." if number == of else ""
    return f"{goal}\n\n(Round {number} of {of}: take this goal up where you left it.{last})"


def _iteration(running: Generator[events.Event, None, None]) -> Generator[events.Event, None, TurnReport | events.TurnFailed]:
    """One turn of the run. Its text counts as reasoning: only the end of the run has an answer."""
    with closing(running) as turn:
        for event in turn:
            match event:
                case events.TextDelta(text):
                    yield events.ReasoningDelta(text, aloud=True)
                case events.Cited():
                    pass
                case events.ToolCallStarted(call) | events.ToolCallFinished(call) if call.name == FINISH:
                    pass  # it is the end of the run and reported as that
                case events.TurnCompleted(report):
                    return report
                case events.TurnFailed():
                    return event
                case _:
                    yield event
    raise AssertionError("a turn ends with its outcome")


def _answer_events(report: TurnReport) -> Iterator[events.Event]:
    """The answer of the run, as the events of a turn's answer."""
    text = report.answer if report.answer.endswith("\n") else f"{report.answer}\n"
    parser = CitationMarkParser()
    yield events.TextDelta(text)
    yield from cited_events((*parser.feed(text), *parser.close()))
    yield events.TurnCompleted(report)
