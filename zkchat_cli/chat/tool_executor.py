"""Runs the tool calls of a model's reply: finds the tools, fits their findings into a number of
tokens, and numbers the chunks.

A failure is a result too: a mistake of the model comes back to it as a short error that it can
correct. `ToolExecutor` runs single calls; `ToolCallRunner` knows the turn: what is left of its
window, and which earlier results lose their middles.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.context.budget import mask_result
from zkchat_cli.context.turns import count_call_tokens, render_turn
from zkchat_cli.errors import VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.manager import (
    NO_ROOM,
    Count,
    ReferenceManager,
    format_tool_result,
    reduce_to_fit,
    share_evenly,
)
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput
from zkchat_cli.vault.edit.transaction import UNASKED_CALL, Decision, mark_memory_file
from zkchat_cli.vault.vault import Vault

# Tokens below which another round of tools is not worth it: describing them takes as many
MIN_TOOL_TOKENS = 300
NEW_RESULTS_SHARE = 0.25
"""Share of the room of a turn that new results may have, before earlier ones of the same turn lose
their middles for them.
"""
# Characters of a replaced text that the model gets back: if it had not read it, it sees now what it
# removed
MAX_OUTCOME = 80
# For the note about what is left out of a result, without the path in it, and characters of that
OMISSION_TOKENS = 55
MAX_PATH = 200
_log = logging.getLogger(__name__)


class ToolResult(NamedTuple):
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


class ToolOutcome(NamedTuple):
    """The finding of a call, or its error when `ok` is False."""

    call: ToolCall
    finding: ToolOutput
    ok: bool
    duration_ms: float
    changed: bool = False  # whether it has changed notes


def refuse_call(call: ToolCall, reason: str) -> ToolOutcome:
    """The outcome of a call that is not run."""
    return ToolOutcome(call, ToolOutput(data={"error": reason}), False, 0.0)


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    tools: tuple[Tool, ...]
    vault: Vault
    references: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]
    memory: Memory | None = None

    def run_call(self, call: ToolCall) -> ToolOutcome:
        start = self.clock()
        try:
            finding = self._find_tool(call).call(call.arguments, self.vault, self.memory)
            ok = True
        except ToolArgumentError as e:
            finding = ToolOutput(data={"error": str(e)})
            ok = False
        except Exception as e:  # noqa: BLE001, RUF100
            # A defect of a tool: the model is told, and may do without it
            _log.exception("%s failed", call.name)
            finding = ToolOutput(
                data={"error": f"{call.name} failed: {truncate(f'{type(e).__name__}: {e}', 120)}"}
            )
            ok = False
        return ToolOutcome(call, finding, ok, 1000 * (self.clock() - start))

    def apply_decision(self, outcome: ToolOutcome, decision: Decision) -> ToolOutcome:
        """Make the change that a call proposes, or tell the model that it was refused."""
        change = outcome.finding.change
        assert change is not None
        if not decision.allowed:
            return outcome._replace(
                finding=ToolOutput(data={"error": decision.reason, "change": change.summary}),
                ok=False,
            )
        try:
            self.vault.editor.apply(change)
        except VaultError as e:
            return outcome._replace(
                finding=ToolOutput(data={"error": f"{e.message}. {e.hint}".strip()}), ok=False
            )
        return outcome._replace(
            finding=ToolOutput(data={"done": change.summary}, note=change.note, outcome="done"),
            changed=True,
        )

    def results(self, outcomes: Sequence[ToolOutcome], room: int) -> tuple[ToolResult, ...]:
        """The results of one reply's calls, in about `room` tokens together; a note says what was
        left out.
        """
        findings = [each.finding for each in outcomes]
        fitted = _fit_findings(findings, room, self.counter.count)
        chunks = [self.references.extract_referenceable_chunks(its.chunks) for its in fitted]
        shown = {chunk.id for numbered in chunks for chunk in numbered}
        results = []
        for outcome, its, numbered in zip(outcomes, fitted, chunks, strict=True):
            note = " ".join(
                filter(None, (outcome.finding.note, _omission_note(outcome.finding, its, shown)))
            )
            content = format_tool_result(numbered, its.data, note)
            run = ToolRun(
                name=outcome.call.name,
                arguments=outcome.call.arguments,
                ok=outcome.ok,
                tokens=self.counter.count(content),
                duration_ms=round(outcome.duration_ms, 2),
                outcome=truncate(
                    outcome.finding.outcome if outcome.ok else str(outcome.finding.data["error"]),
                    MAX_OUTCOME,
                ),
            )
            results.append(ToolResult(content, numbered, run))
        return tuple(results)

    def _find_tool(self, call: ToolCall) -> Tool:
        """Raises ToolArgumentError also for arguments that could not be read."""
        name = truncate(call.name, 60)
        found = next((tool for tool in self.tools if tool.name == call.name), None)
        if found is None:
            names = ", ".join(tool.name for tool in self.tools)
            raise ToolArgumentError(
                f"unknown tool {name}; "
                f"{f'the tools are {names}' if names else 'no tools are offered'}"
            )
        if call.malformed is not None:
            shown = truncate(call.malformed, 120)
            raise ToolArgumentError(
                f"the arguments of {name} are not a JSON object: {shown!r}. Call it again "
                "with correct JSON"
            )
        return found


def _fit_findings(
    findings: Sequence[ToolOutput], room: int, count: Count
) -> tuple[ToolOutput, ...]:
    """The part of one reply's findings that fits into about `room` tokens: lists, in at most half
    of it if there are chunks too, and the most relevant chunks in the rest.
    """
    calls = tuple(finding.chunks for finding in findings)
    sizes = [count(format_tool_result((), finding.data, finding.note)) for finding in findings]
    if reduce_to_fit(calls, room - sum(sizes), count) == calls and sum(sizes) <= room:
        return tuple(findings)
    paths = [
        {truncate(chunk.relative_path, MAX_PATH) for chunk in finding.chunks}
        for finding in findings
    ]
    room -= sum(OMISSION_TOKENS + max(map(count, its), default=0) for its in paths)
    for_data = max(0, min(sum(sizes), room // 2 if any(calls) else room))
    shares = share_evenly(sizes, for_data, [0] * len(sizes))
    fitted = []
    for finding, chunks, share in zip(
        findings, reduce_to_fit(calls, room - for_data, count), shares, strict=True
    ):
        data = finding.data
        note = finding.note
        for name, value in finding.data.items():
            if isinstance(value, list) and count(format_tool_result((), data, note)) > share:
                shorter = [{**data, name: value[: n + 1]} for n in range(len(value))]
                items = bisect_right(
                    shorter, share, key=lambda each: count(format_tool_result((), each, note))
                )
                data = {**data, name: value[:items]}
        fitted.append(finding._replace(chunks=chunks, data=data))
    return tuple(fitted)


def _omission_note(whole: ToolOutput, fitted: ToolOutput, shown: Collection[str]) -> str:
    """What was left out of a finding, and how to get it. `shown` are the chunks in all results of
    the reply, by id.
    """
    lists = [
        (name, value, fitted.data[name])
        for name, value in whole.data.items()
        if isinstance(value, list)
    ]
    left = [
        f"{len(value) - len(rest)} {name}"
        for name, value, rest in lists
        if isinstance(rest, list) and len(rest) < len(value)
    ]
    lost = [chunk for chunk in whole.chunks[1 if fitted.chunks else 0 :] if chunk.id not in shown]
    if lost:
        following = (
            f"the next in {truncate(lost[0].relative_path, MAX_PATH)} from line "
            f"{lost[0].start_line}"
        )
        left.append(f"{plural(len(lost), 'excerpt')}, {following}")
    return f"{NO_ROOM}: {'; '.join(left)}. Ask for less at a time." if left else ""


@dataclass
class ToolCallRunner:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    turn: TurnInProgress

    def run(self, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply; returns the tokens that are left for more. Calls and results
        enter the turn together, so that neither is ever alone in the log.
        """
        turn = self.turn
        runtime = self.turn.runtime
        counter = runtime.counter
        earlier = len(turn.messages)
        assert turn.prompt is not None
        fixed = sum(tool.tokens for tool in turn.prompt.tools)
        fixed += sum(
            m.tokens for m in turn.prompt.messages if m.kind in ("system", "memory", "summary")
        )
        limit = runtime.budget.effective_limit - fixed
        reply = (
            counter.count(turn.text)
            + count_call_tokens(calls, counter)
            + MESSAGE_OVERHEAD * (1 + len(calls))
        )
        executor = self._executor()
        outcomes: list[ToolOutcome] = []
        try:
            for call in calls:
                yield from self._run_call(call, executor, outcomes)
        except BaseException:
            # The log must tell that, whatever stopped the turn
            if any(outcome.changed for outcome in outcomes):
                stopped = [
                    refuse_call(call, "not done: the turn was stopped")
                    for call in calls[len(outcomes) :]
                ]
                self._add_to_turn(
                    calls, executor.results([*outcomes, *stopped], self._room(limit - reply) // 2)
                )
            raise
        with turn.timer("tools"):
            whole = (
                format_tool_result(its.chunks, its.data, its.note)
                for its in (outcome.finding for outcome in outcomes)
            )
            wanted = min(sum(map(counter.count, whole)), int(NEW_RESULTS_SHARE * limit))
            self.shorten_results(earlier, limit - reply, 2 * wanted)
            results = executor.results(outcomes, self._room(limit - reply) // 2)
        self._add_to_turn(calls, results)
        for call, result in zip(calls, results, strict=True):
            yield events.ToolCallFinished(call, result.run, len(result.chunks))
        return self.shorten_results(earlier, limit, MIN_TOOL_TOKENS)

    def refuse(self, calls: tuple[ToolCall, ...], reason: str) -> None:
        self._add_to_turn(
            calls,
            self._executor().results(
                [refuse_call(call, reason) for call in calls], MIN_TOOL_TOKENS
            ),
        )

    def shorten_results(self, earlier: int, limit: int, wanted: int) -> int:
        """Take the middles out of the turn's first results, the oldest first, until so many tokens
        are left of `limit`; returns the tokens that are. Only those among the first `earlier`
        messages: the model has read them.
        """
        turn = self.turn
        room = self._room(limit)
        for message in turn.messages[:earlier]:
            if room >= wanted:
                break
            if (
                message.id not in turn.shortened
                and (shorter := mask_result(message, turn.runtime.counter)) is not None
            ):
                turn.shortened[message.id] = shorter
                room = self._room(limit)
        return room

    def _room(self, limit: int) -> int:
        """Tokens that the turn leaves of `limit`."""
        rendered = render_turn(self.turn.sent_messages, self.turn.runtime.counter, in_progress=True)
        return max(0, limit - sum(message.tokens for message in rendered))

    def _executor(self) -> ToolExecutor:
        runtime = self.turn.runtime
        services = self.services
        memory = self.prompts.memory(runtime)
        return ToolExecutor(
            runtime.tools,
            services.vault,
            self.state.references,
            runtime.counter,
            services.clock,
            memory,
        )

    def _run_call(
        self, call: ToolCall, executor: ToolExecutor, outcomes: list[ToolOutcome]
    ) -> Iterator[events.Event]:
        """Run a call and add its outcome: one of another program's tool only if the user allows it.
        A change of notes is shown, and made if he approves it.
        """
        yield events.ToolCallStarted(call)
        refused: ToolOutcome | None = None
        if any(tool.name == call.name and tool.scope == "server" for tool in executor.tools):
            decision = self.services.approve_call(call)  # the user's time, not the tools'
            if decision == UNASKED_CALL:
                hint = "In a chat, the answer `always` allows it from then on."
                yield events.Notice(f"{call.name} was not called: nobody can be asked here", hint)
            refused = None if decision.allowed else refuse_call(call, decision.reason)
        with self.turn.timer("tools"):
            outcome = refused or executor.run_call(call)
        proposed = outcome.finding.change
        memory = self.prompts.memory(self.turn.runtime)
        if proposed is not None:
            change = mark_memory_file(proposed, memory.memory_paths.first_among(proposed.paths))
            yield events.ChangeProposed(call, change.summary, change.diff, change.note)
            approval = self.services.approve(change)
            with self.turn.timer("tools"):
                outcome = executor.apply_decision(outcome, approval)
            if outcome.changed:
                self.prompts.forget_summaries()
        outcomes.append(outcome)
        if proposed is not None:
            yield events.ChangeDecided(
                call, outcome.ok, "done" if outcome.ok else str(outcome.finding.data["error"])
            )
        yield from (events.Notice(w.message, w.hint) for w in self.services.vault.take_warnings())
        yield from (events.Notice(*each) for each in memory.pop_notices())

    def _add_to_turn(self, calls: tuple[ToolCall, ...], results: Iterable[ToolResult]) -> None:
        """Add a reply's calls and their results to the turn."""
        turn = self.turn
        counter = self.turn.runtime.counter
        new_message = self.services.new_message
        request = new_message(
            "assistant",
            turn.text,
            turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            thinking=turn.thinking,
            finish_reason="tool_calls",
            model=turn.runtime.model.name,
            token_count=counter.count_raw(turn.text),
            tool_tokens=count_call_tokens(calls, counter),
        )
        messages = [request]
        for call, (content, chunks, run) in zip(calls, results, strict=True):
            fields = {
                "tool_call_id": call.id,
                "tool_name": call.name,
                "tool_run": run,
                "chunks": chunks,
            }
            messages.append(
                new_message(
                    "tool",
                    content,
                    messages[-1].id,
                    **fields,
                    token_count=counter.count_raw(content),
                )
            )
        turn.messages += messages
        # Not before: a turn that is stopped while a tool runs keeps the model's text
        turn.text = turn.reasoning = ""
        turn.thinking = None
