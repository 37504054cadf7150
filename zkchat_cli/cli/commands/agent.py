"""Agents: named profiles of model, system prompt, tools, strategy and memory."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli import paths
from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples, standard_input
from zkchat_cli.cli.completion import complete_agent_settings, complete_agents
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.text.truncate import truncate

if TYPE_CHECKING:
    from zkchat_cli.agents.profile import Agent

COMMAND = command_group("Agents: named profiles of model, system prompt, tools, strategy and memory, for --agent, /agent and @NAME.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="An agent's name.", autocompletion=complete_agents)]


@command(COMMAND, *options.SETTINGS, name="list")
def list_(ctx: CommandContext) -> None:
    """All agents, and what is wrong with a file."""
    from zkchat_cli.agents import loader
    from zkchat_cli.agents.profile import Agent
    from zkchat_cli.app import factory

    screen = ctx.screen
    where = _folder(ctx)
    found: list[tuple[str, Agent | ConfigError]] = []
    for name in loader.list_names(where):
        try:
            found.append((name, factory.check_agent(loader.load_agent(where, name))))
        except ConfigError as e:
            found.append((name, e))
    for file in loader.find_invalid_file_names(where):
        screen.warn(f"{where / file} is no agent: nobody could call it by that name", "Letters, digits, - and _, in lower case.")
    if ctx.as_json:
        screen.json([_listed(where, name, agent) for name, agent in found])
        return
    width = max(len(name) for name, _ in found)
    for name, agent in found:
        if isinstance(agent, Agent):
            model = f" · {agent.values['model']}" if agent.values.get("model") else ""
            about = truncate(agent.description or agent.prompt, 100)
            screen.print(f"{name:<{width}}  {'built in' if agent.file is None else 'yours   '}{model}  {about}".rstrip())
        else:
            screen.print(f"{name:<{width}}  ✗ {agent.message}", "red")


def _listed(where: Path, name: str, agent: "Agent | ConfigError") -> dict[str, Any]:
    from zkchat_cli.agents.profile import Agent

    if isinstance(agent, Agent):
        return {**_document(agent), "problem": None}
    return {**_document(Agent(name, {}, file=where / f"{name}.toml")), "problem": agent.message}


@command(COMMAND, *options.SETTINGS)
def show(ctx: CommandContext, name: NameArgument) -> None:
    """What an agent is: all it says, its whole system prompt, and where its memory is."""
    from zkchat_cli import tools
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.app import factory

    screen = ctx.screen
    agent = factory.check_agent(loader.load_agent(_folder(ctx), name))
    if ctx.as_json:
        screen.json(_document(agent))
        return
    screen.print(f"{agent.name} · {agent.file or 'built in'}", "bold")
    for key, value in agent.values.items():
        if key != "system_prompt":
            screen.print(f"{key} = {editor.as_toml(value)}")
    if agent.tools is None:
        screen.print("tools: all there are", "dim")
    elif writes := [tool.name for tool in tools.load_tools(unsafe=True) if tool.writes and tool.name in agent.tools]:
        screen.print(f"only with --unsafe: {', '.join(writes)}", "dim")
    there = "" if agent.memory_file and agent.memory_file.is_file() else ", which is not there yet"
    screen.print(f"memory: {agent.memory_file}{there}" if agent.memory_file else "memory: no file of its own", "dim")
    screen.print(f"\n{agent.prompt}" if agent.prompt else "\nNo system prompt besides zkchat's own.")


def _document(agent: "Agent") -> dict[str, Any]:
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
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, - and _, in lower case.")],
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it is for, in a line.")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", metavar="TEXT", help="Its system prompt; - reads standard input.")] = None,
    prompt_file: Annotated[str | None, typer.Option("--prompt-file", metavar="FILE", help="A text file with it.")] = None,
    tools: Annotated[str | None, typer.Option("--tools", metavar="A,B", help="The tools it may call; all if left out.")] = None,
    temperature: Annotated[float | None, typer.Option("--temperature", metavar="T", help="How freely it chooses its words.")] = None,
    memory: Annotated[bool | None, typer.Option("--memory/--no-memory", help="Whether it gets what is remembered.")] = None,
) -> None:
    """Write a new agent's file, with a comment at each key."""
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.agents.profile import LARGEST_PROMPT, Agent
    from zkchat_cli.app import factory

    where = _folder(ctx)
    file = loader.agent_file(where, name)
    if file.exists():
        raise UsageError(f"there is an agent {name} already: {file}", f"Change it: zkchat agent config {name} KEY VALUE")
    if prompt == "-":
        prompt = standard_input().buffer.read(4 * LARGEST_PROMPT + 4).decode("utf-8", "replace")  # more bytes than a prompt may have
    said = {
        "description": description,
        "model": ctx.shared["model"],
        "system_prompt": prompt.strip() if prompt else None,
        "system_prompt_file": _absolute(prompt_file, where) if prompt_file else None,
        "tools": tools,
        "strategy": ctx.shared["strategy"],
        "temperature": temperature,
        "memory": memory,
        "context.max_tokens": ctx.shared["max_context"],
    }
    given = loader.validate_profile("command line", {key: value for key, value in said.items() if value is not None})
    factory.check_agent(Agent("command line", given, file=Path("command line")))
    _check_model(ctx, given.get("model"))
    editor.create_agent_file(file, name, given)
    try:
        agent = loader.load_agent(where, name)
    except ConfigError:  # its prompt's file cannot be taken
        editor.delete_agent_file(file)
        raise
    if ctx.as_json:
        ctx.screen.json(_document(agent))
    else:
        instead = " It takes the place of the built-in one." if loader.is_built_in(name) else ""
        ctx.screen.print(f"{file}\nTry it: zkchat chat --agent {name}.{instead}")


