"""Commands about memory: what outlasts a conversation, and what of it is in the next prompt."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, on_one_line
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.memory import NONE, fact_lines, memory_item_lines
from zkchat_cli.views.text import styled_line


def _memory(session: ZkChatSession, argument: str) -> CommandResult:
    memory = session.memory
    if not memory.enabled:
        return CommandResult("Memory is off. To turn it on: zkchat config set context.memory_integration true")
    items, facts = session.memory_items(argument), memory.facts()
    lines = [styled_line(f"! {on_one_line(*notice)}", "yellow") for notice in memory.pop_notices()]
    if not items and not facts:
        return CommandResult(lines=[*lines, styled_line(NONE.format("/remember TEXT"))])
    message = "that message" if argument else "your last message" if session.history else "your first message"
    if items:
        lines += [styled_line(f"In the prompt for {message}:"), *memory_item_lines(items)]
    else:
        lines.append(styled_line(f"No memory in the prompt for {message}."))
    if facts:
        lines += [styled_line(), styled_line(f"Remembered facts: {len(facts)}"), *fact_lines(facts)]
    return CommandResult(lines=lines)


def _remember(session: ZkChatSession, argument: str) -> CommandResult:
    update = session.memory.remember(argument)
    text = f"Remembered as {update.fact.key}: {update.fact.content}"
    if update.replaced is not None and update.replaced.content != update.fact.content:
        text += f"\nIt replaces the fact of {update.replaced.created_at[:10]}: {update.replaced.content}"
    return CommandResult(text)


def _forget(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which fact?", "/forget KEY; /memory lists the keys.")
    fact = session.memory.forget(argument)
    return CommandResult(f"Forgotten: {fact.content} ({fact.key})")


COMMANDS = (
    SlashCommand("memory", "show the memory in the next prompt, and all remembered facts", _memory, "[message]"),
    SlashCommand(
        "remember",
        "remember a fact in later conversations; `NAME: VALUE` replaces the old value",
        _remember,
        "TEXT",
        details="The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY deletes one.",
    ),
    SlashCommand("forget", "delete a remembered fact", _forget, "KEY", lambda session: session.memory.fact_keys()),
)
