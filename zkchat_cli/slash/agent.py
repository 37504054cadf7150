"""/agent: who leads this conversation, and who could; `/agent NAME` goes on with another, `/agent none` without."""

from collections.abc import Iterator

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.tools import load_tools
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.use_agent(argument.removeprefix("@"))
        session.prepare()
        return CommandResult(lines=[styled_line("From here on:"), *_described(session)])
    others = [name for name in session.agent_names() if session.agent is None or name != session.agent.name]
    there = styled_line(
        f"There is: {', '.join(others)}. /agent NAME goes on with one, @NAME QUESTION asks one once, /agent {NO_AGENT} ends it."
    )
    return CommandResult(lines=[*_described(session), there])


def _described(session: ZkChatSession) -> Iterator[StyledLine]:
    agent = session.agent
    window = session.window
    if agent is None:
        yield styled_line("No agent leads this conversation.")
    else:
        about = f": {agent.description}" if agent.description else ""
        yield StyledLine((StyledSpan(agent.name, "bold"), StyledSpan(about)))
        yield styled_line(f"  from {agent.origin}", "dim")
    yield styled_line(
        f"  model {session.model.name}, a window of {window.tokens} tokens ({window.source}); strategy {session.strategy.name}", indent=4
    )
    if agent is not None and agent.values.get("model") not in (None, "", session.model.name):
        yield styled_line(f"  its own model, {agent.values['model']}, gives way to the one that you chose", "dim", indent=4)
    yield styled_line(f"  tools: {', '.join(tool.name for tool in session.tools) or 'none'}", indent=4)
    if agent is not None and agent.tools is not None:
        absent = [tool for tool in load_tools(unsafe=True) if tool.name in agent.tools and tool not in session.tools]
        if writing := [tool.name for tool in absent if tool.writes]:
            yield styled_line(f"  with --unsafe, and a model that can, also: {', '.join(writing)}", "dim", indent=4)
        if others := [tool.name for tool in absent if not tool.writes]:
            yield styled_line(f"  it may also call, but they are not here: {', '.join(others)}", "dim", indent=4)
    memory = [item for item in session.pinned_memory if item.kind == "agent"]
    if memory:
        yield styled_line(f"  memory: {memory[0].tokens} tokens, {memory[0].reason}", "dim", indent=4)


def _names(session: ZkChatSession) -> list[str]:
    return [*session.agent_names(), NO_AGENT]


COMMAND = SlashCommand(
    "agent",
    "who leads this conversation; NAME goes on with another, none without",
    _run,
    "[NAME]",
    _names,
    more="An agent has its own instructions, tools, model and memory; `@NAME QUESTION` asks one once. `zkchat agent` makes them.",
)
