"""/rename: rename this conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import SlashCommand
from zkchat_cli.text.words import replace_surrogates


def _rename(session: ZkChatSession, argument: str) -> str:
    title = " ".join(replace_surrogates(argument).split())
    session.rename(title)
    return f"Renamed to “{title}”."


COMMAND = SlashCommand(_rename, "TITLE")
