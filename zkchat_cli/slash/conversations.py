"""Commands that start, list, resume and rename conversations."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ConversationSummary
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_LISTED = 200
MAX_FOUND = 50
"""Messages that the search returns; those of tools are then left out."""
MAX_SHOWN = 20


def _new(session: ZkChatSession) -> CommandResult:
    id_ = session.conversation.id
    where = f"is stored as {id_}" if session.store.persistent else f"({id_}) is lost when you quit: this chat is not stored"
    previous = f" The previous one {where}." if session.history else ""
    return CommandResult(f"Started a new conversation.{previous}", session=session.open_conversation())


def _sessions(session: ZkChatSession, argument: str) -> CommandResult:
    store, vault = session.store, str(session.vault.root)
    known = store.overviews(vault, MAX_LISTED)
    if not argument:
        lines = conversation_list.conversation_lines(known, session.conversation.id)
        return CommandResult(lines=lines or [styled_line(conversation_list.NONE)])
    by_title = conversation_list.filter_by_title(known, argument)
    messages = conversation_list.without_tool_results(store.search(vault, argument, limit=MAX_FOUND), MAX_SHOWN)
    lines = [*conversation_list.conversation_lines(by_title, mark=False), *conversation_list.search_result_lines(messages, argument)]
    return CommandResult(lines=lines or [styled_line("No conversation contains these words.")])


def _resume(session: ZkChatSession, argument: str) -> CommandResult:
    others = _other_conversations(session, session.store)
    if not argument:
        return CommandResult(lines=_numbered(others) or [styled_line("There is no other conversation with these notes.")])
    row = int(argument) - 1 if argument.isascii() and argument.isdecimal() and len(argument) < 4 else -1
    other = session.open_conversation(others[row].id if 0 <= row < len(others) else argument)
    title = truncate(other.conversation.title or other.conversation.id, conversation_list.MAX_TITLE)
    return CommandResult(f"Resumed “{title}” ({len(other.history)} messages).", session=other)


def _numbered(overviews: list[ConversationSummary]) -> list[StyledLine]:
    lines = conversation_list.conversation_lines(overviews, mark=False)
    numbered = [StyledLine((StyledSpan(f"{n:>3}  "), *line.left), line.right) for n, line in enumerate(lines, 1)]
    return [*numbered, styled_line("/resume N or /resume ID resumes one.", "dim")] if numbered else []


def _other_conversations(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationSummary]:
    known = store.overviews(str(session.vault.root), MAX_LISTED)
    return [each for each in known if each.id != session.conversation.id]


def _resumable(session: ZkChatSession) -> list[str]:
    with closing(session.store.reopen()) as store:  # completion has its own thread
        return [CompletionValue(each.id, conversation_list.display_title(each)) for each in _other_conversations(session, store)]


def _rename(session: ZkChatSession, argument: str) -> CommandResult:
    title = " ".join(replace_surrogates(argument).split())
    if not title:
        current = session.conversation.title or session.conversation.id
        raise UsageError("the title is missing", f"/rename TITLE; the current title is “{current}”.")
    session.rename(title)
    return CommandResult(f"Renamed to “{title}”.")


COMMANDS = (
    SlashCommand("new", "start a new conversation", lambda session, _: _new(session)),
    SlashCommand(
        "sessions",
        "list conversations; words filter them",
        _sessions,
        "[words]",
        details="Words are searched in titles and messages. /resume switches to another conversation.",
    ),
    SlashCommand("resume", "resume another conversation; without N or ID, list them", _resume, "[N | ID]", _resumable),
    SlashCommand("rename", "rename this conversation", _rename, "TITLE"),
)
