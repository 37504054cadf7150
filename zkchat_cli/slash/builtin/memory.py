"""Shows what is remembered."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import on_one_line
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.views.stored_items import NO_MEMORY, fact_lines, memory_item_lines
from zkchat_cli.views.text import styled_line


def memory(session: ZkChatSession, argument: str) -> Lines:
    """Show the memory in the next prompt, and all remembered facts.

    It says why each fact is sent or not. With a message, it shows the memory that would be sent
    with that message.
    """
    if not session.memory.enabled:
        yield styled_line(
            "Memory is off. To turn it on: zkchat config set context.memory_integration true"
        )
        return
    items = session.memory_items(argument)
    facts = session.memory.facts()
    for notice in session.memory.pop_notices():
        yield styled_line(f"! {on_one_line(*notice)}", "yellow")
    if not items and not facts:
        yield styled_line(NO_MEMORY.format("/remember TEXT"))
        return
    message = _described_message(session, argument)
    if items:
        yield styled_line(f"In the prompt for {message}:")
    else:
        yield styled_line(f"No memory in the prompt for {message}.")
    yield from memory_item_lines(items)
    if facts:
        yield styled_line()
        yield styled_line(f"Remembered facts: {len(facts)}")
        yield from fact_lines(facts)


def _described_message(session: ZkChatSession, argument: str) -> str:
    """The message that decides which memory is sent."""
    if argument:
        return "that message"
    return "your last message" if session.history else "your first message"


COMMAND = declare_command(memory, Topic.MEMORY, order=10, argument="[message]")
