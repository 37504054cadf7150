"""Asks a model for the summary of a compaction, and for one correction if its facts are wrong."""

from collections.abc import Generator
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.runtime import Runtime, SessionServices, prepare_model
from zkchat_cli.chat.turn import PhaseTimer
from zkchat_cli.context.budget import LIMIT_SHARE
from zkchat_cli.context.compaction_plan import USUAL_SUMMARY_SHARE, CompactionRequest, FoldPlan
from zkchat_cli.context.prompt_messages import SUMMARY_TAG, make_prompt_message
from zkchat_cli.llm.base import Options, Request, collect
from zkchat_cli.models.compaction import CompactionMode
from zkchat_cli.models.messages import TokenUsage, sum_usage
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.summarization import prompt, summary_check
from zkchat_cli.summarization.carried_statements import RequiredStatements, add_statements
from zkchat_cli.text.fences import fence

# Fewest tokens of conversation in a request; fewer are not worth its instructions
LEAST_ROOM = 150
# Smallest size of a summary that a model is told to write, in tokens
SMALLEST_SUMMARY = 40
LARGEST_SUMMARY = 3000
# Output tokens that nearly all models allow; some servers refuse a request for more
LONGEST_ANSWER = 8192
# Tokens of an answer in addition to the summary: a model may reason aloud first
ANALYSIS_TOKENS = 1000
# Share of the tokens to use, because joined texts may have slightly more tokens than their parts
JOINED_SHARE = 0.97
# Share of the usual text that a simple request sends
SIMPLE_SHARE = 0.5
# An answer may take the window divided by this
ANSWER_PART = 3


class SummaryReply(NamedTuple):
    """The summary in a model's answer, or what is wrong with it."""

    summary: str | None
    problem: str | None


class _AskedSummary(NamedTuple):
    """A reply, and the request that led to it."""

    reply: SummaryReply
    messages: tuple[PromptMessage, ...] = ()


