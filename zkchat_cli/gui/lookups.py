"""What the window reads from a session: functions for a worker's thread that return values."""

from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui.transcript import PAGE, TranscriptPage, render_page
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage, split_into_exchanges
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.stored_items import MAX_LISTED, filter_by_title
from zkchat_cli.views.text import StyledLine, styled_line

# Messages of a conversation that are shown while all of it is being loaded, which takes 2 s for
# 10,000 turns with tools
READ_FIRST = 100
# Lines shown of a note without a numbered passage
NOTE_LINES = 60


class LoadedConversation(NamedTuple):
    """A conversation for the window: all its turns, and the last ones as a page."""

    exchanges: Sequence[Sequence[ZkChatMessage]]
    page: TranscriptPage
    title: str
    speaker: str


def read_conversation(session: ZkChatSession) -> LoadedConversation:
    """The session's conversation as it is now."""
    exchanges = [*split_into_exchanges(session.history)]
    conversation = session.conversation
    title = conversation.title
    if not title and session.state.is_stored:
        title = session.store.conversation(conversation.id).title
    return LoadedConversation(
        exchanges,
        render_page(exchanges),
        sanitize_name(title or "New conversation"),
        session.runtime.speaker_label,
    )


def read_last_page(session: ZkChatSession, conversation_id: str) -> TranscriptPage:
    """The last turns of another conversation, which need not be loaded for this."""
    # The session's own connection is busy: it reads the whole conversation
    with closing(session.store.reopen()) as store:
        messages = store.history(conversation_id, last=READ_FIRST)
    return render_page([*split_into_exchanges(messages)][-PAGE:])


def find_conversations(session: ZkChatSession, words: str) -> list[ConversationOverview]:
    """The conversations about these notes, newest first; with `words`, those that contain them in
    title or messages.
    """
    vault = str(session.vault.root)
    with closing(session.store.reopen()) as store:
        known = store.conversations(vault, MAX_LISTED)
        if not words.strip():
            return known
        by_message = {each.conversation_id for each in store.search(vault, words, limit=MAX_LISTED)}
    by_title = filter_by_title(known, words)
    return [each for each in known if each in by_title or each.id in by_message]


def read_passage(session: ZkChatSession, key: str) -> Sequence[StyledLine]:
    """The passage with this source number in its note, or the beginning of the note with
    this path.
    """
    if key.isdecimal():
        return slash.run(f"/sources {key}", session).lines
    lines = session.vault.reader.read(key).split("\n")[:NOTE_LINES]
    return [styled_line(key, "bold"), *map(styled_line, lines)]
