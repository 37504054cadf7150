"""Makes a conversation smaller by the cheapest step that suffices, and stores the resulting compaction.

    mask        old tool results and documents lose their middles             (context/tool_result_masking.py)
    full        the model folds the oldest turns into its rolling summary     (summarization/prompt.py)
    simple      if that fails: one request with short instructions and half as much text
    extractive  if that fails or no model can: sentences, word for word       (summarization/extractive.py)
    truncated   if there are none: the oldest turns are dropped, with a notice

Each step is tried once, and a failure leads to the next one, so the number of model calls is bounded. A prompt that is still too large
raises PromptTooLarge, which names the largest items (context/prompt_assembly.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress, sum_usage
from zkchat_cli.context import compaction_policy as policy
from zkchat_cli.context.budget import remaining_message_budget, turn_budget_after_compaction
from zkchat_cli.context.compaction_policy import FoldPlan
from zkchat_cli.context.prompt_assembly import PromptInputs, count_covered_turns
from zkchat_cli.context.tool_result_masking import find_maskable
from zkchat_cli.context.turns import Turn
from zkchat_cli.errors import PromptTooLarge, StoreError
from zkchat_cli.llm.base import Options, Request
from zkchat_cli.llm.tasks import CollectedAnswer, collect
from zkchat_cli.models import Compaction, CompactionMode, ContextUsage, PromptMessage, TokenUsage, ZkChatMessage
from zkchat_cli.summarization.extractive import extract_summary
from zkchat_cli.summarization.prompt import (
    SummaryRequest,
    build_summary_request,
    count_request_overhead,
    fit_transcript,
    parse_summary,
)
from zkchat_cli.text.words import replace_surrogates

LEAST_ROOM = 150
"""Tokens of conversation in a request; fewer are not worth its instructions."""
WORTH_ASKING = 0.02
"""Share of the limit that must be folded before a model is called for an automatic summary."""
SMALLEST, LARGEST = 40, 3000
"""Tokens of a summary that a model is asked for."""
LONGEST_ANSWER = 8192
"""Output tokens that nearly all models allow; some servers refuse a call that asks for more."""
ANALYSIS_TOKENS = 1000
"""Tokens of an answer besides the summary: a model may think aloud first."""
JOINING = 0.97
"""Joined texts may have a few more tokens than their parts."""
MANUAL = "requested by you"


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """`target` tokens at most for the summary; the `keep` newest messages are not folded (None: the settings' number, as far as they fit).

    A `reason` makes it automatic: it may stop after masking, and may drop turns as a last resort. Without `ask` no model is called.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    ask: bool = True
    current: tuple[ZkChatMessage, ...] = ()
    """The turn in progress, which needs room too."""


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
        return _CompactionRun(self.services, self.state, self.prompts, runtime, request, timer).run()

    def run_if_enabled(self, turn: TurnInProgress, reason: str, *, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it. A compaction that cannot be stored is reported, and the turn continues."""
        if not turn.runtime.settings.context.auto_summarize:
            return
        request = CompactionRequest(reason, ask=ask, current=tuple(turn.messages))
        try:
            done = yield from self.run(turn.runtime, request, turn.timer)
        except StoreError as e:
            yield events.Notice(f"the conversation was not compacted: {e.message}", e.hint)
            return
        turn.compaction = done if done.mode != "none" else turn.compaction


@dataclass(frozen=True, slots=True)
class _ModelSummary:
    """The model's summary, or the `problem` with it, and the cost of its calls."""

    summary: str | None = None
    mode: CompactionMode = "full"
    calls: int = 0
    usage: TokenUsage | None = None
    problem: str | None = None


@dataclass
class _CompactionRun:
    """One compaction of a conversation; `run` may be called once."""

    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    runtime: Runtime
    request: CompactionRequest
    timer: PhaseTimer

    def run(self) -> Generator[events.Event, None, Compaction]:
        with self.timer("prepare"):
            masking = self._mask_oldest()
            suffices = masking is not None and bool(self.request.reason) and self._suffices(masking)
            fold = None if suffices else self._plan_fold(masking)
        if masking is None and fold is None:
            return self._unchanged
        yield events.CompactionStarted(self.request.reason or MANUAL)
        done = masking or self._unchanged
        if fold is not None:
            answer = (yield from self._ask_model(fold)) if self._may_ask(fold) else _ModelSummary()
            with self.timer("prepare"):
                done = self._fold(fold, masking, answer)
        if done.mode != "none":
            done = self._with_sent_tokens(done)
        if done.mode != "none" and not self.request.preview:
            with self.timer("store"):
                self.state.add_compaction(done)
        yield events.CompactionDone(done)
        return done

    # the conversation before

    @cached_property
    def _unchanged(self) -> Compaction:
        """A compaction that changes nothing."""
        tokens = self.prompts.uncompacted_tokens(self.runtime, self._previous, self._inputs)
        return Compaction(
            id=self.services.new_id(), created_at=self.services.now(), tokens_before=tokens, tokens_after=tokens, messages_folded=0,
            mode="none", instructions=self.request.instructions, preview=self.request.preview, made_after=self.state.head,
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
        """The other inputs of a prompt, looked up once for all compactions that are compared."""
        return self.prompts.inputs(self.runtime, (), self._previous)

    def _turns(self, compaction: Compaction | None) -> tuple[Turn, ...]:
        return self.prompts.masked_turns(self.runtime, compaction).sendable_turns()

    def _count_covered(self, turns: Sequence[Turn]) -> int:
        return count_covered_turns(self._previous, turns) if self._previous is not None and self._previous_summary else 0

    def _measured(self, **changes: object) -> Compaction | None:
        """A compaction with its figures; None when it would not make the prompt smaller."""
        compaction = self._unchanged.model_copy(update=changes)
        after = self.prompts.uncompacted_tokens(self.runtime, compaction, self._inputs)
        return compaction.model_copy(update={"tokens_after": after}) if after < compaction.tokens_before else None

    def _with_sent_tokens(self, done: Compaction) -> Compaction:
        """In a turn, the figures of the prompt that is then sent: with the turn's messages and what recall adds."""
        runtime, current = self.runtime, self.request.current
        if not current:
            return done
        inputs = self.prompts.inputs(runtime, current, done)
        with suppress(PromptTooLarge):
            before = self.prompts.uncompacted_tokens(runtime, self._previous, inputs)
            after = self.prompts.assemble(runtime, inputs).usage.total_tokens
            return done.model_copy(update={"tokens_before": before, "tokens_after": after})
        return done

    # masking

    def _mask_oldest(self) -> Compaction | None:
        """A compaction that only masks what is older than the newest messages, or if that does not suffice, all but the last turn. A
        repeated request, without new messages, masks nothing more."""
        previous, keep = self._previous, self.request.keep
        if not self.request.reason and previous is not None and previous.made_after == self.state.head:
            return None
        turns = self._turns(previous)
        recent = turns[self._count_covered(turns) :]
        last = max(0, len(recent) - 1)
        border = min(policy.first_kept_turn(recent, self.runtime.settings.context.recent_messages_to_keep if keep is None else keep), last)
        masking = self._mask(recent[:border])
        if self.request.reason and not (masking and self._suffices(masking)):
            masking = self._mask(recent[:last]) or masking
        return masking

    def _mask(self, turns: Sequence[Turn]) -> Compaction | None:
        ids = find_maskable(turns, self.runtime.counter)
        if not ids:
            return None
        previous = self._previous
        masked = previous.masked if previous is not None else ()
        summary = previous.model_dump(include={"summary", "summary_tokens", "quoted", "last_id"}) if previous is not None else {}
        measured = self._measured(mode="masked", masked=(*masked, *ids), results_masked=len(ids), **summary)
        return (
            measured.model_copy(update={"summary": None, "summary_tokens": 0, "quoted": (), "last_id": ids[-1]})
            if measured is not None
            else None
        )

    def _suffices(self, compaction: Compaction) -> bool:
        """Whether compaction will not be due again at once."""
        history = compaction.tokens_after - self.prompts.fixed_cost(self.runtime, ()).total_tokens
        return history <= policy.RELIEF * remaining_message_budget(self._fixed_cost)

    @cached_property
    def _fixed_cost(self) -> ContextUsage:
        """The prompt without any history, with the turn in progress if that fits."""
        with suppress(PromptTooLarge):
            return self.prompts.fixed_cost(self.runtime, self.request.current)
        return self.prompts.fixed_cost(self.runtime, ())

    # folding

    def _plan_fold(self, masking: Compaction | None) -> FoldPlan | None:
        turns = self._turns(masking or self._previous)
        covered = self._count_covered(turns)
        if self.request.keep is not None:
            return policy.plan_fold(turns, covered, self.request.keep)
        pinned = sum(turn.fixed_tokens for _, turn in self.state.turns(self.runtime.counter).turns_with_fixed())
        room = turn_budget_after_compaction(self._fixed_cost, self.runtime.largest_summary + pinned)
        return policy.plan_fold(turns, covered, self.runtime.settings.context.recent_messages_to_keep, budget=room)

    def _fold(self, fold: FoldPlan, masking: Compaction | None, answer: _ModelSummary) -> Compaction:
        """The compaction with the first summary that makes the prompt smaller, or else the masking alone."""
        cost = {"model_calls": answer.calls, "usage": answer.usage, "problem": answer.problem}
        base = masking or self._previous
        kept = {id_ for turn in self._turns(base)[len(fold.turns) :] for id_ in turn.ids}
        masked = tuple(id_ for id_ in base.masked if id_ in kept) if base is not None else ()
        new = set(masked) - set(self._previous.masked if self._previous is not None else ())
        fields = {"last_id": fold.last_id, "messages_folded": fold.messages_folded, "masked": masked, "results_masked": len(new)}
        for mode, summary, quoted in self._summaries(fold, answer):
            tokens = self.runtime.counter.count(summary)
            folded = self._measured(summary=summary, summary_tokens=tokens, quoted=quoted, mode=mode, **fields)
            if folded is not None:
                return folded.model_copy(update=cost)
            if summary is answer.summary:
                cost["problem"] = "it would not make the prompt smaller"
        return (masking or self._unchanged).model_copy(update=cost)

    def _summaries(self, fold: FoldPlan, answer: _ModelSummary) -> Iterator[tuple[CompactionMode, str, tuple[str, ...]]]:
        """Modes, summaries and the turns that these quote, the best first."""
        if answer.summary is not None:
            yield answer.mode, answer.summary, ()
        request, counter = self.request, self.runtime.counter
        extracted = extract_summary(fold, self._limit, counter, request.instructions, self._quoted_turns())
        if extracted is not None:
            yield "extractive", extracted.text, extracted.quoted
        if request.reason:
            yield "truncated", policy.truncation_notice(fold), ()

    def _quoted_turns(self) -> list[Turn]:
        """The turns that the last summary quotes, unless the user wants something else of this one."""
        if self.request.instructions or self.request.target is not None or not self._previous_summary:
            return []
        history = self.state.turns(self.runtime.counter)
        quoted = self._previous.quoted if self._previous is not None else ()
        return [history[count - 1] for id_ in quoted if (count := history.count_through(id_))]

    @property
    def _limit(self) -> int:
        """Tokens that the summary may take."""
        largest = self.runtime.largest_summary
        return largest if self.request.target is None else min(self.request.target, largest)

    # the model's summary

    def _may_ask(self, fold: FoldPlan) -> bool:
        if not (self.request.ask and self.runtime.can_summarize) or self._limit < SMALLEST:
            return False
        return not self.request.reason or fold.new_tokens >= WORTH_ASKING * self.runtime.budget.effective_limit

    def _ask_model(self, fold: FoldPlan) -> Generator[events.Event, None, _ModelSummary]:
        """The model's summary by the usual request, or if that fails by a simple one; the `problem` is that of the first."""
        usual = yield from self._request_summary(fold, "full")
        if usual.summary is not None or not usual.calls:
            return usual
        simple = yield from self._request_summary(fold, "simple")
        usage = sum_usage([usage for usage in (usual.usage, simple.usage) if usage is not None])
        return replace(simple, calls=usual.calls + simple.calls, usage=usage, problem=usual.problem)

    def _request_summary(self, fold: FoldPlan, mode: CompactionMode) -> Generator[events.Event, None, _ModelSummary]:
        """A summary of the turns that the earlier one does not cover, which is merged in."""
        runtime, counter = self.runtime, self.runtime.counter
        merged = self._previous_summary if len(fold.new) < len(fold.turns) else None
        usual = self._limit if self.request.target is not None else int(policy.USUAL_SIZE * runtime.budget.messages)
        size = min(self._limit, max(SMALLEST, min(LARGEST, usual)))
        request = SummaryRequest(size, merged, self.request.instructions, simple=mode == "simple")
        max_output = min(runtime.largest_summary + ANALYSIS_TOKENS, LONGEST_ANSWER, runtime.window.tokens // 3)
        room = min(runtime.budget.effective_limit, runtime.window.tokens - max_output)
        room = int(JOINING * (room - count_request_overhead(request, counter)) * (0.5 if request.simple else 1))
        if room < LEAST_ROOM:
            return _ModelSummary(mode=mode, problem="the model's window is too small for a summary")
        text = fit_transcript(fold.new, room, counter)
        if not text:
            return _ModelSummary(mode=mode)
        answer = yield from self._collect(build_summary_request(text, request, counter), max_output)
        replaced = fold.new_tokens + (self._previous.summary_tokens if self._previous is not None else 0)
        summary = parse_summary(answer.text)
        problem = answer.problem or policy.rejection_reason(summary, self._limit, replaced, counter)
        return _ModelSummary(None if problem else summary, mode, 1, answer.usage, problem)

    def _collect(self, messages: tuple[PromptMessage, ...], max_output: int) -> Generator[events.Event, None, CollectedAnswer]:
        """The model's answer with its usage, counted by zkchat if the provider does not report it."""
        runtime = self.runtime
        options = Options(max_output, temperature=0.0, reasoning_effort=runtime.options.light_effort)
        with closing(collect(runtime.model, Request(messages, options=options, window=runtime.window.tokens))) as stream:
            while True:
                with self.timer("model"):
                    try:
                        waiting = next(stream)
                    except StopIteration as end:
                        answer: CollectedAnswer = end.value
                        break
                yield events.Waiting(waiting.seconds, replace_surrogates(waiting.reason))
        counted = TokenUsage(prompt_tokens=sum(m.tokens for m in messages), completion_tokens=runtime.counter.count(answer.text))
        return answer if answer.usage is not None else replace(answer, usage=counted)
