"""Shows the agent, or switches to another."""

from collections.abc import Sequence

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import (
    ChoiceOption,
    CommandResult,
    Lines,
    ListQuestion,
    Topic,
    declare_command,
)
from zkchat_cli.slash.lookups import model_text
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def agent(session: ZkChatSession, argument: str) -> CommandResult:
    """Show the agents, to choose one; NAME switches to it, none switches back.

    An agent has its own instructions, tools, model and memory. `@NAME QUESTION` asks one once;
    `zkchat agent` manages them.
    """
    if argument:
        return _switch(session, argument)
    names = session.agent_names()
    active = session.runtime.agent
    options = [ChoiceOption(name, name) for name in names]
    if active is not None:
        options.append(ChoiceOption(NO_AGENT, NO_AGENT, "no agent"))
    title = f"Agent (current: {active.name if active is not None else NO_AGENT})"
    note = [*_active_lines(session, is_switched=False)]
    choice = ListQuestion(title, options, lambda name: _switch(session, name), note)
    lines = [*note, _others_line(session)]
    return CommandResult(lines=lines, choice=choice if options else None)


def _switch(session: ZkChatSession, name: str) -> CommandResult:
    session.runtimes.use_agent(name.removeprefix("@"))
    session.runtimes.prepare()
    return CommandResult(lines=[*_active_lines(session, is_switched=True)])


def _active_lines(session: ZkChatSession, *, is_switched: bool) -> Lines:
    """The active agent with its tools."""
    runtime = session.runtime
    yield _title_line(session, is_switched=is_switched)
    yield styled_line(f"  model {model_text(runtime)}; strategy {runtime.strategy.name}")
    available = [tool.name for tool in runtime.tools]
    yield styled_line(f"  tools: {', '.join(available) or 'none'}")
    wanted: Sequence[str] = ()
    if runtime.agent is not None:
        wanted = runtime.agent.tools or ()
    missing = [name for name in wanted if name not in available]
    if missing:
        yield styled_line(
            f"  not available with this model, or only with --unsafe: {', '.join(missing)}", "dim"
        )


def _title_line(session: ZkChatSession, *, is_switched: bool) -> StyledLine:
    active = session.runtime.agent
    if active is None:
        return styled_line("No agent is active.")
    description = f": {active.description}" if active.description else ""
    return StyledLine(
        (
            StyledSpan("Switched to " if is_switched else ""),
            StyledSpan(active.name, "bold"),
            StyledSpan(description),
        )
    )


def _others_line(session: ZkChatSession) -> StyledLine:
    active = session.runtime.agent
    active_name = active.name if active is not None else None
    others = [name for name in session.agent_names() if name != active_name]
    return styled_line(
        f"Other agents: {', '.join(others) or 'none'}. /agent NAME switches, @NAME QUESTION asks "
        f"one agent once, /agent {NO_AGENT} switches back."
    )


def _names(session: ZkChatSession) -> list[str]:
    return [*session.agent_names(), NO_AGENT]


COMMAND = declare_command(agent, Topic.SETTINGS, order=20, argument="[NAME]", values=_names)
