"""/retry: ask the last question again, on a branch of its own; also after an answer that failed or was stopped."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    question = next((message for message in reversed(session.history) if message.role == "user"), None)
    if question is None:
        raise UsageError("there is no question to ask again", "Ask something first.")
    return CommandResult(turn=session.ask_again(question))


COMMAND = SlashCommand(
    "retry", "ask the last question again, for another answer", _run, more="The answer before it stays: /branches leads back to it."
)
