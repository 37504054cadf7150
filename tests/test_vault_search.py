"""Search, links of a message and nearest names, as a chat asks for them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.vault import MOST_CHUNKS_OF_A_NOTE, Vault
from zkchat_cli.vault.search import MOST_WORDS, analyse, any_of

NOTES = {
    "Filters.md": "---\naliases: [Sieves]\ntags: [query]\n---\n# Filters\n\nA filter keeps tasks that match.\n\n## Boolean operators\n\n"
    + "Filters are joined by AND, OR and NOT, in capitals. " * 20
    + "\n",
    "Queries/Custom Filters.md": "# Custom filters\nWrite a function. See [[Filters|ordinary sieving]] and [guide](../Guide.md).\n",
    "Guide.md": "A guide to everything, with café and naïve ideas.\n",
    "中文/交换机.md": "# 交换机\n消息队列中的交换机负责把消息路由到队列。\n",
    "中文/书评.md": "这是一本书\n",
    "Many.md": "\n\n".join(f"## Part {n}\n\nzebra " + "stripe " * 100 for n in range(8)),
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vault")
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "figure.png").write_bytes(b"\x89PNG")
    opened = Vault.open(folder, tmp_path_factory.mktemp("cache"))
    opened.refresh()
    yield opened
    opened.close()


def paths(chunks) -> list[str]:
    return list(dict.fromkeys(chunk.relative_path for chunk in chunks))


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("filters", "Filters.md"),
        ("how do I join filters with or?", "Filters.md"),
        ("boolean operators", "Filters.md"),
        ("sieves", "Filters.md"),
        ("ordinary sieving", "Filters.md"),
        ("custom filters", "Queries/Custom Filters.md"),
        ("cafe naive", "Guide.md"),
        ("CAFÉ", "Guide.md"),
        ("消息队列", "中文/交换机.md"),
        ("书", "中文/书评.md"),
    ],
)
def test_a_query_finds_the_note_first(vault, query, best):
    assert paths(vault.search(query))[0] == best


def test_a_chunk_says_where_it_stands(vault):
    [best, *_] = vault.search("boolean operators capitals")
    assert (best.title, best.heading, best.start_line, best.end_line) == ("Filters", "Boolean operators", 9, 11)
    assert best.text.startswith("## Boolean operators\n\nFilters are joined")


def test_scores_fall_from_best_to_worst(vault):
    scores = [chunk.score for chunk in vault.search("filter function guide")]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)


def test_one_note_does_not_fill_the_results(vault):
    assert len(vault.search("zebra", 10)) == MOST_CHUNKS_OF_A_NOTE


def test_a_limit_is_kept(vault):
    assert len(vault.search("filter", 1)) == 1
    assert vault.search("filter", 0) == []


def test_a_phrase_must_occur_and_other_words_only_may(vault):
    assert paths(vault.search('"write a function"')) == ["Queries/Custom Filters.md"]
    assert paths(vault.search('"write a function" filters')) == ["Queries/Custom Filters.md"]
    assert paths(vault.search('"消息路由"')) == ["中文/交换机.md"]


def test_a_phrase_that_occurs_nowhere_is_taken_as_words(vault):
    assert "Queries/Custom Filters.md" in paths(vault.search('"function a write"'))


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        '"',
        '""',
        "*",
        "^",
        "NEAR(",
        "AND",
        "a AND OR NOT",
        '" * ^ NEAR ( AND',
        "{title} : x",
        "-",
        "'",
        "x'y",
        "\0",
        "\ud800",
        "the of is",
        "🙂",
    ],
)
def test_any_query_is_harmless(vault, query):
    vault.search(query)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_query(vault, query):
    vault.search(query)
    assert any_of(analyse(query).terms).count('"') % 2 == 0


def test_a_query_of_ten_thousand_characters_is_answered(vault):
    assert vault.search("filters " + "nonsense word " * 800)
    assert vault.search(" ".join(f"w{n}" for n in range(3000))) == []
    assert len(analyse(" ".join(f"w{n}" for n in range(3000))).words) == MOST_WORDS


def test_a_query_of_only_stopwords_looks_for_them(vault):
    assert vault.search("what is it with the and") != []


def test_links_of_a_message_are_resolved_from_the_root(vault):
    found = vault.links_in("see [[Filters#Boolean operators|these]] and ![[figure.png]]\nand [[Filtrs]] and [g](Guide.md) and [x](x.html)")
    assert [(r.raw, r.target, r.status, r.line) for r in found] == [
        ("[[Filters#Boolean operators|these]]", "Filters.md", "found", 1),
        ("![[figure.png]]", "figure.png", "found", 1),
        ("[[Filtrs]]", None, "broken", 2),
        ("[g](Guide.md)", "Guide.md", "found", 2),
    ]
    assert (found[0].heading, found[0].alias, found[0].text) == ("Boolean operators", "these", "Filters")
    assert found[2].candidates[0] == "Filters.md"


def test_a_note_is_resolved_by_alias_and_says_so(vault):
    resolution = vault.resolve("sieves")
    assert (resolution.target, resolution.via) == ("Filters.md", "alias")


@pytest.mark.parametrize("target", ["Filters", "[[Filters]]", "![[Filters.md]]", "Filters#x|y", " filters "])
def test_a_bare_target_resolves(vault, target):
    resolution = vault.resolve(target)
    assert (resolution.target, resolution.raw) == ("Filters.md", target)


@pytest.mark.parametrize(
    ("name", "near"),
    [("Filtrs", "Filters"), ("custom filter", "Custom Filters"), ("Guid.md", "Guide"), ("x/gide", "Guide"), ("交换", "交换机")],
)
def test_the_nearest_names_come_first(vault, name, near):
    assert vault.nearest(name)[0] == near


@pytest.mark.parametrize("name", ["", "/", "zzzzqqq", "\ud800", '"', "x" * 5000])
def test_nothing_is_near_to_nothing(vault, name):
    assert vault.nearest(name) == []


def test_a_text_of_very_many_broken_links_is_answered_soon(vault):
    found = vault.links_in("".join(f"[[Filtr {n}]]\n" for n in range(3000)))
    assert len(found) == 3000
    assert found[0].candidates
    assert found[-1].candidates == ()


def test_a_note_of_a_hundred_thousand_links_is_indexed(tmp_path: Path):
    folder = tmp_path / "v"
    folder.mkdir()
    (folder / "many.md").write_text("[[many]] [[gone]]\n" * 50_000)
    opened = Vault.open(folder, tmp_path)
    report = opened.refresh()
    assert (report.links, report.broken_links) == (100_000, 50_000)
    opened.close()


def test_names_that_differ_in_case_or_unicode_form_are_each_reachable(tmp_path: Path):
    folder = tmp_path / "v"
    folder.mkdir()
    names = ["Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md"]
    for name in names:
        (folder / name).write_text(name)
    if len(list(folder.iterdir())) < 4:
        pytest.skip("this file system takes them for the same")
    opened = Vault.open(folder, tmp_path)
    assert [opened.resolve(name).target for name in names] == names
    assert opened.resolve("note").status == "ambiguous"
    opened.close()


def test_the_nearest_name_is_found_among_many_that_share_a_letter_pair(tmp_path):
    for i in range(200):
        (tmp_path / f"About things {i} tr rs fi il.md").write_text("x\n")
    (tmp_path / "Filters.md").write_text("x\n")
    many = Vault.open(tmp_path, tmp_path / "cache")
    assert many.nearest("Filtrs")[0] == "Filters"
    many.close()
