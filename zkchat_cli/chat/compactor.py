"""Makes a conversation smaller by the cheapest step that suffices, and stores the resulting compaction.

    mask        old tool results and documents lose their middles             (context/compaction_policy.py)
    full        the model folds the oldest turns into its rolling summary     (chat/summary_writer.py)
    simple      if that fails: one request with short instructions and half as much text
    extractive  if that fails or no model can: sentences, word for word       (summarization/extractive.py)
    truncated   if there are none: the oldest turns are dropped, with a notice

Each step is tried once, and a failure leads to the next one, so the number of model calls is bounded: 3, with a correction of the summary.
A prompt that is still too large raises PromptTooLarge, which names the largest items (context/prompt_assembly.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer
from zkchat_cli.context import compaction_policy as policy
from zkchat_cli.context.budget import history_budget, remaining_message_budget, turn_budget_after_compaction
from zkchat_cli.context.compaction_policy import CompactionRequest, FoldPlan, find_maskable
from zkchat_cli.context.prompt_assembly import PromptInputs
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.models import Compaction, CompactionMode, ContextUsage

if TYPE_CHECKING:
    from zkchat_cli.chat.summary_writer import ModelSummary

LEAST_FOLDED_SHARE = 0.02
"""Share of the limit that must be folded before a model is called for an automatic summary."""


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
        """Compact the conversation and store that, unless it is a preview; the mode is "none" when nothing is gained. Raises StoreError."""
        request, strategy, preview = self.request, self.runtime.strategy, self.state.preview
        if not strategy.summarizes:
            problem = f"the strategy {strategy.name} sends no summaries; hybrid and summarize do"
            return self._unchanged.model_copy(update={"problem": problem})
        done: Compaction | None = None
        masking: Compaction | None = None
        fold: FoldPlan | None = None
        with self.timer("prepare"):
            if preview is not None and request.ask and preview.state == self._digest:  # no model is called again for what was just shown
                new = {"id": self.services.new_id(), "created_at": self.services.now(), "preview": request.preview, "state": None}
                done = preview.model_copy(update=new)
            else:
                done = masking = self._mask_oldest()
                if masking is None or not request.reason or not self._suffices(masking):
                    fold = self._plan_fold(masking)
        if done is None and fold is None:
            return self._unchanged
        yield events.CompactionStarted(request.reason or "requested by you")
        if fold is not None:
            done = yield from self._fold(fold, masking)
        assert done is not None
        if request.current and done.mode != "none":
            sent = done.with_summary_of(self._previous)
            inputs = self._inputs._replace(history=self.prompts.masked_turns(self.runtime, sent), compaction=sent)
            with suppress(PromptTooLarge):  # the figure of the next call's prompt, with what recall adds
                done = done.model_copy(update={"tokens_after": self.prompts.assemble(self.runtime, inputs).usage.total_tokens})
        if done.mode != "none" and not done.preview:
            with self.timer("store"):
                self.state.add_compaction(done)
        elif done.mode != "none" and done.model_calls:
            self.state.keep_preview(done.model_copy(update={"state": self._digest}))
        yield events.CompactionDone(done)
        return done

    # what is compacted

    @cached_property
    def _digest(self) -> str:
        """A digest of all that the result depends on: the conversation, the request, the model and the settings."""
        request, runtime, counter = self.request, self.runtime, self.runtime.counter
        fixed = [id_ for turn in self.state.turns(counter).in_order for m in turn.fixed for id_ in m.source_ids]
        made_from = (
            self.state.head, self._previous.id if self._previous else None, fixed, request.reason, request.instructions, request.target,
            request.keep, runtime.summary_model.model.name, runtime.window.tokens, runtime.strategy.name, counter.factor, counter.estimated,
            runtime.settings.context.model_dump_json(),
        )  # fmt: skip
        return blake2b(repr(made_from).encode(), digest_size=16).hexdigest()

    @cached_property
    def _unchanged(self) -> Compaction:
        """A compaction that changes nothing."""
        tokens = self.prompts.uncompacted_tokens(self.runtime, self._previous, self._inputs)
        return Compaction(
            id=self.services.new_id(), created_at=self.services.now(), tokens_before=tokens, tokens_after=tokens, messages_folded=0,
            mode="none", instructions=self.request.instructions, preview=self.request.preview, made_after=self.state.head,
            requested=not self.request.reason,
        )  # fmt: skip

    @cached_property
    def _previous(self) -> Compaction | None:
        return self.state.compaction

    @cached_property
    def _previous_summary(self) -> str | None:
        """The summary in use; one that is too large was made for a larger window, and is replaced."""
        previous = self._previous
        return previous.summary if previous is not None and previous.summary_tokens <= self.runtime.largest_summary else None

    @cached_property
    def _inputs(self) -> PromptInputs:
        """The other inputs of a prompt, with the turn in progress, looked up once for all compactions that are compared."""
        return self.prompts.inputs(self.runtime, self.request.current, self._previous, offer_tools=self.request.offer_tools)

    def _count_covered(self, history: TurnHistory) -> int:
        return history.count_covered(self._previous) if self._previous_summary else 0

    def _measured(self, **changes: object) -> Compaction | None:
        """A compaction with its figures; None when it would not make the prompt smaller."""
        compaction = self._unchanged.model_copy(update=changes)
        after = self.prompts.uncompacted_tokens(self.runtime, compaction.with_summary_of(self._previous), self._inputs)
        return compaction.model_copy(update={"tokens_after": after}) if after < compaction.tokens_before else None

    @cached_property
    def _fixed_cost(self) -> ContextUsage:
        """The prompt without any history, with the turn in progress if that fits."""
        with suppress(PromptTooLarge):
            return self.prompts.fixed_cost(self.runtime, self._inputs)
        return self.prompts.fixed_cost(self.runtime, self._inputs._replace(current=(), contextual_memory=()))

    # masking

    def _mask_oldest(self) -> Compaction | None:
        """A compaction that only masks what is older than the newest messages, or if that does not suffice, all but the last turn; in a
        tool loop also that. A repeated request, without new messages, masks nothing more."""
        request, previous = self.request, self._previous
        if not request.reason and previous is not None and previous.made_after == self.state.head:
            return None
        history = self.prompts.masked_turns(self.runtime, previous)
        recent = history.turns[self._count_covered(history) :]
        last = max(0, len(recent) - 1)
        keep = self.runtime.settings.context.recent_messages_to_keep if request.keep is None else request.keep
        borders = [min(policy.first_kept_turn(recent, keep), last)]
        if request.reason:
            borders.append(last)
            newest = sum(turn.foldable_tokens for turn in recent[last:])
            if len(request.current) > 1 or newest > history_budget(
                self._fixed_cost, self.runtime.budget
            ):  # else it would be left out whole
                borders.append(len(recent))
        masking = None
        for border in borders:
            ids = find_maskable(recent[:border], self.runtime.counter)
            masking = (self._mask(ids) if ids else None) or masking
            if masking is not None and self._suffices(masking):
                break
        return masking

    def _mask(self, ids: Sequence[str]) -> Compaction | None:
        """A compaction that only masks these messages, besides those masked before; None when it would not make the prompt smaller."""
        masked = self._previous.masked if self._previous is not None else ()
        return self._measured(mode="masked", masked=(*masked, *ids), results_masked=len(ids), last_id=ids[-1])

    def _suffices(self, compaction: Compaction) -> bool:
        """Whether compaction will not be due again at once."""
        history = compaction.tokens_after - self._fixed_cost.total_tokens
        return history <= policy.MASKED_HISTORY_SHARE * remaining_message_budget(self._fixed_cost, self.runtime.budget)

    # folding

    def _plan_fold(self, masking: Compaction | None) -> FoldPlan | None:
        history = self.prompts.masked_turns(self.runtime, masking or self._previous)
        turns, covered = history.turns, self._count_covered(history)
        if self.request.keep is not None:
            return policy.plan_fold(turns, covered, self.request.keep)
        cost, budget = self._fixed_cost, self.runtime.budget
        fixed = history.fixed_tokens + sum(turn.fixed_tokens for turn in history.failed)
        other = self.runtime.largest_summary + fixed
        room = turn_budget_after_compaction(cost, budget, other)
        recent = self.runtime.settings.context.recent_messages_to_keep
        return policy.plan_fold(turns, covered, recent, budget=room, largest=history_budget(cost, budget) - other)

    def _fold(self, fold: FoldPlan, masking: Compaction | None) -> Generator[events.Event, None, Compaction]:
        """The compaction with the first summary that makes the prompt smaller, or else the masking alone."""
        from zkchat_cli.chat.summary_writer import ModelSummary, SummaryWriter  # 10 ms, which most turns do not need

        previous, request, answer = self._previous, self.request, ModelSummary()
        merged = self._previous_summary if len(fold.new) < len(fold.turns) else None
        writer = SummaryWriter(self.services, self.runtime, self.timer, request, self._summary_limit)
        few = bool(request.reason) and fold.new_tokens < LEAST_FOLDED_SHARE * self.runtime.budget.effective_limit
        if request.ask and not few and writer.is_able:
            answer = yield from writer.write(fold, merged, fold.new_tokens + (previous.summary_tokens if previous is not None else 0))
        model = writer.model.name if answer.calls else None
        cost = {"model": model, "model_calls": answer.calls, "usage": answer.usage, "problem": answer.problem}
        base = masking or previous
        kept = {id_ for turn in self.prompts.masked_turns(self.runtime, base).turns[len(fold.turns) :] for id_ in turn.ids}
        masked = tuple(id_ for id_ in base.masked if id_ in kept) if base is not None else ()
        new = set(masked) - set(previous.masked if previous is not None else ())
        fields = {"last_id": fold.last_id, "messages_folded": fold.messages_folded, "masked": masked, "results_masked": len(new)}
        with self.timer("prepare"):
            for mode, summary, quoted in self._summaries(fold, answer):
                tokens = self.runtime.counter.count(summary)
                folded = self._measured(summary=summary, summary_tokens=tokens, quoted=quoted, mode=mode, **fields)
                if folded is not None:
                    return folded.model_copy(update=cost)
                if summary is answer.summary:
                    cost["problem"] = "it would not make the prompt smaller"
        return (masking or self._unchanged).model_copy(update=cost)

    def _summaries(self, fold: FoldPlan, answer: "ModelSummary") -> Iterator[tuple[CompactionMode, str, tuple[str, ...]]]:
        """Modes, summaries and the turns that these quote, the best first."""
        from zkchat_cli.summarization.extractive import extract_summary  # as in _fold

        if answer.summary is not None:
            yield answer.mode, answer.summary, ()
        request, counter = self.request, self.runtime.counter
        quoted: list[Turn] = []
        if self._previous is not None and self._previous_summary and not request.instructions and request.target is None:
            quoted = [turn for turn in self.state.turns(counter).turns if turn.id in self._previous.quoted]
        extracted = extract_summary(fold, self._summary_limit, counter, request.instructions, quoted)
        if extracted is not None:
            yield "extractive", extracted.text, extracted.quoted
        if request.reason:
            days = sorted({message.timestamp[:10] for turn in fold.turns for message in turn.messages} - {""})
            when = f", {days[0]} to {days[-1]}," if days else ""
            count = sum(len(turn.ids) for turn in fold.turns)
            yield "truncated", f"[{count} earlier messages{when} are left out here without a summary.]", ()

    @property
    def _summary_limit(self) -> int:
        """Tokens that the summary may take."""
        largest = self.runtime.largest_summary
        return largest if self.request.target is None else min(self.request.target, largest)
