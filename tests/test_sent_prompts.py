"""What the model saw then: kept with each turn, read again to the byte, in little room, and gone
with its conversation.
"""

import json
from collections.abc import Callable
from pathlib import Path

from conftest import Program
from factories import (
    AppFixture,
    DeltaModel,
    compact_session,
    exchanges,
    failure_of,
    find_call,
    make_compaction,
    reply,
    report_of,
    resume,
    tool_reply,
)

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import prompt_history
from zkchat_cli.context.instructions import INSTRUCTIONS
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import Request, StreamFailed
from zkchat_cli.models.prompts import DroppedItem, Prompt, SentPrompt
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect
from zkchat_cli.views import prompts


def searching_model() -> DeltaModel:
    """A model that looks once in each turn and answers."""

    class Looking(DeltaModel):
        def stream(self, request: Request):  # type: ignore[no-untyped-def]
            self.requests.append(request)
            n = len(self.requests)
            yield from (
                reply(f"So it is, {n}.")
                if request.messages[-1].role == "tool"
                else tool_reply(find_call(f"filters {n}", f"call-{n}"))
            )

    return Looking([])


def stored_prompts(store: ChatSessionStore, session: ZkChatSession) -> list[SentPrompt]:
    return [
        sent
        for message in session.history
        if message.role == "user"
        for sent in store.prompts.sent_for(message.id)
    ]


def test_every_call_is_stored_as_it_was_sent_also_beyond_the_window(app: AppFixture) -> None:
    app.max_context = 1100
    model = searching_model()
    session = app.session(model)
    for n in range(24):
        report_of(
            session.send(
                f"What did I say of filter {n % 7}, and what is a query? I moved shelf {n}."
            )
        )
        if n == 12:
            # Another process, which knows nothing of the prompts before
            session = app.reopen(session, model)
    # The others are for summaries
    asked = [r for r in model.requests if r.messages[0].content == INSTRUCTIONS]
    kept = stored_prompts(app.store, session)
    assert len(kept) == 48
    assert [(sent.prompt.messages, sent.prompt.tools) for sent in kept] == [
        (tuple(m.as_stored() for m in r.messages), r.tools) for r in asked
    ]
    assert [(sent.call, sent.model) for sent in kept] == [(1, "deltas"), (2, "deltas")] * 24
    assert {m.kind for sent in kept for m in sent.prompt.messages} >= {"summary", "tool_results"}


def test_a_failed_call_is_stored_with_its_question(app: AppFixture) -> None:
    session = app.session(
        DeltaModel(
            [[TextDelta("Half"), StreamFailed(ProviderError("cut", "it broke off", "Ask again."))]]
        )
    )
    failure_of(session.send("What?"))
    [sent] = app.store.prompts.sent_for(session.history[0].id)
    assert sent.usage is None and sent.prompt.messages[-1].content == "What?"


