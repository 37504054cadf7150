"""Runs the model and its tools in a loop: call the model, run the tools that it calls (tool_executor.py), call it again with the
results, until it answers.

The prompt is built within budget before each call. Whatever a model does (unknown tools, arguments that are not JSON, endless tool
calls), the turn's messages stay well-formed: each tool call is followed by its result.
"""

import json
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from zkchat_cli import events
from zkchat_cli.chat.compactor import Compactor
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.tool_executor import MIN_TOOL_TOKENS, ToolCallRunner
from zkchat_cli.chat.turn import TurnInProgress, TurnRecorder, storable_call, storable_thinking, stored_message
from zkchat_cli.citations.marks import CitationMark, CitationMarkParser
from zkchat_cli.context.compaction_policy import CompactionRequest
from zkchat_cli.context.prompt_assembly import advise_on_size
from zkchat_cli.errors import PromptTooLarge, ProviderError, ProviderErrorKind, StoreError
from zkchat_cli.llm.base import (
    Model,
    Request,
    StreamFailed,
    StreamFinished,
    Window,
)
from zkchat_cli.models import FinishReason, Prompt, RetrievalMode, SentPrompt, ToolCall, sum_usage
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import CountedPrompt, learn_calibration

_log = logging.getLogger(__name__)
RETRY_SHARE = 0.7
"""Share of a prompt refused as too long that is sent the second time, where the server does not tell its limit."""
MOST_REFUSED = 1
"""Replies with calls after the last round of tools, each of which is told to answer, before the turn fails."""
ANSWERABLE_REFUSALS = ("context_length", "no_tools")
"""Refusals after which another prompt may be accepted."""
MIN_CUT = 2000
"""Tokens of a prompt, without its tools, that every server has room for."""
MOST_LEFT = 0.5
"""Share of the tokens by our count below which a prompt was cut: no model's tokens are twice as long as those that we count."""
MAX_COUNTS = 6
"""How often a prompt that its server counts as too long is made smaller: another selection may have other languages."""
DecideDocuments = Callable[[RetrievalMode | None], Sequence[events.Notice]]
"""Decides again who searches the notes for the question (None: as was asked for), and which documents fit."""


