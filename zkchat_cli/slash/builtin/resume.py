"""Switches to another conversation."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.slash.base import CommandResult, ListQuestion, Topic, declare_command
from zkchat_cli.slash.lookups import conversation_options, resume_conversation
from zkchat_cli.store.port import SessionStore
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def resume(session: ZkChatSession, argument: str) -> CommandResult | str:
    """Resume another conversation; without N or ID, choose one from a list."""
    others = _others(session, session.store)
    if not argument:
        if not others and session.store.away is not None:
            return stored_items.NONE_WHILE_AWAY
        if not others:
            return "There is no other conversation with these notes."
        options = conversation_options(others)
        choice = ListQuestion(
            "Resume a conversation", options, lambda id_: resume_conversation(session, id_)
        )
        return CommandResult(lines=_numbered_lines(others), choice=choice)
    id_ = argument
    row = parse_number(argument)
    if row is not None and 1 <= row <= len(others):
        id_ = others[row - 1].id
    return resume_conversation(session, id_)


def _numbered_lines(others: list[ConversationOverview]) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for number, line in enumerate(stored_items.conversation_lines(others), start=1):
        left = (StyledSpan(f"{number:>3}  "), *line.left)
        lines.append(StyledLine(left, line.right))
    lines.append(styled_line("/resume N or /resume ID resumes one.", "dim"))
    return lines


def _others(session: ZkChatSession, store: SessionStore) -> list[ConversationOverview]:
    """The other conversations with these notes, latest first."""
    known = store.conversations(str(session.vault.root), stored_items.MAX_LISTED)
    return [each for each in known if each.id != session.conversation.id]


def _titles_by_id(session: ZkChatSession) -> dict[str, str]:
    # Completion runs in its own thread, which needs its own connection
    with closing(session.store.reopen()) as store:
        return {each.id: stored_items.display_title(each) for each in _others(session, store)}


COMMAND = declare_command(
    resume,
    Topic.OTHER_CONVERSATIONS,
    order=30,
    argument="[N | ID]",
    values=_titles_by_id,
    in_editors=False,
)
