"""Search by words, resolved links and suggested names."""

import math
import os
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write_notes
from factories import open_vault
from hypothesis import given
from hypothesis import strategies as st
from notes_folder import NotesFolder

from zkchat_cli.text.words import terms
from zkchat_cli.vault.links.wikilinks import write_link
from zkchat_cli.vault.search import lexical
from zkchat_cli.vault.search.note_search import MOST_CHUNKS_OF_A_NOTE
from zkchat_cli.vault.search.query import parse_query
from zkchat_cli.vault.vault import Vault

NOTES = {
    "Filters.md": (
        "---\naliases: [Sieves]\ntags: [query]\n---\n# Filters\n\nA filter keeps tasks that "
        "match.\n\n## Boolean operators\n\n"
    )
    + "Filters are joined by AND, OR and NOT, in capitals. " * 20
    + "\n",
    "Queries/Custom Filters.md": (
        "# Custom filters\nWrite a function. See [[Filters|ordinary sieving]] and "
        "[guide](../Guide.md).\n"
    ),
    "Guide.md": "A guide to everything, with café and naïve ideas.\n",
    "中文/交换机.md": "# 交换机\n消息队列中的交换机负责把消息路由到队列。\n",
    "中文/书评.md": "这是一本书\n",
    "Many.md": "\n\n".join(f"## Part {n}\n\nzebra " + "stripe " * 100 for n in range(8)),
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = write_notes(tmp_path_factory.mktemp("vault"), NOTES)
    (folder / "figure.png").write_bytes(b"\x89PNG")
    with closing(open_vault(folder, tmp_path_factory.mktemp("cache"))) as opened:
        yield opened


def paths(chunks) -> list[str]:
    return list(dict.fromkeys(chunk.relative_path for chunk in chunks))


@pytest.mark.parametrize("query", ["本", "书", "由", "由 nothing"])
def test_a_single_chinese_character_is_found_anywhere(vault, query):
    found = vault.search(query)
    assert {c.relative_path for c in found} == {
        p for p, text in NOTES.items() if query[0] in p + text
    }
    shown = [vault.snippet(chunk, query)[1].text for chunk in found]
    assert any(query[0] in text for text in shown)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("filters", "Filters.md"),
        ("how do I join filters with or?", "Filters.md"),
        ("boolean operators", "Filters.md"),
        ("sieves", "Filters.md"),
        ("ordinary sieving", "Filters.md"),
        ("custom filters", "Queries/Custom Filters.md"),
        ("消息队列", "中文/交换机.md"),
        ("书", "中文/书评.md"),
    ],
)
def test_a_query_finds_the_note_first(vault, query, best):
    assert paths(vault.search(query))[0] == best


def test_results_have_few_chunks_of_one_note(vault):
    assert len(vault.search("zebra", 10)) == MOST_CHUNKS_OF_A_NOTE


def test_a_phrase_must_occur(vault):
    assert paths(vault.search('"write a function"')) == ["Queries/Custom Filters.md"]
    assert paths(vault.search('"write a function" filters')) == ["Queries/Custom Filters.md"]
    assert paths(vault.search('"消息路由"')) == ["中文/交换机.md"]


def test_a_phrase_without_matches_is_searched_as_words(vault):
    assert "Queries/Custom Filters.md" in paths(vault.search('"function a write"'))


@pytest.mark.parametrize(
    "query",
    [
        "",
        '"',
        "*",
        "NEAR(",
        "AND",
        "a AND OR NOT",
        '" * ^ NEAR ( AND',
        "{title} : x",
        "-",
        "x'y",
        "\0",
        "\ud800",
    ],
)
def test_query_text_is_never_an_operator(vault, query):
    # Words of a note; as operators they would find nothing
    assert bool(vault.search(query)) == (query in ("AND", "a AND OR NOT"))


def test_links_of_a_message_are_resolved_from_the_root(vault):
    found = vault.resolve_links(
        "see [[Filters#Boolean operators|these]] and ![[figure.png]]\nand [[Filtrs]] and "
        "[g](Guide.md) and [x](x.html)"
    )
    assert [(r.raw, r.target, r.status, r.line) for r in found] == [
        ("[[Filters#Boolean operators|these]]", "Filters.md", "found", 1),
        ("![[figure.png]]", "figure.png", "found", 1),
        ("[[Filtrs]]", None, "broken", 2),
        ("[g](Guide.md)", "Guide.md", "found", 2),
    ]
    assert (found[0].heading, found[0].alias, found[0].text) == (
        "Boolean operators",
        "these",
        "Filters",
    )
    assert found[2].candidates[0] == "Filters.md"


