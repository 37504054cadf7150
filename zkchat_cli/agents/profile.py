"""A loaded agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zkchat_cli.config.loader import Entry

_OVERRIDDEN_SETTINGS = {
    "model": "model",
    "strategy": "context.strategy",
    "temperature": "llm.temperature",
    "memory": "context.memory_integration",
    "user_memory": "memory.user",
    "project_memory": "memory.project",
    "agent_memory": "memory.agent",
}
"""Keys of an agent that override a setting; `context.…` keys have the settings' names."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A validated agent with the values of its file. `file` is None for a built-in agent; `memory_file` may not exist."""

    name: str
    values: Mapping[str, Any]
    file: Path | None = None
    memory_file: Path | None = field(default=None, compare=False)

    @property
    def origin(self) -> str:
        """Its source, for messages."""
        return str(self.file) if self.file else f"agent {self.name} (built in)"

    @property
    def description(self) -> str:
        return str(self.values.get("description", ""))

    @property
    def prompt(self) -> str:
        """Its system prompt."""
        return str(self.values.get("system_prompt", "")).strip()

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The names of the tools it may call; None means all."""
        return tuple(self.values["tools"]) if "tools" in self.values else None

    @property
    def owns_facts(self) -> bool:
        """Whether facts that it remembers are for itself alone."""
        return self.values.get("smart_memory") == "own"

    @property
    def settings_layer(self) -> tuple[Entry, ...]:
        """The settings it overrides; its own key `strategy` comes before `context.strategy`."""
        overrides = {key: value for key, value in self.values.items() if key.startswith("context.")}
        overrides |= {setting: self.values[key] for key, setting in _OVERRIDDEN_SETTINGS.items() if key in self.values}
        return tuple((self.origin, key, value) for key, value in overrides.items() if value != "")
