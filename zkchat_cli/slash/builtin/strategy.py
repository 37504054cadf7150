"""Shows the strategies, or switches to one."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.views.text import StyledLine, StyledSpan


def strategy(session: ZkChatSession, argument: str) -> str | Lines:
    """Show what is sent when the window is full; NAME switches.

    The strategies are hybrid, summarize and discard. `zkchat config set context.strategy NAME`
    makes it permanent.
    """
    if argument:
        session.runtimes.override_setting("context.strategy", argument)
        return f"Switched to {argument}: {strategies.strategy(argument).help}"
    lines = []
    for name, description in _described(session).items():
        mark = "→ " if name == session.runtime.strategy.name else "  "
        left = (StyledSpan(mark), StyledSpan(name, "bold"))
        lines.append(StyledLine(left, (StyledSpan(description),)))
    return lines


def _described(_session: ZkChatSession) -> dict[str, str]:
    return {name: strategies.strategy(name).help for name in strategies.names()}


COMMAND = declare_command(strategy, Topic.CONTEXT, order=60, argument="[NAME]", values=_described)
