"""Decides when a conversation is made smaller in a turn; chat/compaction_run.py makes it so."""

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress
from zkchat_cli.context.compaction_policy import CompactionRequest
from zkchat_cli.errors import StoreError
from zkchat_cli.models import Compaction, sum_usage


@dataclass(frozen=True, slots=True)
class Compactor:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder

    def run(
        self, runtime: Runtime, request: CompactionRequest, timer: PhaseTimer | None = None
    ) -> Generator[events.Event, None, Compaction]:
        """Compact the conversation. Yields CompactionStarted, Waiting and CompactionDone, or nothing when there is nothing to do.

        Returns the compaction, stored unless it is a preview; its mode is "none" when nothing is gained. Raises StoreError.
        """
        timer = timer or PhaseTimer(self.services.clock)
        from zkchat_cli.chat.compaction_run import CompactionRun  # 10 ms, which most turns do not need

        return CompactionRun(self.services, self.state, self.prompts, runtime, request, timer).run()

    def run_if_enabled(self, turn: TurnInProgress, reason: str, *, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it. A compaction that cannot be stored is reported, and the turn continues."""
        if not turn.runtime.settings.context.auto_summarize:
            return
        request = CompactionRequest(reason, ask=ask, current=turn.sent_messages, offer_tools=not turn.no_more_tools)
        try:
            done = yield from self.run(turn.runtime, request, turn.timer)
        except StoreError as e:
            yield events.Notice(f"the conversation was not compacted: {e.message}", e.hint)
            return
        turn.usage = sum_usage((turn.usage, done.usage))
        turn.compaction = done if done.mode != "none" else turn.compaction

    def keep_shortened(self, turn: TurnInProgress) -> Iterator[events.Event]:
        """Keep the results of a finished turn as short as its own prompts had them: whole, the turn would not fit into the next one."""
        runtime, previous = turn.runtime, self.state.compaction
        if not turn.shortened or not runtime.settings.context.auto_summarize or not runtime.strategy.summarizes:
            return
        earlier = previous.masked if previous is not None else ()
        inputs = self.prompts.inputs(runtime, (), previous)
        unmasked = self.prompts.uncompacted_tokens(runtime, previous, inputs)
        done = Compaction(
            id=self.services.new_id(), created_at=self.services.now(), tokens_before=unmasked, tokens_after=unmasked, messages_folded=0,
            mode="masked", masked=(*earlier, *turn.shortened), results_masked=len(turn.shortened), last_id=list(turn.shortened)[-1],
            made_after=list(turn.shortened)[-1],
        )  # fmt: skip
        after = self.prompts.uncompacted_tokens(runtime, done.with_summary_of(previous), inputs)
        done = done.model_copy(update={"tokens_after": min(after, unmasked)})
        yield events.CompactionStarted("tool results filled the window")
        with turn.timer("store"), suppress(StoreError):  # the turn itself was not stored, and that is reported
            self.state.add_compaction(done)
        turn.compaction = turn.compaction or done
        yield events.CompactionDone(done)
