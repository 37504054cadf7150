"""/resume: go on with another conversation with these notes, named by its id, or picked from the list."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import ConversationSummary
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import styled_line

MOST = 200


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        return base.resumed(session, argument)
    known = [each for each in _known(session, session.parts.store) if each.id != session.conversation.id]
    lines = conversation_list.listed(known) or [styled_line("There is no other conversation with these notes.")]
    return CommandResult(lines=lines, pick=base.to_resume(session, known))


def _known(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationSummary]:
    return store.overviews(str(session.parts.vault.root), MOST)


def _ids(session: ZkChatSession) -> list[str]:
    with closing(session.parts.store.reopen()) as store:  # completion has its own thread
        known = _known(session, store)
    return [CompletionValue(each.id, conversation_list.name(each)) for each in known if each.id != session.conversation.id]


COMMAND = SlashCommand("resume", "go on with another conversation", _run, "[ID]", _ids)
