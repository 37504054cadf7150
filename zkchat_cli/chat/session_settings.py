"""Settings changed while a conversation goes on: for this session only, from its next message on. The files stay as they are."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.config import loader
from zkchat_cli.config.schema import Config
from zkchat_cli.context import strategies
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.llm.base import Options, Window

BY = "/config"
SETTLED = ("model", "llm.", "chat.", "context.", "references.", "memory.", "terminal.open_command")
"""What a session looks up whenever it needs it; all else is read once, when the program starts."""
AT_START = ("context.memory_integration", "context.show_token_count", "references.link_style")


def model_options(settings: Config) -> Options:
    """What the model is told of how to answer."""
    llm = settings.llm
    return Options(llm.max_output_tokens or None, llm.temperature if llm.temperature >= 0 else None, llm.reasoning_effort or None)  # type: ignore[arg-type]


def override(standing: ConversationState, key: str, value: str) -> Any:
    """Set `key` for this session, and return the value as it was understood. Raises ConfigError, UsageError and ProviderError; then
    nothing has changed."""
    changed = loader.with_value(standing.parts.settings, key, value, BY)
    checked = loader.flatten(changed)[key]
    if key in AT_START or not key.startswith(SETTLED):
        raise UsageError(f"{key} is read when zkchat starts", f"For good, from the next start on: zkchat config set {key} {value}")
    more: Mapping[str, Any] = {}
    if key == "model":
        standing.use_model(checked)
    elif key == "context.strategy":
        if checked not in strategies.strategy_names():
            raise ConfigError(f"{BY}: there is no strategy {checked}", f"There are: {', '.join(strategies.strategy_names())}")
        more = {"strategy": strategies.load_strategy(checked)}
    elif key == "context.max_tokens":
        more = {"window": Window(checked, f"{key}, {BY}")}
    settled = {**standing.parts.settled, key: checked}
    standing.settle(changed, **{"options": model_options(changed), "settled": settled, **more})
    return checked