def test_a_pending_turn_is_stored_with_its_prompts(app: AppFixture, tmp_path: Path) -> None:
    session = app.session(searching_model())
    database = connect(tmp_path / "store.db")
    turn = session.send("What?")
    next(turn)
    database.execute(
        "CREATE TRIGGER broken BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    list(turn)
    database.execute("DROP TRIGGER broken")
    database.close()
    report_of(session.send("And now?"))
    assert [len(app.store.prompts.sent_for(m.id)) for m in session.history if m.role == "user"] == [
        2,
        2,
    ]


def test_prompts_are_deleted_with_their_conversation(app: AppFixture, tmp_path: Path) -> None:
    session = app.session(searching_model())
    report_of(session.send("What of the zymurgist?"))
    kept = app.session(searching_model())
    report_of(kept.send("What else?"))
    app.store.delete(session.conversation.id)
    database = connect(tmp_path / "store.db")
    [conversation] = database.execute("SELECT seq FROM conversation").fetchone()
    for table in ("piece", "prompt"):
        assert {seq for (seq,) in database.execute(f"SELECT conversation_seq FROM {table}")} == {
            conversation
        }
    database.close()
    assert len(stored_prompts(app.store, kept)) == 2


def test_stored_prompts_grow_linearly(app: AppFixture, tmp_path: Path) -> None:
    sizes = []
    model = searching_model()
    session = app.session(model)
    for _ in range(2):
        for n in range(15):
            report_of(session.send(f"What is said of filter {n}?"))
        database = connect(tmp_path / "store.db")
        sizes.append(
            sum(
                database.execute(f"SELECT sum(length(body)) FROM {t}").fetchone()[0]
                for t in ("piece", "prompt")
            )
        )
        database.close()
    assert sizes[1] < 2.2 * sizes[0]


# complete again from the log


def whole(session: ZkChatSession, number: int, app: AppFixture) -> Prompt:
    return (
        prompt_history.restore_sent_prompts(session.history, number, app.store.prompts.sent_for)
        .calls[-1]
        .prompt
    )


def test_dropped_messages_are_derived_from_the_log(app: AppFixture) -> None:
    app.max_context = 2500
    session = resume(
        app,
        exchanges(
            *(
                (f"Day {i}: the anvil is on shelf {i}." * 3, f"Noted, day {i}." * 9)
                for i in range(30)
            )
        ),
        model=searching_model(),
    )
    report_of(session.send("Where was the anvil on day 3? [[Filters]]"))
    asked = session.history[-4]
    prompt = prompt_history.restore_prompt(app.store.prompts.sent_for(asked.id)[0], session.history)
    there = {id_ for m in prompt.messages for id_ in m.source_ids if m.kind != "recalled"}
    above = [m.id for m in session.history[:-4]]
    assert {d.id for d in prompt.dropped if not d.id.startswith("tool:")} == {
        id_ for id_ in above if id_ not in there
    }
    assert {d.reason.partition(";")[0] for d in prompt.dropped if d.id in above} <= {
        "no room",
        "in the summary",
    }
    assert any("quoted because it is relevant to the message" in d.reason for d in prompt.dropped)
    assert [d.relative_path for d in prompt.documents] == [asked.references[0].relative_path]


def test_a_past_prompt_keeps_its_undone_summary(app: AppFixture) -> None:
    session = resume(
        app,
        exchanges(("One?", "1."), ("Two?", "2."), ("Three?", "3.")),
        model=DeltaModel([reply("So.")]),
    )
    session = compact_session(
        session, make_compaction("They counted to two.", session.history[3].id)
    )
    report_of(session.send("And?"))
    session.stored_state().undo_compaction()
    prompt = whole(session, 4, app)
    assert "They counted to two." in prompt.messages[1].content
    assert [(d.id, d.reason) for d in prompt.dropped] == [
        (m.id, "in the summary") for m in session.history[:4]
    ]


# two of them compared


def test_the_diff_says_why_a_message_was_dropped(app: AppFixture) -> None:
    session = resume(
        app, exchanges(("One?", "1."), ("Two?", "2.")), model=DeltaModel([reply("So.")])
    )
    report_of(session.send("Three?"))
    session = compact_session(session, make_compaction("They counted.", session.history[3].id))
    report_of(session.send("Four?"))
    a = whole(session, 3, app)
    b = whole(session, 4, app)
    found = prompt_history.diff_prompts(a, b)
    assert {why for _, why in found.removed} == {"in the summary"}
    turns = [
        prompt_history.restore_sent_prompts(session.history, n, app.store.prompts.sent_for)
        for n in (3, 4)
    ]
    assert (
        "\n- user · conversation · 6 tokens · Two? (in the summary)\n"
        in prompts.prompt_diff_text(*turns, found)
    )
    fewer = prompt_history.diff_prompts(a, b.model_copy(update={"tools": b.tools[1:]}))
    assert f"\n- tool {a.tools[0].name}" in prompts.prompt_diff_text(*turns, fewer)
    masked = a.messages[1].model_copy(update={"content": "shorter"})
    assert prompt_history.diff_prompts(
        a, a.model_copy(update={"messages": (a.messages[0], masked, *a.messages[2:])})
    ).removed == ((a.messages[1], "sent in another form"),)
    nameless = a.messages[0].model_copy(update={"content": "other", "source_ids": ()})
    assert prompt_history.diff_prompts(
        a.model_copy(update={"messages": (nameless,)}), a
    ).removed == ((nameless, ""),)


def test_a_turn_is_shown_call_by_call(app: AppFixture) -> None:
    session = app.session(searching_model())
    report_of(session.send("One of [[Filters]]?"))
    turn = prompt_history.restore_sent_prompts(session.history, 1, app.store.prompts.sent_for)
    assert '\nfind_excerpts({"query": "filters 1"})\n' in prompts.sent_prompts_text(turn)
    assert prompts.sent_prompts_text(turn).count("══ turn") == 2
    many = tuple(DroppedItem(id=f"m{n}", reason="no room") for n in range(30))
    long = turn.calls[0].prompt.model_copy(update={"dropped": many})
    asked = prompt_history.SentPrompts(1, (turn.calls[0].model_copy(update={"prompt": long}),))
    assert "not sent: 10 more; --json names them" in prompts.sent_prompts_text(asked)


# as a command


def test_context_show_of_a_past_turn(zkchat: Program, script: Callable[..., str]) -> None:
    model = script({"echo": True})
    first = zkchat("ask", "What are filters?", "--json", "--model", model).json
    sent = json.loads(first["answer"])
    zkchat("ask", "-c", "And queries?", "--model", model)
    shown = zkchat("context", "show", "--turn", 1, "--json").json
    assert (shown["conversation_id"], shown["turn"]) == (first["conversation_id"], 1)
    [call] = shown["calls"]
    assert [(m["role"], m["content"], m["kind"]) for m in call["prompt"]["messages"]] == [
        (m["role"], m["content"], m["kind"]) for m in sent["messages"]
    ]
    assert "What are filters?" in zkchat("context", "show", "--turn", 1).out
    changed = zkchat("context", "diff", 1, 2, "--json").json
    assert [m["content"] for m in changed["added"]][-1] == "And queries?" and changed["lost"] == []
    assert "+ user · conversation · " in zkchat("context", "diff", 1, 2).out
    for wrong, why in (
        (("show", "--turn", 3), "there is no turn 3"),
        (("show", "--turn", 1, "--next", "x"), "--turn and --next cannot be combined"),
        (("compact", "--undo", "--preview"), "--undo cannot be combined"),
        (("diff", 1, 9), "there is no turn 9"),
    ):
        refused = zkchat("context", *wrong)
        assert refused.exit_status == 2 and why in refused.err
