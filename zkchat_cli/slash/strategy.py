"""/strategy: show what is sent when the window is full; NAME switches.

The strategies are hybrid, summarize and discard. `zkchat config set context.strategy NAME` makes it permanent.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan


def _strategy(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.override_setting("context.strategy", argument)
        return CommandResult(f"Switched to {argument}: {strategies.strategy(argument).help}")
    lines = []
    for strategy in map(strategies.strategy, strategies.names()):
        marker = "→ " if strategy.name == session.runtime.strategy.name else "  "
        lines.append(StyledLine((StyledSpan(marker), StyledSpan(strategy.name, "bold")), (StyledSpan(strategy.help),)))
    return CommandResult(lines=lines)


COMMAND = SlashCommand(_strategy, "[NAME]", lambda _: {name: strategies.strategy(name).help for name in strategies.names()})
