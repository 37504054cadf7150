"""/quit: leave the chat; the conversation stays stored.

While turns cannot be stored, it says so and stays; Ctrl-D leaves without them.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, slash_command


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult:
    if session.store.persistent:
        session.prepare_to_leave()
    return CommandResult(quit=True)