@dataclass
class TurnRunner:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    recorder: TurnRecorder
    turn: TurnInProgress
    decide_documents: DecideDocuments
    retrieval: RetrievalMode | None = None
    """Who searches the notes after the server has refused tools."""
    answered_refusals: set[ProviderErrorKind] = field(default_factory=set)
    """Refusals that were answered by another call; none is twice."""

    def __post_init__(self) -> None:
        self._tool_calls = ToolCallRunner(self.services, self.state, self.prompts, self.turn)

    def run(self) -> Generator[events.Event, None, FinishReason]:
        """Yields events; returns why the answer ended, and leaves it in `turn.text`. Raises the ProviderError of a call that failed, and
        PromptTooLarge if the message itself is too large.

        The model gets no more tools after `llm.max_tool_rounds` rounds, or when results have filled the window, and is told so."""
        turn, rounds, refused = self.turn, 0, 0
        most = turn.runtime.settings.llm.max_tool_rounds
        while True:
            calls, finish = yield from self._call()
            if not calls:
                break
            if not turn.no_more_tools:
                room = yield from self._tool_calls.run(calls)
                rounds += 1
                if room < MIN_TOOL_TOKENS:
                    turn.no_more_tools = f"tool results have filled the window of {turn.runtime.window.tokens:,} tokens"
                elif rounds >= most:
                    turn.no_more_tools = f"llm.max_tool_rounds is {most}"
                continue
            refused += 1
            if refused > MOST_REFUSED:
                raise self._no_answer_error(finish)
            self._tool_calls.refuse(calls, f"no more tools in this turn: {turn.no_more_tools}. Answer now with what you have found")
        if not turn.text.strip():
            raise self._no_answer_error(finish)
        return finish

    def _no_answer_error(self, finish: FinishReason) -> ProviderError:
        name, reason = self.turn.runtime.model.name, self.turn.no_more_tools
        if reason:
            hint = "Ask for less at a time, or raise that limit in the settings."
            return ProviderError("empty", f"{name} never answered: {reason}", hint)
        if finish == "content_filter":
            return ProviderError("content_filter", f"{name}: a content filter blocked the answer", "Ask it differently.")
        if finish == "length":
            hint = "Raise llm.max_output_tokens, or lower llm.reasoning_effort."
            return ProviderError("empty", f"{name} reached its length limit before it answered", hint)
        return ProviderError("empty", f"{name} sent an empty answer", "Try again, or ask in other words.")

    def _call(self) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """One model call. If the server refuses the prompt as too long, or for its tools, another one that is decided anew."""
        turn, before = self.turn, self.turn.runtime
        refused: ProviderError | None = None
        while True:
            try:
                if refused is not None:
                    yield from self._answer_refusal(refused)
                prompt = yield from self._fitting_prompt()
            except PromptTooLarge as e:
                turn.runtime = before  # a guess that leaves no room would end every further turn, too
                if refused is not None:
                    raise self._too_long(refused) from e
                if len(turn.messages) == 1:
                    raise
                problem = f"{turn.runtime.model.name} called more tools than its window has room for: {e.message}"
                raise ProviderError("bad_answer", problem, "Ask it differently, or raise context.max_tokens.") from e
            try:
                return (yield from self._call_model(prompt))
            except ProviderError as e:
                if turn.text or e.kind not in ANSWERABLE_REFUSALS or (e.kind == "no_tools" and len(turn.messages) > 1):
                    raise
                if e.kind in self.answered_refusals:
                    raise (self._too_long(e) if e.kind == "context_length" else e) from None
                self.answered_refusals.add(e.kind)
                refused = e

    def _fitting_prompt(self) -> Generator[events.Event, None, Prompt]:
        """The prompt of the next call; the conversation is compacted before, if that is due. Raises PromptTooLarge."""
        turn, ask = self.turn, not self.answered_refusals  # a model that has just refused a prompt is not asked for a summary
        for _ in range(MAX_COUNTS):
            prompt = self._build_prompt()
            if (due := prompt.usage.compaction).due:
                yield from self._compact(due.reason or "", ask=ask)
                prompt = self._build_prompt()
            counted, ask = _count_by_server(turn, prompt), False
            if counted is None or counted <= prompt.usage.effective_limit:
                return prompt
            _learn_count(turn, prompt, counted)
            if len(turn.messages) == 1:
                yield from self.decide_documents(self.retrieval)
        problem = f"the prompt needs {counted:,} tokens, and its limit is {prompt.usage.effective_limit:,}"
        raise PromptTooLarge(problem, self._advise(prompt))

    def _compact(self, reason: str, *, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it and the store can be written. A problem is reported, and the turn continues."""
        turn = self.turn
        if not turn.runtime.settings.context.auto_summarize or self.recorder.problem is not None:
            return
        request = CompactionRequest(reason, ask=ask, current=turn.sent_messages, offer_tools=not turn.no_more_tools)
        try:
            done = yield from Compactor(self.services, self.state, self.prompts, turn.runtime, request, turn.timer).run()
        except StoreError as e:
            yield from self.recorder.report_problem(e)
            return
        turn.usage = sum_usage((turn.usage, done.usage))
        turn.compaction = done if done.mode != "none" else turn.compaction

    def _build_prompt(self) -> Prompt:
        """Raises PromptTooLarge, if the turn does not fit without the middles of its earlier results either."""
        turn, sent = self.turn, self.turn.sent_messages
        with turn.timer("prepare"):
            try:
                turn.prompt = self.prompts.build(turn.runtime, sent, offer_tools=not turn.no_more_tools)
            except PromptTooLarge:
                self._tool_calls.shorten_results(len(turn.messages), 0, 1)
                if turn.sent_messages == sent:
                    raise
                turn.prompt = self.prompts.build(turn.runtime, turn.sent_messages, offer_tools=not turn.no_more_tools)
        return turn.prompt

    def _advise(self, prompt: Prompt) -> str:
        return advise_on_size(prompt.messages, prompt.usage.tool_tokens, self.turn.user.id)

    def _too_long(self, refused: ProviderError) -> ProviderError:
        """The refusal with what is largest in the refused prompt."""
        assert self.turn.prompt is not None
        return ProviderError("context_length", refused.message, self._advise(self.turn.prompt))

    def _answer_refusal(self, refused: ProviderError) -> Iterator[events.Event]:
        """Search the notes for a model that takes no tools. For one with a smaller window, assume the window that the server tells, or one
        smaller than the refused prompt, and compact without asking the model, which has just refused to read so much."""
        from zkchat_cli.llm.http_client import parse_context_limit, parse_refused_tokens  # the server's answer has loaded it

        turn = self.turn
        turn.sent.pop()
        if refused.kind == "no_tools":
            yield events.Notice(refused.message, refused.hint)
            self.retrieval = "before"
            yield from self.decide_documents(self.retrieval)
            return
        assert turn.prompt is not None
        used, usage = turn.runtime.window.tokens, turn.prompt.usage
        limit, counted = parse_context_limit(refused.message), parse_refused_tokens(refused.message)
        if counted is not None:
            _learn_count(turn, turn.prompt, counted)
        if limit is None or limit > used or (limit == used and counted is None):
            limit = int(RETRY_SHARE * usage.total_tokens / usage.effective_limit * used)
        turn.runtime = replace(turn.runtime, rejected_window=Window(limit, "a refusal of the server"))
        if len(turn.messages) == 1:
            yield from self.decide_documents(self.retrieval)
        yield from self._compact(refused.message, ask=False)

    def _call_model(self, prompt: Prompt) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
        runtime, turn = self.turn.runtime, self.turn
        name, usage = runtime.model.name, prompt.usage
        _log.info("asking %s: %d messages, %d tools, %d tokens", name, len(prompt.messages), len(prompt.tools), usage.total_tokens)
        request = Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens)
        yield from (events.Notice(*each) for each in self.prompts.memory(runtime).pop_notices())
        yield events.PromptBuilt(usage, runtime.speaker_label)
        reader = CitationMarkParser()
        self.prompts.remember_tools(turn.user.id, prompt)
        if runtime.settings.references.enabled:
            self.prompts.summaries.prefetch(chunk.relative_path for chunk in turn.chunks)  # the answer's references have them
        stored = prompt.model_copy(update={"messages": tuple(map(stored_message, prompt.messages))})
        turn.sent.append(SentPrompt(question_id=turn.user.id, call=len(turn.sent) + 1, model=name, prompt=stored))
        with closing(runtime.model.stream(request)) as stream:
            while True:
                with turn.timer("model"):
                    delta = next(stream, None)
                match delta:
                    case events.TextDelta(text):
                        text = replace_surrogates(text)
                        turn.text += text
                        yield events.TextDelta(text)
                        yield from _cited_events(reader.feed(text))
                    case events.ReasoningDelta(text):
                        text = replace_surrogates(text)
                        turn.reasoning += text
                        yield events.ReasoningDelta(text)
                    case events.Waiting(seconds, reason):
                        yield events.Waiting(seconds, replace_surrogates(reason))
                    case StreamFinished(reason, reported, called, thinking, notice, hint, level):
                        calls = tuple(storable_call(call, self.state.make_call_id_unique(replace_surrogates(call.id))) for call in called)
                        turn.level, turn.thinking = level, storable_thinking(thinking) if thinking is not None else turn.thinking
                        yield from _cited_events(reader.close())
                        if notice:
                            yield events.Notice(f"{name}: {notice}", hint)
                        turn.add_usage(reported, prompt, calls)
                        if reported is not None:
                            turn.counted = _learn_count(turn, prompt, reported.prompt_tokens)
                            yield from _cut_notices(runtime.model, turn.counted.text, reported.prompt_tokens)
                        _log.info("%s ended with %s, %d tool calls, %s", name, reason, len(calls), reported)
                        return calls, reason
                    case StreamFailed(error):
                        _log.info("%s failed: %s: %s", name, error.kind, error.message)
                        raise error
                    case None:
                        raise ProviderError("cut", f"{name}: the stream broke off", "Ask again for the rest.")


def _cited_events(found: Iterable[CitationMark]) -> Iterator[events.Cited]:
    """An event for each mark that cites; footnotes that only define a number are none."""
    return (events.Cited(mark.numbers, mark.name, mark.start, mark.end) for mark in found if not mark.defines)


def _count_by_server(turn: TurnInProgress, prompt: Prompt) -> int | None:
    """The tokens of a prompt that might be too long, as the server counts them; None if it cannot be, or the server does not count. No
    token is shorter than a byte."""
    runtime = turn.runtime
    if runtime.model.exact:
        return None
    calls = (call for message in prompt.messages for call in message.tool_calls)
    given = (*(call.arguments for call in calls), *(tool.descriptor for tool in prompt.tools))
    texts = (*(message.content for message in prompt.messages), *map(json.dumps, given))
    most = sum(len(text.encode("utf-8", "replace")) for text in texts) + 16 * len(prompt.messages)
    if most <= prompt.usage.effective_limit:
        return None
    with turn.timer("model"):
        return runtime.model.count_tokens(Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens))


def _learn_count(turn: TurnInProgress, prompt: Prompt, by_model: int) -> CountedPrompt:
    """Count from now on so that this prompt has so many tokens, if it was counted with fewer. Returns both counts."""
    counter, usage = turn.runtime.counter, prompt.usage
    overhead = usage.components.overhead
    tools = sum(counter.count_raw(json.dumps(tool.descriptor, ensure_ascii=False)) for tool in prompt.tools)
    text = (usage.total_tokens - usage.tool_tokens - overhead) / usage.calibration
    counted = CountedPrompt(text, tools, by_model - overhead)
    turn.calibration = learn_calibration(turn.calibration, counted, turn.counted)
    if turn.calibration.text > counter.factor or turn.calibration.tool_factor > counter.tool_factor:
        turn.runtime = turn.runtime.calibrated(turn.calibration)
    return counted


def _cut_notices(model: Model, counted: float, reported: int) -> Iterator[events.Notice]:
    """That the server has silently left out much of the prompt, as Ollama does when it is called by OpenAI's API."""
    if model.has_server and counted > MIN_CUT and reported < MOST_LEFT * counted:
        problem = f"{model.name}: its server has cut the prompt: it reports {reported:,} of about {round(counted):,} tokens"
        yield events.Notice(problem, "Give it a larger window, or set context.max_tokens to the one that it has.")
