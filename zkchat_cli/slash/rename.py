"""/rename: rename this conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import slash_command
from zkchat_cli.text.words import replace_surrogates


@slash_command("TITLE")
def run(session: ZkChatSession, argument: str) -> str:
    title = " ".join(replace_surrogates(argument).split())
    session.rename(title)
    return f"Renamed to “{title}”."
