"""Asks a model for the summary of older turns: the usual request; if that fails, a simple one; then one correction if its facts are wrong.

The model is the conversation's, or the one that `context.summary_model` names.
"""

from collections.abc import Generator
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.runtime import Runtime, SessionServices, prepare_model
from zkchat_cli.chat.turn import PhaseTimer
from zkchat_cli.context import compaction_policy as policy
from zkchat_cli.context.budget import LIMIT_SHARE
from zkchat_cli.context.compaction_policy import CompactionRequest, FoldPlan
from zkchat_cli.context.turns import SUMMARY_TAG, fence, make_prompt_message
from zkchat_cli.llm.base import Options, Request, collect
from zkchat_cli.models import CompactionMode, PromptMessage, TokenUsage, sum_usage
from zkchat_cli.summarization import prompt

LEAST_ROOM = 150
"""Tokens of conversation in a request; fewer are not worth its instructions."""
SMALLEST_SUMMARY, LARGEST_SUMMARY = 40, 3000
"""Tokens of a summary that a model is asked for."""
LONGEST_ANSWER = 8192
"""Output tokens that nearly all models allow; some servers refuse a call that asks for more."""
ANALYSIS_TOKENS = 1000
"""Tokens of an answer besides the summary: a model may think aloud first."""
JOINED_SHARE = 0.97
"""Joined texts may have a few more tokens than their parts."""


class ModelSummary(NamedTuple):
    """The model's summary, or the `problem` with it, and the cost of its calls."""

    summary: str | None = None
    mode: CompactionMode = "full"
    calls: int = 0
    usage: TokenUsage | None = None
    problem: str | None = None

    def after(self, earlier: "ModelSummary") -> "ModelSummary":
        """This result with the cost of earlier calls."""
        return self._replace(calls=earlier.calls + self.calls, usage=sum_usage((earlier.usage, self.usage)))


class SummaryWriter:
    """Writes summaries of at most `limit` tokens."""

    def __init__(self, services: SessionServices, runtime: Runtime, timer: PhaseTimer, request: CompactionRequest, limit: int) -> None:
        self._runtime, self._timer, self._request, self._limit = runtime, timer, request, limit
        self.model = runtime.summary_model.model
        self.is_able = runtime.summary_model.can_summarize and limit >= SMALLEST_SUMMARY
        own, of_conversation = self.model.window, runtime.window.tokens
        self._window = of_conversation if own is None else min(of_conversation, own.tokens)
        """Tokens that a request and its answer may take: no more than the conversation's window, however large the model's is."""
        self._max_output = min(runtime.largest_summary + ANALYSIS_TOKENS, LONGEST_ANSWER, self._window // 3)
        self._room = min(int(LIMIT_SHARE * self._window), self._window - self._max_output)
        """Tokens of a request."""
        self._counter = runtime.counter
        """Counts as the model that writes does."""
        if runtime.summarizer is not None:
            self._counter = runtime.counter.calibrated(services.store.calibration(self.model.name), exact=self.model.exact)

    def write(self, fold: FoldPlan, earlier: str | None, replaced: int) -> Generator[events.Event, None, ModelSummary]:
        """A summary of the turns that the `earlier` one does not cover, which is merged in. It must have fewer tokens than what it
        `replaced`. The `problem` is that of the first request. If its facts are wrong, the model corrects them once, if there is room; then
        zkchat does."""
        if self._runtime.summarizer is not None:
            with self._timer("model"):
                prepare_model(self.model)
        written, messages = yield from self._ask(fold, earlier, replaced, "full")
        if written.summary is None and written.calls:
            simple, messages = yield from self._ask(fold, earlier, replaced, "simple")
            written = simple.after(written)._replace(problem=written.problem)
        if (summary := written.summary) is None:
            return written
        source = f"{prompt.source_text(fold.new, earlier)}\n{self._request.instructions or ''}"
        decisions = prompt.find_decisions(fold.new)
        check = prompt.check_summary(summary, source, decisions)
        if not check.problems:
            return written
        answer = make_prompt_message("assistant", "conversation", fence(SUMMARY_TAG, summary), self._counter)
        correction = make_prompt_message("user", "conversation", prompt.correction_request(check), self._counter)
        if sum(m.tokens for m in (*messages, answer, correction)) <= self._room:
            second = yield from self._call((*messages, answer, correction), replaced, written.mode)
            if second.summary and prompt.check_summary(second.summary, source, decisions).problems <= check.problems:
                summary = second.summary
            written = second.after(written)
        repaired = prompt.repair_summary(summary, source, decisions, self._limit, self._runtime.counter)
        problem = None if repaired else "the conversation has nothing of what the model's summary states"
        return written._replace(summary=repaired or None, problem=problem)

    def _ask(
        self, fold: FoldPlan, earlier: str | None, replaced: int, mode: CompactionMode
    ) -> Generator[events.Event, None, tuple[ModelSummary, tuple[PromptMessage, ...]]]:
        """The result of a request, and its messages."""
        usual = self._limit if self._request.target is not None else int(policy.USUAL_SUMMARY_SHARE * self._runtime.budget.messages)
        size = min(self._limit, max(SMALLEST_SUMMARY, min(LARGEST_SUMMARY, usual)))
        request = prompt.SummaryRequest(size, earlier, self._request.instructions, simple=mode == "simple")
        overhead = sum(message.tokens for message in prompt.build_summary_request("", request, self._counter))
        room = int(JOINED_SHARE * (self._room - overhead) * (0.5 if request.simple else 1))
        if room < LEAST_ROOM:
            return ModelSummary(mode=mode, problem="the model's window is too small for a summary"), ()
        text = prompt.fit_transcript(fold.new, room, self._counter)
        if not text:
            return ModelSummary(mode=mode), ()
        messages = prompt.build_summary_request(text, request, self._counter)
        return (yield from self._call(messages, replaced, mode)), messages

    def _call(
        self, messages: tuple[PromptMessage, ...], replaced: int, mode: CompactionMode
    ) -> Generator[events.Event, None, ModelSummary]:
        options = Options(self._max_output, temperature=0.0, reasoning_effort=self._runtime.options.light_effort)
        with self._timer("model"):
            answer, reported, problem = yield from collect(self.model, Request(messages, options=options, window=self._window))
        # counted by zkchat if the provider does not report it
        counted = TokenUsage(prompt_tokens=sum(m.tokens for m in messages), completion_tokens=self._counter.count(answer))
        summary = prompt.parse_summary(answer)
        tokens = self._runtime.counter.count(summary or "")
        if not problem and summary is None:
            problem = "the model's answer has no summary"
        elif not problem and tokens > self._limit:
            problem = f"the model's summary has {tokens:,} tokens; at most {self._limit:,} are allowed"
        elif not problem and tokens >= replaced:
            problem = f"the model's summary has {tokens:,} tokens and would replace {replaced:,}"
        return ModelSummary(None if problem else summary, mode, 1, reported or counted, problem)
