"""The contract of an index: what every implementation of the ports in `vault/index/port.py` has to
do.

It runs against the one in SQLite and against the one in `memory_index.py`. A new implementation is
one more entry of `STORAGES` and of `VECTOR_STORES`.
"""

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import memory_index
import numpy as np
import pytest
from conftest import write_notes
from fake_embedders import SynonymEmbedder

from zkchat_cli.text.dates import Period
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index import indexer, port
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.sqlite import chunks, links, names, note_index, update, vocabulary
from zkchat_cli.vault.index.sqlite import words as sqlite_words
from zkchat_cli.vault.index.sqlite.storage import SqliteIndexStorage
from zkchat_cli.vault.index.sqlite.vector_store import SqliteVectorStore
from zkchat_cli.vault.index.values import ChunkText, LinkEdge, NoteFilter
from zkchat_cli.vault.index.vector_store import VectorStore
from zkchat_cli.vault.index.word_match import WordMatch
from zkchat_cli.vault.links.wikilinks import LinkName
from zkchat_cli.vault.vault import Vault

NOTES = {
    "Compost.md": (
        "---\naliases: [Heap]\ntags: [garden/soil]\n---\n# Compost\n\nGreen waste rots quickly, "
        "see [[Worms|helpers]].\n\n## Turning\n\nTurn the heap every second week.\n"
    ),
    "Worms.md": "---\ntitle: Red worms\ndate: 2024-05-02\n---\nThey eat green waste. [[Nowhere]]\n",
    "daily/2024-05-01.md": "Turned the heap, bought worms. [[Compost]] ![[leaf.png]]\n",
    "Kettle.md": "Nothing but hot water and green tea. #kitchen\n",
    "书评.md": "这本书很好看。\n",
    "leaf.png": "a picture",
}
STORAGES: dict[str, Callable[[Path], port.IndexStorage]] = {
    "SQLite": lambda folder: SqliteIndexStorage(folder / "index.db"),
    "memory": lambda _: memory_index.MemoryIndexStorage(),
}
VECTOR_STORES: dict[str, Callable[[Path], VectorStore]] = {
    "SQLite": lambda folder: SqliteVectorStore(folder / "vectors.db", SynonymEmbedder()),
    "memory": lambda _: memory_index.MemoryVectorStore(),
}
IMPLEMENTATIONS = {
    port.NameIndex: (names.SqliteNameIndex, memory_index.MemoryNames),
    port.LinkIndex: (links.SqliteLinkIndex, memory_index.MemoryLinks),
    port.WordIndex: (sqlite_words.SqliteWordIndex, memory_index.MemoryWords),
    port.ChunkIndex: (chunks.SqliteChunkIndex, memory_index.MemoryChunks),
    port.Vocabulary: (vocabulary.SqliteVocabulary, memory_index.MemoryVocabulary),
    port.NoteIndex: (note_index.SqliteNoteIndex, memory_index.MemoryNoteIndex),
    port.IndexUpdate: (update.SqliteIndexUpdate, memory_index.MemoryUpdate),
    port.IndexStorage: (SqliteIndexStorage, memory_index.MemoryIndexStorage),
    VectorStore: (SqliteVectorStore, memory_index.MemoryVectorStore),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture(params=STORAGES)
def manager(request: pytest.FixtureRequest, tmp_path: Path, root: Path) -> Iterator[IndexManager]:
    opened = IndexManager(root, STORAGES[request.param](tmp_path))
    opened.refresh()
    yield opened
    opened.close()


@pytest.fixture
def index(manager: IndexManager) -> port.NoteIndex:
    return manager.ask(lambda index: index)


@pytest.fixture(params=VECTOR_STORES)
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    opened = VECTOR_STORES[request.param](tmp_path)
    yield opened
    opened.close()


def words(*groups: str) -> WordMatch:
    """Of each group, one of the words that are separated by bars; `_` joins a phrase."""
    phrases = [[tuple(each.split("_")) for each in group.split("|")] for group in groups]
    return WordMatch(tuple(map(tuple, phrases)))


def paths(index: port.NoteIndex, ids: list[int]) -> list[str]:
    return [chunk.relative_path for chunk in index.chunks.read(ids)]


@pytest.mark.parametrize("protocol", IMPLEMENTATIONS, ids=lambda protocol: protocol.__name__)
def test_every_method_of_a_port_has_the_same_parameters_everywhere(protocol: type) -> None:
    methods = {
        name: method
        for name, method in vars(protocol).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    for implementation in IMPLEMENTATIONS[protocol]:
        for name, method in methods.items():
            wanted = list(inspect.signature(method).parameters)
            found = list(inspect.signature(getattr(implementation, name)).parameters)
            assert found == wanted, (implementation, name)


# languages


def test_a_short_text_has_the_language_of_its_note_its_folder_or_the_vault(
    manager: IndexManager, root: Path
) -> None:
    long = {
        "Horta.md": "# Horta\n\nO que fica na sombra não precisa de água.\n\n## Lista\n\nAlface.\n",
        "casa/Obra.md": "A parede da sala foi pintada e o teto não.\n",
        "work/Plan.md": "The plan for this year is to have it done.\n",
        "work/More.md": "What is not in the plan is not for this year.\n",
        "work/Rest.md": "This is for what is not in the plan.\n",
    }
    short = {"casa/Tinta.md": "Branca.\n", "work/Ink.md": "Blue.\n", "書.md": "这本书很好看。\n"}
    write_notes(root, long | short)
    manager.refresh()
    index = manager.ask(lambda index: index)
    languages = {each.text.strip(): each.language for each in _all_texts(index)}
    assert languages["Branca."] == "portuguese"
    assert languages["Blue."] == "english"
    assert languages["这本书很好看。"] == "chinese"
    of_list = [language for text, language in languages.items() if "Alface" in text]
    assert of_list == ["portuguese"]
    # Nothing but the vault tells
    assert languages["Nothing but hot water and green tea. #kitchen"] == "english"


def test_chunks_of_named_notes_come_first(manager: IndexManager) -> None:
    manager.refresh()
    index = manager.ask(lambda index: index)
    for path, title in (("Kettle.md", "Kettle"), ("Worms.md", "Red worms")):
        first, *_ = index.chunks.keys([path])
        assert [each.title for each in index.chunks.texts([first]).values()] == [title]
    assert sorted(index.chunks.keys(["Worms.md"])) == sorted(index.chunks.keys())


def _all_texts(index: port.NoteIndex) -> list[ChunkText]:
    return list(index.chunks.texts(index.chunks.keys()).values())


# names


def test_names_are_found_by_their_key(index: port.NoteIndex) -> None:
    assert index.names.with_key("heap") == [LinkName("Compost.md", "alias", "Heap")]
    assert index.names.with_key("red worms") == [LinkName("Worms.md", "title", "Red worms")]
    assert index.names.with_key("leaf.png") == [LinkName("leaf.png", "file", "leaf.png")]
    assert index.names.with_key("nowhere") == []
    assert index.names.has_file("leaf.png") and not index.names.has_file("Nowhere.md")


def test_names_are_found_by_their_character_pairs(index: port.NoteIndex) -> None:
    ids = index.names.with_pairs("mp po os", 10)
    assert [name.spelled for name in index.names.with_ids(ids)] == ["Compost"]
    assert index.names.with_pairs("le ea af", 10) == []
    assert [name.spelled for name in index.names.aliases_and_titles()] == ["Heap", "Red worms"]


# links


def test_links_have_their_targets_and_lines(index: port.NoteIndex) -> None:
    [link] = index.links.links_from("Compost.md")
    assert (link.target, link.raw, link.line) == ("Worms.md", "[[Worms|helpers]]", 7)
    assert link.context_snippet == "Green waste rots quickly, see [[Worms|helpers]]."
    assert [row.source for row in index.links.links_to("Compost.md")] == ["daily/2024-05-01.md"]
    assert index.links.links_between("Compost.md", "Worms.md") == [link]
    [broken] = index.links.broken_links()
    assert (broken.row.source, broken.text) == ("Worms.md", "Nowhere")


def test_edges_are_between_notes_in_either_direction(index: port.NoteIndex) -> None:
    out = LinkEdge("Compost.md", "Worms.md")
    back = LinkEdge("Compost.md", "daily/2024-05-01.md")
    assert index.links.edges(["Compost.md"], "out") == {out}
    assert index.links.edges(["Compost.md"], "in") == {back}
    assert index.links.edges(["Compost.md"], "both") == {out, back}
    assert index.links.edges(["Kettle.md"], "both") == set()
    assert index.links.notes_linking("Worms.md", ["nowhere"]) == ["Compost.md", "Worms.md"]


# words


def test_chunks_are_found_by_words_phrases_and_without_others(index: port.NoteIndex) -> None:
    found = index.words.find_chunks(words("green_waste"), 10)
    assert set(paths(index, found)) == {"Compost.md", "Worms.md"}
    assert index.words.count_chunks(words("green")) == 3
    assert index.words.count_chunks(words("green"), 2) == 2
    both = index.words.find_chunks(words("heap|tea", "turn|green"), 10)
    assert set(paths(index, both)) == {"Compost.md", "Kettle.md"}
    without = index.words.find_chunks(words("green"), 10, without=[("green", "tea")])
    assert set(paths(index, without)) == {"Compost.md", "Worms.md"}
    headings = WordMatch(words("turning").groups, only_headings=True)
    assert paths(index, index.words.find_chunks(headings, 1)) == ["Compost.md"]


def test_a_single_cjk_character_finds_the_words_that_begin_with_it(index: port.NoteIndex) -> None:
    assert paths(index, index.words.find_chunks(words("好"), 10)) == ["书评.md"]


def test_names_of_notes_are_found_by_words(index: port.NoteIndex) -> None:
    first = index.words.find_named(words("helpers"), 10, weights=(8.0, 6.0, 2.0, 2.0))
    [chunk] = paths(index, index.chunks.first_of_note(first[0], 1))
    assert (chunk, index.words.count_named(words("worms|heap"))) == ("Worms.md", 2)


def test_the_best_or_the_newest_come_first(index: port.NoteIndex) -> None:
    newest = index.words.find_chunks(words("heap"), 10)
    assert newest == sorted(newest, reverse=True)
    best = index.words.find_chunks(words("tea|hot|green"), 10, weights=(2.0, 1.0))
    assert paths(index, best)[0] == "Kettle.md"
    assert index.words.notes_with_chunk(words("tea"), 5, ranked=True) == ["Kettle.md"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NoteFilter(folder="daily"), {"daily/2024-05-01.md"}),
        (NoteFilter(tags=("garden",)), {"Compost.md"}),
        (NoteFilter(without_tags=("garden",), path_parts=("om",)), set()),
        (NoteFilter(path_parts=("o",), without_path_parts=("2024", "comp")), {"Worms.md"}),
        (
            NoteFilter(period=Period(date(2024, 5, 1), date(2024, 5, 2))),
            {"Worms.md", "daily/2024-05-01.md"},
        ),
    ],
)
def test_a_filter_allows_the_same_notes_everywhere(
    index: port.NoteIndex, wanted: NoteFilter, found: set[str]
) -> None:
    assert {note.path for note in index.list_notes(wanted)} == found
    newest = index.words.newest_chunks(10, allowed=wanted, by_date=True)
    assert set(paths(index, newest)) == found
    every = index.words.find_chunks(words("green|heap|worms|好"), 10)
    assert {chunk.note_id for chunk in index.chunks.candidates(every, wanted)} == {
        place.note_id for place in index.chunks.places(newest, [])
    }


