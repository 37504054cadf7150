"""/resume: resume another conversation; without N or ID, list them."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ConversationOverview
from zkchat_cli.slash.base import MAX_LISTED_CONVERSATIONS, CommandResult, slash_command
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _titles_by_id(session: ZkChatSession) -> dict[str, str]:
    with closing(session.store.reopen()) as store:  # completion has its own thread
        return {each.id: conversation_list.display_title(each) for each in _other_conversations(session, store)}


@slash_command("[N | ID]", _titles_by_id)
def run(session: ZkChatSession, argument: str) -> CommandResult | str | list[StyledLine]:
    others = _other_conversations(session, session.store)
    if not argument:
        lines = conversation_list.conversation_lines(others)
        numbered = [StyledLine((StyledSpan(f"{n:>3}  "), *line.left), line.right) for n, line in enumerate(lines, 1)]
        hint = styled_line("/resume N or /resume ID resumes one.", "dim")
        return [*numbered, hint] if numbered else "There is no other conversation with these notes."
    row = parse_number(argument)
    if row is not None and len(argument) < 3 and not 1 <= row <= len(others):  # no id: one would hardly be typed so short
        raise UsageError(f"there is no conversation {argument} to resume", "/resume lists them.")
    other = session.open_conversation(others[row - 1].id if row is not None and 1 <= row <= len(others) else argument)
    title = truncate(other.conversation.title or other.conversation.id, conversation_list.MAX_TITLE)
    return CommandResult(f"Resumed “{title}” ({len(other.history)} messages).", session=other)


def _other_conversations(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationOverview]:
    known = store.conversations(str(session.vault.root), MAX_LISTED_CONVERSATIONS)
    return [each for each in known if each.id != session.conversation.id]
