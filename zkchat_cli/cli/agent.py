"""Agents: named profiles of model, system prompt, tools, strategy and memory."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from zkchat_cli import cli, config, tools, wiring
from zkchat_cli.agents import loading, writing
from zkchat_cli.agents.profile import LARGEST_PROMPT, Agent
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.terminal import drafting
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.words import shorten

COMMAND = cli.app("Agents: named profiles of model, system prompt, tools, strategy and memory, for --agent, /agent and @NAME.")

MOST_PIPED = 4 * LARGEST_PROMPT + 4
"""Bytes that are more than a prompt may have, whatever its letters are."""
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="An agent's name.", autocompletion=cli.agent_names)]


@COMMAND.command(name="list")
def list_(as_json: cli.JsonOption = False, config_file: cli.ConfigOption = None) -> None:
    """All agents; one whose file is wrong with what is wrong."""
    screen = Screen.of()
    where = _folder(config_file)
    found: list[tuple[str, Agent | ConfigError]] = []
    for name in loading.names(where):
        try:
            found.append((name, wiring.check_agent(loading.load(where, name))))
        except ConfigError as e:
            found.append((name, e))
    for file in loading.misnamed(where):
        screen.warn(f"{where / file} is no agent: nobody could call it by that name", "Letters, digits, - and _, in lower case.")
    if as_json:
        screen.json([_listed(name, agent) for name, agent in found])
        return
    width = max(len(name) for name, _ in found)
    for name, agent in found:
        if isinstance(agent, Agent):
            model = f" · {agent.given['model']}" if agent.given.get("model") else ""
            about = shorten(agent.description or agent.prompt, 100)
            screen.print(f"{name:<{width}}  {'built in' if agent.file is None else 'yours   '}{model}  {about}".rstrip())
        else:
            screen.print(f"{name:<{width}}  ✗ {agent.message}", "red")


def _listed(name: str, agent: Agent | ConfigError) -> dict[str, Any]:
    if isinstance(agent, Agent):
        return {**_document(agent), "problem": None}
    return {"name": name, "built_in": False, "problem": agent.message}


@COMMAND.command()
def show(name: NameArgument, as_json: cli.JsonOption = False, config_file: cli.ConfigOption = None) -> None:
    """What an agent is: all it says, its whole system prompt, and where its memory is."""
    screen = Screen.of()
    agent = wiring.check_agent(loading.load(_folder(config_file), name))
    if as_json:
        screen.json(_document(agent))
        return
    screen.print(f"{agent.name} · {agent.file or 'built in'}", "bold")
    for key, value in agent.given.items():
        if key != "system_prompt":
            screen.print(f"{key} = {writing.as_toml(value)}")
    if agent.tools is None:
        screen.print("tools: all there are", "dim")
    elif writes := [tool.name for tool in tools.tools(unsafe=True) if tool.writes and tool.name in agent.tools]:
        screen.print(f"only with --unsafe: {', '.join(writes)}", "dim")
    there = "" if agent.memory_file and agent.memory_file.is_file() else ", which is not there yet"
    screen.print(f"memory: {agent.memory_file}{there}" if agent.memory_file else "memory: no file of its own", "dim")
    screen.print(f"\n{agent.prompt}" if agent.prompt else "\nNo system prompt besides zkchat's own.")


def _document(agent: Agent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "built_in": agent.file is None,
        "file": str(agent.file) if agent.file else None,
        "description": agent.description or None,
        "model": agent.given.get("model") or None,
        "system_prompt": agent.prompt or None,
        "tools": list(agent.tools) if agent.tools is not None else None,
        "strategy": agent.given.get("strategy") or agent.given.get("context.strategy") or None,
        "temperature": agent.given.get("temperature"),
        "memory": agent.given.get("memory"),
        "memory_file": str(agent.memory_file) if agent.memory_file else None,
        "context": {key.removeprefix("context."): value for key, value in agent.given.items() if key.startswith("context.")},
    }


@COMMAND.command(epilog=cli.examples('zkchat agent create critic --prompt "Find what is weak in a note."'))
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, - and _, in lower case.")],
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it is for, in a line.")] = None,
    model: cli.ModelOption = None,
    prompt: Annotated[str | None, typer.Option("--prompt", metavar="TEXT", help="Its system prompt; - reads standard input.")] = None,
    prompt_file: Annotated[str | None, typer.Option("--prompt-file", metavar="FILE", help="A text file with it.")] = None,
    tools: Annotated[str | None, typer.Option("--tools", metavar="A,B", help="The tools it may call; all if left out.")] = None,
    strategy: cli.StrategyOption = None,
    temperature: Annotated[float | None, typer.Option("--temperature", metavar="T", help="How freely it chooses its words.")] = None,
    memory: Annotated[bool | None, typer.Option("--memory/--no-memory", help="Whether it gets what is remembered.")] = None,
    as_json: cli.JsonOption = False,
    config_file: cli.ConfigOption = None,
) -> None:
    """Write a new agent's file, with a comment at each key."""
    where = _folder(config_file)
    file = loading.file_of(where, name)
    if file.exists():
        raise UsageError(f"there is an agent {name} already: {file}", f"Change it: zkchat agent config {name} KEY VALUE")
    if prompt == "-":
        prompt = cli.piped().buffer.read(MOST_PIPED).decode("utf-8", "replace")
    said = {
        "description": description,
        "model": model,
        "system_prompt": prompt.strip() if prompt else None,
        "system_prompt_file": _absolute(prompt_file, where) if prompt_file else None,
        "tools": tools,
        "strategy": strategy,
        "temperature": temperature,
        "memory": memory,
    }
    given = loading.checked("command line", {key: value for key, value in said.items() if value is not None})
    wiring.check_agent(Agent("command line", given, file=Path("command line")))
    _check_model(given.get("model"), config_file)
    writing.create(file, name, given)
    try:
        agent = loading.load(where, name)
    except ConfigError:  # its prompt's file cannot be taken
        writing.delete(file)
        raise
    if as_json:
        Screen.of().json(_document(agent))
    else:
        instead = " It takes the place of the built-in one." if loading.is_built_in(name) else ""
        Screen.of().print(f"{file}\nTry it: zkchat chat --agent {name}.{instead}")


