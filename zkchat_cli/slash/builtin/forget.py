"""Deletes a remembered fact."""

from collections.abc import Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.memory.fact_keys import slugify
from zkchat_cli.slash.base import CommandResult, Topic, YesNoQuestion, declare_command


def forget(session: ZkChatSession, argument: str) -> CommandResult:
    """Delete a remembered fact.

    The beginning of a key will do, and then zkchat asks first. /memory lists the keys.
    """
    fact = session.memory.find_fact(argument)

    def delete() -> CommandResult:
        session.memory.forget(fact.key)
        return CommandResult(f"Forgotten: {fact.content} ({fact.key})")

    if fact.key in (argument, slugify(argument)):
        return delete()
    question = f"Forget {fact.key} ({fact.content})?"
    return CommandResult(question=YesNoQuestion(question, delete, f"/forget {fact.key}"))


def _keys(session: ZkChatSession) -> Sequence[str]:
    return session.memory.fact_keys()


COMMAND = declare_command(forget, Topic.MEMORY, order=30, argument="KEY", values=_keys)
