"""/agent: show the active agent; NAME switches to another, none switches back.

An agent has its own instructions, tools, model and memory. `@NAME QUESTION` asks one once; `zkchat agent` manages them.
"""

from collections.abc import Iterator

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _agent(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.use_agent(argument.removeprefix("@"))
        session.prepare()
        switched = [styled_line("Switched to:")] if session.runtime.agent is not None else []
        return CommandResult(lines=[*switched, *_agent_lines(session)])
    agent = session.runtime.agent
    others = [name for name in session.agent_names() if agent is None or name != agent.name]
    hint = f"/agent NAME switches, @NAME QUESTION asks one agent once, /agent {NO_AGENT} switches back."
    return CommandResult(lines=[*_agent_lines(session), styled_line(f"Other agents: {', '.join(others) or 'none'}. {hint}")])


def _agent_lines(session: ZkChatSession) -> Iterator[StyledLine]:
    runtime = session.runtime
    agent = runtime.agent
    if agent is None:
        yield styled_line("No agent is active.")
    else:
        description = f": {agent.description}" if agent.description else ""
        yield StyledLine((StyledSpan(agent.name, "bold"), StyledSpan(description)))
        yield styled_line(f"  from {agent.origin}", "dim")
    yield styled_line(f"  model {base.model_text(runtime)}; strategy {runtime.strategy.name}")
    yield styled_line(f"  tools: {', '.join(tool.name for tool in session.runtime.tools) or 'none'}")
    if agent is not None and agent.tools is not None:
        available = [tool.name for tool in session.runtime.tools]
        if missing := [name for name in agent.tools if name not in available]:
            yield styled_line(f"  not available with this model, or only with --unsafe: {', '.join(missing)}", "dim")
    memory = [item for item in session.memory_items() if item.kind == "agent"]
    if memory:
        yield styled_line(f"  memory: {memory[0].tokens:,} tokens, {memory[0].reason}", "dim")


COMMAND = SlashCommand(_agent, "[NAME]", lambda session: [*session.agent_names(), NO_AGENT])
