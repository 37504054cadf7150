"""/retry: ask the last question again, on a new branch; also after an answer that failed or was stopped."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this signature
    question = next((message for message in reversed(session.history) if message.role == "user"), None)
    if question is None:
        raise UsageError("there is no question to retry", "Ask something first.")
    return CommandResult(turn=session.ask_again(question))


COMMAND = SlashCommand("retry", "ask the last question again", _run, details="The previous answer stays: /branches goes back to it.")
