"""What the window's workers do with a session, each on its thread: values in, values out, and events on the way."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import NamedTuple

from zkchat_cli import events, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.exchanges import LoadableExchange
from zkchat_cli.errors import ZkchatError
from zkchat_cli.gui.transcript import PAGE, TranscriptPage, render_page
from zkchat_cli.llm.stop_signal import raise_if_stopped
from zkchat_cli.models import ConversationOverview, split_into_exchanges
from zkchat_cli.slash.base import MAX_LISTED_CONVERSATIONS
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import StyledLine, styled_line
from zkchat_cli.views.tool_calls import tool_line

READ_FIRST = 100
"""Messages of a conversation that are shown while all of it is loaded, which takes 2 s for 10,000 turns with tools."""
NOTE_LINES = 60
"""Lines shown of a note without a numbered passage."""


class Snapshot(NamedTuple):
    """What the window shows of a session after each change."""

    exchanges: Sequence[LoadableExchange]
    page: TranscriptPage
    title: str
    speaker: str


def take_snapshot(session: ZkChatSession) -> Snapshot:
    exchanges = session.history.exchanges
    title = session.conversation.title or (session.store.conversation(session.conversation.id).title if session.is_stored else None)
    return Snapshot(exchanges, render_page(exchanges), title or "New conversation", session.runtime.speaker_label)


def read_end(session: ZkChatSession, conversation_id: str) -> TranscriptPage:
    """The last turns of a conversation, through another connection: the session's own is busy with reading all of it."""
    with closing(session.store.reopen()) as store:
        exchanges = map(LoadableExchange, split_into_exchanges(store.latest(conversation_id, READ_FIRST)))
        return render_page(list(exchanges)[-PAGE:])


def run_turn(turn: Generator[events.Event, None, None], show: Callable[[events.Event], None]) -> None:
    """Show the events of a turn; an error that it raises becomes a TurnFailed. Raises KeyboardInterrupt when stopped."""
    try:
        with closing(turn):
            for event in turn:
                show(event)
                raise_if_stopped()
    except ZkchatError as e:
        show(events.TurnFailed(e, "", ""))


def describe_event(event: events.Event) -> str:
    """A line about an event between the pieces of an answer; empty for events that are shown in another way."""
    match event:
        case events.Waiting(seconds, reason):
            return f"waiting {seconds:.0f} s: {reason}"
        case events.ToolCallFinished(_, run, excerpts):
            return tool_line(run, excerpts).strip()
        case events.ChangeDecided(_, _, told):
            return told
        case events.CompactionStarted(reason):
            return f"compacting: {reason}"
    return ""


def list_conversations(session: ZkChatSession, words: str) -> list[ConversationOverview]:
    """The conversations about these notes, newest first; with `words`, those that have them in the title or in messages."""
    vault = str(session.vault.root)
    with closing(session.store.reopen()) as store:
        known = store.conversations(vault, MAX_LISTED_CONVERSATIONS)
        if not words.strip():
            return known
        found = {each.conversation_id for each in store.search(vault, words, limit=MAX_LISTED_CONVERSATIONS)}
    by_title = conversation_list.filter_by_title(known, words)
    return by_title + [each for each in known if each.id in found and each not in by_title]


def delete_conversation(session: ZkChatSession, conversation_id: str) -> ZkChatSession:
    """Returns the session to continue with: a new one if its own conversation was deleted."""
    session.store.delete(conversation_id)
    return session.open_conversation() if session.conversation.id == conversation_id else session


def passage_lines(session: ZkChatSession, key: str) -> list[StyledLine]:
    """The passage with this source number in its note, or the beginning of the note with this path."""
    if key.isdecimal():
        return list(slash.run(f"/sources {key}", session).lines)
    lines = session.vault.read(key).split("\n")
    return [styled_line(key, "bold"), *(styled_line(line) for line in lines[:NOTE_LINES])]
