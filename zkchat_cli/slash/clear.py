"""/clear: start this conversation's context afresh; the log stays."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _clear(session: ZkChatSession) -> CommandResult:
    cleared = session.clear()
    if not cleared.messages:
        return CommandResult("The context is already empty.")
    count = len(cleared.questions)
    turns = "1 turn stays in the log but is" if count == 1 else f"{count} turns stay in the log but are"
    return CommandResult(f"Context cleared: {turns} no longer sent. /redo brings {'it' if count == 1 else 'them'} back.")


COMMAND = SlashCommand(
    "clear",
    "clear the context of this conversation; the log stays",
    lambda session, _: _clear(session),
    details="Cleared messages can still be recalled and searched, and /redo or /branches restores them. /new starts another conversation.",
)
