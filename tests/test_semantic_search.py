"""Search by meaning: finds synonyms, computes nothing twice, and falls back to words without its
model.
"""

import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Program, write_notes
from fake_embedders import EmbeddingServers, SynonymEmbedder
from notes_folder import NotesFolder
from slow_hour import LINKED, SHARE, embed_for_an_hour
from test_doctor import checks
from turn_killer import start

from zkchat_cli.config.schema import Config
from zkchat_cli.errors import ProviderError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models.notes import SemanticModelStatus, SemanticStatus
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.vault.index.sqlite.vector_store import PAGE_SIZE, SqliteVectorStore
from zkchat_cli.vault.search.semantic import (
    CHUNKS_OF_CLAIM,
    RETRY_SECONDS,
    SemanticSearch,
)
from zkchat_cli.vault.search.vector_math import SignTable, pack_signs
from zkchat_cli.vault.search.waiting_time import PAUSE_SECONDS
from zkchat_cli.vault.vault import Vault
from zkchat_cli.views.text import describe_semantic_status

NOTES = {
    "Garage.md": "# Garage\n\nThe automobile needs oil twice a year.\n",
    "Health.md": "# Health\n\nThe surgeon said to rest for a week.\n",
    "Harbour.md": "# Harbour\n\nA vessel came in at night.\n",
    "Words.md": "# Words\n\nThe word oil has three letters.\n",
}
DOWN = ProviderError("connection", "no connection to the model", "Start it.")


class Notes(NotesFolder):
    """A vault that is searched by meaning, as a user handles it."""

    def __init__(self, folder: Path, embedder: SynonymEmbedder) -> None:
        super().__init__(
            folder, embedder, **{name.removesuffix(".md"): text for name, text in NOTES.items()}
        )
        self.embedder = embedder

    def many(self, count: int) -> None:
        for number in range(count):
            self.write(f"Note {number}.md", f"This is number {number}.\n")

    @property
    def status(self) -> SemanticStatus:
        found = self.vault.status().semantic
        assert found
        return found

    def warned(self) -> list[str]:
        return [warning.message for warning in self.vault.take_warnings()]

    @property
    def vectors(self) -> Path:
        return self.vault.index_file.with_suffix(".vectors.db")


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    made = Notes(tmp_path, SynonymEmbedder())
    made.vault.refresh()
    made.vault.embed()
    yield made
    made.vault.close()


# what is found


def test_without_an_embedder_a_synonym_finds_nothing(notes: Notes) -> None:
    with_words = Vault.open(notes.root, notes.cache)
    assert with_words.search("car") == []
    assert with_words.status().semantic is None
    assert with_words.similarities("car", ["automobile"]) is None
    with_words.embed()
    assert with_words.take_warnings() == []
    with_words.close()


def test_results_have_both_scores(notes: Notes) -> None:
    garage, *_ = notes.vault.search("car oil")
    assert garage.relative_path == "Garage.md"
    assert garage.score_words
    assert garage.score_meaning
    [car] = notes.vault.search("car")
    assert (car.score_words, car.score_meaning) == (None, pytest.approx(1, abs=0.02))
    [phrase] = notes.vault.search('"oil twice"')
    assert phrase.score_words
    assert phrase.score_meaning is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('car "has three letters"', ["Words.md"]),
        ("car -oil", []),
        ("car path:Garage", ["Garage.md"]),
        ("car path:Health", []),
        ("car tag:ships", ["Fleet/Harbour.md"]),
    ],
)
def test_phrases_and_exclusions_go_by_words_and_filters_hold(
    notes: Notes, query: str, found: list[str]
) -> None:
    notes.write("Fleet/Harbour.md", "#ships\n\nA vehicle on the water.\n")
    notes.vault.refresh()
    notes.vault.embed()
    assert notes.found(query) == found


def test_a_question_about_nothing_in_the_notes_finds_nothing(notes: Notes) -> None:
    assert notes.found("happy") == []


