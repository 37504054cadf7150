"""The notes that answers used most: asked of the store, and on the command line."""

from conftest import Program
from factories import NOON, message, store_conversation

from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

FILTERS = "Filters.md"


def reference(kind: str, path: str | None = FILTERS, **more: object) -> DocumentReference:
    return DocumentReference.model_validate(
        {"wikilink": "[[Filters]]", "relative_path": path, "reference_type": kind, **more}
    )


def citation(number: int, path: str | None = FILTERS, **more: object) -> Citation:
    return Citation.model_validate(
        {"number": number, "relative_path": path, "valid": True, "verdict": "verified", **more}
    )


def question(id_: str = "q1", parent: str | None = None, **more: object) -> ZkChatMessage:
    return message("user", f"What of {id_}?", id_, parent_id=parent, **more)


def answer(id_: str = "a1", parent: str | None = "q1", **more: object) -> ZkChatMessage:
    return message("assistant", "So it is.", id_, parent_id=parent, **more)


def used(store: ChatSessionStore, vault: str = "/notes") -> dict[str, tuple[int, int]]:
    """The answers that used each note, and their citations."""
    return {
        each.relative_path: (each.answers, each.citations)
        for each in store.facts.most_used_notes(vault, 9)
    }


def test_other_vaults_broken_links_and_speakers_do_not_count(store: ChatSessionStore) -> None:
    store_conversation(
        store,
        "c1",
        question(
            references=(
                reference("direct", None, status="broken"),
                reference("direct", "filters.md"),
            )
        ),
        message("system", "be brief", "s1", parent_id="q1", references=(reference("direct"),)),
        answer(citations=(citation(9, None, valid=False, verdict="missing"),)),
    )
    store_conversation(
        store,
        "c2",
        question("q2"),
        answer("a2", "q2", citations=(citation(1),)),
        vault="/elsewhere",
    )
    assert used(store) == {"filters.md": (0, 0)}
    assert used(store, "/elsewhere") == {FILTERS: (1, 1)}


def test_the_notes_of_a_question_are_updated_when_the_turn_ends(store: ChatSessionStore) -> None:
    asked = question(status="pending", references=(reference("direct"),))
    store_conversation(store, "c1", asked)
    store.commit(
        "c1",
        asked.model_copy(
            update={"status": "complete", "references": (reference("direct", "Other.md"),)}
        ),
        [answer(citations=(citation(1, "Third.md"),))],
        updated_at=NOON,
    )
    assert used(store) == {"Third.md": (1, 1), "Other.md": (0, 0)}


def test_the_notes_that_answers_used_most_are_listed(zkchat: Program) -> None:
    for question in (
        "How are filters joined?",
        "How are filters combined?",
        "When is compost ready?",
    ):
        zkchat("ask", question)
    top = zkchat("vault", "mentions", "--top", "--json").json
    assert top[0].keys() == {"relative_path", "conversations", "answers", "citations", "last_used"}
    assert [each["answers"] for each in top] == sorted(
        (each["answers"] for each in top), reverse=True
    )
    assert top[0]["answers"] >= 2
    (zkchat.vault / top[0]["relative_path"]).unlink()
    assert (
        f"{top[0]['relative_path']}  deleted since"
        in zkchat("vault", "mentions", "--top", "--limit", 1).out
    )
