"""/agent: the active agent and the others; `/agent NAME` switches, `/agent none` switches back."""

from collections.abc import Iterator

from zkchat_cli.agents.loader import NONE
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.tools import tools
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.become(argument.removeprefix("@"))
        session.prepare()
        return CommandResult(lines=[styled_line("Switched to:"), *_agent_lines(session)])
    agent = session.parts.agent
    others = [name for name in session.parts.agents() if agent is None or name != agent.name]
    hint = f"/agent NAME switches, @NAME QUESTION asks one agent once, /agent {NONE} switches back."
    return CommandResult(lines=[*_agent_lines(session), styled_line(f"Other agents: {', '.join(others) or 'none'}. {hint}")])


def _agent_lines(session: ZkChatSession) -> Iterator[StyledLine]:
    parts, agent = session.parts, session.parts.agent
    window = session.window
    if agent is None:
        yield styled_line("No agent is active.")
    else:
        description = f": {agent.description}" if agent.description else ""
        yield StyledLine((StyledSpan(agent.name, "bold"), StyledSpan(description)))
        yield styled_line(f"  from {agent.origin}", "dim")
    yield styled_line(
        f"  model {parts.model.name}, context window {window.tokens:,} tokens ({window.source}); strategy {parts.strategy.name}"
    )
    if agent is not None and agent.given.get("model") not in (None, "", parts.model.name):
        yield styled_line(f"  its own model, {agent.given['model']}, is overridden by the one you chose", "dim")
    yield styled_line(f"  tools: {', '.join(tool.name for tool in parts.tools) or 'none'}")
    if agent is not None and agent.tools is not None:
        missing = [tool for tool in tools(unsafe=True) if tool.name in agent.tools and tool not in parts.tools]
        if writing := [tool.name for tool in missing if tool.writes]:
            yield styled_line(f"  with --unsafe and a model that can call tools, also: {', '.join(writing)}", "dim")
        if others := [tool.name for tool in missing if not tool.writes]:
            yield styled_line(f"  not available here: {', '.join(others)}", "dim")
    memory = [item for item in session.memory if item.kind == "agent"]
    if memory:
        yield styled_line(f"  memory: {memory[0].tokens:,} tokens, {memory[0].reason}", "dim")


def _complete(session: ZkChatSession) -> list[str]:
    return [*session.parts.agents(), NONE]


COMMAND = SlashCommand(
    "agent",
    "show the active agent; NAME switches to another, none switches back",
    _run,
    "[NAME]",
    _complete,
    details="An agent has its own instructions, tools, model and memory. `@NAME QUESTION` asks one once. `zkchat agent` manages agents.",
)
