"""/sessions: list conversations; words filter them.

Words are searched in titles and messages. /resume switches to another conversation.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import MAX_LISTED_CONVERSATIONS, Lines, slash_command
from zkchat_cli.views import conversation_list

MAX_SHOWN = 20


@slash_command("[words]")
def run(session: ZkChatSession, argument: str) -> str | Lines:
    store, vault = session.store, str(session.vault.root)
    known = store.conversations(vault, MAX_LISTED_CONVERSATIONS)
    if not argument:
        return conversation_list.conversation_lines(known, session.conversation.id) or conversation_list.NO_CONVERSATIONS
    by_title = conversation_list.filter_by_title(known, argument)
    messages = store.search(vault, argument, limit=MAX_SHOWN, tool_results=False)
    lines = [*conversation_list.conversation_lines(by_title), *conversation_list.search_result_lines(messages, argument)]
    return lines or "No conversation contains these words."
