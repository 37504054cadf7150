"""Commands for what is remembered across conversations."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import on_one_line
from zkchat_cli.memory.facts import slugify
from zkchat_cli.slash.base import CommandResult, Lines, YesNoQuestion, slash_command
from zkchat_cli.views.stored_items import NO_MEMORY, fact_lines, fact_update_text, memory_item_lines
from zkchat_cli.views.text import styled_line


@slash_command("[message]")
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
    yield from (
        styled_line(f"! {on_one_line(*notice)}", "yellow")
        for notice in session.memory.pop_notices()
    )
    if not items and not facts:
        yield styled_line(NO_MEMORY.format("/remember TEXT"))
        return
    message = (
        "that message"
        if argument
        else "your last message"
        if session.history
        else "your first message"
    )
    yield styled_line(
        f"In the prompt for {message}:" if items else f"No memory in the prompt for {message}."
    )
    yield from memory_item_lines(items)
    if facts:
        yield from (
            styled_line(),
            styled_line(f"Remembered facts: {len(facts)}"),
            *fact_lines(facts),
        )


@slash_command("TEXT")
def remember(session: ZkChatSession, argument: str) -> str:
    """Remember a fact in later conversations; `NAME: VALUE` replaces the old value.

    The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY
    deletes one.
    """
    lost = (
        "" if session.store.persistent else "\nIt is lost when you quit: this chat is not stored."
    )
    return fact_update_text(*session.memory.remember(argument)) + lost


@slash_command("KEY", lambda session: session.memory.fact_keys())
def forget(session: ZkChatSession, argument: str) -> CommandResult:
    """Delete a remembered fact.

    The beginning of a key will do, and then zkchat asks first. /memory lists the keys."""
    fact = session.memory.find_fact(argument)

    def delete() -> CommandResult:
        session.memory.forget(fact.key)
        return CommandResult(f"Forgotten: {fact.content} ({fact.key})")

    if fact.key in (argument, slugify(argument)):
        return delete()
    return CommandResult(
        question=YesNoQuestion(
            f"Forget {fact.key} ({fact.content})?", delete, f"/forget {fact.key}"
        )
    )
