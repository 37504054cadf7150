"""/memory: show the memory in the next prompt, and all remembered facts.

It says why each fact is sent or not. With a message, it shows the memory that would be sent with that message.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import on_one_line
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.views.memory import NO_MEMORY, fact_lines, memory_item_lines
from zkchat_cli.views.text import styled_line


@slash_command("[message]")
def run(session: ZkChatSession, argument: str) -> Lines:
    memory = session.memory
    if not memory.enabled:
        yield styled_line("Memory is off. To turn it on: zkchat config set context.memory_integration true")
        return
    items, facts = session.memory_items(argument), memory.facts()
    yield from (styled_line(f"! {on_one_line(*notice)}", "yellow") for notice in memory.pop_notices())
    if not items and not facts:
        yield styled_line(NO_MEMORY.format("/remember TEXT"))
        return
    message = "that message" if argument else "your last message" if session.history else "your first message"
    yield styled_line(f"In the prompt for {message}:" if items else f"No memory in the prompt for {message}.")
    yield from memory_item_lines(items)
    if facts:
        yield from (styled_line(), styled_line(f"Remembered facts: {len(facts)}"), *fact_lines(facts))
