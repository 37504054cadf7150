"""The tool loop of a turn: ask the model, run the tools it wants, ask again with what they found, until it answers.

The prompt is assembled anew, within budget, before each call. Whatever a model does (unknown tools, arguments that are no JSON, the same
call over and over, tools without end), the turn's messages stay well-formed: each tool call has its result, right behind it.
"""

import json
import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing

from zkchat_cli import events
from zkchat_cli.chat.compactor import compact_if_due
from zkchat_cli.chat.state import ConversationState, storable_thinking
from zkchat_cli.chat.tool_executor import ToolExecutor, ToolOutcome, ToolResult
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.marks import CitationMarkParser
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.turns import count_call_tokens, render_turn
from zkchat_cli.errors import PromptTooLarge, ProviderError
from zkchat_cli.llm.base import (
    ReasoningPart,
    Request,
    RetryDelay,
    StreamFailed,
    StreamFinished,
    TextPart,
    ThinkingPart,
    ToolCallsPart,
    Window,
)
from zkchat_cli.llm.http_errors import parse_context_limit
from zkchat_cli.models import FinishReason, Prompt, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.vault.approval import mark_memory_file

_log = logging.getLogger(__name__)
LEAST_ROOM = 300
"""Tokens below which another round of tools is not worth it: describing them takes as many."""
SMALLER = 0.7
"""Of a prompt that was refused as too long, what is sent the second time, where the server does not say how much it takes."""
MOST_MALFORMED = 2
"""Replies in a row in which no tool call could be read, after which the model will not learn it."""
_STOPPED = ToolOutput(data={"error": "not done: the turn was stopped"})


