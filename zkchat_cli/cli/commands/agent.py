"""Agents: named profiles of model, system prompt, tools, strategy and memory."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli import paths
from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples
from zkchat_cli.cli.completion import complete_agent_settings, complete_agents
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.text.truncate import truncate

if TYPE_CHECKING:
    from zkchat_cli.agents.profile import Agent

COMMAND = command_group("Agents: named profiles of model, system prompt, tools, strategy and memory, for --agent, /agent and @NAME.")
VALID_NAME = "Letters, digits, - and _, in lower case."
COMMAND_LINE = "command line"
"""Where an error says that a value comes from."""

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="An agent's name.", autocompletion=complete_agents)]


@command(COMMAND, *options.SETTINGS, name="list")
def list_(ctx: CommandContext) -> None:
    """All agents, and the problems in their files."""
    from zkchat_cli.agents import loader
    from zkchat_cli.agents.profile import Agent
    from zkchat_cli.app import factory

    folder = _agents_folder(ctx)
    found: list[tuple[str, Agent | ConfigError]] = []
    for name in loader.list_names(folder):
        try:
            found.append((name, factory.check_agent(loader.load_agent(folder, name))))
        except ConfigError as e:
            found.append((name, e))
    for file in loader.find_invalid_file_names(folder):
        ctx.screen.warn(f"{folder / file} is ignored: its name is not a valid agent name", VALID_NAME)
    if ctx.as_json:
        ctx.screen.json([_list_entry(folder, name, agent) for name, agent in found])
        return
    width = max(len(name) for name, _ in found)
    for name, agent in found:
        if isinstance(agent, Agent):
            model = f" · {agent.values['model']}" if agent.values.get("model") else ""
            summary = truncate(agent.description or agent.prompt, 100)
            ctx.screen.print(f"{name:<{width}}  {'built in' if agent.file is None else 'yours   '}{model}  {summary}".rstrip())
        else:
            ctx.screen.print(f"{name:<{width}}  ✗ {agent.message}", "red")


def _list_entry(folder: Path, name: str, agent: "Agent | ConfigError") -> dict[str, Any]:
    from zkchat_cli.agents.profile import Agent

    if isinstance(agent, Agent):
        return {**_as_document(agent), "problem": None}
    return {**_as_document(Agent(name, {}, file=folder / f"{name}.toml")), "problem": agent.message}


@command(COMMAND, *options.SETTINGS)
def show(ctx: CommandContext, name: NameArgument) -> None:
    """An agent's settings, its whole system prompt, and its memory file."""
    from zkchat_cli import tools
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.app import factory

    screen = ctx.screen
    agent = factory.check_agent(loader.load_agent(_agents_folder(ctx), name))
    if ctx.as_json:
        screen.json(_as_document(agent))
        return
    screen.print(f"{agent.name} · {agent.file or 'built in'}", "bold")
    for key, value in agent.values.items():
        if key != "system_prompt":
            screen.print(f"{key} = {editor.as_toml(value)}")
    if agent.tools is None:
        screen.print("tools: all", "dim")
    elif writing := [tool.name for tool in tools.load_tools(unsafe=True) if tool.writes and tool.name in agent.tools]:
        screen.print(f"only with --unsafe: {', '.join(writing)}", "dim")
    missing = "" if agent.memory_file and agent.memory_file.is_file() else " (does not exist yet)"
    screen.print(f"memory: {agent.memory_file}{missing}" if agent.memory_file else "memory: no file of its own", "dim")
    screen.print(f"\n{agent.prompt}" if agent.prompt else "\nNo system prompt besides zkchat's own.")


def _as_document(agent: "Agent") -> dict[str, Any]:
    return {
        "name": agent.name,
        "built_in": agent.file is None,
        "file": str(agent.file) if agent.file else None,
        "description": agent.description or None,
        "model": agent.values.get("model") or None,
        "system_prompt": agent.prompt or None,
        "tools": list(agent.tools) if agent.tools is not None else None,
        "strategy": agent.values.get("strategy") or agent.values.get("context.strategy") or None,
        "temperature": agent.values.get("temperature"),
        "memory": agent.values.get("memory"),
        "memory_file": str(agent.memory_file) if agent.memory_file else None,
        "context": {key.removeprefix("context."): value for key, value in agent.values.items() if key.startswith("context.")},
    }


@command(
    COMMAND,
    "strategy",
    "max_context",
    "as_json",
    "model",
    "config_file",
    epilog=examples('zkchat agent create critic --prompt "Find what is weak in a note."'),
)
def create(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help=VALID_NAME)],
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it is for, in one line.")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", metavar="TEXT", help="Its system prompt; - reads standard input.")] = None,
    prompt_file: Annotated[str | None, typer.Option("--prompt-file", metavar="FILE", help="A text file with the prompt.")] = None,
    tools: Annotated[str | None, typer.Option("--tools", metavar="A,B", help="The tools it may call; all if left out.")] = None,
    temperature: Annotated[float | None, typer.Option("--temperature", metavar="T", help="The model's sampling temperature.")] = None,
    memory: Annotated[bool | None, typer.Option("--memory/--no-memory", help="Whether memory is included in its prompts.")] = None,
) -> None:
    """Write a new agent's file, with a comment for each key."""
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.agents.profile import MAX_PROMPT, Agent
    from zkchat_cli.app import factory

    folder = _agents_folder(ctx)
    file = loader.agent_file(folder, name)
    if file.exists():
        raise UsageError(f"the agent {name} already exists: {file}", f"Change it: zkchat agent config {name} KEY VALUE")
    if prompt == "-":
        prompt = sys.stdin.buffer.read(4 * MAX_PROMPT + 4).decode("utf-8", "replace")  # more bytes than a prompt may have
    options_given = {
        "description": description,
        "model": ctx.shared["model"],
        "system_prompt": prompt.strip() if prompt else None,
        "system_prompt_file": _absolute(prompt_file, folder) if prompt_file else None,
        "tools": tools,
        "strategy": ctx.shared["strategy"],
        "temperature": temperature,
        "memory": memory,
        "context.max_tokens": ctx.shared["max_context"],
    }
    values = loader.validate_profile(COMMAND_LINE, {key: value for key, value in options_given.items() if value is not None})
    factory.check_agent(Agent(COMMAND_LINE, values, file=Path(COMMAND_LINE)))
    _check_model(ctx, values.get("model"))
    editor.create_agent_file(file, name, values)
    try:
        agent = loader.load_agent(folder, name)
    except ConfigError:  # the prompt's file is not valid
        editor.delete_agent_file(file)
        raise
    if ctx.as_json:
        ctx.screen.json(_as_document(agent))
    else:
        replaced = " It replaces the built-in one." if loader.is_built_in(name) else ""
        ctx.screen.print(f"{file}\nTry it: zkchat chat --agent {name}.{replaced}")


