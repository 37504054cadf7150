"""/rename: give this conversation another title."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.words import replace_surrogates


def _rename(session: ZkChatSession, argument: str) -> CommandResult:
    title = " ".join(replace_surrogates(argument).split())
    if not title:
        current = session.conversation.title or session.conversation.id
        raise UsageError("the title is missing", f"/rename TITLE; the current title is “{current}”.")
    session.rename(title)
    return CommandResult(f"Renamed to “{title}”.")


COMMAND = SlashCommand("rename", "rename this conversation", _rename, "TITLE")
