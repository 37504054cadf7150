"""/resume: switch to another conversation of this vault, by its id or from a list."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import ConversationSummary
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import styled_line

MAX_LISTED = 200


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        return base.resume_conversation(session, argument)
    others = _other_conversations(session, session.store)
    lines = conversation_list.conversation_lines(others) or [styled_line("There is no other conversation with these notes.")]
    return CommandResult(lines=lines, pick=base.conversation_picker(session, others))


def _other_conversations(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationSummary]:
    known = store.overviews(str(session.vault.root), MAX_LISTED)
    return [each for each in known if each.id != session.conversation.id]


def _complete(session: ZkChatSession) -> list[str]:
    with closing(session.store.reopen()) as store:  # completion has its own thread
        return [CompletionValue(each.id, conversation_list.display_title(each)) for each in _other_conversations(session, store)]


COMMAND = SlashCommand("resume", "resume another conversation", _run, "[ID]", _complete)
