"""Which conversations and answers used a note: asked of the store, and on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program
from factories import NOON, message, store_conversation

from zkchat_cli.models import Citation, DocumentReference, ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore

FILTERS = "Filters.md"


def reference(kind: str, path: str | None = FILTERS, **more: object) -> DocumentReference:
    return DocumentReference.model_validate({"wikilink": "[[Filters]]", "relative_path": path, "reference_type": kind, **more})


def citation(number: int, path: str | None = FILTERS, **more: object) -> Citation:
    return Citation.model_validate({"number": number, "relative_path": path, "valid": True, "verdict": "verified", **more})


def question(id_: str = "q1", parent: str | None = None, **more: object) -> ZkChatMessage:
    return message("user", f"What of {id_}?", id_, parent_id=parent, **more)


def answer(id_: str = "a1", parent: str | None = "q1", **more: object) -> ZkChatMessage:
    return message("assistant", "So it is.", id_, parent_id=parent, **more)


@pytest.mark.parametrize(("kind", "how"), [("direct", "named"), ("import", "import"), ("memory", "memory"), ("search", "found")])
def test_a_mention_says_how_the_note_was_used(store: ChatSessionStore, kind: str, how: str) -> None:
    store_conversation(store, "c1", question(), answer(references=(reference(kind),)))
    assert [mention.how for mention in store.mentions("/notes", FILTERS)] == [(how,)]


def test_two_answers_to_one_question_are_two_and_the_newest_is_first(store: ChatSessionStore) -> None:
    store_conversation(store, "c1", question(references=(reference("direct"),)), answer("a1", citations=(citation(1),)))
    store.add("c1", answer("a2", "q1", citations=(citation(2),), timestamp="2025-05-08T13:00:00+00:00"))
    store.add("c1", answer("a0", "q1", citations=(citation(3),), timestamp="2025-05-08T14:30:00+02:00"))
    mentions = store.mentions("/notes", FILTERS)
    assert [(mention.message_id, mention.how) for mention in mentions] == [
        ("a2", ("named", "cited")),
        ("a0", ("named", "cited")),
        ("a1", ("named", "cited")),
    ]


def test_other_notes_vaults_broken_links_and_speakers_do_not_count(store: ChatSessionStore) -> None:
    store_conversation(
        store,
        "c1",
        question(references=(reference("direct", None, status="broken"), reference("direct", "filters.md"))),
        message("system", "be brief", "s1", parent_id="q1", references=(reference("direct"),)),
        answer(citations=(citation(9, None, valid=False, verdict="missing"),)),
    )
    store_conversation(store, "c2", question("q2"), answer("a2", "q2", citations=(citation(1),)), vault="/elsewhere")
    assert store.mentions("/notes", FILTERS) == ()
    assert [mention.conversation_id for mention in store.mentions("/elsewhere", FILTERS)] == ["c2"]


def test_mentions_are_updated_when_the_turn_ends(store: ChatSessionStore) -> None:
    asked = question(status="pending", references=(reference("direct"),))
    store_conversation(store, "c1", asked)
    store.commit(
        "c1",
        asked.model_copy(update={"status": "complete", "references": (reference("direct", "Other.md"),)}),
        [answer(citations=(citation(1, "Third.md"),))],
        updated_at=NOON,
    )
    assert store.mentions("/notes", FILTERS) == ()
    assert [mention.how for mention in store.mentions("/notes", "Other.md")] == [("named",)]
    assert [mention.how for mention in store.mentions("/notes", "Third.md")] == [("cited",)]


# On the command line


def test_the_answers_that_used_a_note_are_listed_by_any_of_its_names(zkchat: Program, script: Callable[..., str]) -> None:
    find = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "joined AND OR"}}]}
    model = script(find, {"text": 'They "must be written in capitals" [1], or "so it is said" [1].'})
    asked = zkchat("ask", "How do I join filters? See [[Combining]].", "--model", model, "--json").json
    [mention] = zkchat("vault", "mentions", "Combining", "--json").json
    assert mention == {
        "conversation_id": asked["conversation_id"],
        "title": "How do I join filters? See [[Combining]].",
        "message_id": asked["message_id"],
        "timestamp": mention["timestamp"],
        "question": "How do I join filters? See [[Combining]].",
        "how": ["named", "cited"],
        "numbers": mention["numbers"],
        "citations": 2,
        "held": 1,
    }
    for name in ("[[Combining]]", "Queries/Combining.md", "combining"):
        assert zkchat("vault", "mentions", name, "--json").json == [mention]
    told = zkchat("vault", "mentions", "Combining").out
    assert told.startswith(f"{asked['conversation_id']}  How do I join filters? See [[Combining]].\n")
    assert "named by you, cited [1]" in told
    assert "1 of 2 citations verified" in told


def test_a_note_that_no_answer_used_says_so(zkchat: Program) -> None:
    done = zkchat("vault", "mentions", "Compost")
    assert (done.exit_status, done.out, done.err) == (0, "", "No answer has used this note.\n")
    assert zkchat("vault", "mentions", "Compost", "--json").json == []


def test_a_note_that_is_gone_is_found_by_the_path_it_had(zkchat: Program, script: Callable[..., str]) -> None:
    find = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "compost heap"}}]}
    zkchat("ask", "When is compost ready?", "--model", script(find, {"text": "After nine months [1]."}))
    (zkchat.vault / "Garden" / "Compost.md").unlink()
    assert [m["how"] for m in zkchat("vault", "mentions", "Garden/Compost.md", "--json").json] == [["found", "cited"]]


def test_a_hostile_title_cannot_act_in_the_terminal(zkchat: Program, tmp_path: Path) -> None:
    entry = {"wikilink": "[[Filters]]", "relative_path": "Filters.md", "reference_type": "direct"}
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": "user", "content": "a\x1b[2Jb \u202e", "references": [entry]}]))
    assert zkchat("context", "import", "--file", file).exit_status == 0
    out = zkchat("vault", "mentions", "Filters").out
    assert "␛[2J" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_the_notes_that_answers_used_most_are_listed(zkchat: Program) -> None:
    for question in ("How are filters joined?", "How are filters combined?", "When is compost ready?"):
        zkchat("ask", question)
    top = zkchat("vault", "mentions", "--top", "--json").json
    assert top[0].keys() == {"relative_path", "conversations", "answers", "citations", "last_used"}
    assert [each["answers"] for each in top] == sorted((each["answers"] for each in top), reverse=True)
    assert top[0]["answers"] >= 2
    (zkchat.vault / top[0]["relative_path"]).unlink()
    assert f"{top[0]['relative_path']}  deleted since" in zkchat("vault", "mentions", "--top", "--limit", 1).out
    assert zkchat("vault", "mentions").exit_status == 2