def test_similarities_are_cosines(notes: Notes) -> None:
    same, other = notes.vault.similarities("car", ["automobile", "a long way to the doctor"]) or ()
    assert same == pytest.approx(1)
    assert abs(other) < 0.1


def test_a_broken_link_suggests_notes_about_its_words(notes: Notes) -> None:
    assert (
        notes.vault.resolve("[[Vehicle]]").candidates
        == notes.vault.resolve("[[on:vehicle]]").candidates
        == ("Garage.md",)
    )
    near, far, named = notes.vault.resolve_links(
        "[[Physician]], [[Nothing of this kind]] and [[Harbor]]"
    )
    assert (near.candidates, far.candidates, named.candidates) == (
        ("Health.md",),
        (),
        ("Harbour.md",),
    )
    assert notes.vault.resolve("[[Heal car]]").candidates == ("Garage.md",)
    notes.write("Plan.md", "[[Physician]], [[Harbor]], [[physician.png]] and [[2024-05-03]]\n")
    notes.vault.refresh()
    assert [link.candidates for link in notes.vault.graph.broken_links()] == [
        ("Health.md",),
        ("Harbour.md",),
        (),
        (),
    ]


def test_a_note_found_by_meaning_says_so(notes: Notes) -> None:
    [note] = notes.vault.graph.notes_about("physician")
    assert (note.chunk.relative_path, note.why) == ("Health.md", ("means something similar",))


def test_memory_search_finds_other_words(notes: Notes, tmp_path: Path) -> None:
    store = ChatSessionStore.open(tmp_path / "store.db")
    memory = Memory(
        notes.vault, store, Config(), lambda: "2026-01-01T00:00:00+00:00", about=lambda _path: None
    )
    memory.remember("My car is blue.")
    memory.remember("I like rain.")
    [found] = memory.rank("automobile", compute=True)
    assert (found.content, found.reason) == ("My car is blue.", "means something similar")
    assert memory.rank("automobile", compute=True) == (found,)
    store.close()


def test_languages_that_the_model_does_not_know_stay_with_words(tmp_path: Path) -> None:
    english = SynonymEmbedder(languages=("english",))
    notes = Notes(tmp_path, english)
    notes.write("Auto.md", "Das Auto braucht zweimal im Jahr Öl, und der Motor ist nicht neu.\n")
    notes.write("Zettel.md", "Luhmann gab jedem Auto eine feste Nummer.\n")
    notes.write("车.md", "汽车每年需要加两次机油。\n")
    notes.write("Was ich von dem und der nicht mehr habe.md", "It needs oil.\n")
    notes.vault.refresh()
    notes.vault.embed()
    assert notes.status.complete
    assert not [text for text in english.documents if "Auto" in text or "车" in text]
    assert [text for text in english.documents if text.endswith("\nIt needs oil.")]
    assert notes.found("Motor")[0] == "Auto.md"
    assert notes.vault.similarities("car", ["Das Auto braucht Öl.", "Es ist nicht neu."]) is None
    assert notes.found("机油") == ["车.md"]
    assert notes.vault.similarities("机油", ["oil"]) is None
    notes.vault.close()


def test_notes_in_another_language_compete_by_words_with_those_that_have_vectors(
    tmp_path: Path,
) -> None:
    notes = Notes(tmp_path, SynonymEmbedder(languages=("english",)))
    notes.write("Oficina.md", "O automobile da minha irmã foi para a oficina no mês de maio.\n")
    notes.write("Motor.md", "O motor do automobile não liga, e a oficina fica longe.\n")
    notes.write("Peças.md", "As peças que a oficina não tem para o automobile.\n")
    notes.vault.refresh()
    notes.vault.embed()
    found = notes.found("qual oficina para o automobile da irmã?")
    assert found[0] == "Oficina.md"
    assert found.index("Garage.md") > found.index("Motor.md")
    notes.vault.close()


