"""/remember: remember a fact in later conversations; `NAME: VALUE` replaces the old value.

The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY deletes one.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import slash_command
from zkchat_cli.views.memory import fact_update_text


@slash_command("TEXT")
def run(session: ZkChatSession, argument: str) -> str:
    lost = "" if session.store.persistent else "\nIt is lost when you quit: this chat is not stored."
    return fact_update_text(*session.memory.remember(argument)) + lost