def test_a_listed_note_has_its_latest_date_or_the_day_of_its_change(
    index: port.NoteIndex,
) -> None:
    days = {note.path: note.day for note in index.list_notes(NoteFilter())}
    assert days["daily/2024-05-01.md"] == "2024-05-01"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days.values())


def test_two_filters_of_one_snapshot_are_not_confused(index: port.NoteIndex) -> None:
    with index.snapshot():
        for folder, count in (("daily", 1), ("", 3), ("daily", 1), ("none", 0)):
            allowed = NoteFilter(folder=folder)
            found = index.words.find_chunks(words("heap|worms|eat"), 10, allowed=allowed)
            assert len({*paths(index, found)}) == count


def test_words_are_found_by_their_stems(index: port.NoteIndex) -> None:
    assert "english" in index.vocabulary.languages()
    found = index.vocabulary.with_stems("english", ["turn"])
    assert {count.term for count in found} == {"turn", "turned", "turning"}
    parts = index.vocabulary.with_part("english", "comp", 5)
    assert [(count.term, count.notes) for count in parts] == [("compost", 1)]


# changes


def test_an_update_takes_in_what_is_new_changed_and_gone(manager: IndexManager, root: Path) -> None:
    before = manager.ask(lambda index: index.stamp())
    (root / "Worms.md").unlink()
    (root / "Nowhere.md").write_text("Now it is here. [[Heap]]\n")
    (root / "Compost.md").write_text("# Compost\n\nNo links any more.\n")
    report = manager.refresh()
    assert (report.added, report.changed, report.removed, report.broken_links) == (1, 1, 1, 1)
    index = manager.ask(lambda index: index)
    assert index.stamp() != before
    assert index.links.links_to("Compost.md")[0].source == "daily/2024-05-01.md"
    assert index.words.count_chunks(words("helpers")) == 0
    assert index.files() == filesystem.scan(root, ())


