"""Symbols, names with signs and web addresses as words of their own, and names of files."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write_notes
from factories import open_vault

from zkchat_cli.text.literals import find_literals, remove_addresses, written_form
from zkchat_cli.text.words import content_terms, terms
from zkchat_cli.vault.search.windows import windows_of_chunk
from zkchat_cli.vault.vault import Vault

NOTES = {
    "Shell.md": (
        "# Parameters\nThe variable `$@` holds all arguments. Use && between commands, and a\n"
        "here-document begins with <<-EOF.\n"
    ),
    "Postgres.md": "# JSON\nThe operator ->> gives text, and **->** gives JSON.\n",
    "Languages.md": "# Languages\nC# runs on .NET, C++ does not. C is older than both.\n",
    "Files.md": "# Files\nKeep secrets in `.env`, and rules for print below @media.\n",
    "Places.md": (
        "# Places\nSee https://www.example.com/foo-bar/baz?x=1, and "
        "[the manual](https://docs.example.org/guide_(old)).\n"
    ),
    "recipes/Lentil stew.md": "---\ntitle: Cook\n---\nTwenty minutes are enough.\n",
    "recipes/Bread.md": "---\ntitle: Cook\n---\nLet it rest for an hour.\n",
    "juggling/index.md": "Begin with two balls.\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    folder: Path = write_notes(tmp_path_factory.mktemp("vault"), NOTES)
    with closing(open_vault(folder, tmp_path_factory.mktemp("cache"))) as opened:
        yield opened


def found_paths(vault: Vault, query: str) -> list[str]:
    return list(dict.fromkeys(chunk.relative_path for chunk in vault.search(query)))


def literals(text: str) -> list[str]:
    return [written_form(term) for term in find_literals(text)]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("$@", "Shell.md"),
        ("&&", "Shell.md"),
        ("<<-", "Shell.md"),
        ("->>", "Postgres.md"),
        ("C#", "Languages.md"),
        ("c++", "Languages.md"),
        ('"C#"', "Languages.md"),
        (".NET", "Languages.md"),
        (".env", "Files.md"),
        ("@media", "Files.md"),
        ("what does $@ mean?", "Shell.md"),
    ],
)
def test_a_symbol_is_found(vault: Vault, query: str, path: str) -> None:
    assert found_paths(vault, query)[0] == path


def test_a_symbol_does_not_find_another_one(vault: Vault) -> None:
    assert found_paths(vault, "->") == ["Postgres.md"]
    assert found_paths(vault, "<<<") == []


@pytest.mark.parametrize("query", ["foo", "bar", "example", "com", "guide", "www"])
def test_the_parts_of_an_address_are_no_words(vault: Vault, query: str) -> None:
    assert found_paths(vault, query) == []


@pytest.mark.parametrize(
    "query",
    [
        "https://www.example.com/foo-bar/baz?x=1",
        "https://example.com/foo-bar",
        "example.com",
        "docs.example.org",
        "https://docs.example.org/guide_(old)",
    ],
)
def test_an_address_is_found_as_a_whole_and_by_its_host(vault: Vault, query: str) -> None:
    assert found_paths(vault, query)[0] == "Places.md"


def test_the_text_of_a_link_is_found(vault: Vault) -> None:
    assert found_paths(vault, "manual") == ["Places.md"]


def test_a_result_shows_the_line_with_the_symbol(vault: Vault) -> None:
    [chunk, *_] = vault.search("&&")
    _, snippet = vault.snippet(chunk, "&&")
    assert "Use && between commands" in snippet.text


def test_a_note_with_another_title_is_found_by_its_file_and_folder(vault: Vault) -> None:
    assert found_paths(vault, "lentil stew") == ["recipes/Lentil stew.md"]
    assert set(found_paths(vault, "recipes")) == {"recipes/Lentil stew.md", "recipes/Bread.md"}


def test_an_index_file_is_found_by_its_folder(vault: Vault) -> None:
    assert found_paths(vault, "juggling") == ["juggling/index.md"]


def test_a_note_that_gets_another_title_is_found_by_both_names(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "vault", {"Stew.md": "Simmer.\n"})
    with closing(open_vault(folder, tmp_path / "cache")) as vault:
        vault.refresh()
        (folder / "Stew.md").write_text("---\ntitle: Dinner\n---\nSimmer.\n", encoding="utf-8")
        vault.refresh()
        assert found_paths(vault, "stew") == found_paths(vault, "dinner") == ["Stew.md"]


def test_addresses_are_not_embedded() -> None:
    [window] = windows_of_chunk("Places", "", "See https://example.com/foo-bar for more.")
    assert window == "Places\nSee for more."


def test_addresses_are_no_words_for_memory_and_related_notes() -> None:
    assert terms("Read https://example.com/foo-bar today") == ["read", "today"]
    assert "foo" not in content_terms("Read https://example.com/foo-bar today")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Is it $@?", ["$@"]),
        ("**&&** and `||`.", ["&&", "||"]),
        ("node.js, e.g. this. Next", ["node.js"]),
        ("--force or -x", ["--force", "-x"]),
        ("- item --- === ... :-) wow!!!", []),
        ("| --- | :--: |", []),
        ("**bold** ==marked== ~~gone~~ ## heading", []),
        ("max@example.com is no address", []),
        ("见https://example.com/a。然后", ["example.com", "example.com/a"]),
        ("![](data:image/png;base64,aGVsbG8=)", []),
    ],
)
def test_literals_are_told_from_marks_and_ends_of_sentences(text: str, found: list[str]) -> None:
    assert literals(text) == found


def test_what_is_left_of_a_text_without_addresses() -> None:
    assert remove_addresses("a http://b.c/d, e").split() == ["a", "e"]