class SummaryWriter:
    """Asks a model for a summary of at most `limit` tokens.

    It sends the usual request; if that fails, a simple one; then one correction if the facts of the
    summary are wrong. The model is the conversation's, or the one that `context.summary_model`
    names.
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
        # The cost of all calls so far
        self.usage: TokenUsage | None = None
        # Why the first requested summary was not used
        self.problem: str | None = None
        own = self.model.window
        of_conversation = runtime.window.tokens
        # Tokens that a request and its answer may take together: at most the conversation's window,
        # even if the model's is larger
        self._window = of_conversation if own is None else min(of_conversation, own.tokens)
        self._max_output = min(
            runtime.largest_summary + ANALYSIS_TOKENS,
            LONGEST_ANSWER,
            self._window // ANSWER_PART,
        )
        # Largest size of a request, in tokens
        self._room = min(int(LIMIT_SHARE * self._window), self._window - self._max_output)
        # Counts tokens as the model that writes the summary
        self._counter = runtime.counter
        if runtime.summarizer is not None and runtime.counter.problem is None:
            self._counter = runtime.counter.calibrated(
                services.store.prompts.calibration(self.model.name), exact=self.model.exact
            )

    def write(
        self, fold: FoldPlan, earlier: str | None, replaced: int, required: RequiredStatements
    ) -> Generator[events.Event, None, str | None]:
        """A summary of the `earlier` one and of the turns that it does not cover; None if there is
        a problem.

        It must have fewer tokens than what it `replaced`. If it has wrong facts or lacks new
        decisions, the model corrects it once, if there is room; then zkchat does.
        """
        if self._runtime.summarizer is not None:
            with self._timer("model"):
                prepare_model(self.model)
        asked = yield from self._ask(fold, earlier, replaced)
        self.problem = asked.reply.problem
        if asked.reply.summary is None and self.calls:
            self.mode = "simple"
            asked = yield from self._ask(fold, earlier, replaced)
        if asked.reply.summary is None:
            return None
        source = "\n".join(
            (
                summary_check.source_text(fold.new, earlier),
                required.text,
                self._request.instructions or "",
            )
        )
        summary = yield from self._correct(
            asked.reply.summary, asked.messages, source, required, replaced
        )
        # Together they are shorter than what they replace, as the summary alone is
        most = min(self._limit, replaced - 1)
        return add_statements(summary, required, most, self._runtime.counter) if summary else None

    def _correct(
        self,
        summary: str,
        messages: tuple[PromptMessage, ...],
        source: str,
        required: RequiredStatements,
        replaced: int,
    ) -> Generator[events.Event, None, str | None]:
        """The summary with correct facts, which are those of the `source`.

        The model corrects it once, if there is room, then zkchat does. None if the conversation
        contains nothing of what it states.
        """

        def check_facts(text: str) -> summary_check.SummaryCheck:
            return summary_check.check_summary(text, source, required.new, required.beside)

        check = check_facts(summary)
        if not check.problems:
            return summary
        answer = make_prompt_message(
            "assistant", "conversation", fence(SUMMARY_TAG, summary), self._counter
        )
        correction = make_prompt_message(
            "user", "conversation", summary_check.correction_request(check), self._counter
        )
        dialog = (*messages, answer, correction)
        if sum(message.tokens for message in dialog) <= self._room:
            second = (yield from self._call(dialog, replaced)).summary
            # One that corrects nothing may lack what the first one has
            if second and check_facts(second).problems < check.problems:
                summary = second
        repaired = summary_check.repair_summary(summary, source)
        self.problem = None
        if not repaired:
            self.problem = "the conversation has nothing of what the model's summary states"
        return repaired or None

    def _ask(
        self, fold: FoldPlan, earlier: str | None, replaced: int
    ) -> Generator[events.Event, None, _AskedSummary]:
        """Ask for a summary of the plan's new turns."""
        request = prompt.SummaryRequest(
            self._size(), earlier, self._request.instructions, simple=self.mode == "simple"
        )
        empty = prompt.build_summary_request("", request, self._counter)
        room = JOINED_SHARE * (self._room - sum(message.tokens for message in empty))
        if request.simple:
            room *= SIMPLE_SHARE
        text = ""
        if int(room) >= LEAST_ROOM:
            text = prompt.fit_transcript(fold.new, int(room), self._counter)
        if not text:
            return _AskedSummary(
                SummaryReply(None, "the model's window is too small for a summary")
            )
        messages = prompt.build_summary_request(text, request, self._counter)
        reply = yield from self._call(messages, replaced)
        return _AskedSummary(reply, messages)

    def _size(self) -> int:
        """The size of the summary that the model is told to write, in tokens."""
        usual = self._limit
        if self._request.target is None:
            usual = int(USUAL_SUMMARY_SHARE * self._runtime.budget.messages)
        return min(self._limit, max(SMALLEST_SUMMARY, min(LARGEST_SUMMARY, usual)))

    def _call(
        self, messages: tuple[PromptMessage, ...], replaced: int
    ) -> Generator[events.Event, None, SummaryReply]:
        """Call the model. Its summary must have fewer tokens than what it replaces."""
        options = Options(
            self._max_output, temperature=0.0, reasoning_effort=self._runtime.options.light_effort
        )
        with self._timer("model"):
            answer, reported, problem = yield from collect(
                self.model, Request(messages, options=options, window=self._window)
            )
        # zkchat's own count, if the provider does not report one
        counted = TokenUsage(
            prompt_tokens=sum(message.tokens for message in messages),
            completion_tokens=self._counter.count(answer),
        )
        self.calls += 1
        charged = (reported or counted).at_price(self._runtime.summary_price)
        self.usage = sum_usage((self.usage, charged))
        summary = prompt.parse_summary(answer)
        if problem:
            return SummaryReply(None, problem)
        if summary is None:
            return SummaryReply(None, "the model's answer has no summary")
        most = min(self._limit, replaced - 1)
        tokens = self._runtime.counter.count(summary)
        if tokens > most:
            problem = f"the model's summary has {tokens:,} tokens; at most {most:,} are allowed"
            return SummaryReply(None, problem)
        return SummaryReply(summary, None)
