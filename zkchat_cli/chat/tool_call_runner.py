"""Runs the tool calls of a model's reply in a turn: asks for approval, makes an approved change,
shares what is left of the window among the results, and shortens earlier ones.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from zkchat_cli import events
from zkchat_cli.chat.next_step import MIN_TOOL_TOKENS
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.tool_executor import ToolExecutor, ToolOutcome, ToolResult, refuse_call
from zkchat_cli.chat.turn import TurnInProgress, count_thinking
from zkchat_cli.context.masks import mask_result
from zkchat_cli.context.prompt_messages import count_call_tokens, render_turn
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import PromptKind
from zkchat_cli.references.excerpts import format_tool_result
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD
from zkchat_cli.vault.edit.approval import UNASKED_CALL, mark_memory_file

NEW_RESULTS_SHARE = 0.25
"""Share of a turn's room that new results may take before earlier ones of the same turn lose their
middles for them.
"""
# The kinds of messages that no turn can make smaller
_FIXED_KINDS: tuple[PromptKind, ...] = ("system", "memory", "summary")
# Calls of one reply that are run: a model that calls for ever must not fill the memory
MOST_CALLS = 50
_TOO_MANY = f"not run: a reply may have {MOST_CALLS} calls; make fewer at a time"
_ALWAYS_HINT = "In a chat, the answer `always` allows it from then on."


@dataclass
class ToolCallRunner:
    """Runs the tool calls of one turn, reply by reply."""

    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    turn: TurnInProgress

    def run(self, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply; returns the tokens that are left for more calls.

        Calls and results are added to the turn together, so that the log never has one without the
        other.
        """
        turn = self.turn
        earlier = len(turn.messages)
        limit = self._turn_limit()
        room_for_results = limit - self._reply_tokens(calls)
        executor = self._executor()
        outcomes: list[ToolOutcome] = []
        try:
            for call in calls[:MOST_CALLS]:
                yield from self._run_call(call, executor, outcomes)
            outcomes += [refuse_call(call, _TOO_MANY) for call in calls[MOST_CALLS:]]
        except BaseException:
            self._record_changes(calls, outcomes, executor, room_for_results)
            raise
        with turn.timer("tools"):
            wanted = min(self._full_size(outcomes), int(NEW_RESULTS_SHARE * limit))
            self.shorten_results(earlier, room_for_results, 2 * wanted)
            room = min(self._room(room_for_results) // 2, self._room_beside_history(limit))
            results = executor.results(outcomes, room)
        self._add_to_turn(calls, results)
        for call, result in zip(calls[:MOST_CALLS], results, strict=False):
            places = [
                events.ExcerptPlace(chunk.relative_path, chunk.start_line)
                for chunk in result.chunks
            ]
            yield events.ToolCallFinished(call, result.run, len(places), tuple(places))
        return self.shorten_results(earlier, limit, MIN_TOOL_TOKENS)

    def refuse(self, calls: tuple[ToolCall, ...], reason: str) -> None:
        """Answer the calls of a reply with the reason why they are not run."""
        refused = [refuse_call(call, reason) for call in calls]
        self._add_to_turn(calls, self._executor().results(refused, MIN_TOOL_TOKENS))

    def shorten_all_results(self) -> None:
        """Shorten all results of the turn to their beginnings and ends."""
        self.shorten_results(len(self.turn.messages), limit=0, wanted=1)

    def shorten_results(self, earlier: int, limit: int, wanted: int) -> int:
        """Shorten results, the oldest first, until `wanted` tokens of `limit` are free; returns how
        many are.

        Only results among the first `earlier` messages are shortened: the model has read those.
        """
        turn = self.turn
        room = self._room(limit)
        for message in turn.messages[:earlier]:
            if room >= wanted:
                break
            if message.id in turn.shortened:
                continue
            shorter = mask_result(message, turn.runtime.counter)
            if shorter is not None:
                turn.shorten_result(shorter)
                room = self._room(limit)
        return room

    # tokens

    def _turn_limit(self) -> int:
        """Tokens that the turn may take in addition to the part of the prompt that cannot
        shrink.
        """
        prompt = self.turn.prompt
        assert prompt is not None
        fixed = sum(tool.tokens for tool in prompt.tools)
        fixed += sum(each.tokens for each in prompt.messages if each.kind in _FIXED_KINDS)
        return self.turn.runtime.budget.effective_limit - fixed

    def _room_beside_history(self, limit: int) -> int:
        """Tokens of new results that no turn has to leave the prompt for; at least their share of
        `limit`.
        """
        prompt = self.turn.prompt
        assert prompt is not None
        usage = prompt.usage
        free = usage.effective_limit - usage.total_tokens
        # Recalled passages give way to results
        free += usage.message_breakdown["recalled"]
        return max(free, int(NEW_RESULTS_SHARE * limit))

    def _reply_tokens(self, calls: Sequence[ToolCall]) -> int:
        """Tokens of the reply, and of the delimiters around its results."""
        counter = self.turn.runtime.counter
        messages = 1 + len(calls)
        text = counter.count(self.turn.text) + count_call_tokens(calls, counter)
        return text + MESSAGE_OVERHEAD * messages

    def _full_size(self, outcomes: Iterable[ToolOutcome]) -> int:
        """Tokens of the results if nothing is left out."""
        count = self.turn.runtime.counter.count
        size = 0
        for outcome in outcomes:
            finding = outcome.finding
            size += count(format_tool_result(finding.chunks, finding.data, finding.note))
        return size

    def _room(self, limit: int) -> int:
        """Tokens of `limit` that the turn has not used."""
        rendered = render_turn(self.turn.sent_messages, self.turn.runtime.counter, in_progress=True)
        return max(0, limit - sum(message.tokens for message in rendered))

    # calls

    def _executor(self) -> ToolExecutor:
        runtime = self.turn.runtime
        services = self.services
        return ToolExecutor(
            runtime.tools,
            services.vault,
            self.state.references,
            runtime.counter,
            services.clock,
            self.prompts.memory(runtime),
        )

    def _run_call(
        self, call: ToolCall, executor: ToolExecutor, outcomes: list[ToolOutcome]
    ) -> Iterator[events.Event]:
        """Run a call and add its outcome.

        An external tool runs only if the user allows it. A change of notes is shown, and made if
        the user approves it.
        """
        yield events.ToolCallStarted(call)
        outcome: ToolOutcome | None = None
        external_names = {tool.name for tool in executor.tools if tool.scope == "server"}
        if call.name in external_names:
            # Waiting for the user counts as the user's time, not the tools'
            decision = self.services.approve_call(call)
            if decision == UNASKED_CALL:
                problem = f"{call.name} was not called: nobody can be asked here"
                yield events.Notice(problem, _ALWAYS_HINT)
            if not decision.allowed:
                outcome = refuse_call(call, decision.reason)
        with self.turn.timer("tools"):
            if outcome is None:
                outcome = executor.run_call(call)
        if outcome.finding.change is None:
            outcomes.append(outcome)
        else:
            yield from self._propose_change(outcome, executor, outcomes)
        for warning in self.services.vault.take_warnings():
            yield events.Notice(warning.message, warning.hint)
        yield from self.prompts.memory(self.turn.runtime).pop_notices()

    def _propose_change(
        self, outcome: ToolOutcome, executor: ToolExecutor, outcomes: list[ToolOutcome]
    ) -> Iterator[events.Event]:
        """Show the change that a call proposes, make it if the user approves it, and add the
        outcome.
        """
        call = outcome.call
        proposed = outcome.finding.change
        assert proposed is not None
        memory = self.prompts.memory(self.turn.runtime)
        change = mark_memory_file(proposed, memory.memory_paths.first_among(proposed.paths))
        yield events.ChangeProposed(call, change.summary, change.diff, change.note)
        approval = self.services.approve(change)
        with self.turn.timer("tools"):
            decided = executor.apply_decision(outcome, approval, self.turn.messages[0].id)
        if decided.changed:
            self.prompts.forget_summaries()
        outcomes.append(decided)
        told = decided.finding.outcome if decided.ok else str(decided.finding.data["error"])
        yield events.ChangeDecided(call, decided.ok, told)

    def _record_changes(
        self,
        calls: tuple[ToolCall, ...],
        outcomes: Sequence[ToolOutcome],
        executor: ToolExecutor,
        room: int,
    ) -> None:
        """Record the results after the turn was stopped: the log must say what has changed
        notes.
        """
        if not any(outcome.changed for outcome in outcomes):
            return
        stopped = [
            refuse_call(call, "not done: the turn was stopped") for call in calls[len(outcomes) :]
        ]
        results = executor.results([*outcomes, *stopped], self._room(room) // 2)
        self._add_to_turn(calls, results)

    def _add_to_turn(self, calls: tuple[ToolCall, ...], results: Iterable[ToolResult]) -> None:
        """Add a reply's calls and their results to the turn."""
        turn = self.turn
        counter = turn.runtime.counter
        new_message = self.services.new_message
        request = new_message(
            "assistant",
            turn.text,
            turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            thinking=turn.thinking,
            thinking_tokens=count_thinking(turn),
            finish_reason="tool_calls",
            model=turn.runtime.model.name,
            token_count=counter.count_to_store(turn.text),
            tool_tokens=count_call_tokens(calls, counter),
        )
        messages: list[ZkChatMessage] = [request]
        for call, result in zip(calls, results, strict=True):
            messages.append(
                new_message(
                    "tool",
                    result.content,
                    messages[-1].id,
                    tool_call_id=call.id,
                    tool_name=call.name,
                    tool_run=result.run,
                    chunks=result.chunks,
                    token_count=counter.count_to_store(result.content),
                )
            )
        # Added only now: if a turn is stopped while a tool runs, it keeps the model's text
        turn.add_reply(messages)