# what is computed


def test_a_search_computes_vectors_only_of_what_its_words_find(notes: Notes) -> None:
    notes.write("Ship.md", "A vessel of three letters.\n")
    notes.many(3)
    notes.vault.refresh()
    before = len(notes.embedder.documents)
    assert notes.found("boat letters")[0] == "Ship.md"
    assert notes.embedder.documents[before:] == ["Ship\nA vessel of three letters."]


def test_a_question_waits_a_second_for_vectors(notes: Notes) -> None:
    notes.many(60)
    notes.vault.refresh()
    present = [100.0]
    embedder = SynonymEmbedder(fails=lambda: present.append(present.pop() + 0.1))
    semantic = SemanticSearch(
        embedder, SqliteVectorStore(notes.vectors, embedder), notes.vault._index, lambda: present[0]
    )
    keys = notes.vault._index.ask(lambda index: [*index.chunks.keys()])
    assert [semantic.compute_first("car", keys), semantic.compute_first("boat", keys)] == [
        True,
        False,
    ]
    assert 20 < len(embedder.documents) < 60
    present[0] += PAUSE_SECONDS
    assert semantic.compute_first("another question", keys)
    semantic.close()


class TimedBatch:
    """A batch of searches for a number each, with a model that takes a tenth of a second."""

    def __init__(self, notes: Notes) -> None:
        self.present = 100.0
        self.embedder = SynonymEmbedder(id=notes.embedder.id, fails=self.take_time)
        store = SqliteVectorStore(notes.vectors, self.embedder)
        self.semantic = SemanticSearch(
            self.embedder, store, notes.vault._index, lambda: self.present
        )
        self.keys = notes.vault._index.ask(lambda index: [*index.chunks.keys()])

    def take_time(self) -> None:
        self.present += 0.1

    def search(self, count: int) -> list[bool]:
        """Whether each search went by meaning."""
        self.semantic.begin_batch()
        went = []
        for number in range(count):
            went.append(self.semantic.match(f"number {number}") is not None)
            self.semantic.compute_first(f"number {number}", self.keys)
            # The next line arrives later
            self.present += 2 * PAUSE_SECONDS
        self.semantic.close()
        return went

    @property
    def calls(self) -> int:
        return len(self.embedder.calls)


def test_a_batch_waits_for_vectors_once_and_then_goes_by_words(tmp_path: Path) -> None:
    notes = Notes(tmp_path, SynonymEmbedder())
    notes.many(60)
    notes.vault.refresh()
    batch = TimedBatch(notes)
    assert not any(batch.search(30))
    assert 4 <= batch.calls <= 7
    notes.vault.close()


def test_a_batch_uses_the_vectors_that_are_there(notes: Notes) -> None:
    notes.many(60)
    notes.vault.refresh()
    batch = TimedBatch(notes)
    assert all(batch.search(30))
    documents = [texts for purpose, texts in batch.embedder.calls if purpose == "document"]
    assert len(documents) <= 7
    notes.vault.close()


def test_a_recovered_model_is_used_and_a_new_failure_reported(notes: Notes) -> None:
    notes.many(1)
    notes.vault.refresh()
    notes.embedder.fails = lambda: DOWN
    notes.vault.embed()
    notes.embedder.fails = lambda: None
    notes.vault.embed()
    assert notes.found("car")[0] == "Garage.md"
    notes.embedder.fails = lambda: ProviderError("auth", "the key is refused", "Set another.")
    notes.found("automobile")
    assert [warning.rpartition(": ")[2] for warning in notes.warned()] == [
        "no connection to the model",
        "the key is refused",
    ]


