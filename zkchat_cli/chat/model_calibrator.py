"""Learns in a turn how its model counts tokens, from the server's own counts and reports (tokens/calibration.py has the rules)."""

import json
from collections.abc import Iterator

from zkchat_cli import events
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.llm.base import Request
from zkchat_cli.models import Prompt, TokenUsage
from zkchat_cli.tokens.calibration import CountedPrompt, learn_calibration

MIN_CUT = 2000
"""Tokens of a prompt, without its tools, that every server has room for."""
MOST_LEFT = 0.5
"""Share of the tokens by our count below which a prompt was cut: no model's tokens are twice as long as those that we count."""


def count_by_server(turn: TurnInProgress, prompt: Prompt) -> int | None:
    """The tokens of a prompt that might be too long, as the server counts them; None if it cannot be, or the server does not count. No
    token is shorter than a byte."""
    runtime = turn.runtime
    if runtime.model.exact or _count_bytes(prompt) <= prompt.usage.effective_limit:
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


def learn_usage(turn: TurnInProgress, prompt: Prompt, usage: TokenUsage) -> Iterator[events.Notice]:
    """Learn how the model counts by what its server reports; or that the server has silently left out much of the prompt, as Ollama does
    when it is called by OpenAI's API."""
    model = turn.runtime.model
    turn.counted = learn_count(turn, prompt, usage.prompt_tokens)
    if model.has_server and turn.counted.text > MIN_CUT and usage.prompt_tokens < MOST_LEFT * turn.counted.text:
        read = f"{usage.prompt_tokens:,} of about {round(turn.counted.text):,} tokens"
        hint = "Give it a larger window, or set context.max_tokens to the one that it has."
        yield events.Notice(f"{model.name}: its server has cut the prompt: it reports {read}", hint)


def _count_bytes(prompt: Prompt) -> int:
    """The bytes of a prompt as text."""
    calls = (call for message in prompt.messages for call in message.tool_calls)
    given = (*(call.arguments for call in calls), *(tool.descriptor for tool in prompt.tools))
    texts = (*(message.content for message in prompt.messages), *map(json.dumps, given))
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + 16 * len(prompt.messages)
