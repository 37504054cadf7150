"""Runs the model and its tools in a loop: call the model, run the tools that it calls, call it again with the results, until it answers.

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
from zkchat_cli.chat.tool_executor import ToolExecutor, ToolOutcome, ToolResult
from zkchat_cli.chat.turn import TurnInProgress, storable_call, storable_thinking
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.marks import CitationMarkParser
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.prompt_size import advise_on_size
from zkchat_cli.context.tool_result_masking import mask_result
from zkchat_cli.context.turns import count_call_tokens, render_turn
from zkchat_cli.errors import PromptTooLarge, ProviderError, ProviderErrorKind
from zkchat_cli.llm.base import (
    CountsTokens,
    ReasoningPart,
    Request,
    RetryDelay,
    StreamFailed,
    StreamFinished,
    SupportsRequestBody,
    TextPart,
    ThinkingPart,
    ToolCallsPart,
    Window,
    request_frame,
)
from zkchat_cli.llm.plain_excerpts import with_plain_excerpts
from zkchat_cli.models import FinishReason, Prompt, RetrievalMode, SentPrompt, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.calibration import CountedPrompt, learn
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.vault.approval import mark_memory_file
from zkchat_cli.vault.edit.transaction import Change

_log = logging.getLogger(__name__)
MIN_TOOL_TOKENS = 300
"""Tokens below which another round of tools is not worth it: describing them takes as many."""
RETRY_SIZE = 0.7
"""Share of a prompt refused as too long that is sent the second time, where the server does not tell its limit."""
ENOUGH_SHARE = 0.25
"""Share of the room of a turn that new results may have, before earlier ones of the same turn lose their middles for them."""
MOST_REFUSED = 1
"""Replies with calls after the last round of tools, each of which is told to answer, before the turn fails."""
ANSWERABLE = ("context_length", "no_tools")
"""Refusals after which another prompt may be accepted."""
MOST_COUNTS = 5
"""How often a prompt that its server counts as too long is made smaller: another selection may have other languages."""
DecideDocuments = Callable[[RetrievalMode | None], Sequence[events.Notice]]
"""Decides again who searches the notes for the question (None: as was asked for), and which documents fit."""
_STOPPED = ToolOutput(data={"error": "not done: the turn was stopped"})


@dataclass
class TurnRunner:
    """One turn's conversation with the model. `run` may be used once."""

    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    compactor: Compactor
    turn: TurnInProgress
    decide_documents: DecideDocuments
    outcomes: list[ToolOutcome] = field(default_factory=list)
    """Outcomes of the current reply's calls so far."""
    notes_changed: bool = False
    """Whether one of them has changed notes."""
    no_more: str = ""
    """Why the model gets no more tools in this turn."""
    filled: bool = False
    """Whether that is because results have filled the window."""
    met: set[ProviderErrorKind] = field(default_factory=set)
    """Refusals that were answered by another call; none is twice."""

    def run(self) -> Generator[events.Event, None, FinishReason]:
        """Yields events; returns why the answer ended, and leaves it in `turn.text`. Raises the ProviderError of a call that failed, and
        PromptTooLarge if the message itself is too large.

        The model gets no more tools after `llm.max_tool_rounds` rounds, or when results have filled the window; it is told so if it calls
        some all the same, because a reply that only asks for tools is no answer.
        """
        turn, rounds, refused = self.turn, 1, 0
        most = turn.runtime.settings.llm.max_tool_rounds
        while True:
            calls, finish = yield from self._call(offer_tools=not self.no_more)
            if not calls:
                break
            if self.no_more:
                refused += 1
                if refused > MOST_REFUSED:
                    raise self._no_answer_error(finish, rounds)
                self._refuse(calls)
                continue
            room = yield from self._run_tools(calls)
            rounds += 1
            self.filled = room < MIN_TOOL_TOKENS
            if self.filled:
                self.no_more = f"tool results have filled the window of {turn.runtime.window.tokens:,} tokens"
            elif rounds > most:
                self.no_more = f"llm.max_tool_rounds is {most}"
        if not turn.text.strip():
            raise self._no_answer_error(finish, rounds if self.no_more else 0)
        return finish

    def _refuse(self, calls: tuple[ToolCall, ...]) -> None:
        """Answer calls that come after the last round."""
        refusal = ToolOutput(data={"error": f"no more tools in this turn: {self.no_more}. Answer now with what you have found"})
        outcomes = [ToolOutcome(call, refusal, False, 0.0) for call in calls]
        request = self._request(calls)
        self._add_results(request, self._executor().results(outcomes, MIN_TOOL_TOKENS))

    def _no_answer_error(self, finish: FinishReason, rounds: int) -> ProviderError:
        """`rounds` of tools without an answer, or 0 if the model called none at last."""
        name = self.turn.runtime.model.name
        if self.filled and rounds:
            hint = "Ask for less at a time, or raise context.max_tokens if the model has a larger window."
            return ProviderError("empty", f"{name} never answered: {self.no_more}", hint)
        if rounds:
            hint = "Ask it differently, or raise llm.max_tool_rounds or context.max_tokens."
            return ProviderError("empty", f"{name} called tools {rounds} times in a row and never answered", hint)
        if finish == "content_filter":
            return ProviderError("content_filter", f"{name}: a content filter blocked the answer", "Ask it differently.")
        if finish == "length":
            hint = "Raise llm.max_output_tokens, or lower llm.reasoning_effort."
            return ProviderError("empty", f"{name} reached its length limit before it answered", hint)
        return ProviderError("empty", f"{name} sent an empty answer", "Try again, or ask in other words.")

    # calling the model

    def _call(self, *, offer_tools: bool) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """One model call. If the server refuses the prompt as too long, or for its tools, another one that is decided anew."""
        turn, before = self.turn, self.turn.runtime
        refused: ProviderError | None = None
        while True:
            try:
                if refused is not None and refused.kind == "context_length":
                    yield from self._shrink(refused)
                elif refused is not None:
                    yield events.Notice(refused.message, refused.hint)
                    yield from self.decide_documents("before")
                prompt = yield from self._fitting_prompt(offer_tools=offer_tools)
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
                if turn.text or e.kind not in ANSWERABLE or (e.kind == "no_tools" and len(turn.messages) > 1):
                    raise
                if e.kind in self.met:
                    raise (self._too_long(e) if e.kind == "context_length" else e) from None
                self.met.add(e.kind)
                refused = e

    def _fitting_prompt(self, *, offer_tools: bool) -> Generator[events.Event, None, Prompt]:
        """The prompt of the next call; compacted before, if tool results have filled the window. Raises PromptTooLarge."""
        prompt = self._build_prompt(offer_tools=offer_tools)
        if len(self.turn.messages) > 1 and prompt.usage.compaction.due:
            yield from self.compactor.run_if_enabled(self.turn, prompt.usage.compaction.reason or "")
            prompt = self._build_prompt(offer_tools=offer_tools)
        for _ in range(MOST_COUNTS):
            counted = self._count_by_server(prompt)
            if counted is None or counted <= prompt.usage.effective_limit:
                return prompt
            self._learn(prompt, counted)
            if len(self.turn.messages) == 1:
                yield from self.decide_documents(None)
            prompt = self._build_prompt(offer_tools=offer_tools)
            if prompt.usage.compaction.due:
                yield from self.compactor.run_if_enabled(self.turn, prompt.usage.compaction.reason or "", ask=False)
                prompt = self._build_prompt(offer_tools=offer_tools)
        raise PromptTooLarge(
            f"the prompt needs {counted} tokens; the limit is {prompt.usage.effective_limit} of a window of {prompt.usage.max_context}",
            advise_on_size(prompt, self.turn.user.id),
        )

    def _count_by_server(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt that might be too long, as the server counts them; None if it cannot be, or the server does not count. No
        token is shorter than a byte."""
        model, limit = self.turn.runtime.model, prompt.usage.effective_limit
        if not isinstance(model, CountsTokens) or model.exact or _count_bytes(prompt) <= limit:
            return None
        with self.turn.timer("model"):
            return model.count_tokens(Request(prompt.messages, prompt.tools, self.turn.runtime.options, self.turn.runtime.window.tokens))

    def _learn(self, prompt: Prompt, counted: int) -> None:
        """Count from now on so that this prompt has so many tokens, if it was counted with fewer."""
        turn = self.turn
        turn.calibration = learn(turn.calibration, self._counted_prompt(prompt, counted), turn.counted)
        if turn.calibration.text > turn.runtime.counter.factor or turn.calibration.tool_factor > turn.runtime.counter.tool_factor:
            turn.runtime = turn.runtime.calibrated(turn.calibration)

    def _counted_prompt(self, prompt: Prompt, counted: int) -> CountedPrompt:
        """A prompt with our count of it, without calibration, and the model's."""
        counter, usage = self.turn.runtime.counter, prompt.usage
        overhead = usage.components.overhead
        tools = sum(counter.count_raw(json.dumps(tool.descriptor, ensure_ascii=False)) for tool in prompt.tools)
        text = (usage.total_tokens - usage.tool_tokens - overhead) / usage.calibration
        if isinstance(self.turn.runtime.model, SupportsRequestBody):  # its excerpts are shorter, and must not make text look smaller
            sent = with_plain_excerpts(Request(prompt.messages, window=usage.max_context)).messages
            pairs = ((ours, theirs) for ours, theirs in zip(prompt.messages, sent, strict=True) if ours is not theirs)
            text -= sum(counter.count_raw(ours.content) - counter.count_raw(theirs.content) for ours, theirs in pairs)
        return CountedPrompt(text, tools, counted - overhead)

    def _build_prompt(self, *, offer_tools: bool) -> Prompt:
        """Raises PromptTooLarge, if the turn does not fit without the middles of its earlier results either."""
        turn, sent = self.turn, self.turn.sent_messages
        with turn.timer("prepare"):
            try:
                turn.prompt = self.prompts.build(turn.runtime, sent, offer_tools=offer_tools)
            except PromptTooLarge:
                self._shorten_results(len(turn.messages), 0, 1)
                if turn.sent_messages == sent:
                    raise
                turn.prompt = self.prompts.build(turn.runtime, turn.sent_messages, offer_tools=offer_tools)
        return turn.prompt

    def _too_long(self, refused: ProviderError) -> ProviderError:
        """The refusal with what is largest in the refused prompt."""
        assert self.turn.prompt is not None
        return ProviderError("context_length", refused.message, advise_on_size(self.turn.prompt, self.turn.user.id))

    def _shrink(self, refused: ProviderError) -> Iterator[events.Event]:
        """Assume the window that the server tells, or one smaller than the refused prompt; decide again which documents fit, and compact.

        The model is not asked for a summary: it has just refused to read so much, and its window is a guess for now.
        """
        from zkchat_cli.llm.http_errors import parse_context_limit, parse_refused_tokens  # the server's answer has loaded it

        turn = self.turn
        assert turn.prompt is not None
        turn.refused = len(turn.sent)
        used, usage = turn.runtime.window.tokens, turn.prompt.usage
        limit, counted = parse_context_limit(refused.message), parse_refused_tokens(refused.message)
        if counted is not None:
            self._learn(turn.prompt, counted)
        if limit is None or limit > used or (limit == used and counted is None):
            limit = int(RETRY_SIZE * usage.total_tokens / usage.effective_limit * used)
        turn.runtime = replace(turn.runtime, rejected_window=Window(limit, "a refusal of the server"))
        if len(turn.messages) == 1:
            yield from self.decide_documents(None)
        yield from self.compactor.run_if_enabled(turn, refused.message, ask=False)

    def _call_model(self, prompt: Prompt) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
        runtime, turn = self.turn.runtime, self.turn
        calls: tuple[ToolCall, ...] = ()
        name, usage = runtime.model.name, prompt.usage
        _log.info("asking %s: %d messages, %d tools, %d tokens", name, len(prompt.messages), len(prompt.tools), usage.total_tokens)
        request = Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens)
        yield events.PromptBuilt(prompt.usage)
        reader = CitationMarkParser()
        frame = request_frame(runtime.model, request)
        turn.sent.append(SentPrompt(question_id=turn.user.id, call=len(turn.sent) + 1, model=name, prompt=prompt, request=frame))
        with closing(runtime.model.stream(request)) as stream:
            while True:
                with turn.timer("model"):
                    delta = next(stream, None)
                match delta:
                    case TextPart(text):
                        turn.text += replace_surrogates(text)
                        yield events.TextDelta(replace_surrogates(text))
                        yield from cited_events(reader.feed(replace_surrogates(text)))
                    case ReasoningPart(text):
                        turn.reasoning += replace_surrogates(text)
                        yield events.ReasoningDelta(replace_surrogates(text))
                    case ThinkingPart(blocks):
                        turn.thinking = storable_thinking(blocks)
                    case ToolCallsPart(new):
                        calls += tuple(storable_call(call, self.state.make_call_id_unique(replace_surrogates(call.id))) for call in new)
                    case RetryDelay(seconds, reason):
                        yield events.Waiting(seconds, replace_surrogates(reason))
                    case StreamFinished(reason, reported, notice, hint, level):
                        turn.level = level
                        yield from cited_events(reader.close())
                        if notice:
                            yield events.Notice(f"{name}: {notice}", hint)
                        frame = request_frame(runtime.model, request)  # without what the model has refused meanwhile
                        turn.sent[-1] = turn.sent[-1].model_copy(update={"request": frame})
                        turn.add_usage(reported, prompt)
                        self._calibrate(prompt, reported)
                        _log.info("%s ended with %s, %d tool calls, %s", name, reason, len(calls), reported)
                        return calls, reason
                    case StreamFailed(error):
                        _log.info("%s failed: %s: %s", name, error.kind, error.message)
                        raise error
                    case None:
                        raise ProviderError("cut", f"{name}: the stream broke off", "Ask again for the rest.")

    def _calibrate(self, prompt: Prompt, usage: TokenUsage | None) -> None:
        """Learn how the model counts by what its server reports."""
        if usage is not None:
            self._learn(prompt, usage.prompt_tokens)
            self.turn.counted = self._counted_prompt(prompt, usage.prompt_tokens)

    # running tools

    def _run_tools(self, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply. Calls and results enter the turn together and in order, so that neither is ever alone in the log.

        Returns the tokens that are left for more of them.
        """
        turn, runtime = self.turn, self.turn.runtime
        counter, earlier = runtime.counter, len(turn.messages)
        assert turn.prompt is not None
        request = self._request(calls)
        fixed = sum(tool.tokens for tool in turn.prompt.tools)
        fixed += sum(m.tokens for m in turn.prompt.messages if m.kind in ("system", "memory", "summary"))
        reply = counter.count(turn.text) + count_call_tokens(calls, counter) + MESSAGE_OVERHEAD * (1 + len(calls))
        limit = runtime.budget.effective_limit - fixed
        executor = self._executor()
        try:
            yield from self._run_calls(calls, executor)
        except BaseException:
            if self.notes_changed:  # the log must tell that, whatever stopped the turn
                stopped = [ToolOutcome(call, _STOPPED, False, 0.0) for call in calls[len(self.outcomes) :]]
                self._add_results(request, executor.results([*self.outcomes, *stopped], self._room(limit - reply) // 2))
            raise
        with turn.timer("tools"):
            wanted = min(executor.count_tokens(self.outcomes), int(ENOUGH_SHARE * limit))
            self._shorten_results(earlier, limit - reply, 2 * wanted)
            results = executor.results(self.outcomes, self._room(limit - reply) // 2)
        for call, result in zip(calls, results, strict=True):
            yield events.ToolCallFinished(call, result.run, len(result.chunks))
        self._add_results(request, results)
        return self._shorten_results(earlier, limit, MIN_TOOL_TOKENS)

    def _executor(self) -> ToolExecutor:
        runtime = self.turn.runtime
        memory = self.prompts.memory(runtime)
        return ToolExecutor(runtime.tools, self.services.vault, self.state.references, runtime.counter, self.services.clock, memory)

    def _room(self, limit: int) -> int:
        """Tokens that the turn leaves of `limit`."""
        return max(0, limit - self._count(self.turn.sent_messages))

    def _shorten_results(self, earlier: int, limit: int, wanted: int) -> int:
        """Take the middles out of the turn's first results, the oldest first, until so many tokens are left of `limit`; returns the tokens
        that are. Only those among the first `earlier` messages: the model has read them."""
        turn, room = self.turn, self._room(limit)
        for message in turn.messages[:earlier]:
            if room >= wanted:
                break
            if message.id not in turn.shortened and (shorter := mask_result(message, turn.runtime.counter)) is not None:
                turn.shortened[message.id] = shorter
                room = self._room(limit)
        return room

    def _request(self, calls: tuple[ToolCall, ...]) -> ZkChatMessage:
        """The message with the model's calls."""
        turn, counter = self.turn, self.turn.runtime.counter
        return self.services.new_message(
            "assistant",
            turn.text,
            turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            thinking=turn.thinking,
            finish_reason="tool_calls",
            model=turn.runtime.model.name,
            token_count=counter.count_raw(turn.text),
            tool_tokens=count_call_tokens(calls, counter),
        )

    def _run_calls(self, calls: tuple[ToolCall, ...], executor: ToolExecutor) -> Iterator[events.Event]:
        """Run the calls one after another, and make the changes that the user approves."""
        memory = self.prompts.memory(self.turn.runtime)
        self.outcomes, self.notes_changed = [], False
        for call in calls:
            yield events.ToolCallStarted(call)
            refused = self._ask_about(call, executor)  # the user's time, not the tools'
            with self.turn.timer("tools"):
                outcome = refused or executor.run_call(call)
            if outcome.finding.change is not None:
                yield from self._decide(outcome, outcome.finding.change, executor)
            else:
                self.outcomes.append(outcome)
            yield from (events.Notice(w.message, w.hint) for w in self.services.vault.take_warnings())
            yield from (events.Notice(*each) for each in memory.pop_notices())

    def _ask_about(self, call: ToolCall, executor: ToolExecutor) -> ToolOutcome | None:
        """Ask the user about the call of another program's tool; its outcome if it is refused."""
        if not executor.is_external(call.name):
            return None
        decision = self.services.approve_call(call)
        return None if decision.allowed else ToolOutcome(call, ToolOutput(data={"error": decision.reason}), False, 0.0)

    def _decide(self, outcome: ToolOutcome, proposed: Change, executor: ToolExecutor) -> Iterator[events.Event]:
        """Show a proposed change, get it approved or declined, and make it."""
        call = outcome.call
        lasting = self.prompts.memory(self.turn.runtime).memory_paths.first_among(proposed.paths)
        change = mark_memory_file(proposed, lasting)
        yield events.ChangeProposed(call, change.summary, change.diff, change.note)
        decision = self.services.approve(change)  # the user's time, not the tools'
        with self.turn.timer("tools"):
            decided, applied = executor.apply_decision(outcome, decision)
        self.outcomes.append(decided)
        if applied is not None:
            self.notes_changed = True
            self.prompts.forget_summaries()
        yield events.ChangeDecided(call, applied is not None, "done" if applied is not None else str(decided.finding.data["error"]))
        if applied is not None and applied.interrupted:
            raise KeyboardInterrupt

    def _add_results(self, request: ZkChatMessage, results: Iterable[ToolResult]) -> None:
        """Add a reply's calls and their results to the turn."""
        turn, messages = self.turn, [request]
        for call, result in zip(request.tool_calls, results, strict=True):
            message = self.services.new_message(
                "tool",
                result.content,
                messages[-1].id,
                tool_call_id=call.id,
                tool_name=call.name,
                tool_run=result.run,
                chunks=result.chunks,
                token_count=self.turn.runtime.counter.count_raw(result.content),
            )
            messages.append(message)
        turn.messages += messages
        turn.text = turn.reasoning = ""  # not before: a turn that is stopped while a tool runs keeps the model's text
        turn.thinking = None

    def _count(self, messages: Sequence[ZkChatMessage]) -> int:
        return sum(m.tokens for m in render_turn(messages, self.turn.runtime.counter, thinking=True))


def _count_bytes(prompt: Prompt) -> int:
    """The bytes of a prompt as text."""
    calls = (call for message in prompt.messages for call in message.tool_calls)
    texts = (
        *(m.content for m in prompt.messages),
        *(json.dumps(c.arguments) for c in calls),
        *(json.dumps(t.descriptor) for t in prompt.tools),
    )
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + 16 * len(prompt.messages)


def cited_events(found: Iterable[CitationMark]) -> Iterator[events.Cited]:
    """An event for each mark that cites; footnotes that only define a number are none."""
    return (events.Cited(mark.numbers, mark.name, mark.start, mark.end) for mark in found if not mark.defines)
