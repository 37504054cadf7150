"""The keys of an agent's file, and a loaded agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from zkchat_cli.config.loader import Entry
from zkchat_cli.config.schema import ContextSettings, Section, TextList

SETTINGS = {
    "model": "model",
    "strategy": "context.strategy",
    "temperature": "llm.temperature",
    "memory": "context.memory_integration",
    "user_memory": "memory.user",
    "project_memory": "memory.project",
    "agent_memory": "memory.agent",
}
"""Keys of an agent that override a setting; `context.…` keys have the settings' names."""


class AgentProfile(Section, defer_build=True):
    """The keys of an agent's file. A missing key means the setting, whatever the default here."""

    description: str = Field("", description="what it is for, in a line")
    model: str = Field("", description="PROVIDER/NAME; --model and ZKCHAT_MODEL override it")
    system_prompt: str = Field("", description="its instructions, added to zkchat's own on searching and citing")
    tools: TextList = Field((), description="the tools it may call; all of them if left out, none if []")
    strategy: str = Field("", description="hybrid, summarize or discard")
    temperature: float = Field(-1, ge=-1, le=2, description="sampling temperature; below 0: the model's own default")
    memory: bool = Field(True, description="include memory in its prompts: memory files, facts and its own file")
    user_memory: bool = Field(True, description="whether it gets your own memory file")
    project_memory: bool = Field(True, description="whether it gets the memory files of the vault")
    agent_memory: bool = Field(True, description="whether it gets its own memory file")
    smart_memory: Literal["shared", "own"] = Field("shared", description="whether facts that it remembers are for all agents or for itself")
    context: ContextSettings = ContextSettings()


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
        overrides |= {setting: self.values[key] for key, setting in SETTINGS.items() if key in self.values}
        return tuple((self.origin, key, value) for key, value in overrides.items() if value != "")