def test_every_file_is_linked_by_the_shortest_name_that_leads_to_it(tmp_path: Path):
    notes = [
        "a.md",
        "folder/a.md",
        "deep/er/a.md",
        "deep/b.md",
        "deep/c.md",
        "c.markdown",
        "x#y.md",
        "docs/params.md",
        "b.canvas",
    ]
    write_notes(tmp_path / "v", {path: f"---\ntitle: params of {path}\n---\n" for path in notes})
    opened = Vault.open(tmp_path / "v", tmp_path)
    names = {path: opened.link_name(path) for path in notes}
    links = {path: write_link(path, name) for path, name in names.items()}
    assert names["deep/er/a.md"] == "er/a"
    assert (names["deep/b.md"], names["b.canvas"], names["docs/params.md"]) == (
        "b",
        "b.canvas",
        "params",
    )
    assert {path: opened.resolve_links(link)[0].target for path, link in links.items()} == {
        path: path for path in notes
    }
    assert opened.link_name("gone/x.md") == "gone/x"
    opened.close()


def test_a_title_in_front_matter_resolves_last_and_is_marked(tmp_path: Path):
    titled = {"docs/params.md": "Parameters", "b.md": "Sieve", "c.md": "params", "d.md": "x"}
    write_notes(
        tmp_path / "v", {path: f"---\ntitle: {title}\n---\n" for path, title in titled.items()}
    )
    write_notes(tmp_path / "v", {"e.md": "---\naliases: sieve\n---\n[[parameters]]"})
    opened = Vault.open(tmp_path / "v", tmp_path)
    found = [opened.resolve(name) for name in ("parameters", "sieve", "params")]
    assert [(link.target, link.via) for link in found] == [
        ("docs/params.md", "title"),
        ("e.md", "alias"),
        ("docs/params.md", None),
    ]
    assert [link.source for link in opened.graph.backlinks("docs/params.md")] == ["e.md"]
    (tmp_path / "v/docs/params.md").write_text("No title.")
    opened.refresh()
    assert opened.resolve("parameters").status == "broken"
    opened.close()


class Library:
    """`library(**notes)` is a vault of these notes; its `search` answers with their names, best
    first, each once.
    """

    def __init__(self, folder: Path) -> None:
        self.notes = NotesFolder(folder)

    def __call__(self, *files: dict[str, str], **notes: str) -> "Library":
        for path, text in {
            **{f"{name}.md": text for name, text in notes.items()},
            **dict(*files),
        }.items():
            self.notes.write(path, text)
        self.notes.vault.refresh()
        return self

    def search(self, query: str, limit: int = 10) -> list[str]:
        return [path.removesuffix(".md") for path in paths(self.notes.vault.search(query, limit))]


@pytest.fixture
def library(tmp_path):
    made = Library(tmp_path)
    yield made
    made.notes.vault.close()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Ripe 🍅 and beans", "🍅"),
        ("Ripe 🍅 and beans", "ripe 🍅"),
        ("- [x] Call Ola ✅", "✅"),
        ("I ❤️ it", "❤"),
        ("Good 👍🏽", "👍"),
        ("She codes 👩‍💻", "💻"),
        ("Trip 🇳🇴", "🇳🇴"),
        ("Step 1️⃣ first", "1️⃣"),
    ],
)
def test_an_emoji_is_a_word(library, text, query):
    library(a=text, b="Beans, norway 🥕 🇸🇪 🇴🇳 ❌ and step 1")
    assert library.search(query)[0] == "a"
    library({"🍅 Sauce.md": "Cook it."})
    assert library.search("🍅 sauce")[0] == "🍅 Sauce"


@pytest.mark.parametrize(
    ("query", "text", "others"),
    [
        ("state-of-the-art", "A state-of-the-art oven.", ["State of the art", "Art of the state"]),
        ("state-of-the-art models", "Models: a state-of-the-art one.", ["Art models of a state"]),
        ("to-do", "A to-do app, with a long text. " + "It has words. " * 60, ["Do to", "What to"]),
        ("e-mail", "Write an e-mail.", ["Mail", "Mail e"]),
        ("max_open_files", "Set max_open_files.", ["Open files max", "Max files"]),
        ("input/output errors", "Read input/output errors.", ["Output input errors"]),
    ],
)
def test_the_note_with_a_joined_word_comes_first(library, query, text, others):
    library(Right=text, **dict.fromkeys(others, "It is short."))
    assert library.search(query)[0] == "Right"