class TurnRunner:
    """One turn's conversation with the model. `run` may be used once."""

    def __init__(self, standing: ConversationState, turn: TurnInProgress) -> None:
        self._standing = standing
        self._turn = turn
        self._answered: dict[tuple[str, str], ToolOutcome] = {}
        self._looked: dict[str, ToolOutcome] = {}
        """What the calls of the reply that is worked on came to so far, by their ids."""
        self._changed = False
        """Whether one of them has changed notes."""
        self._malformed = 0
        self._shrunk = False

    def run(self) -> Generator[events.Event, None, FinishReason]:
        """Yields what happens; returns why the answer ended, which `turn.text` has. Raises the ProviderError of a call that failed, and
        PromptTooLarge if the message itself is too much.

        A tool of a run ends the turn: its answer is the turn's, and no event has said it.

        The model gets no tools any more after `llm.max_tool_rounds` rounds of them, or when results have filled the window.
        """
        turn, rounds, offered = self._turn, 1, True
        while True:
            calls, finish = yield from self._ask(offer_tools=offered)
            if not calls or not offered:
                break
            self._watch(calls)
            room = yield from self._run_tools(calls)
            if (answer := self._final()) is not None:
                turn.text = answer
                return "stop"
            rounds += 1
            offered = rounds <= self._standing.parts.settings.llm.max_tool_rounds and room >= LEAST_ROOM
        if not turn.text.strip():
            raise self._no_answer(rounds if calls else 0, finish)
        return finish

    def _final(self) -> str | None:
        """The answer that a call, which went well, declares to be the last word."""
        ending = {tool.name for tool in self._standing.parts.tools if tool.scope == "run"}
        runs = (run for run in self._turn.runs if run.name in ending and run.ok)
        return next((str(run.arguments["answer"]).strip() for run in runs), None)

    def _no_answer(self, rounds: int, finish: FinishReason) -> ProviderError:
        name = self._standing.parts.model.name
        if rounds:
            hint = "Ask in other words, or raise llm.max_tool_rounds or context.max_tokens."
            return ProviderError("empty", f"{name} asked for tools {rounds} times in a row and never answered", hint)
        if finish == "content_filter":
            return ProviderError("content_filter", f"{name}: the answer was held back by a content filter", "Ask in other words.")
        if finish == "length":
            hint = "Raise llm.max_output_tokens, or lower llm.reasoning_effort."
            return ProviderError("empty", f"{name} reached its length limit before it said a word", hint)
        return ProviderError("empty", f"{name} answered with nothing", "Try again, or ask in other words.")

    def _watch(self, calls: Sequence[ToolCall]) -> None:
        """Raises ProviderError when the model goes on asking in a way that nobody can read."""
        self._malformed = self._malformed + 1 if all(call.malformed is not None for call in calls) else 0
        if self._malformed >= MOST_MALFORMED:
            problem = f"{self._standing.parts.model.name} keeps asking for tools with arguments that are no JSON"
            raise ProviderError("bad_answer", problem, "Try again, or use a model that is better with tools.")

    # asking the model

    def _ask(self, *, offer_tools: bool) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """One model call; if it finds the prompt too long, once more with a smaller one."""
        try:
            prompt = self._prompt(offer_tools=offer_tools)
            if len(self._turn.messages) > 1 and prompt.usage.compaction.due:  # what tools found may have filled the window
                yield from compact_if_due(self._standing, self._turn, prompt.usage.compaction.reason or "")
                prompt = self._prompt(offer_tools=offer_tools)
        except PromptTooLarge as e:
            if len(self._turn.messages) == 1:
                raise
            problem = f"{self._standing.parts.model.name} asked for more tools than its window has room for: {e.message}"
            raise ProviderError("bad_answer", problem, "Ask in other words, or raise context.max_tokens.") from e
        try:
            return (yield from self._call_model(prompt))
        except ProviderError as refused:
            if refused.kind != "context_length" or self._shrunk or self._turn.text:
                raise
            self._shrunk = True
            before = self._standing.refusal
            try:
                yield from self._shrink(refused)
                prompt = self._prompt(offer_tools=offer_tools)
            except PromptTooLarge:
                self._standing.refusal = before  # a guess that leaves room for nothing would end every further turn, too
                raise refused from None
            return (yield from self._call_model(prompt))

    def _prompt(self, *, offer_tools: bool) -> Prompt:
        with self._turn.timer("prepare"):
            prompt = self._turn.prompt = self._standing.assembled(tuple(self._turn.messages), offer_tools=offer_tools)
        return prompt

    def _shrink(self, refused: ProviderError) -> Iterator[events.Event]:
        """Take the window for as large as the server says, or for smaller than the refused prompt, and fold what can be folded.

        Without asking the model, which has just refused to read so much, and whose window is a guess for now.
        """
        standing, turn = self._standing, self._turn
        assert turn.prompt is not None
        used = standing.window.tokens
        said = parse_context_limit(refused.message)
        guess = int(SMALLER * turn.prompt.usage.total_tokens / turn.prompt.usage.effective_limit * used)
        standing.refusal = Window(said if said and said < used else guess, "a refusal of the server")
        yield from compact_if_due(standing, turn, refused.message, ask=False)

    def _call_model(self, prompt: Prompt) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
        parts, turn = self._standing.parts, self._turn
        calls: tuple[ToolCall, ...] = ()
        _log.info(
            "asking %s: %d messages, %d tools, %d tokens",
            parts.model.name,
            len(prompt.messages),
            len(prompt.tools),
            prompt.usage.total_tokens,
        )
        request = Request(prompt.messages, prompt.tools, parts.options, self._standing.window.tokens)
        reader = CitationMarkParser()
        turn.asking(parts.model.name, prompt)
        with closing(parts.model.stream(request)) as stream:
            while True:
                with turn.timer("model"):
                    delta = next(stream, None)
                match delta:
                    case TextPart(text):
                        turn.text += replace_surrogates(text)
                        yield events.TextDelta(replace_surrogates(text))
                        yield from _cited(reader.feed(replace_surrogates(text)))
                    case ReasoningPart(text):
                        turn.reasoning += replace_surrogates(text)
                        yield events.ReasoningDelta(replace_surrogates(text))
                    case ThinkingPart(blocks):
                        turn.thinking = storable_thinking(blocks)
                    case ToolCallsPart(new):
                        calls += tuple(self._standing.distinct(call) for call in new)
                    case RetryDelay(seconds, reason):
                        yield events.Waiting(seconds, replace_surrogates(reason))
                    case StreamFinished(reason, usage):
                        yield from _cited(reader.close())
                        turn.add_usage(usage, prompt, parts.counter)
                        self._learn(prompt, usage)
                        _log.info("%s ended with %s, %d tool calls, %s", parts.model.name, reason, len(calls), usage)
                        return calls, reason
                    case StreamFailed(error):
                        _log.info("%s failed: %s: %s", parts.model.name, error.kind, error.message)
                        raise error
                    case None:
                        raise ProviderError("cut", f"{parts.model.name}: the stream broke off", "Ask again for the rest.")

    def _learn(self, prompt: Prompt, usage: TokenUsage | None) -> None:
        factor = self._standing.learned(prompt, usage.prompt_tokens) if usage is not None else None
        if factor is not None:
            self._turn.factors.append((self._standing.parts.model.name, factor))

    # running tools

    def _run_tools(self, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply. Calls and results enter the turn together, in order, so that neither is ever alone in the log.

        Returns the tokens that are left for more of them.
        """
        standing, turn = self._standing, self._turn
        counter = standing.parts.counter
        assert turn.prompt is not None
        asked = standing.message(
            "assistant",
            turn.text,
            parent=turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            thinking=turn.thinking,
            finish_reason="tool_calls",
            model=standing.parts.model.name,
            token_count=counter.count_raw(turn.text),
            tool_tokens=count_call_tokens(calls, counter),
        )
        fixed = sum(tool.tokens for tool in turn.prompt.tools) + sum(
            m.tokens for m in turn.prompt.messages if m.kind in ("system", "memory", "summary")
        )
        said = counter.count(turn.text) + count_call_tokens(calls, counter)
        spent = self._tokens(turn.messages) + said + MESSAGE_OVERHEAD * (1 + len(calls))
        room = max(0, (standing.budget.effective_limit - fixed - spent) // 2)
        try:
            found = yield from self._results(calls, room)
        except BaseException:
            if self._changed:  # the log must know of it, whatever stopped the turn
                came = [self._looked.get(call.id) or ToolOutcome(call, _STOPPED, False, 0.0) for call in calls]
                self._take(asked, zip(calls, self._toolbox().results(came, room), strict=True))
            raise
        self._take(asked, found)
        return standing.budget.effective_limit - fixed - self._tokens(turn.messages)

    def _take(self, asked: ZkChatMessage, found: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Calls and their results enter the turn."""
        standing, turn = self._standing, self._turn
        results: list[ZkChatMessage] = []
        for call, result in found:
            parent = (results or [asked])[-1].id
            results.append(
                standing.message(
                    "tool",
                    result.content,
                    parent=parent,
                    tool_call_id=call.id,
                    tool_name=call.name,
                    tool_run=result.run,
                    chunks=result.chunks,
                    token_count=standing.parts.counter.count_raw(result.content),
                )
            )
        turn.messages += [asked, *results]
        turn.text = turn.reasoning = ""  # not before: a turn that is stopped while a tool runs keeps what was said
        turn.thinking = None
        self._looked.clear()
        self._changed = False

    def _results(self, calls: tuple[ToolCall, ...], room: int) -> Generator[events.Event, None, list[tuple[ToolCall, ToolResult]]]:
        """The result of each call, in their order, in `room` tokens together.

        A call that was made before in this turn is answered from what it found then.
        """
        parts, timer, toolbox = self._standing.parts, self._turn.timer, self._toolbox()
        fresh = self._fresh(calls, toolbox)
        looking = toolbox.look(fresh)
        for call in calls:
            yield events.ToolCallStarted(call)
        for call in calls:
            if call in fresh:
                with timer("tools"):
                    found_now = next(looking)
                if found_now.finding.change is not None:
                    found_now = yield from self._decide(found_now, toolbox)
                self._answered[_same(call)] = found_now
                yield from (events.Notice(w.message, w.hint) for w in parts.vault.take_warnings())
                yield from (events.Notice(*each) for each in self._standing.memory.pop_notices())
            self._looked[call.id] = self._answered[_same(call)].for_call(call)
        with timer("tools"):
            found = list(zip(calls, toolbox.results([self._looked[call.id] for call in calls], room), strict=True))
        for call, result in found:
            yield events.ToolCallFinished(call, result.run, len(result.chunks))
        return found

    def _toolbox(self) -> ToolExecutor:
        parts = self._standing.parts
        return ToolExecutor(parts.tools, parts.vault, self._standing.references, parts.counter, parts.clock, self._standing.memory)

    def _fresh(self, calls: Sequence[ToolCall], toolbox: ToolExecutor) -> list[ToolCall]:
        """Those that have to be run: not one that asks again for the same, unless a change of the notes may lie between."""
        known, fresh = set(self._answered), []
        for call in calls:
            if _same(call) not in known:
                fresh.append(call)
                if toolbox.changes(call):
                    known.clear()
                known.add(_same(call))
        return fresh

    def _decide(self, looked: ToolOutcome, toolbox: ToolExecutor) -> Generator[events.Event, None, ToolOutcome]:
        """A proposed change shown, approved or not, and made. What the notes said before it does not answer a later call."""
        proposed, call, policy = looked.finding.change, looked.call, self._standing.parts.changing
        assert proposed is not None
        change = mark_memory_file(proposed, self._standing.memory.memory_file_among(proposed.paths))
        yield events.ChangeProposed(call, change.summary, change.diff, change.note)
        verdict = policy.approve(change)  # the user's time, not the tools'
        with self._turn.timer("tools"):
            decided, made = toolbox.decide(looked, verdict, git=policy.git)
        if made is not None:
            self._looked[call.id], self._changed = decided, True
            self._answered.clear()
            self._standing.notes_changed()
        told = made.message if made else str(decided.finding.data["error"])
        yield events.ChangeDecided(call, made is not None, told)
        if made is not None and made.problem is not None:
            yield events.Notice(made.problem.message, made.problem.hint)
        if made is not None and made.interrupted:
            raise KeyboardInterrupt
        return decided

    def _tokens(self, messages: Sequence[ZkChatMessage]) -> int:
        return sum(m.tokens for m in render_turn(messages, self._standing.parts.counter, thinking=True))


def _same(call: ToolCall) -> tuple[str, str]:
    """What two calls that ask for the same have in common."""
    return call.name, call.malformed or json.dumps(call.arguments, sort_keys=True)


def _cited(found: Iterable[CitationMark]) -> Iterator[events.Cited]:
    return (events.Cited(mark.numbers, mark.name, mark.start, mark.end) for mark in found if not mark.defines)
