"""Agents as values, read from files. An invalid file is a ConfigError that names the file, the key,
the value and the valid values.
"""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from zkchat_cli.config import loader
from zkchat_cli.config.schema import ContextSettings, Section, TextList
from zkchat_cli.errors import ConfigError, nearest_names

# The agents that come with zkchat, written as users write theirs
BUILT_IN_FOLDER = Path(__file__).parent / "builtin"
# The name that selects no agent; an agent cannot have it
NO_AGENT = "none"
_NAME = re.compile(rf"(?!{NO_AGENT}\Z)(?!.*[A-Z])[^\W_][\w-]{{0,47}}")
"""Letters, digits, `-` and `_`, without capitals, so that `@name` is easy to type."""
_TEMPLATE = """# The agent {name}: zkchat chat --agent {name}, /agent {name}, @{name} QUESTION
# Keys: {keys}, and any setting of the table [context].
# What is not set is as your settings have it.
"""
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


class AgentFileSchema(Section):
    """The keys of an agent's file. A missing key keeps the setting as it is."""

    # Built at the first use: a chat without an agent does not need it
    model_config = ConfigDict(defer_build=True)

    description: str = Field("", description="what it is for, in a line")
    model: str = Field("", description="PROVIDER/NAME; --model and ZKCHAT_MODEL override it")
    system_prompt: str = Field(
        "", description="its instructions, added to zkchat's own on searching and citing"
    )
    tools: TextList = Field(
        (), description="the tools it may call; all of them if left out, none if []"
    )
    strategy: str = Field("", description="hybrid, summarize or discard")
    temperature: float = Field(
        -1, ge=-1, le=2, description="sampling temperature; below 0: the model's own default"
    )
    memory: bool = Field(
        True, description="include memory in its prompts: memory files, facts and its own file"
    )
    user_memory: bool = Field(True, description="whether it gets your own memory file")
    project_memory: bool = Field(True, description="whether it gets the memory files of the vault")
    agent_memory: bool = Field(True, description="whether it gets its own memory file")
    smart_memory: Literal["shared", "own"] = Field(
        "shared", description="whether facts that it remembers are for all agents or for itself"
    )
    context: ContextSettings = ContextSettings()


@dataclass(frozen=True, slots=True)
class Agent:
    """A validated agent with the values of its file. `file` is None for a built-in agent;
    `memory_file` may not exist.
    """

    name: str
    values: Mapping[str, Any]
    file: Path | None = None
    memory_file: Path | None = field(default=None, compare=False)

    @property
    def origin(self) -> str:
        """Its file, or that it is built in, as the origin of its settings."""
        return str(self.file) if self.file else f"agent {self.name} (built in)"

    @property
    def description(self) -> str:
        """What it is for, in a line; may be empty."""
        return str(self.values.get("description", ""))

    @property
    def prompt(self) -> str:
        """Its own instructions; may be empty."""
        return str(self.values.get("system_prompt", "")).strip()

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The names of the tools it may call; None means all."""
        return tuple(self.values["tools"]) if "tools" in self.values else None

    @property
    def owns_facts(self) -> bool:
        """Whether only this agent sees the facts that it remembers."""
        return self.values.get("smart_memory") == "own"

    @property
    def settings_layer(self) -> tuple[loader.Entry, ...]:
        """The settings it overrides; its own key `strategy` comes before `context.strategy`."""
        overrides = {key: value for key, value in self.values.items() if key.startswith("context.")}
        for key, setting in _OVERRIDDEN_SETTINGS.items():
            if key in self.values:
                overrides[setting] = self.values[key]
        entries = (loader.Entry(self.origin, key, value) for key, value in overrides.items())
        return tuple(entry for entry in entries if entry.value != "")


def agent_file(folder: Path, name: str) -> Path:
    """The file of an agent. Raises ConfigError for an invalid name."""
    if _NAME.fullmatch(name) is None:
        hint = f"Up to 48 letters, digits, - and _, in lower case, and not {NO_AGENT}."
        raise ConfigError(f"an agent cannot be called {name!r:.80}", hint)
    return folder / f"{name}.toml"


def list_names(folder: Path) -> list[str]:
    """The names of all agents, built-in ones included, sorted; no file is read."""
    files = (*folder.glob("*.toml"), *BUILT_IN_FOLDER.glob("*.toml"))
    return sorted({file.stem for file in files if _NAME.fullmatch(file.stem)})


def load_agent(folder: Path, name: str) -> Agent:
    """The user's agent of this name, else the built-in one. Raises ConfigError with the nearest
    names.
    """
    known = list_names(folder)
    if name.lower() in known:
        name = name.lower()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or known
        raise ConfigError(
            f"there is no agent {name!r:.80}",
            f"{nearest_names(near, label='Nearest')}. All of them: zkchat agent list",
        )
    file = agent_file(folder, name)
    own = file if os.path.lexists(file) else None
    source = own or BUILT_IN_FOLDER / file.name
    given = {key: value for _, key, value in loader.read_toml(source)}
    return Agent(name, validate_profile(str(source), given), own, folder / f"{name}.md")


def validate_profile(origin: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The values converted to their types. Raises ConfigError for an unknown key, with the nearest
    ones, or an invalid value.
    """
    for key in given:
        loader.require_known_key(key, origin, AgentFileSchema, "is not a key of an agent")
    if "strategy" in given and "context.strategy" in given:
        raise ConfigError(
            f"{origin}: strategy and context.strategy are the same setting", "Keep one of them."
        )
    values = loader.flatten(loader.validate(given, dict.fromkeys(given, origin), AgentFileSchema))
    return {key: values[key] for key in given}


def write_agent_file(file: Path, values: Mapping[str, object]) -> None:
    """Set keys in an agent's file, new or old, and remove those that are None. Raises ConfigError
    without changing it.
    """
    keys = ", ".join(key for key in AgentFileSchema.model_fields if key != "context")
    loader.edit_toml(file, values, _TEMPLATE.format(name=file.stem, keys=keys))