def _absolute(named: str, where: Path) -> str:
    """A file named on the command line is one of the current folder, unless it lies among the agents."""
    return named if Path(named).is_absolute() or not Path(named).exists() or (where / named).exists() else str(Path(named).resolve())


def _check_model(model: str | None, config_file: Path | None) -> None:
    """Raises ConfigError for a model of no provider."""
    if model:
        where = config.places(os.environ, config_file)
        wiring.check(
            config.load({"model": model}, {}, config.Places(Path(os.devnull), where.data_dir, where.cache_dir), schema=wiring.schema())
        )


@COMMAND.command(name="config")
def config_(
    name: NameArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="As model, tools or context.max_tokens.")],
    value: Annotated[str | None, typer.Argument(metavar="[VALUE]", help="Left out: print what it is.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Take the key out: the settings count again.")] = False,
    as_json: cli.JsonOption = False,
    config_file: cli.ConfigOption = None,
) -> None:
    """Change one key of an agent; comments in its file are kept. A built-in one is copied to a file of yours first."""
    screen = Screen.of()
    where = _folder(config_file)
    loading.require(key, "command line")
    file = loading.file_of(where, name)
    if value is None and not unset:
        found = loading.load(where, name).given.get(key)
        _tell(screen, name, key, found, as_json=as_json)
        return
    given = _given(file) if file.exists() else writing.as_given(loading.load(where, name))
    replaced = {key} | next((set(keys) for keys in loading.SAME if key in keys and not unset), set())
    valid = loading.checked(str(file), {k: v for k, v in given.items() if k not in replaced})
    valid |= {} if unset else loading.checked("command line", {key: value})
    wiring.check_agent(Agent(name, valid, file=Path("command line")))
    if key == "model" and not unset:
        _check_model(value, config_file)
    if not file.exists():
        writing.create(file, name, valid)
        _tell_replaced(name, file, screen)
    else:
        writing.change(file, {**dict.fromkeys(replaced & given.keys()), key: valid.get(key)})
    _tell(screen, name, key, valid.get(key), as_json=as_json)


@COMMAND.command()
def edit(name: NameArgument, config_file: cli.ConfigOption = None) -> None:
    """Open an agent's file in $VISUAL or $EDITOR; it is checked before it counts. A built-in one is copied to a file of yours first."""
    screen = Screen.of()
    where = _folder(config_file)
    file = loading.file_of(where, name)
    new = not file.exists()

    def check(tried: Path) -> None:
        agent = wiring.check_agent(loading.of_file(tried, name, where / f"{name}.md"))
        _check_model(agent.given.get("model"), config_file)

    first = writing.text(name, writing.as_given(loading.load(where, name))) if new else ""
    if not drafting.edit(drafting.Draft(file, first, check, writing.replace), screen):
        screen.print("Nothing was changed.", "dim")
        return
    screen.print(f"{file} is {'written' if new else 'changed'}.")
    if new:
        _tell_replaced(name, file, screen)


def _tell_replaced(name: str, file: Path, screen: Screen) -> None:
    screen.warn(f"{name} is built in; {file} takes its place now", f"zkchat agent delete {name} brings it back")


def _given(file: Path) -> dict[str, object]:
    """What a file says, right or wrong: a wrong value can be replaced."""
    return {key: value for _, key, value in config.read_toml(file)}


def _tell(screen: Screen, name: str, key: str, value: object, *, as_json: bool) -> None:
    if as_json:
        screen.json({"name": name, "key": key, "value": value})
    else:
        screen.print(f"{key} is not set" if value is None else f"{key} = {writing.as_toml(value)}")


@COMMAND.command()
def delete(
    name: NameArgument,
    yes: cli.SureOption = False,
    as_json: cli.JsonOption = False,
    config_file: cli.ConfigOption = None,
) -> None:
    """Delete an agent's file; its memory stays."""
    where = _folder(config_file)
    file = loading.file_of(where, name)
    if not file.exists():
        if loading.is_built_in(name):
            hint = f"A file of yours takes its place: zkchat agent create {name}, or zkchat agent config {name} KEY VALUE"
            raise UsageError(f"{name} is built in and cannot be deleted", hint)
        loading.load(where, name)
    cli.agreed(f"Delete {file}?", "agent delete", yes=yes)
    writing.delete(file)
    memory = where / f"{name}.md"
    if as_json:
        Screen.of().json({"name": name, "deleted": str(file)})
        return
    again = " The built-in one counts again." if loading.is_built_in(name) else ""
    kept = f" Its memory stays: {memory}" if memory.exists() else ""
    Screen.of().print(f"Deleted: {file}.{again}{kept}")


def _folder(config_file: Path | None) -> Path:
    return loading.folder(config.places(os.environ, config_file).config_file)
