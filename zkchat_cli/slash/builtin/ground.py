"""Asks again, with passages of the notes."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.slash.lookups import find_question


def ground(session: ZkChatSession, _: str) -> CommandResult:
    """Ask the last question again, with passages of your notes before it.

    For an answer without sources: zkchat searches the notes, and the model needs no tools. The
    previous answer stays: /branches goes back to it.
    """
    model = session.runtime.model
    if model.searches_itself:
        raise UsageError(
            f"the {model.name} provider searches your notes for every answer",
            "Ask it differently, or choose a model: /model",
        )
    question = find_question(session).message
    return CommandResult(turn=session.ask_again(question, retrieval="before"))


COMMAND = declare_command(ground, Topic.SOURCES, order=30)