def _absolute(named: str, where: Path) -> str:
    """A file named on the command line is one of the current folder, unless it lies among the agents."""
    return named if Path(named).is_absolute() or not Path(named).exists() or (where / named).exists() else str(Path(named).resolve())


def _check_model(ctx: CommandContext, model: str | None) -> None:
    """Raises ConfigError for a model of no provider."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    if model:
        where = paths.app_paths(os.environ, ctx.shared["config_file"])
        factory.check(
            loader.load(
                {"model": model}, {}, paths.AppPaths(Path(os.devnull), where.data_dir, where.cache_dir), schema=factory.settings_schema()
            )
        )


@command(COMMAND, *options.SETTINGS, name="config", epilog=examples("zkchat agent config critic model ollama/qwen3"))
def config_(
    ctx: CommandContext,
    name: NameArgument,
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="For example model, tools or context.max_tokens.", autocompletion=complete_agent_settings),
    ],
    value: Annotated[str | None, typer.Argument(metavar="[VALUE]", help="Left out: print what it is.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Take the key out: the settings count again.")] = False,
) -> None:
    """Change one key of an agent; comments in its file are kept. A built-in one is copied to a file of yours first."""
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.agents.profile import Agent
    from zkchat_cli.app import factory

    where = _folder(ctx)
    loader.require_known_key(key, "command line")
    file = loader.agent_file(where, name)
    if value is None and not unset:
        found = loader.load_agent(where, name).values.get(key)
        _tell(ctx, name, key, found)
        return
    given = _given(file) if file.exists() else editor.profile_of_builtin(loader.load_agent(where, name))
    replaced = {key} | next((set(keys) for keys in loader.CONFLICTING_KEYS if key in keys and not unset), set())
    valid = loader.validate_profile(str(file), {k: v for k, v in given.items() if k not in replaced})
    valid |= {} if unset else loader.validate_profile("command line", {key: value})
    factory.check_agent(Agent(name, valid, file=Path("command line")))
    if key == "model" and not unset:
        _check_model(ctx, value)
    if not file.exists():
        editor.create_agent_file(file, name, valid)
        _tell_replaced(ctx, name, file)
    else:
        editor.update_agent_file(file, {**dict.fromkeys(replaced & given.keys()), key: valid.get(key)})
    _tell(ctx, name, key, valid.get(key))


@command(COMMAND, "config_file")
def edit(ctx: CommandContext, name: NameArgument) -> None:
    """Open an agent's file in $VISUAL or $EDITOR; it is checked before it counts. A built-in one is copied to a file of yours first."""
    from zkchat_cli.agents import editor, loader
    from zkchat_cli.app import factory
    from zkchat_cli.terminal import config_editor

    where = _folder(ctx)
    file = loader.agent_file(where, name)
    new = not file.exists()

    def check(tried: Path) -> None:
        agent = factory.check_agent(loader.load_agent_file(tried, name, where / f"{name}.md"))
        _check_model(ctx, agent.values.get("model"))

    first = editor.render_agent_file(name, editor.profile_of_builtin(loader.load_agent(where, name))) if new else ""
    if not config_editor.edit(config_editor.SettingsDraft(file, first, check, editor.write_agent_file), ctx.screen):
        ctx.screen.print("Nothing was changed.", "dim")
        return
    ctx.screen.print(f"{file} is {'written' if new else 'changed'}.")
    if new:
        _tell_replaced(ctx, name, file)


def _tell_replaced(ctx: CommandContext, name: str, file: Path) -> None:
    ctx.screen.warn(f"{name} is built in; {file} takes its place now", f"zkchat agent delete {name} brings it back")


def _given(file: Path) -> dict[str, object]:
    """What a file says, right or wrong: a wrong value can be replaced."""

    from zkchat_cli.config import loader

    return {key: value for _, key, value in loader.read_toml(file)}


def _tell(ctx: CommandContext, name: str, key: str, value: object) -> None:
    from zkchat_cli.agents import editor

    if ctx.as_json:
        ctx.screen.json({"name": name, "key": key, "value": value})
    else:
        ctx.screen.print(f"{key} is not set" if value is None else f"{key} = {editor.as_toml(value)}")


@command(COMMAND, *options.SETTINGS)
def delete(ctx: CommandContext, name: NameArgument, yes: options.ConfirmOption = False) -> None:
    """Delete an agent's file; its memory stays."""
    from zkchat_cli.agents import editor, loader

    where = _folder(ctx)
    file = loader.agent_file(where, name)
    if not file.exists():
        if loader.is_built_in(name):
            hint = f"A file of yours takes its place: zkchat agent create {name}, or zkchat agent config {name} KEY VALUE"
            raise UsageError(f"{name} is built in and cannot be deleted", hint)
        loader.load_agent(where, name)
    confirm(f"Delete {file}?", "agent delete", yes=yes)
    editor.delete_agent_file(file)
    memory = where / f"{name}.md"
    if ctx.as_json:
        ctx.screen.json({"name": name, "deleted": str(file)})
        return
    again = " The built-in one counts again." if loader.is_built_in(name) else ""
    kept = f" Its memory stays: {memory}" if memory.exists() else ""
    ctx.screen.print(f"Deleted: {file}.{again}{kept}")


def _folder(ctx: CommandContext) -> Path:
    from zkchat_cli.agents import loader

    return loader.agents_folder(paths.app_paths(os.environ, ctx.shared["config_file"]).config_file)
