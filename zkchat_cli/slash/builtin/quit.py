"""Leaves the chat."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command


def quit_(session: ZkChatSession, _: str) -> CommandResult:
    """Leave the chat; the conversation stays stored.

    While turns cannot be stored, it says so and stays; /export saves them elsewhere, Ctrl-D leaves
    without them.
    """
    if session.store.persistent:
        session.flush()
    return CommandResult(quit=True)


COMMAND = declare_command(quit_, Topic.HELP, order=20, in_editors=False)
