"""Completion of links, suggestions for misspelt names, and fuzzy matching."""

from contextlib import closing

import pytest
from conftest import write_notes
from factories import open_vault
from hypothesis import example, given
from hypothesis import strategies as st

from zkchat_cli.text.case_folder import fold
from zkchat_cli.vault.links.note_completer import Completion, FuzzyMatcher
from zkchat_cli.vault.vault import Vault

NOTES = {
    "Garden.md": "---\naliases: [Plot, Green place]\n---\n",
    "Garden notes.md": "",
    "Kitchen garden.md": "",
    "Work/Notes on gardening.md": "",
    "Work/Équipe.md": "---\ntitle: The team\n---\n",
    "Work/100% sure.md": "",
    "渐进式总结.md": "",
    "Home/Garden.md": "",
    "figure.png": "",
}
LETTERS = st.text(st.sampled_from("abcxyz -_É渐"), max_size=12)


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    with closing(open_vault(write_notes(folder / "notes", NOTES), folder / "cache")) as opened:
        yield opened


# notes


def names(vault: Vault, typed: str, limit: int = 30) -> list[str]:
    return [completion.name for completion in vault.complete(typed, limit)]


def test_prefixes_come_before_words_and_the_shorter_first(vault):
    assert names(vault, "gard") == [
        "Garden",
        "Garden",
        "Garden notes",
        "Kitchen garden",
        "Notes on gardening",
    ]
    assert names(vault, "arden") == [
        "Garden",
        "Garden",
        "Garden notes",
        "Kitchen garden",
        "Notes on gardening",
    ]
    assert names(vault, "no") == ["Notes on gardening", "Garden notes"]


def test_notes_of_one_name_are_linked_by_their_paths(vault):
    assert vault.complete("garden", 2) == [
        Completion("Garden", "Garden.md", "Garden"),
        Completion("Garden", "Home/Garden.md", "Home/Garden"),
    ]


def test_aliases_and_titles_are_completed(vault):
    assert vault.complete("plo") == [Completion("Plot", "Garden.md", "Garden", "alias")]
    assert names(vault, "place") == ["Green place"]
    assert vault.complete("the te") == [Completion("The team", "Work/Équipe.md", "Équipe", "title")]


def test_paths_are_completed(vault):
    assert names(vault, "work/n") == ["Notes on gardening"]
    assert names(vault, "Home/") == ["Garden"]
    assert names(vault, "work/100% s") == ["100% sure"]
    assert names(vault, "work/1000") == []
    assert names(vault, "home garden") == ["Garden"]


def test_nothing_typed_offers_the_newest_notes(tmp_path):
    notes = open_vault(
        write_notes(tmp_path / "notes", {f"{n}.md": "x" for n in range(9)}), tmp_path / "cache"
    )
    assert notes.complete("new") == []
    write_notes(tmp_path / "notes", {"4.md": "changed", "New.md": "new"})
    notes.refresh(only=["4.md", "New.md"])
    assert {completion.name for completion in notes.complete("", 2)} == {"4", "New"}
    assert [completion.name for completion in notes.complete("new")] == ["New"]
    notes.close()


def test_completion_does_not_wait_for_a_refresh(vault, tmp_path):
    notes = open_vault(write_notes(tmp_path / "notes", {"One.md": "x"}), tmp_path / "cache")
    assert [completion.name for completion in notes.complete("o")] == ["One"]
    write_notes(tmp_path / "notes", {f"Two {n}.md": "x" for n in range(3)})
    seen = []

    def progress(done, total):
        import threading

        asked = threading.Thread(
            target=lambda: seen.append([completion.name for completion in notes.complete("o")])
        )
        asked.start()
        asked.join()

    notes.refresh(progress=progress)
    assert ["One"] in seen
    assert len(notes.complete("two")) == 3
    notes.close()


# misspelt names


@pytest.mark.parametrize(
    "typed",
    ['"', "'", "*", "%", "_", "!", "\0", "\ud800", "·", "^", "AND", "x" * 10_000, "/", "//", "[["],
)
def test_odd_characters_match_nothing(vault, typed):
    assert vault.reader.suggest_names(typed) == []


@pytest.mark.parametrize(
    ("misspelt", "name"),
    [
        ("Gardn", "Garden"),
        ("Gadren notes", "Garden notes"),
        ("kitchen gardne", "Kitchen garden"),
        ("Eqiupe", "Équipe"),
        ("渐进总结", "渐进式总结"),
    ],
)
def test_a_misspelt_name_has_a_suggestion(vault, misspelt, name):
    assert vault.reader.suggest_names(misspelt)[0] == name


def test_a_common_part_of_names_does_not_hide_the_nearest(tmp_path, monkeypatch):
    monkeypatch.setattr("zkchat_cli.vault.links.name_suggestions.MOST_NAMES", 20)
    notes = {f"Meeting {n:03}.md": "" for n in range(100)} | {"Meating.md": ""}
    many = open_vault(write_notes(tmp_path / "notes", notes), tmp_path / "cache")
    assert many.reader.suggest_names("Meatin")[0] == "Meating"
    assert many.reader.suggest_names("Meeting 04") != []
    many.close()


# texts


@example("a", 3)
@given(LETTERS, st.integers(0, 40))
def test_exactly_the_texts_with_the_letters_in_order_match(typed, limit):
    texts = [
        "a b c",
        "cab",
        "abc",
        "xyz",
        "xaybzc",
        "",
        "É-a",
        "渐进 x",
        "zzz yyy",
        "b_c a",
        "c" * 300,
    ]
    found = FuzzyMatcher(texts).find(typed, limit)
    letters = [c for c in fold(typed) if c.isalnum()]

    def has(text):
        rest = iter(fold(text))
        return all(c in rest for c in letters)

    assert all(has(texts[number]) for number in found)
    if letters:
        assert len(found) == min(limit, sum(has(text[:200]) for text in texts))
    assert len(set(found)) == len(found) <= limit
