"""TurnRecorder: a turn is stored in two transactions; on a full disk it is kept in memory and
stored later.
"""

from collections.abc import Callable

import pytest
from factories import (
    NOON,
    AppFixture,
    DeltaModel,
    find_call,
    message,
    prompt_texts,
    reply,
    report_of,
    run_turn,
    run_until,
    store_conversation,
    stored_log,
)

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError, StoreError
from zkchat_cli.events import MessageStored, Notice, TextDelta, TurnCompleted, TurnFailed
from zkchat_cli.llm.base import StreamFailed, StreamFinished
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

TIMEOUT = StreamFailed(ProviderError("timeout", "too slow", "Again."))
# Numbered, because an answer that repeats itself is stopped
LONG = "".join(f"Answer {n} takes some pages of the disk. " for n in range(1000))


def test_a_turn_is_stored_in_two_transactions(app: AppFixture) -> None:
    usage = TokenUsage(prompt_tokens=1500, completion_tokens=3)
    tool = [StreamFinished("tool_calls", usage, (find_call("roof"),))]
    session = app.session(
        DeltaModel([reply("Yes?"), tool, [TextDelta("In June."), StreamFinished("stop", usage)]])
    )
    report_of(session.send("Hello"))  # which begins the conversation
    session.memory.remember("The roof deadline is 3 June")
    statements: list[str] = []
    app.store.connection.db.set_trace_callback(statements.append)
    report_of(session.send("When is the roof deadline?"))
    app.store.connection.db.set_trace_callback(None)
    assert [each for each in statements if each in ("BEGIN IMMEDIATE", "COMMIT")] == [
        "BEGIN IMMEDIATE",
        "COMMIT",
    ] * 2
    assert app.store.prompts.calibration(session.runtime.model.name).text != 1.0
    assert app.store.facts.current(str(app.vault.root))[0].last_accessed == NOON


def fill_disk(store: ChatSessionStore) -> None:
    """From now on the store's file may not grow, as on a full disk."""
    pages = store.connection.db.execute("PRAGMA page_count").fetchone()[0]
    store.connection.db.execute(f"PRAGMA max_page_count = {pages}")


def free_disk(store: ChatSessionStore) -> None:
    store.connection.db.execute("PRAGMA max_page_count = 1000000")


def test_the_conversation_continues_in_memory_while_the_disk_is_full(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply(LONG), reply("Perhaps."), reply("Short.")]))
    turn = session.send("Is it so?")
    run_until(turn, MessageStored)
    fill_disk(app.store)
    told = [e.message for e in turn if isinstance(e, Notice)]
    assert LONG in prompt_texts(session) and len(told) == 1 and "not stored for now: " in told[0]
    events, last = run_turn(session.send("Is there room? " * 2000))
    assert isinstance(last, TurnCompleted) and not any(isinstance(e, Notice) for e in events), (
        "it has been told"
    )
    free_disk(app.store)
    events, _ = run_turn(session.send("And now?"))
    assert [e.message for e in events if isinstance(e, Notice)] == ["everything is stored again"]
    kept = [content for _, _, content in stored_log(session)]
    assert app.store.conversation(session.conversation.id).title == "Is it so?"
    assert kept == ["Is it so?", LONG, "Is there room? " * 2000, "Perhaps.", "And now?", "Short."]
    session.flush()
    assert app.reopen(session).prompt() == session.prompt()


@pytest.mark.parametrize(
    "store",
    [ZkChatSession.flush, ZkChatSession.stored_state, lambda session: session.compact(keep=0)],
)
def test_an_unstored_conversation_is_stored_later(
    app: AppFixture, store: Callable[[ZkChatSession], object]
) -> None:
    session = app.session(DeltaModel([reply("Yes.")]))
    fill_disk(app.store)
    report_of(session.send("word " * 20_000))
    with pytest.raises(
        StoreError, match=r"^1 turn of conversation \S+ cannot be stored: The store .* full"
    ):
        session.flush()
    assert app.store.conversations() == [] or not stored_log(session)
    free_disk(app.store)
    store(session)
    assert [(role, status) for role, status, _ in stored_log(session)] == [
        ("user", "complete"),
        ("assistant", "complete"),
    ]
    assert len(app.store.prompts.sent_for(session.history[0].id)) == 1


def test_a_failed_call_on_a_full_disk_reports_both_problems(app: AppFixture) -> None:
    session = app.session(DeltaModel([[TextDelta(LONG), TIMEOUT]]))
    turn = session.send("Is it so?")
    run_until(turn, MessageStored)
    fill_disk(app.store)
    events, last = run_turn(turn)
    assert isinstance(last, TurnFailed) and last.error.code == "provider"
    assert any("full" in e.message for e in events if isinstance(e, Notice))


def test_the_later_of_two_writers_is_told_and_nothing_is_lost(app: AppFixture) -> None:
    first = app.session(DeltaModel([reply("Yes.")]))
    report_of(first.send("Is it so?"))
    second = app.session(DeltaModel([reply("No.")]), conversation=first.conversation)
    report_of(first.send("Always?"))
    events, _ = run_turn(second.send("Never?"))
    assert [each.hint for each in events if isinstance(each, Notice)] == [
        "/branches lists both; nothing is lost."
    ]
    assert [message.content for message in second.history] == ["Is it so?", "Yes.", "Never?", "No."]
    assert "Always?" in [text for _, _, text in stored_log(second)]


def test_a_new_conversation_gets_another_id_where_its_own_is_taken(app: AppFixture) -> None:
    session = app.session()
    taken = session.conversation.id
    store_conversation(app.store, taken, message("user", "Theirs", "theirs"))
    assert isinstance([*session.send("Mine")][-1], TurnCompleted)
    assert session.conversation.id != taken
    assert [each.content for each in app.store.log(taken)] == ["Theirs"]
    assert app.store.log(session.conversation.id)[0].content == "Mine"
