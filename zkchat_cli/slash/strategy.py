"""/strategy: what is sent when the conversation outgrows the window; with a name, another from here on."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.override_setting("context.strategy", argument)
        return CommandResult(f"From here on: {argument}, {strategies.load_strategy(argument).help}")
    used = session.strategy.name
    there = [strategies.load_strategy(name) for name in strategies.strategy_names()]
    return CommandResult(
        lines=[
            StyledLine((StyledSpan("→ " if each.name == used else "  "), StyledSpan(each.name, "bold")), (StyledSpan(each.help),))
            for each in there
        ]
    )


def _names(session: ZkChatSession) -> list[str]:  # noqa: ARG001  every command has this shape
    return [CompletionValue(name, strategies.load_strategy(name).help) for name in strategies.strategy_names()]


COMMAND = SlashCommand("strategy", "what is sent when the window fills; NAME goes on with another", _run, "[NAME]", _names)
