"""Makes a conversation smaller by the cheapest step that suffices, and stores the resulting
compaction.

    mask        old tool results and documents lose their middles (context/masks.py)
    full        the model folds the oldest turns into its rolling summary (summary_writer.py)
    simple      if that fails: one request with short instructions and half as much text
    extractive  if that fails or no model can: sentences (summarization/extractive.py)
    truncated   if there are none: the oldest turns are dropped, with a notice

Each step is tried once, and a failure leads to the next one, so the number of model calls is
bounded: 3, with a correction of the summary. A prompt that is still too large raises
PromptTooLarge, which names the largest items (context/prompt_assembly.py).
"""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.compaction_preview import made_fields, state_digest
from zkchat_cli.chat.local_summaries import LocalSummarizer, Summary
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.summary_writer import SummaryWriter
from zkchat_cli.chat.turn import PhaseTimer
from zkchat_cli.context.budget import history_budget
from zkchat_cli.context.compaction_plan import (
    CompactionRequest,
    FoldPlan,
    first_kept_turn,
    plan_fold,
)
from zkchat_cli.context.compaction_room import CompactionRoom, leaves_enough, share_out_room
from zkchat_cli.context.important_messages import important_room, keep_important
from zkchat_cli.context.masks import find_maskable
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.summarization.carried_statements import (
    RequiredStatements,
    least_summary,
    require_statements,
)

# Share of the limit that an automatic summary must fold: for less, no model is called
LEAST_FOLDED_SHARE = 0.02


class _CheapStep(NamedTuple):
    """What is possible without a new summary. `done` is a compaction that suffices; without one,
    `masking` is the compaction that only masks, and `fold` the turns to summarize.
    """

    done: Compaction | None = None
    masking: Compaction | None = None
    fold: FoldPlan | None = None


