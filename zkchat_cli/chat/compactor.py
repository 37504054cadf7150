"""Makes a conversation smaller by the cheapest step that suffices, and stores the resulting compaction.

    mask        old tool results and documents lose their middles             (context/tool_result_masking.py)
    full        the model folds the oldest turns into its rolling summary     (summarization/prompt.py)
    simple      if that fails: one more request, with long items shortened
    extractive  if that fails too, or no model can: sentences, word for word  (summarization/extractive)
    truncated   if there are none: the oldest turns are dropped, with a notice

Each step is tried once, and a failure leads to the next one, so the number of model calls is bounded. A prompt that is still too large
raises PromptTooLarge, which names the largest items (context/prompt_assembly.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress, sum_usage
from zkchat_cli.context import compaction_policy as policy
from zkchat_cli.context.budget import history_budget, turn_budget_after_compaction
from zkchat_cli.context.compaction_policy import FoldPlan
from zkchat_cli.context.prompt_assembly import PromptInputs, count_covered_turns
from zkchat_cli.context.tool_result_masking import find_maskable
from zkchat_cli.context.turns import Turn
from zkchat_cli.errors import PromptTooLarge, StoreError
from zkchat_cli.llm.base import Effort, Options, Request
from zkchat_cli.llm.tasks import CollectedAnswer, collect
from zkchat_cli.models import Compaction, CompactionMode, ContextUsage, PromptMessage, TokenUsage, ZkChatMessage
from zkchat_cli.summarization.extractive.summarizer import extract_summary
from zkchat_cli.summarization.prompt import (
    MIN_PART_TOKENS,
    SummaryRequest,
    build_summary_request,
    count_request_overhead,
    parse_summary,
    render_transcript,
    shorten_items,
    take_items,
)
from zkchat_cli.text.words import replace_surrogates

MOST_PARTS = 40
"""Requests for one summary; a conversation that would need more is summarized in simple mode."""
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

    A `reason` makes it automatic: it may stop after masking, and may drop turns as a last resort. Without `fold` it only masks; without
    `ask` no model is called.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    fold: bool = True
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

    def run_if_enabled(self, turn: TurnInProgress, reason: str, *, fold: bool = True, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, where the settings allow that. What cannot be stored is reported, and the turn goes on.

        The model is asked for at most one summary per turn.
        """
        if not turn.runtime.settings.context.auto_summarize:
            return
        asked = turn.compaction is not None and turn.compaction.model_calls > 0
        current = () if turn.closed else tuple(turn.messages)
        request = CompactionRequest(reason, fold=fold, ask=ask and not asked, current=current)
        try:
            done = yield from self.run(turn.runtime, request, turn.timer)
        except StoreError as e:
            yield events.Notice(f"the conversation was not compacted: {e.message}", e.hint)
            return
        if done.mode != "none" or done.model_calls:
            turn.compaction = done


