"""Commands that choose the model, the agent and other settings."""

import json

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NO_SERVERS = (
    "No servers of tools are set. They are tables [mcp.servers.NAME] in your settings file; "
    "`zkchat config path` names it."
)


def model_text(runtime: Runtime) -> str:
    """`ollama/qwen3, context window 32,768 tokens (reported by the server)`"""
    return (
        f"{runtime.model.name}, context window {runtime.window.tokens:,} tokens "
        f"({runtime.window.source})"
    )


def _model_names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.list_models() for name in offer.names]


@slash_command("[PROVIDER/NAME]", _model_names)
def model(session: ZkChatSession, argument: str) -> str:
    """Show the model; PROVIDER/NAME switches to another.

    The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat
    config set model PROVIDER/NAME` makes it permanent.
    """
    if argument:
        known = (
            []
            if "/" in argument
            else [name for name in _model_names(session) if argument == name.partition("/")[2]]
        )
        session.use_model(known[0] if len(known) == 1 else argument)  # the provider may be left out
        session.prepare()
        problem = session.runtime.model.check()
        warning = f"\n{problem.message}\n{problem.hint}" if problem else ""
        keep = (
            f"For this chat; `zkchat config set model {session.runtime.model.name}` makes it "
            "permanent."
        )
        return f"Switched to {model_text(session.runtime)}{warning}\n{keep}"
    offers = session.list_models()
    lines = [f"  {name}" for offer in offers for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    with_server = [
        name for name in providers.names() if providers.provider(name).open_remote is not None
    ]
    hint = f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}."
    return "\n".join([model_text(session.runtime), "Available:", *lines, hint])


@slash_command("[NAME]", lambda session: [*session.agent_names(), NO_AGENT])
def agent(session: ZkChatSession, argument: str) -> Lines:
    """Show the active agent; NAME switches to another, none switches back.

    An agent has its own instructions, tools, model and memory. `@NAME QUESTION` asks one once;
    `zkchat agent` manages them.
    """
    if argument:
        session.use_agent(argument.removeprefix("@"))
        session.prepare()
    runtime = session.runtime
    agent = session.runtime.agent
    available = [tool.name for tool in runtime.tools]
    if agent is None:
        yield styled_line("No agent is active.")
    else:
        description = f": {agent.description}" if agent.description else ""
        yield StyledLine(
            (
                StyledSpan("Switched to " if argument else ""),
                StyledSpan(agent.name, "bold"),
                StyledSpan(description),
            )
        )
    yield styled_line(f"  model {model_text(runtime)}; strategy {runtime.strategy.name}")
    yield styled_line(f"  tools: {', '.join(available) or 'none'}")
    if agent is not None and (
        missing := [name for name in agent.tools or () if name not in available]
    ):
        yield styled_line(
            f"  not available with this model, or only with --unsafe: {', '.join(missing)}", "dim"
        )
    if not argument:
        others = (
            ", ".join(name for name in session.agent_names() if agent is None or name != agent.name)
            or "none"
        )
        hint = (
            f"/agent NAME switches, @NAME QUESTION asks one agent once, /agent {NO_AGENT} "
            "switches back."
        )
        yield styled_line(f"Other agents: {others}. {hint}")


@slash_command(
    "[KEY [VALUE]]",
    lambda _: {key: loader.describe_setting(key) for key in loader.default_values()},
)
def config(session: ZkChatSession, argument: str) -> Lines:
    """Show settings; KEY VALUE changes one for this session.

    Part of a key (`context`) shows that group. Changes end with the chat; `zkchat config set KEY
    VALUE` makes them permanent.
    """
    # `config set`, as in the shell
    key, value = (*argument.removeprefix("set ").split(maxsplit=1), "", "")[:2]
    if value:
        shown = loader.as_toml(session.override_setting(key, value))
        yield styled_line(
            f"{key} = {shown} until this chat ends. To make it permanent: zkchat config "
            f"set {key} {value}",
            indent=0,
        )
        return
    values = loader.flatten(session.runtime.settings)
    defaults = loader.default_values()
    selected = [
        each for each in values if not key or each == key or each.startswith(key.rstrip(".") + ".")
    ]
    if not selected:
        loader.require_known_key(key, "/config")
    for each in selected:
        is_default = values[each] == defaults[each]
        default = (
            () if is_default else (StyledSpan(f"default: {loader.as_toml(defaults[each])}", "dim"),)
        )
        yield StyledLine(
            (
                StyledSpan(each, "" if is_default else "cyan"),
                StyledSpan(f" = {loader.as_toml(values[each])}"),
            ),
            default,
        )
    if key in values:
        yield styled_line(f"  {loader.describe_setting(key)}", "dim")


@slash_command()
def mcp(session: ZkChatSession, _: str) -> Lines:
    """List the servers of other programs' tools, and what each tool costs.

    Servers are set in your settings file as tables [mcp.servers.NAME]. A tool's tokens are sent
    with every message that offers it.
    """
    external = session.services.external
    runtime = session.runtime
    if external is None:
        yield styled_line(NO_SERVERS)
        return
    for server in external.status():
        state = (
            f"failed: {server.problem}"
            if server.state == "failed"
            else "not started yet"
            if server.state == "off"
            else server.state
        )
        style = "yellow" if server.state == "failed" else "dim"
        yield StyledLine((StyledSpan(f"{server.name}  ", "bold"), StyledSpan(state, style)))
        yield styled_line(f"    {truncate(server.address, 200)}", "dim")
        for tool in server.tools:
            tokens = runtime.counter.count(json.dumps(tool.descriptor, ensure_ascii=False))
            yield styled_line(f"    {tool.name}  {tokens} tokens  {truncate(tool.description, 80)}")
    if not runtime.takes_external:
        yield styled_line(f"{runtime.speaker_label} is not offered these tools.", "yellow")


@slash_command()
def verbose(session: ZkChatSession, _: str) -> str:
    """Show or hide the details of each turn.

    They are all arguments of tool calls, times, tokens and the model's reasoning. The setting
    chat.show_details shows them in every chat.
    """
    shown = not session.runtime.settings.chat.show_details
    session.override_setting("chat.show_details", str(shown).lower())
    return (
        "Details are on: reasoning, full tool arguments, times and tokens."
        if shown
        else "Details are off."
    )
