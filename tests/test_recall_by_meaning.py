"""Recall by meaning: earlier passages and facts are found by other words than theirs; their vectors
are computed once and go with them.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write_notes
from factories import COUNTER, AppFixture, exchanges, open_store
from fake_embedders import SynonymEmbedder

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.chat.message_vectors import BATCH, MessageEmbedder, MessageVectors
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.recall import RecallIndex, no_cosines
from zkchat_cli.errors import ProviderError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.vault.vault import Vault

CHATTER = [
    (f"Here is the plan of day {i}, is it good?", f"The plan of day {i} is good. " * 12)
    for i in range(9)
]
TALK = [
    ("The bridge of this colour is the old one.", "Fine."),
    ("My automobile is the blue one.", "Fine."),
    *CHATTER,
]
QUESTION = "What colour is the one vehicle, the car?"


class Talks:
    """Conversations about one vault, which is searched by meaning."""

    def __init__(self, folder: Path, embedder: SynonymEmbedder) -> None:
        self.embedder = embedder
        vault = Vault.open(
            write_notes(folder / "notes", {"Note.md": "# Note\n"}),
            folder / "cache",
            embedder=embedder,
        )
        vault.refresh()
        self.file = folder / "store.db"
        self.app = AppFixture(vault, open_store(self.file), max_context=1200)

    def store(self, *pairs: tuple[str, str], id_: str = "talk") -> Conversation:
        vault = str(self.app.vault.root)
        messages = exchanges(*pairs, prefix=id_)
        conversation = Conversation(
            id=id_, vault=vault, created_at="", updated_at="", head_id=messages[-1].id
        )
        self.app.store.restore([ConversationArchive(conversation=conversation, messages=messages)])
        return conversation

    def open(self, conversation: Conversation) -> ZkChatSession:
        return self.app.session(conversation=conversation, semantic=self.app.vault.semantic)

    def recalled(self, session: ZkChatSession, question: str = QUESTION) -> str:
        return next(
            (
                m.content
                for m in session.prompt(question).messages
                if "recalled-conversation" in m.content
            ),
            "",
        )

    def grow(self, stop_after: int = 1000) -> bool:
        assert self.app.vault.semantic
        checks = iter(range(stop_after))
        with closing(
            MessageEmbedder(self.app.store, str(self.app.vault.root), self.app.vault.semantic)
        ) as embedder:
            return embedder.compute_missing(lambda: next(checks, None) is None)

    def vectors(self, table: str = "message_vector") -> int:
        with closing(sqlite3.connect(self.file)) as db:
            return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path, SynonymEmbedder())
    yield made
    made.app.store.close()
    made.app.vault.close()


def test_a_passage_in_other_words_is_recalled_before_those_with_more_of_the_words(
    talks: Talks,
) -> None:
    conversation = talks.store(*TALK)
    talks.grow()
    app = talks.app
    assert app.vault.semantic is not None
    turns = talks.open(conversation).state.turns(COUNTER).turns
    vectors = MessageVectors(app.store, app.vault.semantic, conversation.id, FaultGuard())
    for cosines, best in ((vectors.cosines, "automobile"), (no_cosines, "bridge")):
        index = RecallIndex(cosines)
        index.update(turns)
        first, *_ = index.search(QUESTION, len(turns))
        assert best in index.passages[first].text


def test_vectors_are_computed_once_and_read_by_the_next_session(talks: Talks) -> None:
    conversation = talks.store(*TALK)
    assert talks.grow()
    computed = len(talks.embedder.documents)
    assert computed == talks.vectors() == 2 * len(TALK)
    assert "automobile" in talks.recalled(talks.open(conversation))
    assert talks.grow()
    assert len(talks.embedder.documents) == computed


def test_a_question_does_not_wait_for_missing_passages(talks: Talks) -> None:
    session = talks.open(talks.store(*TALK, *CHATTER))
    talks.recalled(session)
    assert talks.embedder.documents == []
    assert talks.grow()
    # The background has computed them
    assert "automobile" in talks.recalled(session, QUESTION + "!")


def test_the_newest_messages_are_embedded_first_and_an_interrupted_run_continues(
    talks: Talks,
) -> None:
    talks.store(("An old question.", "An old answer."), id_="old")
    talks.store(*CHATTER, id_="new")
    assert not talks.grow(stop_after=1)
    assert talks.vectors() == BATCH
    assert not any("old" in text for text in talks.embedder.documents)
    assert talks.grow()
    assert talks.vectors() == 2 * len(CHATTER) + 2


def test_vectors_are_deleted_with_their_conversation(talks: Talks) -> None:
    conversation = talks.store(*TALK)
    talks.grow()
    talks.app.store.delete(conversation.id)
    assert talks.vectors() == 0


def test_another_model_computes_its_own_vectors(talks: Talks) -> None:
    conversation = talks.store(*TALK)
    talks.grow()
    talks.embedder.id = "meaning/2"
    talks.embedder.places = 32
    talks.grow()
    assert "automobile" in talks.recalled(talks.open(conversation))
    assert talks.vectors() == 2 * len(TALK)


def test_without_its_model_recall_goes_by_words_and_says_so_once(talks: Talks) -> None:
    talks.embedder.fails = lambda: ProviderError(
        "not_installed", "no model file", "Install zkchat again."
    )
    session = talks.open(talks.store(*TALK))
    assert "bridge" in talks.recalled(session, "the bridge")
    assert not talks.grow()
    assert [w.message for w in talks.app.vault.take_warnings()] == [
        "no search by meaning, only by words: no model file"
    ]


def test_messages_in_a_language_that_the_model_does_not_know_are_found_by_words(
    talks: Talks,
) -> None:
    talks.embedder.languages = ("english",)
    session = talks.open(
        talks.store(("Die Brücke ist alt und das Haus ist nicht alt.", "Fine."), *CHATTER)
    )
    talks.grow()
    assert "Brücke" in talks.recalled(session, "Brücke")
    assert not any("Brücke" in text for text in talks.embedder.documents)


def test_a_fact_in_other_words_goes_into_the_prompt_once_it_has_a_vector(talks: Talks) -> None:
    session = talks.open(talks.store(*TALK))
    for text in (
        "My automobile is blue.",
        "The roof is red.",
        "Das ist nicht der Wagen und nicht die Garage.",
    ):
        session.memory.remember(text)
    assert "automobile is blue" not in str(session.prompt("Which vehicle do I own?").messages)
    talks.embedder.languages = ("english",)
    assert talks.grow()
    assert talks.vectors("fact_vector") == 3
    computed = talks.embedder.asked
    texts = str(session.prompt("Which vehicle do I drive?").messages)
    assert "automobile is blue" in texts
    assert "roof is red" not in texts
    # The question, for recall and for facts
    assert talks.embedder.asked == computed + 1
    [found] = session.memory.rank("vehicle")
    assert found.reason == "means something similar"


def test_vectors_of_facts_go_with_the_fact_and_with_the_model(talks: Talks) -> None:
    memory = talks.open(talks.store(*TALK)).memory
    memory.remember("My automobile is blue.", key="car")
    memory.remember("The ship is old.", key="ship")
    talks.grow()
    memory.remember("My automobile is red now.", key="car")
    assert talks.vectors("fact_vector") == 1
    memory.forget("ship")
    assert talks.vectors("fact_vector") == 0
    talks.grow()
    talks.embedder.id = "meaning/2"
    assert memory.rank("vehicle") == ()
    talks.grow()
    assert [each.content for each in memory.rank("vehicle")] == ["My automobile is red now."]
    assert talks.vectors("fact_vector") == 1
