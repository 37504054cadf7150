"""The compaction ladder: makes a conversation smaller by the cheapest means that do, and stores what it came to.

    mask        old results and documents lose their middles                 (context/masking.py)
    full        the model folds the oldest turns into its rolling summary    (context/summarising.py)
    simple      if it fails: one request more, with long items cut
    extractive  if it fails again, or cannot: sentences, word for word       (context/extractive.py)
    truncated   if there are none: the oldest turns go, and that is said

Each step is taken once, and a failure is followed by the next step; so the number of model calls is bounded. What still cannot be sent is
PromptTooLarge, which names the largest items (context/prompt.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property

from zkchat_cli import events
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress
from zkchat_cli.context import compaction_policy as decide
from zkchat_cli.context.budget import history_budget, turn_budget_after_compaction
from zkchat_cli.context.compaction_policy import FoldPlan
from zkchat_cli.context.prompt_assembly import PromptInputs, count_covered_turns
from zkchat_cli.context.tool_result_masking import find_maskable
from zkchat_cli.context.turns import Turn
from zkchat_cli.errors import PromptTooLarge, StoreError
from zkchat_cli.llm.base import Effort, Options, Request
from zkchat_cli.llm.tasks.complete import CollectedAnswer, collect
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
"""Requests for one summary; a conversation that would take more is summarised in simple mode."""
WORTH_ASKING = 0.02
"""Of the limit, what must be folded for a model to be asked when nobody wished for a summary."""
SMALLEST, LARGEST = 40, 3000
"""Tokens of a summary that a model is asked for."""
LONGEST_ANSWER = 8192
"""Tokens that nearly all models can answer in; some servers refuse a call that allows for more."""
_FOR_ANALYSIS = 1000
"""Tokens that an answer may take besides the largest summary: a model may think aloud before."""


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What is wanted of a compaction.

    `target` tokens at most for the summary; `keep` newest messages stay whole (None: as many of the settings' number as have room).
    A `reason` makes it automatic: it may stop at masking, and goes on to dropping turns. `fold`: whether it may do more than mask;
    `ask`: whether a model may be called for that.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    fold: bool = True
    ask: bool = True
    current: tuple[ZkChatMessage, ...] = ()
    """The turn in progress, which takes room too."""


def can_summarize(standing: ConversationState) -> bool:
    """Whether the model in use can summarise a conversation."""
    return standing.parts.summarizes(standing.parts.model.name)


def compact_if_due(
    standing: ConversationState, turn: TurnInProgress, reason: str, *, fold: bool = True, ask: bool = True
) -> Iterator[events.Event]:
    """Compact on the conversation's own account, where the settings allow that. What cannot be stored is told, and the turn goes on.

    A model is asked for a summary once a turn at most.
    """
    if not standing.parts.settings.context.auto_summarize:
        return
    asked = turn.compaction is not None and turn.compaction.model_calls > 0
    current = () if turn.closed else tuple(turn.messages)
    try:
        done = yield from Compactor(
            standing, CompactionRequest(reason, fold=fold, ask=ask and not asked, current=current), turn.timer
        ).climb()
    except StoreError as e:
        yield events.Notice(f"the conversation was not compacted: {e.message}", e.hint)
        return
    if done.mode != "none" or done.model_calls:
        turn.compaction = done


@dataclass(slots=True)
class _SummaryAttempt:
    """What the model was asked for one summary, and what came of it."""

    summary: str | None = None
    mode: CompactionMode = "full"
    calls: int = 0
    usage: TokenUsage | None = None
    problem: str | None = None

    @property
    def told(self) -> dict[str, object]:
        """What a compaction says of it."""
        return {"model_calls": self.calls, "usage": self.usage, "problem": self.problem}

    def add(self, usage: TokenUsage) -> None:
        before = self.usage or TokenUsage(prompt_tokens=0, completion_tokens=0, estimated=False)
        self.usage = TokenUsage(
            prompt_tokens=before.prompt_tokens + usage.prompt_tokens,
            completion_tokens=before.completion_tokens + usage.completion_tokens,
            estimated=usage.estimated or before.estimated,
        )


@dataclass
class Compactor:
    """One compaction of a conversation. `climb` may be used once."""

    standing: ConversationState
    wish: CompactionRequest = field(default_factory=CompactionRequest)
    timer: PhaseTimer = field(default_factory=lambda: PhaseTimer(lambda: 0.0))

    def climb(self) -> Generator[events.Event, None, Compaction]:
        """Yields that it has begun, that the model is waited for, and what was done, or nothing at all when there is nothing to do.

        Returns the compaction, stored unless it is a preview; its mode is "none" when nothing would be gained. Raises StoreError.
        """
        with self.timer("prepare"):
            done, fold = self._without_summary()
        if done is not None:
            yield events.CompactionStarted(self._why)
        elif fold is not None and self.wish.fold:
            yield events.CompactionStarted(self._why)
            attempt = (yield from self._by_model(fold)) if self._may_ask(fold) else _SummaryAttempt()
            with self.timer("prepare"):
                done = self._folded(fold, attempt)
        else:
            return self._before
        with self.timer("store"):
            if not self.wish.preview and (done.mode != "none" or done.model_calls):
                self.standing.take(done)
        yield events.CompactionDone(done)
        return done

    @property
    def _why(self) -> str:
        return self.wish.reason or "as you wish"

    def _without_summary(self) -> tuple[Compaction | None, FoldPlan | None]:
        """What masking does, if that is all there is to do; or else what to fold."""
        masked = self._by_masking
        if self.wish.reason and masked is not None and self._relieves(masked):
            return masked, None
        fold = self._plan()
        return (masked if fold is None and self.wish.fold else None), fold

    # what stands

    @cached_property
    def _before(self) -> Compaction:
        """A compaction that changes nothing."""
        standing = self.standing
        tokens = standing.whole(self._held, self._beside)
        newest = standing.history[-1].id if standing.history else None
        return Compaction(
            id=standing.parts.new_id(), created_at=standing.parts.now(), tokens_before=tokens, tokens_after=tokens, messages_folded=0,
            mode="none", instructions=self.wish.instructions, preview=self.wish.preview, made_after=newest,
        )  # fmt: skip

    @cached_property
    def _held(self) -> Compaction | None:
        return self.standing.compaction

    @cached_property
    def _earlier(self) -> str | None:
        """The summary that holds; one that is too large is from a larger window, and is made anew."""
        held = self._held
        return held.summary if held is not None and held.summary_tokens <= self.standing.largest_summary else None

    def _turns(self, compaction: Compaction | None) -> tuple[Turn, ...]:
        return self.standing.shown(compaction).sendable_turns()

    def _covered(self, turns: Sequence[Turn]) -> int:
        return count_covered_turns(self._held, turns) if self._held is not None and self._earlier else 0

    def _with(self, **changes: object) -> Compaction | None:
        """A compaction with its figures; None when it would not make the prompt smaller."""
        made = self._before.model_copy(update=changes)
        after = self.standing.whole(made, self._beside)
        return made.model_copy(update={"tokens_after": after}) if after < made.tokens_before else None

    # masking

    @cached_property
    def _by_masking(self) -> Compaction | None:
        """A compaction that only masks: what is older than the newest messages; if that does not do, all but the last turn; and only then
        what the user said is critical. Whoever wishes it again without news has had all that."""
        wished = self.wish.reason is None and self.wish.keep is None
        if wished and self._held is not None and self._held.made_after == self._before.made_after:
            return None
        turns = self._turns(self._held)
        recent = turns[self._covered(turns) :]
        keep = self.standing.parts.settings.context.recent_messages_to_keep if self.wish.keep is None else self.wish.keep
        found: Compaction | None = None
        last = len(recent) - 1
        for border, spare in ((min(decide.first_kept_turn(recent, keep), last), True), (last, True), (last, False)):
            made = self._masking(find_maskable(recent[: max(border, 0)], self.standing.parts.counter, spare_critical=spare))
            found = made or found
            if self.wish.keep is not None or (made is not None and self._relieves(made)):
                break
        return found

    def _masking(self, new: tuple[str, ...]) -> Compaction | None:
        held = self._held
        if not new:
            return None
        already = held.masked if held is not None else ()
        summary = {"summary": held.summary, "summary_tokens": held.summary_tokens, "last_id": held.last_id} if held is not None else {}
        measured = self._with(mode="masked", masked=(*already, *new), results_masked=len(new), **summary)
        if measured is None:
            return None
        return measured.model_copy(update={"summary": None, "summary_tokens": 0, "last_id": new[-1]})

    def _relieves(self, made: Compaction) -> bool:
        """Whether the conversation will not be due for compaction again at once."""
        always, budget = self._always, self.standing.budget
        room = min(history_budget(always, budget), budget.compaction_threshold - always.total_tokens)
        return made.tokens_after - self._bare.total_tokens <= decide.RELIEF * room

    @cached_property
    def _always(self) -> ContextUsage:
        """What is sent without any history, with the turn in progress if it has room at all."""
        try:
            return self.standing.always(self.wish.current) if self.wish.current else self._bare
        except PromptTooLarge:
            return self._bare

    @cached_property
    def _bare(self) -> ContextUsage:
        """What is sent without any history, and without a turn in progress."""
        return self.standing.always(())

    @cached_property
    def _beside(self) -> PromptInputs:
        """What stands in a prompt beside the history, looked up once for all compactions that are weighed."""
        return self.standing.material((), self._held)

    # folding

    @cached_property
    def _shown(self) -> tuple[Turn, ...]:
        """The turns to fold from, and how those that stay are shown."""
        return self._turns((self._by_masking if self.wish.reason else None) or self._held)

    def _plan(self) -> FoldPlan | None:
        turns = self._shown
        covered = self._covered(turns)
        if self.wish.keep is not None:
            return decide.plan_fold(turns, covered, self.wish.keep)
        fixed = sum(turn.fixed_tokens for _, turn in self.standing.turns.turns_with_fixed())
        room = turn_budget_after_compaction(self._always, self.standing.largest_summary + fixed, self.standing.budget)
        return decide.plan_fold(turns, covered, self.standing.parts.settings.context.recent_messages_to_keep, room=room)

    def _folded(self, fold: FoldPlan, attempt: _SummaryAttempt) -> Compaction:
        """The compaction with the first summary that makes the prompt smaller."""
        for mode, summary in self._summaries(fold, attempt):
            tokens = self.standing.parts.counter.count(summary)
            made = self._with(summary=summary, summary_tokens=tokens, mode=mode, **self._folding(fold))
            if made is not None:
                return made.model_copy(update=attempt.told)
            if summary is attempt.summary:
                attempt.problem = "it would not make the prompt smaller"
        rest = (self._by_masking if self.wish.reason else None) or self._before
        return rest.model_copy(update=attempt.told)

    def _folding(self, fold: FoldPlan) -> dict[str, object]:
        kept = {message.id for turn in self._shown[len(fold.turns) :] for message in turn.messages}
        source = (self._by_masking if self.wish.reason else None) or self._held
        masked = tuple(id_ for id_ in source.masked if id_ in kept) if source is not None else ()
        new = set(masked) - set(self._held.masked if self._held is not None else ())
        return {"last_id": fold.last_id, "messages_folded": fold.messages_folded, "masked": masked, "results_masked": len(new)}

    def _summaries(self, fold: FoldPlan, attempt: _SummaryAttempt) -> Iterator[tuple[CompactionMode, str]]:
        if attempt.summary is not None:
            yield attempt.mode, attempt.summary
        kept = self.standing.extraction if self.wish.target is None else None  # a summary of another size is chosen from all that was said
        earlier = self._held.summary if self._held is not None else None
        extracted = extract_summary(fold, self._limit, self.standing.parts.counter, self.wish.instructions, kept, earlier)
        if extracted is not None:
            yield "extractive", extracted
        if self.wish.reason:
            yield "truncated", decide.truncation_notice(fold)

    @property
    def _limit(self) -> int:
        largest = self.standing.largest_summary
        return largest if self.wish.target is None else min(self.wish.target, largest)

    # asking the model

    def _may_ask(self, fold: FoldPlan) -> bool:
        standing = self.standing
        if not (self.wish.ask and can_summarize(standing)) or self._limit < SMALLEST:
            return False
        if self.wish.reason and fold.new_tokens < WORTH_ASKING * standing.budget.effective_limit:
            return False
        return not decide.recently_failed(standing.compactions, standing.turns, automatic=bool(self.wish.reason))

    def _by_model(self, fold: FoldPlan) -> Generator[events.Event, None, _SummaryAttempt]:
        """A summary of the turns that are not in the earlier one, which is taken in: part by part, and if that fails in one go."""
        counter, attempt = self.standing.parts.counter, _SummaryAttempt()
        items = render_transcript(fold.new)
        replaced = fold.new_tokens + (self._held.summary_tokens if self._held is not None else 0)
        total = sum(counter.count(item) + 1 for item in items)
        summary = self._earlier if len(fold.new) < len(fold.turns) else None
        while items and attempt.problem is None:
            wanted = SummaryRequest(self._size, summary, self.wish.instructions)
            room = self._room(wanted)
            if room < MIN_PART_TOKENS or total > MOST_PARTS * room:
                attempt.problem = "the model's window is too small to summarise so much in parts"
                break
            part, rest = take_items(items, room, counter)
            made = yield from self._ask(build_summary_request(part, wanted, counter), attempt)
            if attempt.problem is None:
                attempt.problem = decide.rejection_reason(made, self.standing.largest_summary if rest else self._limit, replaced, counter)
            if attempt.problem is None:
                summary, items = made, rest
        if attempt.problem is None:
            attempt.summary = summary if attempt.calls else None
            return attempt
        problem, attempt.problem, attempt.mode = attempt.problem, None, "simple"
        wanted = SummaryRequest(self._size, summary, self.wish.instructions)
        room = min(self._room(wanted) // 2, total // 2)
        if room >= MIN_PART_TOKENS // 2:
            made = yield from self._ask(build_summary_request(shorten_items(items, room, counter), wanted, counter, simple=True), attempt)
            if attempt.problem is None and decide.rejection_reason(made, self._limit, replaced, counter) is None:
                attempt.summary = made
        attempt.problem = problem
        return attempt

    @property
    def _size(self) -> int:
        """Tokens of the summary that is asked for."""
        usual = max(SMALLEST, min(LARGEST, int(decide.USUAL_SIZE * self.standing.budget.messages)))
        return min(self._limit, usual) if self.wish.target is None else self._limit

    @property
    def _answer(self) -> int:
        """Tokens that an answer may take."""
        return min(self.standing.largest_summary + _FOR_ANALYSIS, LONGEST_ANSWER, self.standing.window.tokens // 3)

    def _room(self, wanted: SummaryRequest) -> int:
        """Tokens of conversation that a request may hold."""
        most = min(self.standing.budget.effective_limit, self.standing.window.tokens - self._answer)
        return int(
            0.97 * (most - count_request_overhead(wanted, self.standing.parts.counter))
        )  # texts that are joined may take a little more

    def _ask(self, messages: tuple[PromptMessage, ...], attempt: _SummaryAttempt) -> Generator[events.Event, None, str | None]:
        """One request; the summary in its answer."""
        parts = self.standing.parts
        effort: Effort | None = "low" if parts.options.reasoning_effort else None
        options = Options(self._answer, temperature=0.0, reasoning_effort=effort)
        attempt.calls += 1
        with closing(collect(parts.model, Request(messages, options=options, window=self.standing.window.tokens))) as stream:
            while True:
                with self.timer("model"):
                    try:
                        waiting = next(stream)
                    except StopIteration as end:
                        said: CollectedAnswer = end.value
                        break
                yield events.Waiting(waiting.seconds, replace_surrogates(waiting.reason))
        attempt.problem = said.problem
        counted = TokenUsage(prompt_tokens=sum(m.tokens for m in messages), completion_tokens=parts.counter.count(said.text))
        attempt.add(said.usage or counted)
        return parse_summary(said.text)
