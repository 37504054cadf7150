"""Commands that switch to another conversation."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import ConversationOverview
from zkchat_cli.slash.base import MAX_LISTED_CONVERSATIONS, CommandResult, Lines, slash_command
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_SHOWN = 20


@slash_command()
def new(session: ZkChatSession, _: str) -> CommandResult:
    """Start a new conversation."""
    id_ = session.conversation.id
    where = f"is stored as {id_}" if session.store.persistent else f"({id_}) is lost when you quit: this chat is not stored"
    previous = f" The previous one {where}." if session.history else ""
    return CommandResult(f"Started a new conversation.{previous}", session=session.open_conversation())


@slash_command("[words]")
def sessions(session: ZkChatSession, argument: str) -> str | Lines:
    """List conversations; words filter them.

    Words are searched in titles and messages. /resume switches to another conversation.
    """
    store, vault = session.store, str(session.vault.root)
    known = store.conversations(vault, MAX_LISTED_CONVERSATIONS)
    if not argument:
        return stored_items.conversation_lines(known, session.conversation.id) or stored_items.NO_CONVERSATIONS
    by_title = stored_items.filter_by_title(known, argument)
    messages = store.search(vault, argument, limit=MAX_SHOWN, tool_results=False)
    lines = [*stored_items.conversation_lines(by_title), *stored_items.search_result_lines(messages, argument)]
    return lines or "No conversation contains these words."


def _others(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationOverview]:
    known = store.conversations(str(session.vault.root), MAX_LISTED_CONVERSATIONS)
    return [each for each in known if each.id != session.conversation.id]


def _titles_by_id(session: ZkChatSession) -> dict[str, str]:
    with closing(session.store.reopen()) as store:  # completion has its own thread
        return {each.id: stored_items.display_title(each) for each in _others(session, store)}


@slash_command("[N | ID]", _titles_by_id)
def resume(session: ZkChatSession, argument: str) -> CommandResult | str | Lines:
    """Resume another conversation; without N or ID, list them."""
    others = _others(session, session.store)
    if not argument:
        lines = stored_items.conversation_lines(others)
        numbered = [StyledLine((StyledSpan(f"{n:>3}  "), *line.left), line.right) for n, line in enumerate(lines, 1)]
        hint = styled_line("/resume N or /resume ID resumes one.", "dim")
        return [*numbered, hint] if numbered else "There is no other conversation with these notes."
    row = parse_number(argument)
    other = session.open_conversation(others[row - 1].id if row is not None and 1 <= row <= len(others) else argument)
    title = truncate(other.conversation.title or other.conversation.id, stored_items.MAX_TITLE)
    return CommandResult(f"Resumed “{title}” ({len(other.history)} messages).", session=other)
