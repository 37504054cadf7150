"""/retry: ask the last question again, on a new branch; also after an answer that failed or was stopped."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _retry(session: ZkChatSession) -> CommandResult:
    question = next((message for message in reversed(session.history) if message.role == "user"), None)
    if question is None:
        raise UsageError("there is no question to retry", "Ask something first.")
    return CommandResult(turn=session.ask_again(question))


COMMAND = SlashCommand(
    "retry",
    "ask the last question again",
    lambda session, _: _retry(session),
    details="The previous answer stays: /branches goes back to it.",
)