def test_embedding_works_in_batches_and_reports_progress(tmp_path: Path) -> None:
    notes = Notes(tmp_path, SynonymEmbedder())
    notes.many(CHUNKS_OF_CLAIM)
    notes.vault.refresh()
    seen: list[tuple[int, int]] = []
    notes.vault.embed(lambda done, total: seen.append((done, total)))
    assert seen == [(0, 12), (CHUNKS_OF_CLAIM, 12), (12, 12)]
    assert [len(texts) for _, texts in notes.embedder.calls] == [4] * 3
    assert notes.status == SemanticStatus(
        provider="meaning",
        model="1",
        windows=12,
        embedded=12,
        complete=True,
        models=(
            SemanticModelStatus(
                provider="meaning",
                model="1",
                languages=None,
                windows=12,
                embedded=12,
                share=1.0,
                complete=True,
            ),
        ),
    )
    notes.vault.close()


def test_an_hour_of_a_slow_laptop_embeds_the_newest_and_most_linked_notes_and_the_next_run_the_rest(
    tmp_path: Path,
) -> None:
    # `python tests/slow_hour.py` does it with 100,000
    hour = embed_for_an_hour(tmp_path, 1_000)
    assert len(hour.embedded) == 1_000 * SHARE
    assert hour.embedded >= {LINKED, *(f"Note {number}.md" for number in range(401, 1_000))}
    assert hour.found == ("Note 1.md", LINKED)
    assert "60% done: zkchat vault index --semantic computes the rest" in describe_semantic_status(
        hour.after
    )
    assert ", 99% done: " in describe_semantic_status(
        hour.after.model_copy(update={"windows": 1000, "embedded": 999})
    )
    assert hour.next_run.complete
    assert hour.most_often == 1


def test_only_the_changed_chunks_of_a_changed_note_are_computed(notes: Notes) -> None:
    parts = [f"# Part {n}\n\n{f'Sentence {n}. ' * 60}" for n in range(4)]
    notes.write("Long.md", "\n\n".join(parts))
    notes.vault.refresh()
    notes.vault.embed()
    before = len(notes.embedder.documents)
    parts[2] = parts[2].replace("Sentence", "Automobile")
    notes.write("Long.md", "\n\n".join(parts))
    notes.vault.refresh()
    assert not notes.status.complete
    notes.vault.embed()
    assert all(
        text.startswith("Long › Part 2\nPart 2 Automobile") or "Automobile" in text
        for text in notes.embedder.documents[before:]
    )
    assert "Long.md" in notes.found("car")


def test_a_moved_note_and_a_rebuilt_index_compute_nothing(notes: Notes) -> None:
    before = len(notes.embedder.calls)
    (notes.root / "Sub").mkdir()
    (notes.root / "Garage.md").rename(notes.root / "Sub" / "Garage.md")
    notes.vault.refresh()
    assert notes.status.complete
    notes.vault.refresh(full=True)
    assert notes.status.complete
    notes.vault.index_file.unlink()
    notes.vault.refresh()
    notes.vault.embed()
    assert len(notes.embedder.calls) == before
    assert notes.found("car")[0] == "Sub/Garage.md"


def test_the_next_embedding_deletes_unused_vectors(notes: Notes) -> None:
    (notes.root / "Garage.md").unlink()
    notes.vault.refresh()
    notes.vault.embed()
    store = SqliteVectorStore(notes.vectors, notes.embedder)
    assert store.count_windows() == 3
    store.close()
    assert "Garage.md" not in notes.found("car")


def test_a_file_that_is_deleted_while_it_is_open_is_made_again(notes: Notes) -> None:
    notes.vectors.unlink()
    notes.vault.embed()
    assert notes.status.complete
    assert notes.vectors.exists()


def test_the_file_is_for_its_user_alone(notes: Notes) -> None:
    assert stat.S_IMODE(notes.vectors.stat().st_mode) == 0o600


# interruptions


