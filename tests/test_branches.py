"""Undo, redo, retry, edit and branches: nothing is lost."""

from itertools import pairwise

import pytest
from factories import (
    AppFixture,
    DeltaModel,
    exchanges,
    failure_of,
    find_call,
    reply,
    report_of,
    resume,
    tool_reply,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError, UsageError
from zkchat_cli.llm.base import StreamFailed


def history_texts(session: ZkChatSession) -> list[str]:
    return [message.content for message in session.history]


def turn(line: str, session: ZkChatSession) -> str:
    events = slash.run(line, session).turn
    assert events is not None
    return report_of(events).answer


# moving


@pytest.mark.parametrize("line", ["/undo", "/redo", "/retry", "/edit", "/edit 1 x", "/branches 1"])
def test_a_new_conversation_has_nothing_to_undo_or_redo(app: AppFixture, line: str) -> None:
    assert slash_error(line, app.session()).code == "usage"


@pytest.mark.parametrize(
    "line",
    ["/undo 0", "/undo x", "/undo -1", "/redo ²", "/edit 7 x", "/edit x", "/branches 2", "/redo"],
)
def test_an_invalid_number_is_refused(app: AppFixture, line: str) -> None:
    session = resume(app, exchanges(("What is one?", "1")))
    assert slash_error(line, session).code == "usage"
    assert history_texts(session) == ["What is one?", "1"]


def test_retry_after_a_failure_asks_the_question_that_failed(app: AppFixture) -> None:
    session = app.session(
        DeltaModel([[StreamFailed(ProviderError("timeout", "too slow", "Wait."))], reply("Five.")])
    )
    failure_of(session.send("What is 2 + 3?"))
    assert turn("/retry", session) == "Five."
    assert history_texts(session) == ["What is 2 + 3?", "Five."]


def test_retry_imports_typed_files_only(app: AppFixture) -> None:
    (app.vault.root / "a.txt").write_text("Buy onions.", encoding="utf-8")
    (app.vault.root / "b.txt").write_text("Secret.", encoding="utf-8")
    session = app.session(DeltaModel([reply("Yes.")]))
    report_of(session.send("@b.txt was piped.\n\nWhat of @a.txt?", typed="What of @a.txt?"))
    turn("/retry", session)
    assert [reference.relative_path for reference in session.history[0].references] == ["a.txt"]


def test_edit_offers_the_question_and_sends_the_new_text(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("Four."), reply("Nine."), reply("Ten.")]))
    report_of(session.send("What is 2 + 2?"))
    report_of(session.send("And 4 + 5?"))
    assert slash.run("/edit", session).input_text == "/edit 2 And 4 + 5?"
    assert slash.run("/edit 1", session).input_text == "/edit 1 What is 2 + 2?"
    assert turn("/edit 1 What is\n5 + 5?", session) == "Ten."
    assert history_texts(session) == ["What is\n5 + 5?", "Ten."]
    assert "\n3 answers: " in slash_output("/tokens", session)
    assert "unchanged" in slash_error("/edit 1 What is\n5 + 5?", session).message


def test_an_empty_edit_changes_nothing(app: AppFixture) -> None:
    session = resume(app, exchanges(("What is one?", "1")), model=DeltaModel([reply("2")]))
    before = session.prompt()
    with pytest.raises(UsageError, match="nothing to ask"):
        list(session.ask_again(session.history[0], "  "))
    assert session.prompt() == before == app.reopen(session).prompt()


def test_pending_turns_are_stored_before_a_move(app: AppFixture) -> None:
    session = resume(app, exchanges(("What is one?", "1")), model=DeltaModel([reply("2")]))
    app.store.connection.db.execute("PRAGMA query_only = ON")
    events = slash.run("/edit 1 What is two?", session).turn
    assert events is not None
    assert report_of(events).answer == "2"
    copied = slash.run("/copy all", session).clipboard
    assert copied is not None and "What is two?" in copied and "What is one?" not in copied
    for line in (
        "/undo",
        "/clear",
        "/branches",
        "/branches 1",
        "/redo",
        "/new",
        "/resume x",
        "/quit",
    ):
        assert slash_error(line, session).code in ("store", "usage")
        assert history_texts(session) == ["What is two?", "2"]
    app.store.connection.db.execute("PRAGMA query_only = OFF")
    slash_output("/branches 1", session)
    assert history_texts(session) == ["What is one?", "1"]
    assert [message.content for message in session.store.log(session.conversation.id)] == [
        "What is one?",
        "1",
        "What is two?",
        "2",
    ]


def test_a_stopped_retry_keeps_both_branches(app: AppFixture) -> None:
    session = resume(
        app, exchanges(("What is one?", "1")), model=DeltaModel([reply("A ", "long ", "answer.")])
    )
    events = session.ask_again(session.history[0])
    for event in events:
        if getattr(event, "text", "") == "A ":
            break
    events.close()
    assert history_texts(app.reopen(session)) == ["What is one?", "A "]
    assert len(session.store.log(session.conversation.id)) == 4


def test_a_summary_of_undone_turns_is_not_used(app: AppFixture) -> None:
    session = resume(
        app,
        exchanges(
            *[
                (f"On day {i} I moved thing {i} to shelf {i * 7}.", f"Noted: shelf {i * 7}.")
                for i in range(1, 13)
            ]
        ),
    )
    slash_output("/compact preview keep day 3", session)
    assert session.state.compaction is None
    session.compact()
    assert session.state.compaction is not None
    slash_output("/undo 11", session)
    assert session.state.compaction is None
    slash_output("/redo", session)
    assert session.state.compaction is not None


MOVES = [
    "send",
    "undo",
    "undo 2",
    "redo",
    "retry",
    "edit 1",
    "clear",
    "branches 1",
    "branches 2",
    "compact",
    "resume",
]
MOVES += ["pin 1", "unpin 1", "strategy discard", "strategy hybrid"]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(MOVES), max_size=14))
@example(steps=["send", "compact", "pin 1"])
def test_random_navigation_never_loses_messages_or_breaks_prompts(
    app: AppFixture, steps: list[str]
) -> None:
    session = app.session(
        DeltaModel([tool_reply(find_call("compost heap")), reply("It needs air [1].")])
    )
    seen: dict[str, str] = {}
    for number, step in enumerate(["send", *steps]):
        with_new = f"What of {number}?"
        try:
            if step == "send":
                report_of(session.send(with_new))
            elif step == "resume":
                session = app.reopen(session, strategy=session.runtime.strategy.name)
            else:
                outcome = slash.run(
                    f"/{step} {with_new}" if step.startswith("edit") else f"/{step}", session
                )
                if outcome.turn is not None:
                    list(outcome.turn)
        except UsageError:
            # There is nowhere to go that way
            pass
        log = {
            message.id: message.content for message in session.store.log(session.conversation.id)
        }
        assert seen.items() <= log.items()
        seen = log
        assert tuple(session.history) == app.store.history(session.conversation.id)
        assert (
            session.prompt() == app.reopen(session, strategy=session.runtime.strategy.name).prompt()
        )
        prompt = session.prompt("And now?").messages
        # Data in user messages of their own, as a summary is
        fenced = ("<kept-message ", "<recalled-conversation>")
        sent = [
            m
            for m in prompt
            if m.kind in ("conversation", "tool_results") and not m.content.startswith(fenced)
        ]
        assert sent[-1].role == "user" and all(a.role != b.role for a, b in pairwise(sent))
        called = {call.id for message in sent for call in message.tool_calls}
        assert called == {message.tool_call_id for message in sent if message.role == "tool"}
