"""One call of the model in a turn, as events; and what its server's own counts of tokens teach about the model."""

import json
import logging
from collections.abc import Generator, Iterator
from contextlib import closing

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import TurnInProgress, storable_call, storable_thinking, stored_message
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Request, StreamFailed, StreamFinished
from zkchat_cli.models import FinishReason, Prompt, SentPrompt, ToolCall
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import CountedPrompt, learn_calibration

_log = logging.getLogger(__name__)
MIN_CUT = 2000
"""Tokens of a prompt, without its tools, that every server has room for."""
MOST_LEFT = 0.5
"""Share of the tokens by our count below which a prompt was cut: no model's tokens are twice as long as those that we count."""


def call_model(
    turn: TurnInProgress, prompt: Prompt, prompts: PromptBuilder, state: ConversationState
) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
    """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
    runtime, name, usage = turn.runtime, turn.runtime.model.name, prompt.usage
    _log.info("asking %s: %d messages, %d tools, %d tokens", name, len(prompt.messages), len(prompt.tools), usage.total_tokens)
    request = Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens)
    yield from (events.Notice(*each) for each in prompts.memory(runtime).pop_notices())
    yield events.PromptBuilt(usage, runtime.speaker_label)
    prompts.remember_tools(turn.user.id, prompt)
    if runtime.settings.references.enabled:
        prompts.summaries.prefetch(chunk.relative_path for chunk in turn.chunks)  # the answer's references have them
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
                case events.ReasoningDelta(text):
                    text = replace_surrogates(text)
                    turn.reasoning += text
                    yield events.ReasoningDelta(text)
                case events.Waiting(seconds, reason):
                    yield events.Waiting(seconds, replace_surrogates(reason))
                case StreamFinished(reason, reported, called, thinking, notice, hint, level):
                    calls = tuple(storable_call(call, state.make_call_id_unique(replace_surrogates(call.id))) for call in called)
                    turn.level, turn.thinking = level, storable_thinking(thinking) if thinking is not None else turn.thinking
                    if notice:
                        yield events.Notice(f"{name}: {notice}", hint)
                    turn.add_usage(reported, prompt, calls)
                    if reported is not None:
                        turn.counted = learn_count(turn, prompt, reported.prompt_tokens)
                        yield from _cut_notices(turn, reported.prompt_tokens)
                    _log.info("%s ended with %s, %d tool calls, %s", name, reason, len(calls), reported)
                    return calls, reason
                case StreamFailed(error):
                    _log.info("%s failed: %s: %s", name, error.kind, error.message)
                    raise error
                case None:
                    raise ProviderError("cut", f"{name}: the stream broke off", "Ask again for the rest.")


def count_by_server(turn: TurnInProgress, prompt: Prompt) -> int | None:
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


def learn_count(turn: TurnInProgress, prompt: Prompt, by_model: int) -> CountedPrompt:
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


def _cut_notices(turn: TurnInProgress, reported: int) -> Iterator[events.Notice]:
    """That the server has silently left out much of the prompt, as Ollama does when it is called by OpenAI's API."""
    model, counted = turn.runtime.model, turn.counted.text if turn.counted else 0
    if model.has_server and counted > MIN_CUT and reported < MOST_LEFT * counted:
        problem = f"{model.name}: its server has cut the prompt: it reports {reported:,} of about {round(counted):,} tokens"
        yield events.Notice(problem, "Give it a larger window, or set context.max_tokens to the one that it has.")
