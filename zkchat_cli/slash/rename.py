"""/rename: give the conversation another title."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.words import replace_surrogates


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    title = " ".join(replace_surrogates(argument).split())
    if not title:
        raise UsageError(
            "what shall it be called?", f"/rename TITLE; it is called “{session.conversation.title or session.conversation.id}”."
        )
    session.rename(title)
    return CommandResult(f"This conversation is called “{title}” from now on.")


COMMAND = SlashCommand("rename", "give this conversation a title", _run, "TITLE")
