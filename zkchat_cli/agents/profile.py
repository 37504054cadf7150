"""What an agent may say of itself, and an agent as the session uses it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from zkchat_cli.config.loader import Entry
from zkchat_cli.config.schema import ContextSettings, Section

SETTINGS = {
    "model": "model",
    "strategy": "context.strategy",
    "temperature": "llm.temperature",
    "memory": "context.memory_integration",
}
"""Keys of an agent that stand for a setting; `context.…` are called as the settings are."""
LARGEST_PROMPT = 200_000
"""Characters of a system prompt, bytes of its file: more than any instructions, less than what makes a prompt too large by mistake."""


class AgentProfile(Section):
    """Everything an agent's file may say. What it leaves out is as the settings have it, whatever the defaults here."""

    description: str = Field("", description="what it is for, in a line")
    model: str = Field("", description="PROVIDER/NAME; --model and ZKCHAT_MODEL count for more")
    system_prompt: str = Field(
        "", max_length=LARGEST_PROMPT, description="what it is told, after zkchat's own instructions on looking and citing"
    )
    system_prompt_file: str = Field("", description="the same from a text file in this folder, or from anywhere by its whole path")
    tools: tuple[str, ...] = Field((), description="the tools it may call; without this line all of them, [] none")
    strategy: str = Field("", description="hybrid, summarize or discard")
    temperature: float = Field(-1, ge=-1, le=2, description="how freely it chooses its words; below 0: the model's own default")
    memory: bool = Field(True, description="whether it gets what is remembered: memory files, facts, and its own file")
    context: ContextSettings = ContextSettings()

    @field_validator("tools", mode="before")
    @classmethod
    def _comma_separated(cls, value: object) -> object:
        """On the command line a list is one text: `find_excerpts,read_zk_document`."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, checked. `given` is what it says, by key; `prompt` its system prompt, wherever that stood.

    `file` is None for a built-in one. `memory_file` is where its own memory is, or would be.
    """

    name: str
    values: Mapping[str, Any]
    prompt: str = ""
    file: Path | None = None
    memory_file: Path | None = field(default=None, compare=False)

    @property
    def origin(self) -> str:
        """Who says all this, for messages."""
        return str(self.file) if self.file else f"agent {self.name} (built in)"

    @property
    def description(self) -> str:
        return str(self.values.get("description", ""))

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The names of the tools that it may call; None: all."""
        return tuple(self.values["tools"]) if "tools" in self.values else None

    @property
    def settings_layer(self) -> tuple[Entry, ...]:
        """What it changes of the settings, as a layer of them."""
        told = {SETTINGS.get(key, key): value for key, value in self.values.items() if key in SETTINGS or key.startswith("context.")}
        return tuple((self.origin, key, value) for key, value in told.items() if value != "")
