"""/strategy: show what is sent when the window is full; NAME switches.

The strategies are hybrid, summarize and discard. `zkchat config set context.strategy NAME` makes it permanent.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan


def _described(_session: ZkChatSession) -> dict[str, str]:
    return {name: strategies.strategy(name).help for name in strategies.names()}


@slash_command("[NAME]", _described)
def run(session: ZkChatSession, argument: str) -> str | Lines:
    if argument:
        session.override_setting("context.strategy", argument)
        return f"Switched to {argument}: {strategies.strategy(argument).help}"
    mark = {session.runtime.strategy.name: "→ "}
    described = _described(session).items()
    return [StyledLine((StyledSpan(mark.get(name, "  ")), StyledSpan(name, "bold")), (StyledSpan(text),)) for name, text in described]
