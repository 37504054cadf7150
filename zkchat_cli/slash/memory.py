"""/memory: what of memory the next prompt would hold and why, and every fact that is remembered."""

from zkchat_cli.errors import on_one_line
from zkchat_cli.lines import line
from zkchat_cli.memory.listing import NONE, facts, included
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    keeper = session.keeper
    if not keeper.on:
        return Outcome("Memory is switched off. Switch it on: zkchat config set context.memory_integration true")
    items, remembered = session.memory_for(argument), keeper.facts()
    warnings = [line(f"! {on_one_line(*told)}", "yellow") for told in keeper.take_notices()]
    if not items and not remembered:
        return Outcome(lines=[*warnings, line(NONE.format("/remember TEXT"))])
    question = "that message" if argument else "your last message" if session.history else "your first message"
    sent = [line(f"In the prompt for {question}:"), *included(items)] if items else [line(f"Nothing goes into the prompt for {question}.")]
    known = [line(f"Remembered: {len(remembered)}"), *facts(remembered)] if remembered else []
    return Outcome(lines=[*warnings, *sent, *([line()] if known else []), *known])


COMMAND = SlashCommand("memory", "what of memory the next prompt would hold, and all that is remembered", _run, "[message]")
