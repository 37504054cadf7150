"""Runs the tool calls of a model's reply within a turn: asks about them, fits their results into the window, and adds both to the turn.

ToolExecutor runs a single call; this knows the turn: what is left of its window, and which earlier results lose their middles.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.tool_executor import ToolExecutor, ToolOutcome, ToolResult, refuse_call
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.tool_result_masking import mask_result
from zkchat_cli.context.turns import count_call_tokens, render_turn
from zkchat_cli.models import ToolCall
from zkchat_cli.vault.approval import UNASKED_CALL, mark_memory_file
from zkchat_cli.vault.edit.transaction import Change

MIN_TOOL_TOKENS = 300
"""Tokens below which another round of tools is not worth it: describing them takes as many."""
NEW_RESULTS_SHARE = 0.25
"""Share of the room of a turn that new results may have, before earlier ones of the same turn lose their middles for them."""


@dataclass
class ToolCallRunner:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    turn: TurnInProgress
    outcomes: list[ToolOutcome] = field(default_factory=list)
    """Outcomes of the current reply's calls so far."""

    def run(self, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply; returns the tokens that are left for more. Calls and results enter the turn together, so that neither
        is ever alone in the log."""
        turn, runtime = self.turn, self.turn.runtime
        counter, earlier = runtime.counter, len(turn.messages)
        assert turn.prompt is not None
        fixed = sum(tool.tokens for tool in turn.prompt.tools)
        fixed += sum(m.tokens for m in turn.prompt.messages if m.kind in ("system", "memory", "summary"))
        limit = runtime.budget.effective_limit - fixed
        reply = counter.count(turn.text) + count_call_tokens(calls, counter) + MESSAGE_OVERHEAD * (1 + len(calls))
        executor = self._executor()
        self.outcomes = []
        try:
            for call in calls:
                yield from self._run_call(call, executor)
        except BaseException:
            if any(outcome.changed for outcome in self.outcomes):  # the log must tell that, whatever stopped the turn
                stopped = [refuse_call(call, "not done: the turn was stopped") for call in calls[len(self.outcomes) :]]
                self._add_to_turn(calls, executor.results([*self.outcomes, *stopped], self._room(limit - reply) // 2))
            raise
        with turn.timer("tools"):
            wanted = min(executor.count_tokens(self.outcomes), int(NEW_RESULTS_SHARE * limit))
            self.shorten_results(earlier, limit - reply, 2 * wanted)
            results = executor.results(self.outcomes, self._room(limit - reply) // 2)
        self._add_to_turn(calls, results)
        for call, result in zip(calls, results, strict=True):
            yield events.ToolCallFinished(call, result.run, len(result.chunks))
        return self.shorten_results(earlier, limit, MIN_TOOL_TOKENS)

    def refuse(self, calls: tuple[ToolCall, ...], reason: str) -> None:
        """Answer calls that are not run."""
        self._add_to_turn(calls, self._executor().results([refuse_call(call, reason) for call in calls], MIN_TOOL_TOKENS))

    def shorten_results(self, earlier: int, limit: int, wanted: int) -> int:
        """Take the middles out of the turn's first results, the oldest first, until so many tokens are left of `limit`; returns the tokens
        that are. Only those among the first `earlier` messages: the model has read them."""
        turn, room = self.turn, self._room(limit)
        for message in turn.messages[:earlier]:
            if room >= wanted:
                break
            if message.id not in turn.shortened and (shorter := mask_result(message, turn.runtime.counter)) is not None:
                turn.shortened[message.id] = shorter
                room = self._room(limit)
        return room

    def _room(self, limit: int) -> int:
        """Tokens that the turn leaves of `limit`."""
        rendered = render_turn(self.turn.sent_messages, self.turn.runtime.counter, thinking=True)
        return max(0, limit - sum(message.tokens for message in rendered))

    def _executor(self) -> ToolExecutor:
        runtime, services = self.turn.runtime, self.services
        memory = self.prompts.memory(runtime)
        return ToolExecutor(runtime.tools, services.vault, self.state.references, runtime.counter, services.clock, memory)

    def _run_call(self, call: ToolCall, executor: ToolExecutor) -> Iterator[events.Event]:
        """Run a call: one of another program's tool only if the user allows it, and a change of notes only if he approves it."""
        yield events.ToolCallStarted(call)
        refused: ToolOutcome | None = None
        if executor.is_external(call.name):
            decision = self.services.approve_call(call)  # the user's time, not the tools'
            if decision == UNASKED_CALL:
                hint = "In a chat, the answer `always` allows it from then on."
                yield events.Notice(f"{call.name} was not called: nobody can be asked here", hint)
            refused = None if decision.allowed else refuse_call(call, decision.reason)
        with self.turn.timer("tools"):
            outcome = refused or executor.run_call(call)
        if outcome.finding.change is not None:
            yield from self._decide(outcome, outcome.finding.change, executor)
        else:
            self.outcomes.append(outcome)
        yield from (events.Notice(w.message, w.hint) for w in self.services.vault.take_warnings())
        yield from (events.Notice(*each) for each in self.prompts.memory(self.turn.runtime).pop_notices())

    def _decide(self, outcome: ToolOutcome, proposed: Change, executor: ToolExecutor) -> Iterator[events.Event]:
        """Show a proposed change, get it approved or declined, and make it."""
        paths = self.prompts.memory(self.turn.runtime).memory_paths
        change = mark_memory_file(proposed, paths.first_among(proposed.paths))
        yield events.ChangeProposed(outcome.call, change.summary, change.diff, change.note)
        decision = self.services.approve(change)
        with self.turn.timer("tools"):
            decided = executor.apply_decision(outcome, decision)
        self.outcomes.append(decided)
        if decided.changed:
            self.prompts.forget_summaries()
        yield events.ChangeDecided(outcome.call, decided.ok, "done" if decided.ok else str(decided.finding.data["error"]))

    def _add_to_turn(self, calls: tuple[ToolCall, ...], results: Iterable[ToolResult]) -> None:
        """Add a reply's calls and their results to the turn."""
        turn, counter, new_message = self.turn, self.turn.runtime.counter, self.services.new_message
        messages = [
            new_message(
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
        ]
        for call, result in zip(calls, results, strict=True):
            message = new_message(
                "tool",
                result.content,
                messages[-1].id,
                tool_call_id=call.id,
                tool_name=call.name,
                tool_run=result.run,
                chunks=result.chunks,
                token_count=counter.count_raw(result.content),
            )
            messages.append(message)
        turn.messages += messages
        turn.text = turn.reasoning = ""  # not before: a turn that is stopped while a tool runs keeps the model's text
        turn.thinking = None
