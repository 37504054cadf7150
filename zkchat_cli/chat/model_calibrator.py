"""Learns in a turn how its model counts tokens, from the server's own counts and reports (tokens/calibration.py has the rules)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from zkchat_cli import events
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.llm.base import Request, ServerModel
from zkchat_cli.models import Prompt, TokenUsage
from zkchat_cli.tokens.calibration import CountedPrompt, learn_calibration

MIN_CUT = 2000
"""Tokens of a prompt, without its tools, that every server has room for."""
MOST_LEFT = 0.5
"""Share of the tokens by our count below which a prompt was cut: no model's tokens are twice as long as those that we count."""


@dataclass(frozen=True, slots=True)
class ModelCalibrator:
    turn: TurnInProgress

    def count_by_server(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt that might be too long, as the server counts them; None if it cannot be, or the server does not count. No
        token is shorter than a byte."""
        model, limit = self.turn.runtime.model, prompt.usage.effective_limit
        if not isinstance(model, ServerModel) or model.exact or _count_bytes(prompt) <= limit:
            return None
        with self.turn.timer("model"):
            return model.count_tokens(Request(prompt.messages, prompt.tools, self.turn.runtime.options, self.turn.runtime.window.tokens))

    def learn(self, prompt: Prompt, counted: int) -> None:
        """Count from now on so that this prompt has so many tokens, if it was counted with fewer."""
        turn = self.turn
        turn.calibration = learn_calibration(turn.calibration, self._counted_prompt(prompt, counted), turn.counted)
        if turn.calibration.text > turn.runtime.counter.factor or turn.calibration.tool_factor > turn.runtime.counter.tool_factor:
            turn.runtime = turn.runtime.calibrated(turn.calibration)

    def _counted_prompt(self, prompt: Prompt, counted: int) -> CountedPrompt:
        """A prompt with our count of it, without calibration, and the model's."""
        counter, usage = self.turn.runtime.counter, prompt.usage
        overhead = usage.components.overhead
        tools = sum(counter.count_raw(json.dumps(tool.descriptor, ensure_ascii=False)) for tool in prompt.tools)
        text = (usage.total_tokens - usage.tool_tokens - overhead) / usage.calibration
        return CountedPrompt(text, tools, counted - overhead)

    def calibrate(self, prompt: Prompt, usage: TokenUsage | None) -> Iterator[events.Notice]:
        """Learn how the model counts by what its server reports; or that the server has silently left out much of the prompt, as Ollama
        does when it is called by OpenAI's API."""
        if usage is None:
            return
        counted, model = self._counted_prompt(prompt, usage.prompt_tokens), self.turn.runtime.model
        if isinstance(model, ServerModel) and counted.text > MIN_CUT and usage.prompt_tokens < MOST_LEFT * counted.text:
            read = f"{usage.prompt_tokens:,} of about {round(counted.text):,} tokens"
            hint = "Give it a larger window, or set context.max_tokens to the one that it has."
            yield events.Notice(f"{model.name}: its server has cut the prompt: it reports {read}", hint)
        self.learn(prompt, usage.prompt_tokens)
        self.turn.counted = counted


def _count_bytes(prompt: Prompt) -> int:
    """The bytes of a prompt as text."""
    calls = (call for message in prompt.messages for call in message.tool_calls)
    texts = (
        *(m.content for m in prompt.messages),
        *(json.dumps(c.arguments) for c in calls),
        *(json.dumps(t.descriptor) for t in prompt.tools),
    )
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + 16 * len(prompt.messages)