def test_a_note_that_changes_while_vectors_are_computed_is_not_mixed_up(tmp_path: Path) -> None:
    notes = Notes(tmp_path, SynonymEmbedder())
    notes.many(2 * CHUNKS_OF_CLAIM)
    notes.vault.refresh()

    def change(done: int, _total: int) -> None:
        if done == CHUNKS_OF_CLAIM:
            notes.write("Words.md", "# Words\n\nA joyful letter.\n")
            notes.vault.refresh()

    notes.vault.embed(change)
    assert notes.status.complete
    assert notes.found("happy")[0] == "Words.md"
    assert len(notes.embedder.documents) <= 2 * CHUNKS_OF_CLAIM + 5
    notes.vault.close()


def test_two_processes_never_compute_the_same(notes: Notes) -> None:
    other = SynonymEmbedder()
    notes.many(CHUNKS_OF_CLAIM)
    notes.vault.refresh()
    stops = iter((False, False, True))
    elsewhere = SqliteVectorStore(notes.vectors, other)
    mine = SemanticSearch(other, SqliteVectorStore(notes.vectors, other), notes.vault._index)
    with elsewhere.claim(missing_keys(notes)) as missing:
        assert missing
        for key in missing[:5]:
            elsewhere.add(key, [np.eye(64, dtype=np.float32)[0]])
        assert not mine.compute_missing(stopped=lambda: next(stops))
        assert other.documents == []
    assert mine.compute_missing()
    assert len(other.documents) == CHUNKS_OF_CLAIM - 5
    mine.close()
    elsewhere.close()


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_vectors_grow_in_the_background_while_the_user_is_not_busy(notes: Notes) -> None:
    busy = [True]
    looks = [0]

    def is_busy() -> bool:
        looks[0] += 1
        return busy[0]

    notes.many(3)
    notes.vault.refresh()
    notes.vault.embed_in_background(is_busy)
    wait_until(lambda: looks[0] > 2)
    assert not notes.status.complete
    busy[0] = False
    wait_until(lambda: notes.status.complete)
    notes.write("New.md", "A joyful day.\n")
    notes.vault.refresh()
    wait_until(lambda: notes.status.complete)
    assert notes.found("happy") == ["New.md"]
    notes.vault.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "embedding"]


def missing_keys(notes: Notes) -> list[bytes]:
    every = notes.vault._index.ask(lambda index: index.chunks.keys())
    store = SqliteVectorStore(notes.vectors, notes.embedder)
    found = store.missing_keys(every)
    store.close()
    return found


def test_a_table_that_one_thread_searches_stays_as_it_is_while_another_adds_windows() -> None:
    vector = np.ones(64, np.float32)
    searched = SignTable.empty(64).extend([(1, pack_signs([vector]))])
    assert searched.extend([(2, pack_signs([vector, -vector]))]).nearest(vector, 9) == [1, 2]
    assert searched.nearest(vector, 9) == [1]


@pytest.mark.parametrize("windows", [1, 3, 6, 14])
def test_a_window_takes_at_most_half_a_kilobyte(tmp_path: Path, windows: int) -> None:
    store = SqliteVectorStore(tmp_path / "vectors.db", SynonymEmbedder())
    count = 1200 // windows
    vectors = list(np.random.default_rng(1).normal(size=(windows, 384)).astype(np.float32))
    with store.claim(range(count)):
        for key in range(count):
            store.add(int(2**63 * np.sin(key)), vectors)
    store.close()
    # The tables begin with empty pages
    assert store.file.stat().st_size <= 512 * windows * count + 8 * PAGE_SIZE


# the model is not there


def test_a_failed_model_is_not_retried_at_once(notes: Notes) -> None:
    present = [0.0]
    embedder = SynonymEmbedder(fails=lambda: DOWN)
    semantic = SemanticSearch(
        embedder, SqliteVectorStore(notes.vectors, embedder), notes.vault._index, lambda: present[0]
    )
    for moment, asked in ((0, 1), (1, 1), (RETRY_SECONDS - 1, 1), (RETRY_SECONDS + 1, 2)):
        present[0] = moment
        assert semantic.match("car") is None
        assert embedder.asked == asked
    assert len(semantic.take_warnings()) == 1
    semantic.close()