FILLER = "Zebra crossings are painted with care, and a zebra has stripes. "


@pytest.mark.parametrize(
    "note",
    [
        {"Zebra.md": "Short."},
        {"Horse.md": "---\naliases: [Zebra]\n---\nShort."},
        {"Horse.md": "---\ntags: [zebra]\n---\nShort."},
        {"Horse.md": "# Zebra\nShort."},
    ],
    ids=["title", "alias", "tag", "heading"],
)
def test_a_note_with_the_name_of_the_query_comes_first(library, note):
    library({**note, "Roads.md": FILLER, "Walks.md": FILLER * 3, "Paint.md": "On zebra paint."})
    assert [f"{library.search('zebra')[0]}.md"] == list(note)


TAGGED = {
    "Plain.md": "tea",
    "Green.md": "---\ntags: [Drink/Tea/Green, leaf]\n---\ntea",
    "Tea.md": "tea #drink/tea",
    "Drinks.md": "tea #drinks",
    "Sub/Café.md": "tea #été",
    "Übersicht/Ziel.md": "tea",
    "Папка/x.md": "tea",
}


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    made = Library(tmp_path_factory.mktemp("tagged"))
    yield made(TAGGED)
    made.notes.vault.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tag:drink tea", {"Green", "Tea"}),
        ("tag:#Drink/ tea", {"Green", "Tea"}),
        ('tag:"drink/tea" tea', {"Green", "Tea"}),
        ("tag:drink/tea/green", {"Green"}),
        ("TAG:drink tag:leaf", {"Green"}),
        ("tag:Ete tea", {"Sub/Café"}),
        ("tag:none tea", set()),
        ("path:sub tea", {"Sub/Café"}),
        ("path:cafe", {"Sub/Café"}),
        ("path:/Sub/", {"Sub/Café"}),
        ("path:übersicht tea", {"Übersicht/Ziel"}),
        ("path:ПАПКА", {"Папка/x"}),
        ("path:% tea", set()),
        ("path:_ tea", set()),
        ("tag:drink path:tea", {"Tea"}),
        ("tag:drink -leaf", {"Tea"}),
        ("tag:drink -tag:leaf", {"Tea"}),
        ("tag:drink -tag:drink/tea/green tea", {"Tea"}),
        ("tag:drink -path:tea", {"Green"}),
        ("path:sub tea -path:CAFE", set()),
        ("-tag:drink", set()),
        ("tag:drink -tea", set()),
        ('tag:"drinks', {"Drinks"}),
        ('tag:"" path:sub', {"Sub/Café"}),
    ],
)
def test_tags_and_paths_filter(tagged, query, found):
    assert set(tagged.search(query)) == found


def test_filters_alone_list_the_newest_notes(library):
    library({f"{n:03}.md": "#all" for n in range(100)})
    for n in range(100):
        os.utime(library.notes.root / f"{n:03}.md", ns=(10**18 + n, 10**18 + n))
    library.notes.vault.refresh(full=True)
    assert library.search("tag:all", 3) == ["099", "098", "097"]
    assert len(library.search("tag:all", 1000)) == 100


def test_a_note_linked_from_an_outstanding_hit_rises(library):
    texts = {f"n{n}": "A zebra here, and something else there." for n in range(20)}
    library(Zebra="A zebra. See [[n17]].", **texts)
    assert library.search("zebra")[:2] == ["Zebra", "n17"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("naïve café", "naive cafe"),
        ("naive cafe", "NAÏVE CAFÉ"),
        ("cafe\u0301", "café"),
        ("Straße", "STRASSE"),
        ("in Łódź", "Lodz"),
        ("auf ÆRØ", "Aero"),
        ("Ørsted", "orsted"),
        ("Orsted", "Ørsted"),
        ("Đà Nẵng", "da nang"),
        ("Ħamrun", "hamrun"),
        ("Ísafjörður, Þór", "isafjordur thor"),
        ("l’œuvre", "oeuvre"),
        ("Diyarbakır, İzmir", "diyarbakir izmir"),
        ("Ґанок", "ганок"),
        ("Qurʾān", "quran"),
    ],
)
def test_diacritics_and_case_do_not_matter(library, text, query):
    library(a=text, b="nothing")
    assert library.search(query) == ["a"]