def test_an_index_that_grew_answers_like_a_new_one(manager: IndexManager, root: Path) -> None:
    (root / "Worms.md").write_text("They were moved. [[Kettle|hot]]\n")
    manager.refresh()
    grown = manager.ask(contents)
    manager.refresh(full=True)
    assert manager.ask(contents) == grown


def contents(index: port.NoteIndex) -> list[object]:
    rows = [index.links.links_from(path) for path in index.note_paths()]
    counts = {count.term: count for count in index.vocabulary.with_part("english", "", 1000)}
    return [index.sizes(), index.problems(), index.tag_counts(), rows, counts]


def test_an_update_that_fails_leaves_everything_as_it_was(
    manager: IndexManager, root: Path
) -> None:
    index = manager.ask(lambda index: index)
    before = contents(index)

    def fail(done: int, _: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexer.refresh(index, root, filesystem.scan(root, ()), fail, anew=True)
    assert contents(index) == before


# whole vaults


def answers(notes: Vault) -> list[object]:
    """What a vault says, as JSON has it."""
    queries = (
        "green waste",
        "turning heaps",
        '"green tea"',
        "heap -week",
        "path:daily worms",
        "书",
    )
    return json.loads(
        json.dumps(
            [
                [[chunk.model_dump(mode="json") for chunk in notes.search(q)] for q in queries],
                [each.model_dump(mode="json") for each in notes.resolve_links("[[heap]] [[Wrms]]")],
                notes.graph.shortest_path("daily/2024-05-01.md", "Worms.md"),
                [note.chunk.relative_path for note in notes.graph.related_notes("Compost.md")],
                [*notes.notes_quoted("Turn the heap every second week")],
                notes.complete("wor"),
            ]
        )
    )


def test_vaults_answer_alike_whatever_their_index(root: Path, tmp_path: Path) -> None:
    said = []
    for name, storage in STORAGES.items():
        opened = Vault(root, IndexManager(root, storage(tmp_path)), tmp_path / name / "index.db")
        said.append(answers(opened))
        opened.close()
    assert said[0] == said[1]


def test_another_process_reads_what_was_indexed(root: Path, tmp_path: Path) -> None:
    opened = Vault.open(root, tmp_path / "cache")
    opened.refresh()
    here = answers(opened)
    opened.close()
    program = (
        "import json, sys; from pathlib import Path; from test_index_port import answers;"
        "from zkchat_cli.vault.vault import Vault;"
        "print(json.dumps(answers(Vault.open(Path(sys.argv[1]), Path(sys.argv[2])))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(root), str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    assert json.loads(done.stdout) == here


# vectors


def unit(*numbers: float) -> Any:
    vector = np.array([*numbers, *[0.0] * (64 - len(numbers))], np.float32)
    return vector / np.linalg.norm(vector)


def test_vectors_are_stored_once_and_compared(vectors: VectorStore) -> None:
    assert vectors.is_empty and vectors.missing_keys([7, 8, 7]) == [7, 8]
    assert (vectors.keys_without_vectors([7]), vectors.share_without_vectors) == ([], 0.0)
    with vectors.claim([7, 8, 9]) as missing:
        assert missing == [7, 8, 9]
        vectors.add(7, [unit(1, 0.1), unit(0, 1)])
        vectors.add(8, [unit(-1, 0.1)])
        vectors.add(9, [])
    assert not vectors.is_empty
    assert (vectors.count_windows(), vectors.missing_keys([9, 10])) == (3, [10])
    assert vectors.keys_without_vectors([10, 9, 7, 9]) == [9]
    assert vectors.share_without_vectors == pytest.approx(1 / 3)
    assert list(vectors.nearest(unit(1), 3)) == [7, 8]
    assert vectors.cosines(unit(0, 1), [7, 9]) == {7: pytest.approx(1, abs=0.01)}
    assert len(vectors.sample_cosines(unit(1))) == 2
    vectors.prune([8])
    assert vectors.missing_keys([7, 8]) == [7]
