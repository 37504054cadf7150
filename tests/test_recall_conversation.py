"""recall_conversation: everything that was ever said can be found again, in this conversation and
in earlier ones.
"""

import json
from pathlib import Path
from typing import Any

from factories import (
    NOON,
    AppFixture,
    DeltaModel,
    exchanges,
    find_call,
    make_compaction,
    message,
    reply,
    report_of,
    resume,
    store_conversation,
    tool_reply,
)

from zkchat_cli import tools
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.memory.conversation_search import (
    MAX_EXCERPT,
    citations_to_links,
    cut_around_query,
)
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect
from zkchat_cli.store.sqlite.message_search import MOST_RANKED

TOOLS = tuple(tools.load_tools())


def found_texts(store: ChatSessionStore, text: str, **more: Any) -> list[str]:
    return [each.message.id for each in store.search("/notes", text, **more)]


# the store


def test_the_message_that_has_the_rarest_words_comes_first(store: ChatSessionStore) -> None:
    store_conversation(
        store,
        "c1",
        message("user", "The roof leaks.", "a"),
        message("assistant", "The roof is of slate from Wales.", "b"),
        title="Talk",
    )
    store_conversation(
        store,
        "c2",
        message("user", "Slate roof, slate tiles.", "c"),
        message("user", "Nothing of that.", "d"),
    )
    assert found_texts(store, "which slate?") == ["c", "b"]
    assert found_texts(store, "roof", conversation_id="c1") == ["a", "b"]
    assert found_texts(store, "roof", limit=1) == ["a"]
    [first, *_] = store.search("/notes", "Wales")
    assert (first.conversation_id, first.title) == ("c1", "Talk")


def test_words_are_found_without_case_and_accents_and_chinese_ones_too(
    store: ChatSessionStore,
) -> None:
    store_conversation(
        store,
        "c1",
        message("user", "L'Équipe est à Köln.", "a"),
        message("user", "项目的截止日期是五月一日", "b"),
        message("user", "a\0b nul", "c"),
    )
    assert found_texts(store, "equipe koln") == ["a"]
    assert found_texts(store, "截止日期") == ["b"]
    assert found_texts(store, "nul") == ["c"]


def test_words_are_found_in_their_other_forms(store: ChatSessionStore) -> None:
    store_conversation(
        store,
        "c1",
        message("user", "We studied two roofs.", "a"),
        message("user", "Er ist in den Ordnern.", "b"),
    )
    store_conversation(store, "c2", message("user", "The student is roofless in a studio.", "c"))
    assert found_texts(store, "study") == ["a"]
    assert found_texts(store, "the roof") == ["a"]
    assert found_texts(store, "Ordner") == []
    assert found_texts(store, "Ordner", languages=("english", "german")) == ["b"]


def test_search_covers_tool_results_other_branches_and_the_question_of_a_killed_process(
    store: ChatSessionStore,
) -> None:
    store_conversation(
        store,
        "c1",
        message("user", "What of slate?", "q"),
        message("tool", "slate from Wales", "t", parent_id="q", tool_call_id="1"),
    )
    store.move_head("c1", "q")
    store.add("c1", message("user", "slate, pending", "p", parent_id="q", status="pending"))
    assert set(found_texts(store, "slate")) == {"q", "t", "p"}


def test_new_messages_are_found_by_the_next_search(store: ChatSessionStore) -> None:
    store_conversation(store, "c1", message("user", "slate", "a"))
    assert found_texts(store, "slate") == ["a"]
    store.add("c1", message("assistant", "slate and more slate", "b", parent_id="a"))
    assert set(found_texts(store, "slate")) == {"a", "b"}


def test_two_processes_index_each_message_once(store: ChatSessionStore, tmp_path: Path) -> None:
    store_conversation(store, "c1", *(message("user", f"slate {i}", f"m{i}") for i in range(50)))
    other = ChatSessionStore.open(tmp_path / "store.db")
    assert (
        len(found_texts(other, "slate", limit=100))
        == len(found_texts(store, "slate", limit=100))
        == 50
    )
    other.close()


def test_rare_words_choose_the_messages(store: ChatSessionStore, tmp_path: Path) -> None:
    store_conversation(store, "c1", message("user", "a wales of slate", "first"))
    database = connect(tmp_path / "store.db")
    texts = ("slate roof tile", "slate tile")
    values = (
        {"id": f"m{n}", "content": texts[n % 2], "at": NOON} for n in range(2 * MOST_RANKED + 10)
    )
    columns = "(id, conversation_id, role, content, status, timestamp, rest, checksum)"
    row = (
        ":id, 'c1', 'user', :content, 'complete', :at, '{}', checksum(NULL, :id, NULL, 'user', "
        ":content, :at, '{}')"
    )
    database.execute("BEGIN")
    database.executemany(f"INSERT INTO message {columns} VALUES ({row})", values)
    database.execute("COMMIT")
    database.close()
    store_conversation(
        store,
        "c2",
        message("user", "wales and nothing else", "second"),
        message("user", "slate, tile and roof", "third"),
    )
    assert set(found_texts(store, "wales slate tile")) == {"first", "second"}
    assert found_texts(store, "slate tile wales", conversation_id="c2") == ["second"]
    assert found_texts(store, "slate tile", conversation_id="c2") == ["third"], (
        "all words are common: a message must have each"
    )
    assert found_texts(store, "slate", limit=0) == []


