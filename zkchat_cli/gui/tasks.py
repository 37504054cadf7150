"""What the window's workers do with a session, each on its thread: values in, values out, and events on the way."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from zkchat_cli import events, slash
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.exchanges import MessageHistory
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.gui.transcript import TranscriptPage, render_page
from zkchat_cli.llm.stop_signal import raise_if_stopped
from zkchat_cli.models import ConversationOverview, Prompt, ToolCall
from zkchat_cli.slash.base import MAX_LISTED_CONVERSATIONS, NoteToOpen
from zkchat_cli.slash.context import usage_lines
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.input_history import history_file
from zkchat_cli.vault.approval import Approve, Decision
from zkchat_cli.views import conversation_list, prompts
from zkchat_cli.views.text import StyledLine, styled_line
from zkchat_cli.views.tool_calls import tool_line

NOTE_LINES = 60
"""Lines shown of a note without a numbered passage."""


class Snapshot(NamedTuple):
    """What the window shows of a session after each change."""

    history: MessageHistory
    page: TranscriptPage
    title: str
    speaker: str


def take_snapshot(session: ZkChatSession) -> Snapshot:
    history = session.history
    title = session.conversation.title or (session.store.conversation(session.conversation.id).title if session.is_stored else None)
    return Snapshot(history, render_page(history), title or "New conversation", session.runtime.speaker_label)


class OpenedSession(NamedTuple):
    app: App
    session: ZkChatSession
    history_file: Path | None
    """The lines that were typed in chats about these notes; None if this one is not stored."""
    warnings: list[str]


def open_session(
    open_app: Callable[[], App], resume: str | None, approve: Approve, approve_call: Callable[[ToolCall], Decision]
) -> OpenedSession:
    """Open the vault, the store and a session. Raises ZkchatError."""
    app = replace(open_app(), approve=approve, approve_call=approve_call)
    session = app.session(None if resume is None else app.find(resume))
    typed_lines = history_file(app.loaded.paths.data_dir, str(app.vault.root)) if app.store.persistent else None
    return OpenedSession(app, session, typed_lines, [on_one_line(*each) for each in app.warnings(session)])


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


def list_conversations(store: ChatSessionStore, vault: str, words: str) -> list[ConversationOverview]:
    """The conversations about these notes, newest first; with `words`, those that have them in the title or in messages."""
    known = store.conversations(vault, MAX_LISTED_CONVERSATIONS)
    if not words.strip():
        return known
    by_title = conversation_list.filter_by_title(known, words)
    found = {each.conversation_id for each in store.search(vault, words, limit=MAX_LISTED_CONVERSATIONS)}
    return by_title + [each for each in known if each.id in found and each not in by_title]


def delete_conversation(session: ZkChatSession, conversation_id: str) -> ZkChatSession:
    """Returns the session to continue with: a new one if its own conversation was deleted."""
    own = session.conversation.id == conversation_id
    if not own or session.is_stored:
        session.store.delete(conversation_id)
    return session.open_conversation() if own else session


def passage_lines(session: ZkChatSession, key: str) -> list[StyledLine]:
    """The passage with this source number in its note, or the beginning of the note with this path."""
    if key.isdecimal():
        return list(slash.run(f"/sources {key}", session).lines)
    lines = session.vault.read(key).split("\n")
    return [styled_line(key, "bold"), *(styled_line(line) for line in lines[:NOTE_LINES])]


def explain_prompt(session: ZkChatSession, prompt: Prompt) -> tuple[Sequence[StyledLine], str]:
    """The table of a prompt's tokens, and its exact text."""
    return usage_lines(session, prompt), prompts.prompt_text(prompt)


def command_to_open(session: ZkChatSession, note: NoteToOpen) -> list[str]:
    """The command that opens a note; empty for the program of the desktop. Raises ZkchatError."""
    configured = session.runtime.settings.terminal.open_command
    return open_note_command(note.file, note.line, configured, session.vault.root, in_terminal=False) or []


def close_session(session: ZkChatSession | None, app: App | None) -> None:
    """Store what could not be stored before, and close everything."""
    if session is not None:
        with suppress(ZkchatError):
            session.flush()
    if app is not None:
        app.close()
