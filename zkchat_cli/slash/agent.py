"""/agent: show the active agent; NAME switches to another, none switches back.

An agent has its own instructions, tools, model and memory. `@NAME QUESTION` asks one once; `zkchat agent` manages them.
"""

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, model_text, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


@slash_command("[NAME]", lambda session: [*session.agent_names(), NO_AGENT])
def run(session: ZkChatSession, argument: str) -> Lines:
    if argument:
        session.use_agent(argument.removeprefix("@"))
        session.prepare()
    runtime, agent = session.runtime, session.runtime.agent
    available = [tool.name for tool in runtime.tools]
    if agent is None:
        yield styled_line("No agent is active.")
    else:
        description = f": {agent.description}" if agent.description else ""
        yield StyledLine((StyledSpan("Switched to " if argument else ""), StyledSpan(agent.name, "bold"), StyledSpan(description)))
        yield styled_line(f"  from {agent.origin}", "dim")
    yield styled_line(f"  model {model_text(runtime)}; strategy {runtime.strategy.name}")
    yield styled_line(f"  tools: {', '.join(available) or 'none'}")
    if agent is not None and (missing := [name for name in agent.tools or () if name not in available]):
        yield styled_line(f"  not available with this model, or only with --unsafe: {', '.join(missing)}", "dim")
    if memory := [item for item in session.memory_items() if item.kind == "agent"]:
        yield styled_line(f"  memory: {memory[0].tokens:,} tokens, {memory[0].reason}", "dim")
    if not argument:
        others = ", ".join(name for name in session.agent_names() if agent is None or name != agent.name) or "none"
        hint = f"/agent NAME switches, @NAME QUESTION asks one agent once, /agent {NO_AGENT} switches back."
        yield styled_line(f"Other agents: {others}. {hint}")
