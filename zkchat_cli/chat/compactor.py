"""Decides when a conversation is made smaller in a turn; chat/compaction_run.py makes it so."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress
from zkchat_cli.chat.turn_recorder import TurnRecorder
from zkchat_cli.context.compaction_policy import CompactionRequest
from zkchat_cli.errors import StoreError
from zkchat_cli.models import Compaction, sum_usage

if TYPE_CHECKING:
    from zkchat_cli.chat.compaction_run import CompactionRun


@dataclass(frozen=True, slots=True)
class Compactor:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    recorder: TurnRecorder

    def run(
        self, runtime: Runtime, request: CompactionRequest, timer: PhaseTimer | None = None
    ) -> Generator[events.Event, None, Compaction]:
        """Compact the conversation and store that, unless it is a preview; the mode is "none" when nothing is gained. Raises StoreError."""
        return self._start(runtime, request, timer or PhaseTimer(self.services.clock)).run()

    def _start(self, runtime: Runtime, request: CompactionRequest, timer: PhaseTimer) -> "CompactionRun":
        from zkchat_cli.chat.compaction_run import CompactionRun  # 10 ms, which most turns do not need

        return CompactionRun(self.services, self.state, self.prompts, runtime, request, timer)

    def run_if_enabled(self, turn: TurnInProgress, reason: str, *, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it and the store can be written. A problem is reported, and the turn continues."""
        if not turn.runtime.settings.context.auto_summarize or self.recorder.problem is not None:
            return
        request = CompactionRequest(reason, ask=ask, current=turn.sent_messages, offer_tools=not turn.no_more_tools)
        try:
            done = yield from self.run(turn.runtime, request, turn.timer)
        except StoreError as e:
            yield from self.recorder.report_problem(e)
            return
        turn.usage = sum_usage((turn.usage, done.usage))
        turn.compaction = done if done.mode != "none" else turn.compaction

    def keep_shortened(self, turn: TurnInProgress) -> Iterator[events.Event]:
        """Keep the results of a finished turn as short as its own prompts had them: whole, the turn would not fit into the next one."""
        if not turn.shortened or not turn.runtime.settings.context.auto_summarize or not turn.runtime.strategy.summarizes:
            return
        request = CompactionRequest("tool results filled the window")
        done = self._start(turn.runtime, request, turn.timer).mask(tuple(turn.shortened))
        if done is None:
            return
        # not after the newest message: /compact may do more at once
        done = done.model_copy(update={"made_after": done.last_id})
        with turn.timer("store"):
            try:
                self.state.add_compaction(done)
            except StoreError:  # the turn itself was not stored, and that is reported
                return
        turn.compaction = turn.compaction or done
        yield events.CompactionStarted(request.reason or "")
        yield events.CompactionDone(done)