# as the model gets it


def test_long_messages_are_cut_to_the_relevant_part() -> None:
    assert cut_around_query("Short.", "short") == "Short."
    text = (
        " ".join(f"Sentence {i} is about thing {i}." for i in range(200))
        + " The slate comes from Wales. "
        + "More of it. " * 100
    )
    part = cut_around_query(text, "where does slate come from?")
    assert "slate comes from Wales" in part
    assert part.startswith("…") and part.endswith("…")
    assert len(part) <= MAX_EXCERPT + 1
    assert cut_around_query("slate " + "x" * 5000, "slate") == "slate…"
    assert cut_around_query("word " * 500 + "slate", "slate").endswith("slate")
    german = "Das ist nicht das Ende und das ist gut. " * 40
    assert "Häuser" in cut_around_query(
        f"{german}Die Häuser sind verkauft. {german}", "welches Haus?"
    )


def citation(number: int, path: str | None = "Queries/Filters.md", **more: object) -> Citation:
    return Citation.model_validate({"number": number, "relative_path": path, "valid": True, **more})


def test_answers_of_other_conversations_have_links_instead_of_numbers() -> None:
    answer = message(
        "assistant",
        "In capitals [1], [2] says. But [7] is not there, `[1]` is code.",
        "a",
        citations=(citation(1), citation(2, "B.md")),
    )
    assert (
        citations_to_links(answer)
        == "In capitals [[Queries/Filters]], [[B]] says. But [7] is not there, `[1]` is code."
    )
    both = message(
        "assistant",
        "Both [1, 2].",
        "b",
        citations=(citation(1), citation(2, "B.md"), citation(3, None)),
    )
    assert citations_to_links(both) == "Both [[Queries/Filters]] [[B]]."


# the tool


def recall_result(app: AppFixture, query: str, session: Any = None, **more: Any) -> dict[str, Any]:
    call = ToolCall(id="r", name="recall_conversation", arguments={"query": query, **more})
    session = session or app.session()
    model = DeltaModel([tool_reply(call), reply("So.")])
    session = (
        app.reopen(session, model, tools=TOOLS)
        if session.history
        else app.session(model, tools=TOOLS)
    )
    report_of(session.send("What did we say?"))
    return dict(json.loads([m for m in session.history if m.role == "tool"][-1].content))


def test_recall_finds_folded_messages(app: AppFixture) -> None:
    session = resume(
        app,
        exchanges(
            *(
                (f"I put thing {i} on shelf {i * 7}.", f"Noted: shelf {i * 7}.")
                for i in range(1, 40)
            )
        ),
    )
    app.store.compact(session.conversation.id, make_compaction("They spoke of shelves.", "t39-a"))
    result = recall_result(app, "thing 23", session)
    assert result["said"][0]["said"] == "I put thing 23 on shelf 161."
    assert result["said"][0]["conversation"] == "this one"
    assert len(result["said"]) == 5


def test_recall_finds_earlier_conversations_by_title_and_not_its_own_question(
    app: AppFixture,
) -> None:
    assert "said" not in recall_result(app, "what did we say")
    report_of(
        app.session(
            DeltaModel([tool_reply(find_call("compost heap")), reply("It needs air [1].")])
        ).send("What does compost need?")
    )
    first = next(
        entry for entry in recall_result(app, "compost air")["said"] if entry["who"] == "assistant"
    )
    assert first["conversation"] == "What does compost need?"
    assert first["said"] == "It needs air [[Garden/Compost]]."
    assert first["notes"] == ["[[Garden/Compost]]"]


def test_with_memory_off_only_this_conversation_is_searched(app: AppFixture) -> None:
    report_of(app.session(DeltaModel([reply("Slate.")])).send("What of the roof?"))
    app.settings = Config.model_validate({"context": {"memory_integration": False}})
    assert "said" not in recall_result(app, "roof slate")
    here = resume(app, exchanges(("My roof is red", "So it is.")))
    assert [entry["said"] for entry in recall_result(app, "roof", here)["said"]] == [
        "My roof is red"
    ]


def test_recall_results_fit_into_the_room(app: AppFixture) -> None:
    session = resume(
        app,
        exchanges(*((f"slate {i} " + "and more of it " * 60, "ok") for i in range(30))),
        max_context=4000,
    )
    app.max_context = 4000
    # The model's first reply is to be its call
    app.settings = Config(context=ContextSettings(auto_summarize=False))
    result = recall_result(app, "slate", session, limit=20)
    assert 0 < len(result["said"]) < 20
    assert "Left out" in result["note"]
