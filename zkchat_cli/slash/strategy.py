"""/strategy: what is sent when the conversation outgrows the window; with a name, another from here on."""

from zkchat_cli import settling
from zkchat_cli.context import strategies
from zkchat_cli.lines import Line, Span
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if argument:
        settling.change(session, "context.strategy", argument)
        return Outcome(f"From here on: {argument}, {strategies.strategy(argument).help}")
    used = session.parts.strategy.name
    there = [strategies.strategy(name) for name in strategies.names()]
    return Outcome(lines=[Line((Span("→ " if each.name == used else "  "), Span(each.name, "bold")), (Span(each.help),)) for each in there])


def _names(session: ZkChatSession) -> list[str]:  # noqa: ARG001  every command has this shape
    return [Offer(name, strategies.strategy(name).help) for name in strategies.names()]


COMMAND = SlashCommand("strategy", "what is sent when the window fills; NAME goes on with another", _run, "[NAME]", _names)