# another model


def test_vectors_of_two_models_are_never_mixed(notes: Notes) -> None:
    other = SynonymEmbedder(id="meaning/2", places=32)
    vault = Vault.open(notes.root, notes.cache, embedder=other)
    assert vault.search("car") == []
    vault.embed()
    assert len(other.documents) == 4
    assert vault.search("car")[0].relative_path == "Garage.md"
    vault.close()
    assert notes.found("car") == []
    notes.vault.embed()
    assert notes.found("car")[0] == "Garage.md"


def test_another_model_of_the_same_name_is_noticed_and_computes_all_again(notes: Notes) -> None:
    notes.embedder.places = 32
    assert notes.found("oil")
    assert notes.warned() == [
        "no search by meaning, only by words: the stored vectors have 64 dimensions, this "
        "model's have 32"
    ]
    notes.vault.embed()
    assert notes.status.complete
    assert notes.found("car")[0] == "Garage.md"


# answers that no model should give


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0, 2.0]] * 3,
        7,
        None,
        [[]] * 4,
        [[1.0], [1.0, 2.0]] * 2,
        [["a"]] * 4,
        [[10**400]] * 4,
        [[None]] * 4,
    ],
)
def test_an_invalid_answer_is_refused(notes: Notes, answer: Any) -> None:
    vault = Vault.open(
        notes.root,
        notes.cache,
        embedder=SynonymEmbedder(id="meaning/2", twist=lambda _purpose, _rows: answer),
    )
    vault.embed()
    [warning] = vault.take_warnings()
    assert "answered without a vector for each of 4 texts" in warning.message
    assert warning.hint
    assert vault.status().semantic.embedded == 0  # type: ignore[union-attr]
    vault.close()


# the file of vectors


@pytest.mark.parametrize(
    "damage", [b"no database at all", b"", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_file_is_replaced(notes: Notes, damage: bytes) -> None:
    notes.vault.close()
    notes.vectors.write_bytes(damage)
    assert notes.found("oil")
    assert notes.status.embedded == 2, "those that were found"
    notes.vault.embed()
    assert notes.status.complete
    assert notes.found("car")[0] == "Garage.md"
    assert notes.warned() == []


def test_an_unwritable_file_is_a_warning(notes: Notes) -> None:
    notes.vault.close()
    notes.vectors.unlink()
    notes.vectors.mkdir()
    assert notes.found("oil")
    assert "cannot be written" in notes.warned()[0]
    assert notes.status.embedded == 0


def test_a_full_disk_is_a_warning_and_words_go_on(
    tmp_path: Path, embedding_servers: EmbeddingServers
) -> None:
    notes = write_notes(
        tmp_path / "notes",
        {f"Note {n}.md": f"This is number {n}, about a vessel.\n" for n in range(100)},
    )
    program = Program(
        notes, tmp_path / "home", {**embedding_servers.env, "ZKCHAT_SEMANTIC__PROVIDER": "ollama"}
    )
    program("vault", "index")
    size = max(file.stat().st_size for file in (tmp_path / "home").rglob("*") if file.is_file())
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size},) * 2)"
    )
    (tmp_path / "limit").mkdir()
    (tmp_path / "limit" / "sitecustomize.py").write_text(limit)
    program.env["PYTHONPATH"] = str(tmp_path / "limit")
    # Vectors of 7,680 numbers fill the disk sooner
    embedding_servers.twist = lambda rows: [row * 40 for row in rows]
    indexed = program("vault", "index", "--semantic", "--json")
    assert (indexed.exit_status, indexed.json["semantic"]["complete"]) == (0, False)
    [warning] = indexed.err.splitlines()
    assert "no search by meaning, only by words" in warning
    assert "cannot be written" in warning
    assert len(program("vault", "search", "vessel", "--json").json) == 10
    del program.env["PYTHONPATH"]
    assert program("vault", "index", "--semantic", "--json").json["semantic"]["complete"]


