"""/ground: ask the last question again, with passages of your notes before it.

For an answer without sources: zkchat searches the notes, and the model needs no tools. The previous answer stays:
/branches goes back to it.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, find_question, slash_command


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult:
    if session.runtime.model.name == "offline":
        raise UsageError("the offline provider searches your notes for every answer", "Ask it differently, or choose a model: /model")
    return CommandResult(turn=session.ask_again(find_question(session).message, retrieval="before"))
