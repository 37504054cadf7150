"""Lists the stored conversations."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, ListQuestion, Topic, declare_command
from zkchat_cli.slash.lookups import conversation_options, resume_conversation
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import StyledLine

# Most messages that a search lists
MAX_SHOWN = 20


def sessions(session: ZkChatSession, argument: str) -> CommandResult | str | list[StyledLine]:
    """List conversations, to choose one; words filter them.

    Words are searched in titles and messages. /resume switches to another conversation.
    """
    store = session.store
    vault = str(session.vault.root)
    known = store.conversations(vault, stored_items.MAX_LISTED)
    if not argument:
        lines = stored_items.conversation_lines(known, session.conversation.id)
        if not lines:
            if store.away is not None:
                return stored_items.NONE_WHILE_AWAY
            return stored_items.NO_CONVERSATIONS
        choice = ListQuestion(
            "Conversations", conversation_options(known), lambda id_: _resume(session, id_)
        )
        return CommandResult(lines=lines, choice=choice)
    by_title = stored_items.filter_by_title(known, argument)
    messages = store.search(vault, argument, limit=MAX_SHOWN, tool_results=False)
    lines = [
        *stored_items.conversation_lines(by_title),
        *stored_items.search_result_lines(messages, argument),
    ]
    return lines or "No conversation contains these words."


def _resume(session: ZkChatSession, id_: str) -> CommandResult:
    if id_ == session.conversation.id:
        return CommandResult("This is that conversation.")
    return resume_conversation(session, id_)


COMMAND = declare_command(
    sessions, Topic.OTHER_CONVERSATIONS, order=20, argument="[words]", in_editors=False
)
