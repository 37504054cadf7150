"""Settings changed while a conversation goes on: for this session only, from its next message on. The files stay as they are."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from zkchat_cli import config
from zkchat_cli.config import Config
from zkchat_cli.context import strategies
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.llm import Options, Window
from zkchat_cli.standing import Standing

BY = "/config"
SETTLED = ("model", "llm.", "chat.", "context.", "references.", "memory.", "terminal.open_command")
"""What a session looks up whenever it needs it; all else is read once, when the program starts."""
AT_START = ("context.memory_integration", "context.show_token_count", "references.link_style")


def options(settings: Config) -> Options:
    """What the model is told of how to answer."""
    llm = settings.llm
    return Options(llm.max_output_tokens or None, llm.temperature if llm.temperature >= 0 else None, llm.reasoning_effort or None)  # type: ignore[arg-type]


def change(standing: Standing, key: str, value: str) -> Any:
    """Set `key` for this session, and return the value as it was understood. Raises ConfigError, UsageError and ProviderError; then
    nothing has changed."""
    settings = standing.parts.settings
    schema = type(settings)
    checked = config.checked(key, value, BY, schema)
    if key in AT_START or not key.startswith(SETTLED):
        raise UsageError(f"{key} is read when zkchat starts", f"For good, from the next start on: zkchat config set {key} {value}")
    if key == "model":
        standing.use(checked)
    if key == "context.strategy" and checked not in strategies.names():
        raise ConfigError(f"{BY}: {key} = {checked} is not valid; it must be {' or '.join(strategies.names())}", "Choose one of these.")
    changed = _with(settings, key, checked)
    more: Mapping[str, Any] = {"options": options(changed)}
    if key == "context.strategy":
        more = {"strategy": strategies.strategy(checked)}
    elif key == "context.max_tokens":
        more = {"window": Window(checked, f"{key}, {BY}")}
    standing.settle(changed, **more)
    return checked


def _with(settings: Config, key: str, value: object) -> Config:
    tree: dict[str, Any] = settings.model_dump()
    *path, name = key.split(".")
    table = tree
    for part in path:
        table = table[part]
    table[name] = value
    try:
        return type(settings).model_validate(tree)
    except ValidationError as e:
        problem = e.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{BY}: {key} = {value} does not go with the other settings: {problem}", "/config shows them.") from e
