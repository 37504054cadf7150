"""Suggestions for misspelt names."""

from contextlib import closing

import pytest
from conftest import write_notes
from factories import open_vault

from zkchat_cli.vault.vault import Vault

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
    with closing(open_vault(write_notes(folder / "notes", NOTES), folder / "cache")) as opened:
        yield opened


@pytest.mark.parametrize("typed", ['"', "'", "*", "%", "_", "!", "\0", "\ud800", "·", "^", "AND", "x" * 10_000, "/", "//", "[["])
def test_odd_characters_match_nothing(vault, typed):
    assert vault.suggest_names(typed) == []


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
    assert vault.suggest_names(misspelt)[0] == name


def test_a_common_part_of_names_does_not_hide_the_nearest(tmp_path, monkeypatch):
    monkeypatch.setattr("zkchat_cli.vault.links.name_suggestions.MOST_NAMES", 20)
    many = Vault.open(
        write_notes(tmp_path / "notes", {f"Meeting {n:03}.md": "" for n in range(100)} | {"Meating.md": ""}), tmp_path / "cache"
    )
    many.refresh()
    assert many.suggest_names("Meatin")[0] == "Meating"
    assert many.suggest_names("Meeting 04") != []
    many.close()
