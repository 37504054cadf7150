"""Writes agents' files: new ones with a comment for each key; changes keep comments and replace the file in one step."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomlkit
import tomlkit.exceptions

from zkchat_cli.agents.profile import Agent, AgentProfile
from zkchat_cli.config import loader
from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write

_EXAMPLES = {
    "model": "ollama/qwen3",
    "system_prompt_file": "prompt.md",
    "tools": ["find_excerpts", "read_zk_document"],
    "strategy": "summarize",
    "temperature": 0.2,
    "memory": False,
}
"""Example values of keys that are not set, written as comments."""


def render_agent_file(name: str, given: Mapping[str, Any]) -> str:
    """A new agent's file: the given values, and the other keys as comments."""
    return "\n".join(_lines(name, given)) + "\n"


def _lines(name: str, given: Mapping[str, Any]) -> Iterator[str]:
    yield f"# The agent {name}: zkchat chat --agent {name}, /agent {name}, @{name} QUESTION"
    yield "# What is not set is as your settings have it. zkchat agent config changes this file and keeps its comments."
    hidden = "system_prompt_file" if "system_prompt" in given else "system_prompt" if "system_prompt_file" in given else None
    for key in loader.default_values(AgentProfile):
        if not key.startswith("context.") and key != hidden:
            yield ""
            yield f"# {loader.describe_setting(key, AgentProfile)}"
            yield f"{key} = {as_toml(given[key])}" if key in given else f"# {key} = {as_toml(_EXAMPLES.get(key, ''))}"
    yield ""
    yield "# Any setting of the table [context] of the settings; zkchat config show lists them."
    chosen = {key.removeprefix("context."): value for key, value in given.items() if key.startswith("context.")}
    yield "[context]"
    yield from (f"{key} = {as_toml(value)}" for key, value in chosen.items())
    if not chosen:
        yield "# max_tokens = 16384"


def as_toml(value: object) -> str:
    """A value in TOML; a multi-line string stays readable."""
    if isinstance(value, str) and "\n" in value:
        escaped = value.replace("\\", "\\\\").replace('"""', '""\\"')
        several = f'"""\n{escaped}"""'
        if _is(several, value):
            return several
    return str(tomlkit.item(value).as_string())


def _is(written: str, value: str) -> bool:
    """Whether TOML reads the value back: control characters need escapes."""
    try:
        return bool(tomllib.loads(f"a = {written}")["a"] == value)
    except tomllib.TOMLDecodeError:
        return False


def create_agent_file(file: Path, name: str, given: Mapping[str, Any]) -> None:
    """Write a new agent's file. Raises ConfigError when it cannot be written."""
    write_agent_file(file, render_agent_file(name, given))


def update_agent_file(file: Path, values: Mapping[str, object]) -> None:
    """Set keys, remove those that are None, and keep everything else as written. Raises ConfigError without changing the file."""
    try:
        document: Any = tomlkit.parse(file.read_text(encoding="utf-8-sig"))
        for key, value in values.items():
            *path, last = key.split(".")
            table = document
            for part in path:
                table = table.setdefault(part, tomlkit.table())
            if value is None:
                table.pop(last, None)
            else:
                table[last] = value
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it by hand first; nothing was changed.") from e
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file} cannot be read: {reason(e)}", "Nothing was changed.") from e
    content = tomlkit.dumps(document)
    tomllib.loads(content)
    write_agent_file(file, content)


def delete_agent_file(file: Path) -> None:
    """Raises ConfigError when the file cannot be deleted."""
    try:
        file.unlink()
    except OSError as e:
        raise ConfigError(f"{file} cannot be deleted: {(e.strerror or str(e)).lower()}", "Check the folder's permissions.") from e


def profile_of_builtin(agent: Agent) -> dict[str, Any]:
    """The values of a file for this built-in agent."""
    return {**agent.values, "system_prompt": agent.prompt}


def write_agent_file(file: Path, content: str) -> None:
    """Replace the file in one step, readable only by its owner. Raises ConfigError without changing the file."""
    try:
        for folder in (file.parent.parent, file.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic_write(file, content, private=True)
    except OSError as e:
        raise ConfigError(f"{file} cannot be written: {(e.strerror or str(e)).lower()}", "Nothing was changed.") from e
