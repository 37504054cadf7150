"""Names half typed and names misspelt."""

import pytest
from conftest import write
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.vault import Vault
from zkchat_cli.vault.names import Completion

NOTES = {
    "Garden.md": "---\naliases: [Plot, Green place]\n---\n",
    "Garden notes.md": "",
    "Kitchen garden.md": "",
    "Work/Notes on gardening.md": "",
    "Work/Équipe.md": "",
    "Work/100% sure.md": "",
    "渐进式总结.md": "",
    "Home/Garden.md": "",
    "figure.png": "",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    opened = Vault.open(write(folder / "notes", NOTES), folder / "cache")
    opened.refresh()
    yield opened
    opened.close()


def names(vault: Vault, typed: str, limit: int = 30) -> list[str]:
    return [completion.name for completion in vault.complete(typed, limit)]


def test_names_that_begin_so_come_before_words_that_do_and_those_before_the_rest(vault):
    assert names(vault, "gard") == ["Garden", "Garden", "Garden notes", "Kitchen garden", "Notes on gardening"]
    assert names(vault, "arden") == ["Garden", "Garden", "Garden notes", "Kitchen garden", "Notes on gardening"]
    assert names(vault, "no") == ["Notes on gardening", "Garden notes"]


def test_notes_of_one_name_come_the_shorter_path_first(vault):
    assert [completion.path for completion in vault.complete("garden", 2)] == ["Garden.md", "Home/Garden.md"]


def test_an_alias_leads_to_its_note_and_says_so(vault):
    assert vault.complete("plo") == [Completion("Plot", "Garden.md", is_alias=True)]
    assert names(vault, "place") == ["Green place"]


@pytest.mark.parametrize(
    ("typed", "name"), [("équi", "Équipe"), ("equi", "Équipe"), ("QUIP", "Équipe"), ("渐", "渐进式总结"), ("总结", "渐进式总结")]
)
def test_case_diacritics_and_script_do_not_matter(vault, typed, name):
    assert names(vault, typed) == [name]


def test_with_a_slash_paths_are_completed(vault):
    assert names(vault, "work/n") == ["Notes on gardening"]
    assert names(vault, "Home/") == ["Garden"]
    assert names(vault, "work/100% s") == ["100% sure"]
    assert names(vault, "work/1000") == []


def test_attachments_are_not_notes(vault):
    assert names(vault, "figure") == []


def test_a_limit_is_kept(vault):
    assert len(vault.complete("a", 2)) == 2
    assert vault.complete("a", 0) == []


def test_nothing_typed_yet_is_completed_with_the_newest_notes(tmp_path):
    notes = Vault.open(write(tmp_path / "notes", {f"{n}.md": "x" for n in range(9)}), tmp_path / "cache")
    notes.refresh()
    write(tmp_path / "notes", {"4.md": "changed", "New.md": "new"})
    notes.refresh(only=["4.md", "New.md"])
    assert {completion.name for completion in notes.complete("", 2)} == {"4", "New"}
    notes.close()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20), st.integers(0, 9))
def test_whatever_is_typed_is_harmless_and_completed_with_names_that_have_it(vault, typed, limit):
    found = vault.complete(typed, limit)
    assert len(found) <= limit
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("typed", ['"', "'", "*", "%", "_", "!", "\0", "\ud800", "·", "^", "AND", "x" * 10_000, "/", "//", "[["])
def test_odd_characters_are_characters(vault, typed):
    vault.complete(typed)
    vault.nearest(typed)


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
def test_a_misspelt_name_has_a_nearest_one(vault, misspelt, name):
    assert vault.nearest(misspelt)[0] == name


def test_what_is_common_to_most_names_does_not_hide_the_nearest(tmp_path, monkeypatch):
    monkeypatch.setattr("zkchat_cli.vault.names.MOST_NAMES", 20)
    many = Vault.open(write(tmp_path / "notes", {f"Meeting {n:03}.md": "" for n in range(100)} | {"Meating.md": ""}), tmp_path / "cache")
    many.refresh()
    assert many.nearest("Meatin")[0] == "Meating"
    assert many.nearest("Meeting 04") != []
    many.close()