# the whole program, against a real server


@pytest.fixture
def program(tmp_path: Path, embedding_servers: EmbeddingServers) -> Program:
    return Program(
        write_notes(tmp_path / "notes", NOTES),
        tmp_path / "home",
        {
            **embedding_servers.env,
            "ZKCHAT_SEMANTIC__PROVIDER": "ollama",
            # For the second model see test_other_languages.py
            "ZKCHAT_SEMANTIC__MULTILINGUAL": "false",
        },
    )


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_the_program_finds_by_meaning(
    program: Program, embedding_servers: EmbeddingServers, provider: str
) -> None:
    program.env["ZKCHAT_SEMANTIC__PROVIDER"] = provider
    indexed = program("vault", "index", "--semantic", "--json")
    model = "nomic-embed-text" if provider == "ollama" else "text-embedding-3-small"
    semantic = indexed.json["semantic"]
    assert (semantic["provider"], semantic["model"]) == (provider, model)
    assert (semantic["windows"], semantic["embedded"], semantic["complete"]) == (4, 4, True)
    assert indexed.err == ""
    assert program("vault", "search", "car", "--json").json[0]["relative_path"] == "Garage.md"
    assert f"search by meaning: {provider}/{model}, complete" in program("vault", "status").out
    assert len(embedding_servers.texts) == 5


def test_a_missing_server_is_one_warning_per_run(
    program: Program, embedding_servers: EmbeddingServers
) -> None:
    program("vault", "index", "--semantic")
    program.env["OLLAMA_HOST"] = "127.0.0.1:1"
    done = program("vault", "search", "-", "--json", stdin="oil\ncar\nvessel\n")
    assert done.exit_status == 0
    assert [len(line["results"]) for line in done.lines] == [2, 0, 1]
    [warning] = done.err.splitlines()
    assert "cannot be reached: Connection refused" in warning
    assert "ollama serve" in warning
    write_notes(program.vault, {"New.md": "Something new."})
    indexed = program("vault", "index", "--semantic", "--json")
    assert (
        indexed.exit_status,
        indexed.json["semantic"]["complete"],
        len(indexed.err.splitlines()),
    ) == (0, False, 1)


def test_doctor_tries_the_embedder(program: Program) -> None:
    check = lambda: checks(program)[1]["semantic"]  # noqa: E731
    assert check()["detail"] == "ollama/nomic-embed-text, 0% done; 64 dimensions"
    program("vault", "index", "--semantic")
    assert check()["detail"] == "ollama/nomic-embed-text, complete; 64 dimensions"
    program.env["OLLAMA_HOST"] = "127.0.0.1:1"
    failed = check()
    assert (failed["ok"], failed["code"], "ollama serve" in failed["next_step"]) == (
        False,
        "provider",
        True,
    )
    program.env["ZKCHAT_SEMANTIC__PROVIDER"] = "none"
    assert check()["detail"].startswith("off: search by words only")


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_continues_where_it_stopped(
    program: Program, embedding_servers: EmbeddingServers, signal_: int
) -> None:
    write_notes(program.vault, {f"Note {n}.md": f"This is number {n}.\n" for n in range(124)})
    embedding_servers.before = lambda: time.sleep(0.1)
    run = start(program, "vault", "index", "--semantic")
    while len(embedding_servers.requests) < 3:
        assert not run.ended()
        time.sleep(0.01)
    os.kill(run.pid, signal_)
    run.end()
    embedding_servers.before = lambda: None
    # What it had just asked for is still being answered
    time.sleep(0.4)
    kept = program("vault", "status", "--json").json["semantic"]["embedded"]
    assert 2 * CHUNKS_OF_CLAIM <= kept < 128
    sent = len(embedding_servers.texts)
    assert program("vault", "index", "--semantic", "--json").json["semantic"]["complete"]
    assert len(embedding_servers.texts) - sent == 128 - kept
