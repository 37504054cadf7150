"""Agents: named profiles of model, system prompt, tools, strategy and memory."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm
from zkchat_cli.errors import ConfigError, UsageError, reason
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import styled_line

if TYPE_CHECKING:
    from zkchat_cli.agents.loader import Agent

# Widths of the list
NAME_WIDTH = 10
MAX_DESCRIPTION = 100
ORDER = 90
COMMAND = command_group(
    "Agents: named profiles of model, system prompt, tools, strategy and memory, for "
    "--agent, /agent and @NAME."
)

NameArgument = Annotated[
    str, Argument(metavar="NAME", help="An agent's name.", autocompletion=options.complete_agents)
]


@command(COMMAND, *options.SETTINGS)
def list_(ctx: CommandContext) -> None:
    """All agents, and the problems in their files."""
    from zkchat_cli.agents import loader
    from zkchat_cli.app.settings import open_agent

    folder = ctx.paths.agents_folder
    rows = []
    lines = []
    for name in loader.list_names(folder):
        problem = None
        style = ""
        try:
            agent = open_agent(name, ctx.paths)
            line = _agent_text(agent)
        except ConfigError as e:
            agent = loader.Agent(name, {}, loader.agent_file(folder, name))
            problem = e.message
            line = f"✗ {e.message}"
            style = "red"
        rows.append({**_agent_document(agent), "problem": problem})
        lines.append(styled_line(f"{name:<{NAME_WIDTH}}  {line}".rstrip(), style))
    ctx.print_result(rows, lines)


def _agent_text(agent: "Agent") -> str:
    """`built in · ollama/qwen3  Finds what is weak in a note.`"""
    origin = "yours   " if agent.file else "built in"
    model = f" · {agent.values['model']}" if agent.values.get("model") else ""
    return f"{origin}{model}  {truncate(agent.description or agent.prompt, MAX_DESCRIPTION)}"


@command(COMMAND, *options.SETTINGS)
def show(ctx: CommandContext, name: NameArgument) -> None:
    """An agent's settings, its whole system prompt, and its memory file."""
    from zkchat_cli.app.settings import open_agent
    from zkchat_cli.config.loader import as_toml

    agent = open_agent(name, ctx.paths)
    lines = [f"{agent.name} · {agent.file or 'built in'}"]
    for key, value in agent.values.items():
        if key != "system_prompt":
            lines.append(f"{key} = {as_toml(value)}")
    if agent.tools is None:
        lines.append("tools: all")
    lines += [
        f"memory: {agent.memory_file}",
        "",
        agent.prompt or "No system prompt besides zkchat's own.",
    ]
    ctx.print_result(_agent_document(agent), "\n".join(lines))


def _agent_document(agent: "Agent") -> dict[str, Any]:
    """The agent in JSON: the keys of its file, null where they are not set."""
    from zkchat_cli.agents.loader import AgentFileSchema

    return {
        "name": agent.name,
        "built_in": agent.file is None,
        "file": agent.file and str(agent.file),
        "memory_file": agent.memory_file and str(agent.memory_file),
        **dict.fromkeys(AgentFileSchema.model_fields),
        **agent.values,
    }


@command(
    COMMAND,
    "as_json",
    "model",
    "config_file",
    examples=['zkchat agent create critic --prompt "Find what is weak in a note."'],
)
def create(
    ctx: CommandContext,
    name: Annotated[str, Argument(metavar="NAME", help="Letters, digits, - and _, in lower case.")],
    prompt: Annotated[str, Option("--prompt", metavar="TEXT", help="Its system prompt.")] = "",
) -> None:
    """Write a new agent's file; `agent config` sets its other keys."""
    from zkchat_cli.agents import loader

    folder = ctx.paths.agents_folder
    file = loader.agent_file(folder, name)
    if file.exists():
        raise UsageError(
            f"the agent {name} already exists: {file}",
            f"Change it: zkchat agent config {name} KEY VALUE",
        )
    given = {"model": ctx.shared["model"], "system_prompt": prompt}
    values = _valid_values(ctx, {key: value for key, value in given.items() if value})
    loader.write_agent_file(file, values)
    ctx.print_result(
        _agent_document(loader.load_agent(folder, name)),
        f"{file}\nTry it: zkchat chat --agent {name}",
    )


@command(COMMAND, *options.SETTINGS, examples=["zkchat agent config critic model qwen3"])
def config_(
    ctx: CommandContext,
    name: NameArgument,
    key: Annotated[
        str, Argument(metavar="KEY", help="For example model, tools or context.max_tokens.")
    ],
    value: Annotated[str, Argument(metavar="VALUE", help="The new value.")],
) -> None:
    """Change one key of an agent; comments in its file are kept. A built-in agent is first copied
    to a file of yours.
    """
    from zkchat_cli.agents import loader
    from zkchat_cli.config.loader import as_toml

    agent = loader.load_agent(ctx.paths.agents_folder, name)
    values = _valid_values(ctx, {**agent.values, key: value})
    file = agent.file or loader.agent_file(ctx.paths.agents_folder, agent.name)
    loader.write_agent_file(file, {key: values[key]} if agent.file else values)
    if agent.file is None:
        ctx.screen.warn(
            f"{name} is built in; {file} replaces it now",
            f"zkchat agent delete {name} restores the built-in one",
        )
    ctx.print_result(
        {"name": name, "key": key, "value": values[key]}, f"{key} = {as_toml(values[key])}"
    )


def _valid_values(ctx: CommandContext, given: dict[str, Any]) -> dict[str, Any]:
    """The values as an agent's file has them. Raises ConfigError for an invalid one, also for an
    unknown tool, strategy or provider.
    """
    from zkchat_cli.agents import loader
    from zkchat_cli.app.settings import check_agent, check_settings
    from zkchat_cli.config.loader import COMMAND_LINE

    values = loader.validate_profile(COMMAND_LINE, given)
    check_agent(loader.Agent(COMMAND_LINE, values, file=Path(COMMAND_LINE)))
    if values.get("model"):
        with_model = ctx.config.with_model(values["model"])
        check_settings(replace(with_model, origins={"model": COMMAND_LINE}))
    return values


@command(COMMAND, *options.SETTINGS)
def delete(ctx: CommandContext, name: NameArgument, yes: options.ConfirmOption = False) -> None:
    """Delete an agent's file; its memory file stays."""
    from zkchat_cli.agents import loader

    folder = ctx.paths.agents_folder
    file = loader.agent_file(folder, name)
    if not file.exists():
        # An unknown agent has another error
        loader.load_agent(folder, name)
        raise UsageError(
            f"{name} is built in and cannot be deleted",
            f"zkchat agent config {name} KEY VALUE changes a copy of it.",
        )
    confirm(f"Delete {file}?", "agent delete", yes=yes)
    try:
        file.unlink()
    except OSError as e:
        raise ConfigError(
            f"{file} cannot be deleted: {reason(e)}", "Check the folder's permissions."
        ) from e
    ctx.print_result(
        {"name": name, "deleted": str(file)},
        f"Deleted {file}. Its memory, {name}.md, stays if there is any.",
    )