@dataclass
class Compactor:
    """One compaction of a conversation; `run` may be called once."""

    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    runtime: Runtime
    request: CompactionRequest
    timer: PhaseTimer

    def run(self) -> Generator[events.Event, None, Compaction]:
        """Compact the conversation and store the result, unless it is a preview. The mode is "none"
        when nothing is gained. Raises StoreError.
        """
        request = self.request
        strategy = self.runtime.strategy
        if not strategy.summarizes:
            problem = f"the strategy {strategy.name} sends no summaries; hybrid and summarize do"
            return self._unchanged.model_copy(update={"problem": problem})
        with self.timer("prepare"):
            step = self._cheapest_step()
        if step.done is None and step.fold is None:
            return self._unchanged
        yield events.CompactionStarted(
            request.reason or "requested by you",
            self._unchanged.tokens_before,
            self.runtime.budget.effective_limit,
        )
        done = step.done
        if step.fold is not None:
            done = yield from self._fold(step.fold, step.masking)
        assert done is not None
        if request.current and done.mode != "none":
            done = self._with_next_prompt(done)
        self._keep(done)
        # A request by the user or a command is shown its result in full
        if request.reason is not None:
            yield events.CompactionDone(done)
        return done

    def _cheapest_step(self) -> _CheapStep:
        """The preview of this compaction, or one that only masks, or the turns to fold."""
        request = self.request
        preview = self.state.preview
        # A preview has already shown the model's summary: do not call the model again
        if preview is not None and request.ask and preview.state == self._digest:
            done = self._measured(**made_fields(preview))
            # None if it would no longer make the prompt smaller
            if done is not None:
                return _CheapStep(done=done)
        masking = self._mask_oldest()
        if masking is not None and request.reason and self._leaves_enough(masking):
            return _CheapStep(done=masking)
        fold = self._plan_fold(masking)
        return _CheapStep(done=None if fold else masking, masking=masking, fold=fold)

    def _with_next_prompt(self, done: Compaction) -> Compaction:
        """The compaction with the tokens of the next call's prompt, including recalled passages."""
        sent = done.with_summary_of(self._previous)
        history = self.prompts.masked_turns(self.runtime, sent)
        inputs = self._inputs._replace(history=history, compaction=sent)
        with suppress(PromptTooLarge):
            usage = self.prompts.assemble(self.runtime, inputs).usage
            return done.model_copy(update={"tokens_after": usage.total_tokens})
        return done

    def _keep(self, done: Compaction) -> None:
        """Store a compaction. A preview is remembered if a model was called for it."""
        if done.mode == "none":
            return
        if not done.preview:
            with self.timer("store"):
                self.state.add_compaction(done)
        elif done.model_calls:
            self.state.keep_preview(done.model_copy(update={"state": self._digest}))

    @cached_property
    def _digest(self) -> str:
        return state_digest(self.state, self.runtime, self.request)

    @cached_property
    def _unchanged(self) -> Compaction:
        """A compaction that changes nothing."""
        tokens = self.prompts.uncompacted_tokens(self.runtime, self._previous, self._inputs)
        return Compaction(
            id=self.services.new_id(),
            created_at=self.services.now(),
            tokens_before=tokens,
            tokens_after=tokens,
            messages_folded=0,
            mode="none",
            instructions=self.request.instructions,
            preview=self.request.preview,
            made_after=self.state.head,
            requested=not self.request.reason,
        )

    @cached_property
    def _previous(self) -> Compaction | None:
        return self.state.compaction

    @cached_property
    def _previous_summary(self) -> str | None:
        """The summary in use, which the next one continues. A summary that is too large was made
        for a larger window; it is replaced.
        """
        previous = self._previous
        if previous is None or previous.summary_tokens > self.runtime.largest_summary:
            return None
        return previous.summary

    @cached_property
    def _inputs(self) -> PromptInputs:
        """The other inputs of a prompt, with the turn in progress. They are looked up once for all
        compactions that are compared.
        """
        return self.prompts.inputs(self.runtime, self.request.current, self._previous)

    def _count_covered(self, history: TurnHistory) -> int:
        return history.count_covered(self._previous) if self._previous_summary else 0

    def _measured(self, **changes: object) -> Compaction | None:
        """A compaction with its figures; None when it would not make the prompt smaller."""
        compaction = self._unchanged.model_copy(update=changes)
        after = self.prompts.uncompacted_tokens(
            self.runtime, compaction.with_summary_of(self._previous), self._inputs
        )
        if after >= compaction.tokens_before:
            return None
        return compaction.model_copy(update={"tokens_after": after})

    @cached_property
    def _fixed_cost(self) -> ContextUsage:
        """The prompt without any history, with the turn in progress if that fits."""
        without_history = self._inputs._replace(history=TurnHistory(), compaction=None)
        with suppress(PromptTooLarge):
            return self.prompts.assemble(self.runtime, without_history).usage
        return self.prompts.assemble(
            self.runtime, without_history._replace(current=(), contextual_memory=())
        ).usage

    @cached_property
    def _rooms(self) -> tuple[CompactionRoom, ...]:
        """What the compaction may leave, the best first."""
        runtime = self.runtime
        history = self.state.turns(runtime.counter)
        largest = runtime.largest_summary
        try:
            return share_out_room(self._fixed_cost, history, largest, runtime.counter)
        except PromptTooLarge:
            # Not even the instructions fit: only a command compacts then
            return (CompactionRoom(history=0, new_turns=0, masks_later=True, summary=largest),)

    def _largest_summary(self, required: RequiredStatements) -> int:
        """Most tokens of the summary: the user's target, or what leaves room for new turns; but
        required statements come before that room.
        """
        largest = self.runtime.largest_summary
        target = self.request.target
        if target is not None:
            return min(target, largest)
        least = least_summary(required.statements, largest, self.runtime.counter)
        return max(self._rooms[0].summary, least)

    @cached_property
    def _masked_before(self) -> tuple[str, ...]:
        """The messages with shortened results so far."""
        previous = self._previous
        return () if previous is None else self.prompts.masked_ids(self.runtime, previous)

    def _mask_oldest(self) -> Compaction | None:
        """A compaction that masks what is older than the newest messages; if that leaves too little
        room, all turns but the last, in a tool loop that one too, and then also later turns. A
        repeated request without new messages masks nothing more.
        """
        request = self.request
        previous = self._previous
        if not request.reason and previous is not None and previous.made_after == self.state.head:
            return None
        history = self.prompts.masked_turns(self.runtime, previous)
        recent = history.turns[self._count_covered(history) :]
        borders = self._mask_borders(recent)
        masking: Compaction | None = None
        for room in self._rooms:
            for border in borders:
                masking = self._masked(recent[:border], room) or masking
                if masking is not None and self._leaves_enough(masking):
                    return masking
        return masking

    def _masked(self, turns: Sequence[Turn], room: CompactionRoom) -> Compaction | None:
        """A compaction that masks these turns; None if that would not make the prompt smaller."""
        ids = find_maskable(turns, self.runtime.counter, room.mask_size)
        if not ids:
            return None
        return self._measured(
            mode="masked",
            masked=(*self._masked_before, *ids),
            masks_later=room.masks_later,
            results_masked=len(ids),
            last_id=ids[-1],
        )

    def _mask_borders(self, recent: tuple[Turn, ...]) -> list[int]:
        """Where masking may end: first turns that keep their results, a cautious one first."""
        request = self.request
        keep = request.keep
        if keep is None:
            keep = self.runtime.settings.context.recent_messages_to_keep
        last = max(0, len(recent) - 1)
        borders = [min(first_kept_turn(recent, keep), last)]
        if request.reason:
            borders.append(last)
            newest = sum(turn.foldable_tokens for turn in recent[last:])
            room = history_budget(self._fixed_cost)
            # Without this choice the whole last turn would be left out
            if len(request.current) > 1 or newest > room:
                borders.append(len(recent))
        return borders

    def _leaves_enough(self, compaction: Compaction) -> bool:
        """Whether the prompt becomes so small that several turns fit before the next compaction."""
        history = compaction.tokens_after - self._fixed_cost.total_tokens
        return leaves_enough(self._rooms, history, masks_later=compaction.masks_later)

    def _plan_fold(self, masking: Compaction | None) -> FoldPlan | None:
        history = self.prompts.masked_turns(self.runtime, masking or self._previous)
        turns = history.turns
        covered = self._count_covered(history)
        if self.request.keep is not None:
            return plan_fold(turns, covered, self.request.keep)
        staying = keep_important(history, important_room(self.runtime.budget))
        fixed = staying.fixed_tokens + sum(turn.fixed_tokens for turn in history.failed)
        summary = self._rooms[0].summary
        recent = self.runtime.settings.context.recent_messages_to_keep
        return plan_fold(
            turns,
            covered,
            recent,
            budget=self._rooms[0].kept_turns(summary, fixed),
            largest=history_budget(self._fixed_cost) - summary - fixed,
        )

    def _fold(
        self, fold: FoldPlan, masking: Compaction | None
    ) -> Generator[events.Event, None, Compaction]:
        """A compaction with the first summary that makes the prompt smaller, or else `masking`."""
        history = self.state.turns(self.runtime.counter)
        required = require_statements(self._previous, fold, history)
        largest = self._largest_summary(required)
        writer = SummaryWriter(self.services, self.runtime, self.timer, self.request, largest)
        written: str | None = None
        if self._should_ask(fold) and writer.is_able:
            merged = self._previous_summary if len(fold.new) < len(fold.turns) else None
            replaced = fold.new_tokens + (self._previous.summary_tokens if self._previous else 0)
            with self.services.faults.contain("summary"):
                written = yield from writer.write(fold, merged, replaced, required)
        problem = writer.problem
        done: Compaction | None = None
        with self.timer("prepare"):
            if written is not None:
                done = self._folded(fold, masking, Summary(writer.mode, written), required)
                if done is None:
                    problem = "it would not make the prompt smaller"
            if done is None:
                done = self._fold_without_model(fold, masking, required, largest)
        return (done or masking or self._unchanged).model_copy(
            update={
                "model": writer.model.name if writer.calls else None,
                "model_calls": writer.calls,
                "usage": writer.usage,
                "problem": problem,
            }
        )

    def _should_ask(self, fold: FoldPlan) -> bool:
        """Whether a model may be called and the turns are worth a call."""
        least = LEAST_FOLDED_SHARE * self.runtime.budget.effective_limit
        is_worth_it = not self.request.reason or fold.new_tokens >= least
        return self.request.ask and is_worth_it

    def _folded(
        self,
        fold: FoldPlan,
        masking: Compaction | None,
        summary: Summary,
        required: RequiredStatements,
    ) -> Compaction | None:
        """The compaction with this summary; None if it would not make the prompt smaller."""
        before = self._masked_before
        kept: set[str] = set()
        for turn in self.state.turns(self.runtime.counter).turns[len(fold.turns) :]:
            kept.update(turn.ids)
        wanted = masking.masked if masking is not None else before
        masked = tuple(id_ for id_ in wanted if id_ in kept)
        return self._measured(
            summary=summary.text,
            summary_tokens=self.runtime.counter.count(summary.text),
            quoted=summary.quoted,
            carried=required.statements,
            mode=summary.mode,
            last_id=fold.turns[-1].ids[-1],
            messages_folded=sum(len(turn.ids) for turn in fold.new),
            masked=masked,
            masks_later=self._rooms[0].masks_later,
            results_masked=len(set(masked).difference(before)),
        )

    def _fold_without_model(
        self,
        fold: FoldPlan,
        masking: Compaction | None,
        required: RequiredStatements,
        largest: int,
    ) -> Compaction | None:
        """The compaction with the first summary by zkchat itself that makes the prompt smaller."""
        counter = self.runtime.counter
        summarizer = LocalSummarizer(
            self.request,
            self.state.turns(counter).turns,
            self._previous if self._previous_summary else None,
            self._rooms[0],
            largest,
            counter,
            self.services.faults,
        )
        for summary in summarizer.summaries(fold, required):
            done = self._folded(fold, masking, summary, required)
            if done is not None:
                return done
        return None
