"""/memory: what of memory the next prompt would hold and why, and every fact that is remembered."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import on_one_line
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.memory import NONE, facts, included
from zkchat_cli.views.text import styled_line


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    keeper = session.memory
    if not keeper.enabled:
        return CommandResult("Memory is switched off. Switch it on: zkchat config set context.memory_integration true")
    items, remembered = session.memory_items(argument), keeper.facts()
    warnings = [styled_line(f"! {on_one_line(*told)}", "yellow") for told in keeper.pop_notices()]
    if not items and not remembered:
        return CommandResult(lines=[*warnings, styled_line(NONE.format("/remember TEXT"))])
    question = "that message" if argument else "your last message" if session.history else "your first message"
    sent = (
        [styled_line(f"In the prompt for {question}:"), *included(items)]
        if items
        else [styled_line(f"Nothing goes into the prompt for {question}.")]
    )
    known = [styled_line(f"Remembered: {len(remembered)}"), *facts(remembered)] if remembered else []
    return CommandResult(lines=[*warnings, *sent, *([styled_line()] if known else []), *known])


COMMAND = SlashCommand("memory", "what of memory the next prompt would hold, and all that is remembered", _run, "[message]")
