"""Loads agents from files. An invalid file is a ConfigError that names the file, the key, the value and valid values."""

import difflib
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zkchat_cli import registry
from zkchat_cli.agents import builtin
from zkchat_cli.agents.profile import MAX_PROMPT, Agent, AgentProfile
from zkchat_cli.config import loader
from zkchat_cli.errors import ConfigError

FOLDER_NAME = "agents"
NO_AGENT = "none"
"""Means "without an agent", so no agent can have this name."""
CONFLICTING_KEYS = (("system_prompt", "system_prompt_file"), ("strategy", "context.strategy"), ("memory", "context.memory_integration"))
"""Keys that exclude each other."""
_NAME = re.compile(r"[^\W_][\w-]{0,47}")


def agents_folder(config_file: Path) -> Path:
    """The folder of agents' files, next to the settings file."""
    return config_file.parent / FOLDER_NAME


def is_valid_name(text: str) -> bool:
    """Letters, digits, `-` and `_`, in lower case, so that `@name` is easy to type."""
    return bool(_NAME.fullmatch(text)) and text == text.lower() and text != NO_AGENT


def agent_file(where: Path, name: str) -> Path:
    """The file of an agent. Raises ConfigError for an invalid name."""
    if not is_valid_name(name):
        hint = f"Up to 48 letters, digits, - and _, in lower case, and not {NO_AGENT}."
        raise ConfigError(f"an agent cannot be called {name!r:.80}", hint)
    return where / f"{name}.toml"


def list_names(where: Path) -> list[str]:
    """The names of all agents, built-in ones included, sorted; no file is read."""
    return sorted({*(file.stem for file in _agent_files(where) if is_valid_name(file.stem)), *registry.names(builtin)})


def find_invalid_file_names(where: Path) -> list[str]:
    """Files in the agents' folder with invalid agent names."""
    return sorted(file.name for file in _agent_files(where) if not is_valid_name(file.stem))


def _agent_files(where: Path) -> list[Path]:
    try:
        return [file for file in where.iterdir() if file.suffix == ".toml"]
    except OSError:
        return []


def is_built_in(name: str) -> bool:
    return name in registry.names(builtin)


def load_agent(where: Path, name: str) -> Agent:
    """The user's agent of this name, else the built-in one. Raises ConfigError with the nearest names."""
    known = list_names(where)
    name = name.lower() if name.lower() in known else name
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or known
        raise ConfigError(f"there is no agent {name!r:.80}", f"Nearest: {', '.join(near)}. All of them: zkchat agent list")
    memory = where / f"{name}.md"
    file = agent_file(where, name)
    if not file.exists():
        agent: Agent = registry.load(builtin, name, "AGENT")
        return replace(agent, memory_file=memory)
    given = validate_profile(str(file), {key: value for _, key, value in loader.read_toml(file)})
    return Agent(name, given, _read_prompt(file, given), file, None if _is_prompt(file, given, memory) else memory)


def validate_profile(origin: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The values converted to their types. Raises ConfigError for an unknown key or an invalid value."""
    for key in given:
        require_known_key(key, origin)
    for one, other in CONFLICTING_KEYS:
        if one in given and other in given:
            raise ConfigError(f"{origin}: {one} and {other} exclude each other", "Remove one of them.")
    valid = loader.flatten(loader.validate(given, dict.fromkeys(given, origin), AgentProfile))
    return {key: valid[key] for key in given}


def require_known_key(key: str, origin: str) -> None:
    """Raises ConfigError with the nearest keys for an unknown one."""
    known = loader.default_values(AgentProfile)
    if key not in known:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
        own = [name for name in known if not name.startswith("context.")]
        valid = f"Nearest: {', '.join(near)}. " if near else ""
        raise ConfigError(f"{origin}: {key} is not a key of an agent", f"{valid}There are {', '.join(own)} and the settings context.…")


def check_names(agent: Agent, *, tools: Collection[str], strategies: Collection[str]) -> Agent:
    """Raises ConfigError for unknown tools and strategies."""
    wrong = next((tool for tool in agent.tools or () if tool not in tools), None)
    if wrong is not None:
        near = difflib.get_close_matches(wrong, tools, n=2, cutoff=0.5)
        hint = f"Nearest: {', '.join(near)}" if near else ""
        raise loader.invalid_value_error(agent.origin, "tools", wrong, f"one of {', '.join(sorted(tools))}", hint)
    for key in ("strategy", "context.strategy"):
        if agent.values.get(key) not in (None, "", *strategies):
            raise loader.invalid_value_error(agent.origin, key, agent.values[key], " or ".join(strategies), "")
    return agent


def _read_prompt(file: Path, given: Mapping[str, Any]) -> str:
    """The system prompt from the agent's file or from the file it names. Raises ConfigError."""
    named = given.get("system_prompt_file")
    if not named:
        return str(given.get("system_prompt", "")).strip()
    place = _resolve_prompt_file(file, named)
    if place.exists() and not place.is_file():  # a named pipe would block
        raise _wrong_file(file, named, "a file")
    try:
        with place.open("rb") as opened:
            text = opened.read(MAX_PROMPT + 1)
        if len(text) > MAX_PROMPT:
            raise _wrong_file(file, named, f"a file of at most {MAX_PROMPT} bytes")
        return text.decode("utf-8-sig").strip()
    except UnicodeDecodeError as e:
        raise _wrong_file(file, named, "a text file in UTF-8") from e
    except (OSError, ValueError) as e:
        reason = (e.strerror if isinstance(e, OSError) and e.strerror else str(e)).lower()
        raise _wrong_file(file, named, f"a file that can be read ({place}: {reason})") from e


def _resolve_prompt_file(file: Path, named: str) -> Path:
    """The named file: an absolute path, or a relative one that stays in the agents' folder."""
    try:
        expanded = Path(named).expanduser()
    except RuntimeError:
        expanded = Path(named)
    if expanded.is_absolute():
        return expanded
    if "\0" in named:
        raise _wrong_file(file, named, "a path")
    inside, root = os.path.realpath(file.parent / expanded), os.path.realpath(file.parent)
    if not Path(inside).is_relative_to(root):
        raise _wrong_file(file, named, f"a path in {file.parent}, or a whole one from the root")
    return Path(inside)


def _is_prompt(file: Path, given: Mapping[str, Any], memory: Path) -> bool:
    """Whether the agent's memory file is also its system prompt."""
    named = given.get("system_prompt_file") or None
    return named is not None and os.path.realpath(_resolve_prompt_file(file, named)) == os.path.realpath(memory)


def _wrong_file(file: Path, named: str, valid: str) -> ConfigError:
    return loader.invalid_value_error(str(file), "system_prompt_file", named, valid, "The agent cannot be used until this is corrected.")