def _absolute(prompt_file: str, folder: Path) -> str:
    """A path from the command line: relative to the agents' folder if it is there, otherwise to the current folder."""
    file = Path(prompt_file)
    return prompt_file if file.is_absolute() or not file.exists() or (folder / prompt_file).exists() else str(file.resolve())


def _check_model(ctx: CommandContext, model: str | None) -> None:
    """Raises ConfigError if no provider has that name."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    if model:
        usual = paths.app_paths(os.environ, ctx.shared["config_file"])
        no_file = paths.AppPaths(Path(os.devnull), usual.data_dir, usual.cache_dir)
        factory.check(loader.load_config({"model": model}, {}, no_file, schema=factory.settings_schema()))


@command(COMMAND, *options.SETTINGS, name="config", epilog=examples("zkchat agent config critic model ollama/qwen3"))
def config_(
    ctx: CommandContext,
    name: NameArgument,
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="For example model, tools or context.max_tokens.", autocompletion=complete_agent_settings),
    ],
    value: Annotated[str | None, typer.Argument(metavar="[VALUE]", help="The new value; if left out, print the current one.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Remove the key, so that the settings apply again.")] = False,
) -> None:
    """Change one key of an agent; comments in its file are kept. A built-in agent is first copied to a file of yours."""
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.agents.profile import Agent
    from zkchat_cli.app import factory

    folder = _agents_folder(ctx)
    loader.require_known_key(key, COMMAND_LINE)
    file = loader.agent_file(folder, name)
    if value is None and not unset:
        _print_value(ctx, name, key, loader.load_agent(folder, name).values.get(key))
        return
    current = _values_in(file) if file.exists() else editor.profile_of_builtin(loader.load_agent(folder, name))
    replaced = {key} | next((set(keys) for keys in loader.CONFLICTING_KEYS if key in keys and not unset), set())
    values = loader.validate_profile(str(file), {k: v for k, v in current.items() if k not in replaced})
    values |= {} if unset else loader.validate_profile(COMMAND_LINE, {key: value})
    factory.check_agent(Agent(name, values, file=Path(COMMAND_LINE)))
    if key == "model" and not unset:
        _check_model(ctx, value)
    if file.exists():
        editor.update_agent_file(file, {**dict.fromkeys(replaced & current.keys()), key: values.get(key)})
    else:
        editor.create_agent_file(file, name, values)
        _warn_replaces_built_in(ctx, name, file)
    _print_value(ctx, name, key, values.get(key))


def _warn_replaces_built_in(ctx: CommandContext, name: str, file: Path) -> None:
    ctx.screen.warn(f"{name} is built in; {file} replaces it now", f"zkchat agent delete {name} restores the built-in one")


def _values_in(file: Path) -> dict[str, object]:
    """A file's values, valid or not: `config` can replace an invalid one."""
    from zkchat_cli.config import loader

    return {key: value for _, key, value in loader.read_toml(file)}


def _print_value(ctx: CommandContext, name: str, key: str, value: object) -> None:
    from zkchat_cli.agents import editor

    if ctx.as_json:
        ctx.screen.json({"name": name, "key": key, "value": value})
    else:
        ctx.screen.print(f"{key} is not set" if value is None else f"{key} = {editor.as_toml(value)}")


@command(COMMAND, *options.SETTINGS)
def delete(ctx: CommandContext, name: NameArgument, yes: options.ConfirmOption = False) -> None:
    """Delete an agent's file; its memory file stays."""
    from zkchat_cli.agents import editor, loader

    folder = _agents_folder(ctx)
    file = loader.agent_file(folder, name)
    built_in = loader.is_built_in(name)
    if not file.exists():
        if built_in:
            hint = f"A file of yours can replace it: zkchat agent create {name}, or zkchat agent config {name} KEY VALUE"
            raise UsageError(f"{name} is built in and cannot be deleted", hint)
        loader.load_agent(folder, name)
    confirm(f"Delete {file}?", "agent delete", yes=yes)
    editor.delete_agent_file(file)
    memory = folder / f"{name}.md"
    if ctx.as_json:
        ctx.screen.json({"name": name, "deleted": str(file)})
        return
    restored = " The built-in one is used again." if built_in else ""
    kept = f" Its memory stays: {memory}" if memory.exists() else ""
    ctx.screen.print(f"Deleted {file}.{restored}{kept}")


def _agents_folder(ctx: CommandContext) -> Path:
    from zkchat_cli.agents import loader

    return loader.agents_folder(paths.app_paths(os.environ, ctx.shared["config_file"]).config_file)