@dataclass(slots=True)
class _SummaryAttempt:
    """The model calls for one summary, and their result."""

    summary: str | None = None
    mode: CompactionMode = "full"
    calls: int = 0
    usage: TokenUsage | None = None
    problem: str | None = None

    @property
    def compaction_fields(self) -> dict[str, object]:
        return {"model_calls": self.calls, "usage": self.usage, "problem": self.problem}


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
            done = self._mask_or_plan()
        if done is None:
            return self._unchanged
        yield events.CompactionStarted(self.request.reason or MANUAL)
        if isinstance(done, FoldPlan):
            attempt = (yield from self._summarize_by_model(done)) if self._may_ask(done) else _SummaryAttempt()
            with self.timer("prepare"):
                done = self._fold(done, attempt)
        with self.timer("store"):
            if not self.request.preview and (done.mode != "none" or done.model_calls):
                self.state.add_compaction(done)
        yield events.CompactionDone(done)
        return done

    def _mask_or_plan(self) -> Compaction | FoldPlan | None:
        """The masking, if that suffices or nothing can be folded; or else the turns to fold."""
        masking = self._masking
        if self.request.reason and masking is not None and self._suffices(masking):
            return masking
        return (self._plan_fold() or masking) if self.request.fold else None

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

    # masking

    @cached_property
    def _masking(self) -> Compaction | None:
        """A compaction that only masks: what is older than the newest messages; if that does not suffice, all but the last turn. A repeated
        request, without new messages, changes nothing."""
        keep, previous = self.request.keep, self._previous
        repeated = previous is not None and previous.made_after == self.state.head
        if self.request.reason is None and keep is None and repeated:
            return None
        turns = self._turns(previous)
        recent = turns[self._count_covered(turns) :]
        kept = self.runtime.settings.context.recent_messages_to_keep if keep is None else keep
        best: Compaction | None = None
        last = len(recent) - 1
        for border in (min(policy.first_kept_turn(recent, kept), last), last):
            masking = self._mask(find_maskable(recent[: max(border, 0)], self.runtime.counter))
            best = masking or best
            if keep is not None or (masking is not None and self._suffices(masking)):
                break
        return best

    def _mask(self, ids: tuple[str, ...]) -> Compaction | None:
        if not ids:
            return None
        previous = self._previous
        masked = previous.masked if previous is not None else ()
        summary = previous.model_dump(include={"summary", "summary_tokens", "last_id"}) if previous is not None else {}
        measured = self._measured(mode="masked", masked=(*masked, *ids), results_masked=len(ids), **summary)
        if measured is None:
            return None
        return measured.model_copy(update={"summary": None, "summary_tokens": 0, "last_id": ids[-1]})

    def _suffices(self, compaction: Compaction) -> bool:
        """Whether compaction will not be due again at once."""
        fixed, budget = self._fixed_cost, self.runtime.budget
        room = min(history_budget(fixed, budget), budget.compaction_threshold - fixed.total_tokens)
        return compaction.tokens_after - self._fixed_cost_without_turn.total_tokens <= policy.RELIEF * room

    @cached_property
    def _fixed_cost(self) -> ContextUsage:
        """The prompt without any history, with the turn in progress if that fits."""
        try:
            return self.prompts.fixed_cost(self.runtime, self.request.current) if self.request.current else self._fixed_cost_without_turn
        except PromptTooLarge:
            return self._fixed_cost_without_turn

    @cached_property
    def _fixed_cost_without_turn(self) -> ContextUsage:
        return self.prompts.fixed_cost(self.runtime, ())

    # folding

    @cached_property
    def _base(self) -> Compaction | None:
        """The compaction that folding starts from: an automatic one masks first."""
        return (self._masking if self.request.reason else None) or self._previous

    def _plan_fold(self) -> FoldPlan | None:
        turns = self._turns(self._base)
        covered = self._count_covered(turns)
        if self.request.keep is not None:
            return policy.plan_fold(turns, covered, self.request.keep)
        pinned = sum(turn.fixed_tokens for _, turn in self.state.turns(self.runtime.counter).turns_with_fixed())
        room = turn_budget_after_compaction(self._fixed_cost, self.runtime.largest_summary + pinned, self.runtime.budget)
        return policy.plan_fold(turns, covered, self.runtime.settings.context.recent_messages_to_keep, budget=room)

    def _fold(self, fold: FoldPlan, attempt: _SummaryAttempt) -> Compaction:
        """The compaction with the first summary that makes the prompt smaller."""
        for mode, summary in self._summaries(fold, attempt):
            tokens = self.runtime.counter.count(summary)
            folded = self._measured(summary=summary, summary_tokens=tokens, mode=mode, **self._fold_fields(fold))
            if folded is not None:
                return folded.model_copy(update=attempt.compaction_fields)
            if summary is attempt.summary:
                attempt.problem = "it would not make the prompt smaller"
        rest = (self._masking if self.request.reason else None) or self._unchanged
        return rest.model_copy(update=attempt.compaction_fields)

    def _fold_fields(self, fold: FoldPlan) -> dict[str, object]:
        kept = {message.id for turn in self._turns(self._base)[len(fold.turns) :] for message in turn.messages}
        masked = tuple(id_ for id_ in self._base.masked if id_ in kept) if self._base is not None else ()
        new = set(masked) - set(self._previous.masked if self._previous is not None else ())
        return {"last_id": fold.last_id, "messages_folded": fold.messages_folded, "masked": masked, "results_masked": len(new)}

    def _summaries(self, fold: FoldPlan, attempt: _SummaryAttempt) -> Iterator[tuple[CompactionMode, str]]:
        if attempt.summary is not None:
            yield attempt.mode, attempt.summary
        known = self.state.extraction if self.request.target is None else None  # a summary of another size is chosen from all turns
        earlier = self._previous.summary if self._previous is not None else None
        extracted = extract_summary(fold, self._limit, self.runtime.counter, self.request.instructions, known, earlier)
        if extracted is not None:
            yield "extractive", extracted
        if self.request.reason:
            yield "truncated", policy.truncation_notice(fold)

    @property
    def _limit(self) -> int:
        """Tokens that the summary may take."""
        largest = self.runtime.largest_summary
        return largest if self.request.target is None else min(self.request.target, largest)

    # the model's summary

    def _may_ask(self, fold: FoldPlan) -> bool:
        if not (self.request.ask and self.runtime.can_summarize) or self._limit < SMALLEST:
            return False
        if self.request.reason and fold.new_tokens < WORTH_ASKING * self.runtime.budget.effective_limit:
            return False
        turns = self.state.turns(self.runtime.counter)
        return not policy.recently_failed(self.state.compactions, turns, automatic=bool(self.request.reason))

    def _summarize_by_model(self, fold: FoldPlan) -> Generator[events.Event, None, _SummaryAttempt]:
        """A summary of the turns that the earlier one does not cover, which is merged in: part by part, or if that fails in one request."""
        counter, attempt = self.runtime.counter, _SummaryAttempt()
        items = render_transcript(fold.new)
        replaced = fold.new_tokens + (self._previous.summary_tokens if self._previous is not None else 0)
        total = sum(counter.count(item) + 1 for item in items)
        summary = self._previous_summary if len(fold.new) < len(fold.turns) else None
        while items and attempt.problem is None:
            request = SummaryRequest(self._requested_size, summary, self.request.instructions)
            room = self._transcript_room(request)
            if room < MIN_PART_TOKENS or total > MOST_PARTS * room:
                attempt.problem = "the model's window is too small to summarize this much in parts"
                break
            part, rest = take_items(items, room, counter)
            reply = yield from self._ask(build_summary_request(part, request, counter), attempt)
            if attempt.problem is None:
                limit = self.runtime.largest_summary if rest else self._limit
                attempt.problem = policy.rejection_reason(reply, limit, replaced, counter)
            if attempt.problem is None:
                summary, items = reply, rest
        if attempt.problem is None:
            attempt.summary = summary if attempt.calls else None
            return attempt
        problem, attempt.problem, attempt.mode = attempt.problem, None, "simple"
        request = SummaryRequest(self._requested_size, summary, self.request.instructions)
        room = min(self._transcript_room(request) // 2, total // 2)
        if room >= MIN_PART_TOKENS // 2:
            short = build_summary_request(shorten_items(items, room, counter), request, counter, simple=True)
            reply = yield from self._ask(short, attempt)
            if attempt.problem is None and policy.rejection_reason(reply, self._limit, replaced, counter) is None:
                attempt.summary = reply
        attempt.problem = problem
        return attempt

    @property
    def _requested_size(self) -> int:
        """Tokens of the summary that the model is asked for."""
        usual = max(SMALLEST, min(LARGEST, int(policy.USUAL_SIZE * self.runtime.budget.messages)))
        return min(self._limit, usual) if self.request.target is None else self._limit

    @property
    def _max_output(self) -> int:
        return min(self.runtime.largest_summary + ANALYSIS_TOKENS, LONGEST_ANSWER, self.runtime.window.tokens // 3)

    def _transcript_room(self, request: SummaryRequest) -> int:
        """Tokens of conversation that one request may hold."""
        most = min(self.runtime.budget.effective_limit, self.runtime.window.tokens - self._max_output)
        return int(JOINING * (most - count_request_overhead(request, self.runtime.counter)))

    def _ask(self, messages: tuple[PromptMessage, ...], attempt: _SummaryAttempt) -> Generator[events.Event, None, str | None]:
        """One request to the model; returns the summary in its answer."""
        runtime = self.runtime
        effort: Effort | None = "low" if runtime.options.reasoning_effort else None
        options = Options(self._max_output, temperature=0.0, reasoning_effort=effort)
        attempt.calls += 1
        with closing(collect(runtime.model, Request(messages, options=options, window=runtime.window.tokens))) as stream:
            while True:
                with self.timer("model"):
                    try:
                        waiting = next(stream)
                    except StopIteration as end:
                        answer: CollectedAnswer = end.value
                        break
                yield events.Waiting(waiting.seconds, replace_surrogates(waiting.reason))
        attempt.problem = answer.problem
        counted = TokenUsage(prompt_tokens=sum(m.tokens for m in messages), completion_tokens=runtime.counter.count(answer.text))
        attempt.usage = sum_usage([usage for usage in (attempt.usage, answer.usage or counted) if usage is not None])
        return parse_summary(answer.text)
