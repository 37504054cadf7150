"""TurnRecorder: a turn is stored in two transactions; on a full disk it is kept in memory and stored later."""

from collections.abc import Generator
from typing import Any

import pytest
from building import NOON, Deltas, Room, completed, ended, find, says

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError, StoreError
from zkchat_cli.events import Event, MessageStored, Notice, TurnCompleted, TurnFailed
from zkchat_cli.llm.base import StreamFailed, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.models import TokenUsage
from zkchat_cli.store.chat_session_store import ChatSessionStore

TIMEOUT = StreamFailed(ProviderError("timeout", "too slow", "Again."))
LONG = "An answer that takes some pages of the disk. " * 1000


def contents(session: ZkChatSession) -> list[str]:
    return [m.content for m in session.prompt().messages[1:]]


def log(session: ZkChatSession) -> list[tuple[str, str, str]]:
    """Role, status and content of all stored messages."""
    return [(m.role, m.status, m.content) for m in session.store.log(session.conversation.id)]


def step_to(turn: Generator[Event, None, None], wanted: type) -> Any:
    """Run a turn up to the first event of a kind."""
    return next(event for event in turn if isinstance(event, wanted))


def test_a_turn_is_stored_in_two_transactions(room: Room) -> None:
    usage = TokenUsage(prompt_tokens=1500, completion_tokens=3)
    tool = [ToolCallsPart((find("roof"),)), StreamFinished("tool_calls", usage)]
    session = room.session(Deltas([says("Yes?"), tool, [TextPart("In June."), StreamFinished("stop", usage)]]))
    completed(session.send("Hello"))  # which begins the conversation
    session.memory.remember("The roof deadline is 3 June")
    statements: list[str] = []
    room.store._db.set_trace_callback(statements.append)
    completed(session.send("When is the roof deadline?"))
    room.store._db.set_trace_callback(None)
    assert [each for each in statements if each in ("BEGIN IMMEDIATE", "COMMIT")] == ["BEGIN IMMEDIATE", "COMMIT"] * 2
    assert room.store.calibration(session.runtime.model.name) != 1.0
    assert room.store.facts(str(room.vault.root))[0].last_accessed == NOON


def fill(store: ChatSessionStore) -> None:
    """From now on the store's file may not grow, as on a full disk."""
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store: ChatSessionStore) -> None:
    store._db.execute("PRAGMA max_page_count = 1000000")


def test_an_answer_that_cannot_be_stored_is_reported_and_kept(room: Room) -> None:
    session = room.session(Deltas([says(LONG)]))
    turn = session.send("Is it so?")
    step_to(turn, MessageStored)
    fill(room.store)
    events, last = ended(turn)
    assert isinstance(last, TurnCompleted) and last.report.answer == LONG
    [told] = [e for e in events if isinstance(e, Notice)]
    assert told.message.startswith("this conversation is not stored for now: The store ") and "full" in told.message and told.hint
    assert log(session) == [("user", "pending", "Is it so?")]


def test_an_answer_that_could_not_be_stored_is_stored_with_the_next_turn(room: Room) -> None:
    session = room.session(Deltas([says(LONG), says("Short.")]))
    turn = session.send("Is it so?")
    step_to(turn, MessageStored)
    fill(room.store)
    completed(turn)
    make_room(room.store)
    events, _ = ended(session.send("And now?"))
    assert any("stored again" in e.message for e in events if isinstance(e, Notice))
    assert [content for _, _, content in log(session)] == ["Is it so?", LONG, "And now?", "Short."]
    assert room.store.conversation(session.conversation.id).title == "Is it so?"
    assert room.resumed(session).prompt() == session.prompt()


def test_the_conversation_continues_in_memory_while_the_disk_is_full(room: Room) -> None:
    session = room.session(Deltas([says(LONG), says("Perhaps."), says("Short.")]))
    turn = session.send("Is it so?")
    step_to(turn, MessageStored)
    fill(room.store)
    told = [e.message for e in turn if isinstance(e, Notice)]
    assert LONG in contents(session) and len(told) == 1 and "not stored for now: " in told[0]
    events, last = ended(session.send("Is there room? " * 2000))
    assert isinstance(last, TurnCompleted) and not any(isinstance(e, Notice) for e in events), "it has been told"
    make_room(room.store)
    events, _ = ended(session.send("And now?"))
    assert [e.message for e in events if isinstance(e, Notice)] == ["everything is stored again"]
    kept = [content for _, _, content in log(session)]
    assert kept == ["Is it so?", LONG, "Is there room? " * 2000, "Perhaps.", "And now?", "Short."]
    session.flush()
    assert room.resumed(session).prompt() == session.prompt()


def test_an_unstored_conversation_is_stored_later(room: Room) -> None:
    session = room.session(Deltas([says("Yes.")]))
    fill(room.store)
    completed(session.send("word " * 20_000))
    with pytest.raises(StoreError, match=r"^1 turn is lost, of \S+: The store .* full"):
        session.flush()
    assert room.store.conversations() == [] or not log(session)
    make_room(room.store)
    session.flush()
    assert [(role, status) for role, status, _ in log(session)] == [("user", "complete"), ("assistant", "complete")]
    assert len(room.store.prompts(session.history[0].id)) == 1


def test_a_failed_call_on_a_full_disk_reports_both_problems(room: Room) -> None:
    session = room.session(Deltas([[TextPart(LONG), TIMEOUT]]))
    turn = session.send("Is it so?")
    step_to(turn, MessageStored)
    fill(room.store)
    events, last = ended(turn)
    assert isinstance(last, TurnFailed)
    assert last.error.code == "provider"
    assert any("full" in e.message for e in events if isinstance(e, Notice))
