"""/clear: start the conversation's context afresh; the log stays."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    moved = session.clear()
    if not moved.messages:
        return CommandResult("There is nothing in the context yet.")
    turns = len(moved.questions)
    said, them = ("1 turn is", "it") if turns == 1 else (f"{turns} turns are", "them")
    return CommandResult(f"The context is empty: {said} kept in the log, and nothing of {them} is sent. /redo brings {them} back.")


COMMAND = SlashCommand(
    "clear",
    "start afresh in this conversation; the log stays",
    _run,
    more="What was said can still be recalled and searched, and /redo or /branches leads back to it. /new begins another conversation.",
)
