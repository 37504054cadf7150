"""/new: start a new conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, slash_command


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult:
    id_ = session.conversation.id
    where = f"is stored as {id_}" if session.store.persistent else f"({id_}) is lost when you quit: this chat is not stored"
    previous = f" The previous one {where}." if session.history else ""
    return CommandResult(f"Started a new conversation.{previous}", session=session.open_conversation())