@pytest.fixture
def crowded(library, monkeypatch):
    """A library in which words of more than a few chunks are too many to be ranked."""
    monkeypatch.setattr(lexical, "MOST_RANKED", 5)
    monkeypatch.setattr(lexical, "MOST_NAMES_RANKED", 5)
    notes = {
        f"Note {n:02}.md": (
            f"Some common words, which every note has. {'Other' if n % 2 else 'Rare'} ones, too."
        )
        for n in range(40)
    }
    return library(
        {
            **notes,
            "Common sense.md": "About it.",
            "Both.md": "# Heading of a common kind\nThat other, rare thing.",
        }
    )


def test_common_words_find_the_note_with_that_name(crowded):
    assert crowded.search("common")[0] == "Common sense"
    assert crowded.search("common note")


def test_a_word_of_many_names_finds_the_newest(crowded):
    crowded({"The third note.md": "Short."})
    crowded({f"Note, the third {n:02}.md": "Short." for n in range(40)})
    assert len(crowded.search("note", 50)) > 10
    assert crowded.search('"third note"') == ["The third note"]


def test_the_matching_chunks_of_a_long_note_are_found(library):
    parts = "\n\n".join(f"## Part {n}\n\n" + f"filler{n} and more of it " * 40 for n in range(20))
    library(
        Handbook=parts + "\n\n## Care\n\nWater the fern on Mondays, and only then.", Fern="Green."
    )
    [best, *_] = library.notes.vault.search("handbook fern mondays")
    assert (best.relative_path, best.heading) == ("Handbook.md", "Care")
    assert library.notes.vault.search("handbook")[0].relative_path == "Handbook.md"


def test_a_comment_in_a_long_script_is_no_heading_of_a_result(library):
    library(
        Scripts="## Backup\n\n```sh\n"
        + "# copy a folder\ncp -r from to\n" * 100
        + "echo finished\n```\n\n### Restore\n\nAsk Anna.\n"
    )
    shown = [
        library.notes.vault.snippet(library.notes.vault.search(query)[0], query)[0]
        for query in ("finished", "Anna")
    ]
    assert shown == ["Backup", "Restore"]


def test_a_part_of_a_chunk_has_the_heading_above_it(library):
    library(Small="## A\nOne.\n## B\nTwo.\n")
    assert [chunk.heading for chunk in library.notes.vault.reader.chunks("Small.md", 4)] == ["B"]


WORDS = st.sampled_from(["red", "green", "blue", "tea", "don't", "café", "书评", "the", "of"])
LINES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
OPERATORS = st.one_of(
    LINES,
    LINES.map('"{}"'.format),
    LINES.map('-"{}"'.format),
    WORDS.map("-{}".format),
    st.sampled_from(["tag:x", "tag:x/y", "path:sub", "-", "tag:", '"', "AND", "NEAR(", "*", "^"]),
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Notes of the words above, in many an order."""
    notes = NotesFolder(tmp_path_factory.mktemp("shelf"))
    pool = ["red", "green", "blue", "tea", "don't", "café", "书评", "the", "of"]
    for n in range(60):
        text = " ".join(pool[(n * k + k * k) % 9] for k in range(1, 8))
        tag = ("", "#x", "#x/y")[n % 3]
        notes.write(
            f"{'sub/' if n % 2 else ''}{pool[n % 9]} {n}.md",
            f"{text} [[tea {n}|{pool[n % 7]} {pool[n % 5]}]] {tag}",
        )
    notes.vault.refresh()
    yield notes
    notes.vault.close()


@given(st.lists(OPERATORS, min_size=1, max_size=4).map(" ".join))
def test_results_match_the_query(workspace, query):
    asked = parse_query(query)
    found = workspace.vault.search(query, 20)
    scores = [chunk.score for chunk in found]
    assert all(score >= 0 and math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len({chunk.id for chunk in found}) == len(found) <= 20
    for chunk in found:
        said = " ".join(terms(f"{chunk.title} | {chunk.text}"))
        assert not any(
            f" {' '.join(phrase)} " in f" {said} " for phrase in asked.without if len(phrase) == 1
        )
        note = workspace.vault.reader.parse(chunk.relative_path)
        for operator, wanted in asked.filters:
            has_tag = any(f"{tag}/".startswith(f"{wanted}/") for tag in note.tags)
            assert (
                has_tag if operator.endswith("tag") else wanted in chunk.relative_path
            ) is not operator.startswith("-")
