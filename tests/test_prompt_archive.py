"""The prompts of past calls in an export: they come back unchanged, and a file that is wrong is
refused.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from factories import (
    NOON,
    AppFixture,
    CountingIds,
    DeltaModel,
    compact_session,
    find_call,
    make_compaction,
    reply,
    tool_reply,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from zkchat_cli import exporters, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.instructions import INSTRUCTIONS
from zkchat_cli.errors import ProviderError, UsageError
from zkchat_cli.events import TextDelta
from zkchat_cli.exporters import exporter
from zkchat_cli.importers import read_conversations
from zkchat_cli.llm.base import Request, StreamFailed
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.prompts import Prompt, SentPrompt
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

Document = dict[str, Any]


@pytest.fixture
def app(app: AppFixture) -> AppFixture:
    app.max_context = 1800
    return app


class Obedient(DeltaModel):
    """Calls a tool for "look", fails for "break", and gives long answers."""

    def stream(self, request: Request):  # type: ignore[no-untyped-def]
        self.requests.append(request)
        n = len(self.requests)
        last = request.messages[-1]
        if "break" in last.content:
            yield from [
                TextDelta("Half"),
                StreamFailed(ProviderError("cut", "it broke off", "Ask again.")),
            ]
        elif "look" in last.content and last.role == "user":
            yield from tool_reply(find_call(f"filters {n}", f"call-{n}"))
        else:
            yield from reply(f"So it is, {n}: " + "the anvil stands on a shelf. " * (n % 9))


def export(store: ChatSessionStore, id_: str) -> str:
    return exporter("json").export(store.archive(id_, prompts=True))


def read(text: str) -> ConversationArchive:
    [archive] = read_conversations(
        text.encode(), vault="/elsewhere", new_id=CountingIds("unused"), now=NOON
    )[1]
    return archive


def import_elsewhere(app: AppFixture, text: str) -> tuple[AppFixture, str]:
    """An app with only this conversation in its store, and the id."""
    other = replace(app, store=ChatSessionStore.open(None))
    other.store.restore([archive := read(text)])
    return other, archive.conversation.id


def sent_prompts(store: ChatSessionStore, id_: str) -> list[SentPrompt]:
    return [
        sent
        for message in store.log(id_)
        if message.role == "user"
        for sent in store.prompts.sent_for(message.id)
    ]


def ask_questions(app: AppFixture, *questions: str) -> ZkChatSession:
    session = app.session(Obedient([]))
    for question in questions:
        list(session.send(question))
    return session


LOOKS = tuple(f"Please look for the anvil of day {n}." for n in range(12))

STEPS = [
    "Where is the anvil?",
    "Please look for [[Filters]]",
    "look " * 90,
    "break",
    "/undo",
    "/undo 2",
    "/redo",
    "/retry",
    "/edit 1 And?",
]
STEPS += [
    "a note is edited",
    "/pin 1",
    "/unpin 1",
    "/compact",
    "/compact undo",
    "/strategy discard",
    "/strategy summarize",
    "/branches 1",
]
STEPS += ["another process"]
BRANCHES = [
    *LOOKS[:5],
    "/compact",
    "/pin 2",
    "And?",
    "/compact undo",
    "And now?",
    "/edit 3 Where?",
    "/undo",
    "another process",
    *LOOKS[5:],
]


@settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=3, max_size=14))
@example(steps=BRANCHES)
def test_the_prompts_of_any_conversation_come_back_unchanged(
    app: AppFixture, steps: list[str]
) -> None:
    check_round_trip(app, steps)


def check_round_trip(app: AppFixture, steps: list[str]) -> None:
    model = Obedient([])
    session = app.session(model)
    for number, step in enumerate(["Please look for the anvil.", *steps]):
        if step == "a note is edited":
            (app.vault.root / "Filters.md").write_text(
                f"# Filters\n\nThis line about filters is new: {number}.\n"
            )
            app.vault.refresh()
        if step == "another process":
            session = app.reopen(session, model)
            continue
        try:
            turn = slash.run(step, session).turn if step.startswith("/") else session.send(step)
            list(turn or ())
        except UsageError:
            # There is nothing to undo or to pin
            pass
    id_ = session.conversation.id
    strategy = session.runtime.strategy.name
    text = export(app.store, id_)
    kept = [sent.prompt.messages for sent in sent_prompts(app.store, id_)]
    assert kept == [
        tuple(message.as_stored() for message in request.messages)
        for request in model.requests
        if request.messages[0].content == INSTRUCTIONS
    ]
    other, same = import_elsewhere(app, text)
    assert export(other.store, same) == text
    assert sent_prompts(other.store, same) == sent_prompts(app.store, id_) != []
    excerpts = {
        (chunk.number, chunk.id, chunk.text)
        for message in app.store.log(id_)
        for chunk in message.chunks
    }
    assert (
        len({number for number, *_ in excerpts})
        == len(excerpts)
        == len({excerpt[1:] for excerpt in excerpts})
    )
    found, kept_too = (s.state.references for s in (app.reopen(session), session))
    assert [*map(found.chunk, found.numbers)] == [*map(kept_too.chunk, kept_too.numbers)]
    before, after = (
        r.session(conversation=r.store.conversation(id_), strategy=strategy) for r in (app, other)
    )
    assert before.prompt() == after.prompt()
    assert prompt_values(before.prompt("anvil?")) == prompt_values(after.prompt("anvil?"))
    assert other.store.restore([read(text)]) == [0]
    assert export(other.store, same) == text, "importing again changes nothing"
    other.store.close()


def prompt_values(prompt: Prompt) -> list[tuple[str, str, int]]:
    return [(m.role, m.content, m.tokens) for m in prompt.messages]


def test_an_export_of_an_older_version_has_a_request_that_is_ignored(app: AppFixture) -> None:
    text = export(app.store, ask_questions(app, "Where is the anvil?").conversation.id)
    older = json.loads(text)
    older["prompts"]["calls"][0]["request"] = {"model": "m", "messages": None}
    assert read(json.dumps(older)) == read(text)


def test_another_program_reads_what_each_call_was_sent(app: AppFixture) -> None:
    session = ask_questions(app, *LOOKS)
    session.compact()
    list(session.send("And the anvil of day 3?"))
    session.stored_state().undo_compaction()
    list(session.send("And of day 4?"))
    prompts = json.loads(export(app.store, session.conversation.id))["prompts"]
    sent = sent_prompts(app.store, session.conversation.id)
    contents = [
        [prompts["messages"][n]["content"] for n in call["messages"]] for call in prompts["calls"]
    ]
    assert contents == [[m.content for m in s.prompt.messages] for s in sent]
    assert [[prompts["tools"][n]["name"] for n in call["tools"]] for call in prompts["calls"]] == [
        [t.name for t in s.prompt.tools] for s in sent
    ]
    assert [call["question_id"] for call in prompts["calls"]] == [s.question_id for s in sent]
    assert {m.kind for s in sent for m in s.prompt.messages} >= {"summary", "tool_results"}


def test_other_formats_have_neither_prompts_nor_undone_summaries(app: AppFixture) -> None:
    session = ask_questions(app, *LOOKS[:3])
    session = compact_session(session, make_compaction("They looked.", session.history[-1].id))
    session.stored_state().undo_compaction()
    archive = read(export(app.store, session.conversation.id))
    assert [compaction.undone for compaction in archive.compactions] == [True]
    assert "They looked." not in exporter("md").export(archive) + exporter("html").export(archive)
    assert app.store.archive(session.conversation.id).prompts is None
    assert [name for name in exporters.names() if exporter(name).prompts] == ["json"]
    other, id_ = import_elsewhere(app, export(app.store, session.conversation.id))
    assert other.store.compactions(id_) == ()


EXPORTED = {
    "conversation": {"id", "vault", "title", "created_at", "updated_at", "head_id", "documents"},
    "message": {"id", "parent_id", "role", "content", "status", "timestamp", "rest", "packed"},
    "compaction": {"id", "created_at", "last_id", "undone", "packed"},
    "piece": {"body"},
    "prompt": {"question_seq", "body"},
}
NOT_EXPORTED = {
    "pending_cleanup": "deletions to finish",
    "calibration": "belongs to the model",
    "fact": "belongs to the vault",
    "mention": "derived from messages",
    "unindexed": "derived from messages",
    "index_words": "derived from messages",
    "message_index": "derived from messages",
    "message_vector": "derived from messages",
    "fact_vector": "derived from facts",
}
DERIVED = {
    "seq",
    "conversation_id",
    "conversation_seq",
    "messages",
    "tokens",
    "question",
    "hash",
    "checksum",
}


def test_everything_stored_of_a_conversation_is_in_its_export(app: AppFixture) -> None:
    """A new table or column is added here: it is exported, or there is a reason why not."""
    tables = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND "
        "name NOT LIKE 'message_index_%'"
    )
    assert {name for (name,) in app.store.connection.db.execute(tables)} == {
        *EXPORTED,
        *NOT_EXPORTED,
    }
    for table, exported in EXPORTED.items():
        columns = {
            name
            for (name,) in app.store.connection.db.execute(
                "SELECT name FROM pragma_table_info(?)", (table,)
            )
        }
        assert columns - DERIVED == exported


def set_value(*path: str | int, to: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        at: Any = document["prompts"]
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            set_value("messages", 1, "mood", to="good"),
            "prompts.messages[1].mood: this key is unknown",
        ),
        (
            set_value("calls", 0, "messages", to=[-1]),
            "prompts.calls[0].messages[0]: it must be greater",
        ),
        (
            set_value("calls", 0, "messages", to=[99]),
            "prompts.calls[0] has an index without an entry",
        ),
        (
            set_value("calls", 1, "tools", to=[0, 10**30]),
            "prompts.calls[1].tools[1]: it must be less",
        ),
    ],
)
def test_an_index_or_id_that_names_nothing_is_refused(
    app: AppFixture, change: Callable[[Document], None], message: str
) -> None:
    document: Document = json.loads(
        export(app.store, ask_questions(app, *LOOKS[:2]).conversation.id)
    )
    change(document)
    with pytest.raises(UsageError) as e:
        read(json.dumps(document))
    assert message in e.value.message and e.value.hint.endswith("Nothing was imported.")


def test_a_conversation_never_depends_on_another_one(app: AppFixture) -> None:
    """The ids in a file may be those of another conversation, which may be deleted."""
    other = ask_questions(app, *LOOKS[:2])
    other = compact_session(
        other, make_compaction("They looked.", other.history[-1].id, id="other")
    )
    document = json.loads(export(app.store, ask_questions(app, *LOOKS[:2]).conversation.id))
    document["prompts"]["messages"][0] |= {"source_ids": ["other"], "content": "They looked."}
    # Only long texts are stored by reference
    longest = max(other.history, key=lambda message: len(message.content))
    document["prompts"]["messages"][1] |= {"source_ids": [longest.id], "content": longest.content}
    document["compactions"] = [
        make_compaction(
            "Mine.", document["messages"][-1]["id"], masked=(other.history[2].id,)
        ).model_dump(mode="json")
    ]
    place, _ = import_elsewhere(app, export(app.store, other.conversation.id))
    place.store.restore([archive := read(json.dumps(document))])
    id_ = archive.conversation.id
    before = sent_prompts(place.store, id_), place.store.compactions(id_)
    place.store.delete(other.conversation.id)
    assert (sent_prompts(place.store, id_), place.store.compactions(id_)) == before
