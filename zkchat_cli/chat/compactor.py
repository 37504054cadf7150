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

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices, prepare_model
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer
from zkchat_cli.context.budget import (
    LIMIT_SHARE,
    history_budget,
    remaining_message_budget,
    turn_budget_after_compaction,
)
from zkchat_cli.context.compaction_plan import (
    MASKED_HISTORY_SHARE,
    USUAL_SUMMARY_SHARE,
    CompactionRequest,
    FoldPlan,
    first_kept_turn,
    plan_fold,
)
from zkchat_cli.context.masks import find_maskable
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.turns import SUMMARY_TAG, Turn, TurnHistory, fence, make_prompt_message
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.llm.base import Options, Request, collect
from zkchat_cli.models.compaction import Compaction, CompactionMode
from zkchat_cli.models.messages import TokenUsage, sum_usage
from zkchat_cli.models.prompts import ContextUsage, PromptMessage
from zkchat_cli.summarization import prompt, summary_check
from zkchat_cli.summarization.extractive import extract_summary

# Share of the limit that must be folded before a model is called for an automatic summary
LEAST_FOLDED_SHARE = 0.02
# Tokens of conversation in a request; fewer are not worth its instructions
LEAST_ROOM = 150
# Tokens of a summary that a model is asked for
SMALLEST_SUMMARY = 40
LARGEST_SUMMARY = 3000
# Output tokens that nearly all models allow; some servers refuse a call that asks for more
LONGEST_ANSWER = 8192
# Tokens of an answer besides the summary: a model may think aloud first
ANALYSIS_TOKENS = 1000
# Joined texts may have a few more tokens than their parts
JOINED_SHARE = 0.97


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
        """Compact the conversation and store that, unless it is a preview; the mode is "none" when
        nothing is gained. Raises StoreError.
        """
        request = self.request
        strategy = self.runtime.strategy
        preview = self.state.preview
        if not strategy.summarizes:
            problem = f"the strategy {strategy.name} sends no summaries; hybrid and summarize do"
            return self._unchanged.model_copy(update={"problem": problem})
        done: Compaction | None = None
        masking: Compaction | None = None
        fold: FoldPlan | None = None
        with self.timer("prepare"):
            # No model is called again for what was just shown
            if preview is not None and request.ask and preview.state == self._digest:
                new = {
                    "id": self.services.new_id(),
                    "created_at": self.services.now(),
                    "preview": request.preview,
                    "state": None,
                }
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
            inputs = self._inputs._replace(
                history=self.prompts.masked_turns(self.runtime, sent), compaction=sent
            )
            # The figure of the next call's prompt, with what recall adds
            with suppress(PromptTooLarge):
                done = done.model_copy(
                    update={
                        "tokens_after": self.prompts.assemble(
                            self.runtime, inputs
                        ).usage.total_tokens
                    }
                )
        if done.mode != "none" and not done.preview:
            with self.timer("store"):
                self.state.add_compaction(done)
        elif done.mode != "none" and done.model_calls:
            self.state.keep_preview(done.model_copy(update={"state": self._digest}))
        # Else whoever asked for it shows the result in full
        if request.reason is not None:
            yield events.CompactionDone(done)
        return done

    # what is compacted

    @cached_property
    def _digest(self) -> str:
        """A digest of all that the result depends on: the conversation, the request, the model and
        the settings.
        """
        request = self.request
        runtime = self.runtime
        counter = self.runtime.counter
        fixed = [
            id_
            for turn in self.state.turns(counter).all_turns
            for m in turn.fixed
            for id_ in m.source_ids
        ]
        made_from = (
            self.state.head,
            self._previous.id if self._previous else None,
            fixed,
            request.reason,
            request.instructions,
            request.target,
            request.keep,
            runtime.summary_model.name,
            runtime.window.tokens,
            runtime.strategy.name,
            counter.factor,
            counter.estimated,
            runtime.settings.context.model_dump_json(),
        )
        return blake2b(repr(made_from).encode(), digest_size=16).hexdigest()

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
        """The summary in use; one that is too large was made for a larger window, and is
        replaced.
        """
        previous = self._previous
        return (
            previous.summary
            if previous is not None and previous.summary_tokens <= self.runtime.largest_summary
            else None
        )

    @cached_property
    def _inputs(self) -> PromptInputs:
        """The other inputs of a prompt, with the turn in progress, looked up once for all
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
        return (
            compaction.model_copy(update={"tokens_after": after})
            if after < compaction.tokens_before
            else None
        )

    @cached_property
    def _fixed_cost(self) -> ContextUsage:
        """The prompt without any history, with the turn in progress if that fits."""
        without_history = self._inputs._replace(history=TurnHistory(), compaction=None)
        with suppress(PromptTooLarge):
            return self.prompts.assemble(self.runtime, without_history).usage
        return self.prompts.assemble(
            self.runtime, without_history._replace(current=(), contextual_memory=())
        ).usage

    # masking

    def _mask_oldest(self) -> Compaction | None:
        """A compaction that only masks what is older than the newest messages, or if that does not
        suffice, all but the last turn; in a tool loop also that. A repeated request, without new
        messages, masks nothing more.
        """
        request = self.request
        previous = self._previous
        if not request.reason and previous is not None and previous.made_after == self.state.head:
            return None
        history = self.prompts.masked_turns(self.runtime, previous)
        recent = history.turns[self._count_covered(history) :]
        last = max(0, len(recent) - 1)
        keep = (
            self.runtime.settings.context.recent_messages_to_keep
            if request.keep is None
            else request.keep
        )
        borders = [min(first_kept_turn(recent, keep), last)]
        if request.reason:
            borders.append(last)
            newest = sum(turn.foldable_tokens for turn in recent[last:])
            room = history_budget(self._fixed_cost, self.runtime.budget)
            # Else the last turn would be left out whole
            if len(request.current) > 1 or newest > room:
                borders.append(len(recent))
        masked = previous.masked if previous is not None else ()
        masking = None
        for border in borders:
            if ids := find_maskable(recent[:border], self.runtime.counter):
                figures = {"results_masked": len(ids), "last_id": ids[-1]}
                masking = (
                    self._measured(mode="masked", masked=(*masked, *ids), **figures) or masking
                )
            if masking is not None and self._suffices(masking):
                break
        return masking

    def _suffices(self, compaction: Compaction) -> bool:
        """Whether compaction will not be due again at once."""
        history = compaction.tokens_after - self._fixed_cost.total_tokens
        return history <= MASKED_HISTORY_SHARE * remaining_message_budget(
            self._fixed_cost, self.runtime.budget
        )

    # folding

    def _plan_fold(self, masking: Compaction | None) -> FoldPlan | None:
        history = self.prompts.masked_turns(self.runtime, masking or self._previous)
        turns = history.turns
        covered = self._count_covered(history)
        if self.request.keep is not None:
            return plan_fold(turns, covered, self.request.keep)
        cost = self._fixed_cost
        budget = self.runtime.budget
        fixed = history.fixed_tokens + sum(turn.fixed_tokens for turn in history.failed)
        other = self.runtime.largest_summary + fixed
        room = turn_budget_after_compaction(cost, budget, other)
        recent = self.runtime.settings.context.recent_messages_to_keep
        return plan_fold(
            turns, covered, recent, budget=room, largest=history_budget(cost, budget) - other
        )

    def _fold(
        self, fold: FoldPlan, masking: Compaction | None
    ) -> Generator[events.Event, None, Compaction]:
        """The compaction with the first summary that makes the prompt smaller, or else the masking
        alone.
        """
        previous = self._previous
        request = self.request
        largest = self.runtime.largest_summary
        limit = largest if request.target is None else min(request.target, largest)
        merged = self._previous_summary if len(fold.new) < len(fold.turns) else None
        replaced = fold.new_tokens + (previous.summary_tokens if previous is not None else 0)
        writer = SummaryWriter(self.services, self.runtime, self.timer, request, limit)
        few = (
            bool(request.reason)
            and fold.new_tokens < LEAST_FOLDED_SHARE * self.runtime.budget.effective_limit
        )
        written: str | None = None
        if request.ask and not few and writer.is_able:
            written = yield from writer.write(fold, merged, replaced)
        model = writer.model.name if writer.calls else None
        cost = {
            "model": model,
            "model_calls": writer.calls,
            "usage": writer.usage,
            "problem": writer.problem,
        }
        kept = {
            id_
            for turn in self.state.turns(self.runtime.counter).turns[len(fold.turns) :]
            for id_ in turn.ids
        }
        before = previous.masked if previous is not None else ()
        masked = tuple(
            id_ for id_ in (masking.masked if masking is not None else before) if id_ in kept
        )
        new = set(masked).difference(before)
        fields = {
            "last_id": fold.turns[-1].ids[-1],
            "messages_folded": sum(len(turn.ids) for turn in fold.new),
        }
        fields |= {"masked": masked, "results_masked": len(new)}
        with self.timer("prepare"):
            by_model = [(writer.mode, written, ())] if written is not None else []
            for mode, summary, quoted in chain(by_model, self._other_summaries(fold, limit)):
                tokens = self.runtime.counter.count(summary)
                folded = self._measured(
                    summary=summary, summary_tokens=tokens, quoted=quoted, mode=mode, **fields
                )
                if folded is not None:
                    return folded.model_copy(update=cost)
                if summary is written:
                    cost["problem"] = "it would not make the prompt smaller"
        return (masking or self._unchanged).model_copy(update=cost)

    def _other_summaries(
        self, fold: FoldPlan, limit: int
    ) -> Iterator[tuple[CompactionMode, str, tuple[str, ...]]]:
        """Modes, summaries without a model, and the turns that these quote, the best first."""
        request = self.request
        counter = self.runtime.counter
        quoted: list[Turn] = []
        if (
            self._previous is not None
            and self._previous_summary
            and not request.instructions
            and request.target is None
        ):
            ids = set(self._previous.quoted)
            quoted = [turn for turn in self.state.turns(counter).turns if turn.id in ids]
        extracted = extract_summary(fold, limit, counter, request.instructions, quoted)
        if extracted is not None:
            yield "extractive", extracted.text, extracted.quoted
        if request.reason:
            count = sum(len(turn.ids) for turn in fold.turns)
            yield (
                "truncated",
                f"[{count} earlier messages are left out here without a summary.]",
                (),
            )


class SummaryWriter:
    """Asks a model for a summary of at most `limit` tokens: the usual request; if that fails, a
    simple one; then one correction if its facts are wrong. The model is the conversation's, or the
    one that `context.summary_model` names.
    """

    def __init__(
        self,
        services: SessionServices,
        runtime: Runtime,
        timer: PhaseTimer,
        request: CompactionRequest,
        limit: int,
    ) -> None:
        self._runtime = runtime
        self._timer = timer
        self._request = request
        self._limit = limit
        self.model = runtime.summary_model
        self.is_able = self.model.summarizes and limit >= SMALLEST_SUMMARY
        self.mode: CompactionMode = "full"
        self.calls = 0
        self.usage: TokenUsage | None = None  # of all calls so far
        self.problem: str | None = None  # that of the first request
        own = self.model.window
        of_conversation = runtime.window.tokens
        self._window = of_conversation if own is None else min(of_conversation, own.tokens)
        """Tokens that a request and its answer may take: no more than the conversation's window,
        however large the model's is.
        """
        self._max_output = min(
            runtime.largest_summary + ANALYSIS_TOKENS, LONGEST_ANSWER, self._window // 3
        )
        # Tokens of a request
        self._room = min(int(LIMIT_SHARE * self._window), self._window - self._max_output)
        # Counts as the model that writes does
        self._counter = runtime.counter
        if runtime.summarizer is not None:
            self._counter = runtime.counter.calibrated(
                services.store.prompts.calibration(self.model.name), exact=self.model.exact
            )

    def write(
        self, fold: FoldPlan, earlier: str | None, replaced: int
    ) -> Generator[events.Event, None, str | None]:
        """A summary of the turns that the `earlier` one does not cover, which is merged in; None if
        there is a problem. It must have fewer tokens than what it `replaced`. If its facts are
        wrong, the model corrects them once, if there is room; then zkchat does.
        """
        if self._runtime.summarizer is not None:
            with self._timer("model"):
                prepare_model(self.model)
        summary, self.problem, messages = yield from self._ask(fold, earlier, replaced)
        if summary is None and self.calls:
            self.mode = "simple"
            summary, _, messages = yield from self._ask(fold, earlier, replaced)
        if summary is None:
            return None
        source = (
            f"{summary_check.source_text(fold.new, earlier)}\n{self._request.instructions or ''}"
        )
        decisions = summary_check.find_decisions(fold.new)
        check = summary_check.check_summary(summary, source, decisions)
        if not check.problems:
            return summary
        answer = make_prompt_message(
            "assistant", "conversation", fence(SUMMARY_TAG, summary), self._counter
        )
        correction = make_prompt_message(
            "user", "conversation", summary_check.correction_request(check), self._counter
        )
        if sum(m.tokens for m in (*messages, answer, correction)) <= self._room:
            second, _ = yield from self._call((*messages, answer, correction), replaced)
            if (
                second
                and summary_check.check_summary(second, source, decisions).problems
                <= check.problems
            ):
                summary = second
        repaired = summary_check.repair_summary(
            summary, source, decisions, self._limit, self._runtime.counter
        )
        self.problem = (
            None if repaired else "the conversation has nothing of what the model's summary states"
        )
        return repaired or None

    def _ask(
        self, fold: FoldPlan, earlier: str | None, replaced: int
    ) -> Generator[events.Event, None, tuple[str | None, str | None, tuple[PromptMessage, ...]]]:
        """The summary, or the problem with it, and the request for it."""
        usual = (
            self._limit
            if self._request.target is not None
            else int(USUAL_SUMMARY_SHARE * self._runtime.budget.messages)
        )
        size = min(self._limit, max(SMALLEST_SUMMARY, min(LARGEST_SUMMARY, usual)))
        request = prompt.SummaryRequest(
            size, earlier, self._request.instructions, simple=self.mode == "simple"
        )
        overhead = sum(
            message.tokens for message in prompt.build_summary_request("", request, self._counter)
        )
        room = int(JOINED_SHARE * (self._room - overhead) * (0.5 if request.simple else 1))
        text = prompt.fit_transcript(fold.new, room, self._counter) if room >= LEAST_ROOM else ""
        if not text:
            return None, "the model's window is too small for a summary", ()
        messages = prompt.build_summary_request(text, request, self._counter)
        summary, problem = yield from self._call(messages, replaced)
        return summary, problem, messages

    def _call(
        self, messages: tuple[PromptMessage, ...], replaced: int
    ) -> Generator[events.Event, None, tuple[str | None, str | None]]:
        """The summary in the model's answer, or the problem with it."""
        options = Options(
            self._max_output, temperature=0.0, reasoning_effort=self._runtime.options.light_effort
        )
        with self._timer("model"):
            answer, reported, problem = yield from collect(
                self.model, Request(messages, options=options, window=self._window)
            )
        # counted by zkchat if the provider does not report it
        counted = TokenUsage(
            prompt_tokens=sum(m.tokens for m in messages),
            completion_tokens=self._counter.count(answer),
        )
        self.calls += 1
        self.usage = sum_usage((self.usage, reported or counted))
        summary = prompt.parse_summary(answer)
        most = min(self._limit, replaced - 1)
        tokens = self._runtime.counter.count(summary or "")
        if not problem and summary is None:
            problem = "the model's answer has no summary"
        elif not problem and tokens > most:
            problem = f"the model's summary has {tokens:,} tokens; at most {most:,} are allowed"
        return None if problem else summary, problem
