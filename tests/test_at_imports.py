"""`@path`: which words of a message import a file, from where, and what happens to those that cannot be imported."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import write
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.errors import VaultError, on_one_line
from zkchat_cli.models import DocumentReference
from zkchat_cli.references.file_imports import ImportedFile, ImportRoots, find_imports, read_import, similar_paths
from zkchat_cli.references.mentions import MentionedDocuments, find_mentioned_documents
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def notes(vault: Path, tmp_path: Path) -> Iterator[Vault]:
    write(vault, {"data/rows.csv": "name,price\nhoe,12\n", ".secret/key.md": "never"})
    opened = Vault.open(vault, tmp_path / "cache")
    opened.refresh()
    yield opened
    opened.close()


@pytest.fixture
def places(notes: Vault, tmp_path: Path) -> ImportRoots:
    folder = write(
        tmp_path / "code", {"main.py": "def main():\n    return 1\n", "my plan.txt": "Plan A.", "sub/deep.md": "# Deep\n\nText."}
    )
    return ImportRoots(notes, folder, 100_000)


def paths(text: str) -> list[str]:
    return [each.path for each in find_imports(text)]


def file(text: str, places: ImportRoots) -> ImportedFile:
    (wanted,) = find_imports(text)
    return read_import(wanted, places)


def named(text: str, places: ImportRoots, typed: str | None = None) -> MentionedDocuments:
    return find_mentioned_documents(text, places, lambda _: None, typed)


def why_not(text: str, places: ImportRoots) -> str:
    with pytest.raises(VaultError) as refused:
        file(text, places)
    return on_one_line(refused.value.message, refused.value.hint)


# what is an import


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@main.py", ["main.py"]),
        ("look at @main.py.", ["main.py"]),
        ("@a.md, @b.md; and (@c.md)!", ["a.md", "b.md", "c.md"]),
        ('what of @"my plan.txt"?', ["my plan.txt"]),
        ("what of @<my plan.txt>?", ["my plan.txt"]),
        (r"what of @my\ plan.txt?", ["my plan.txt"]),
        ("@src/zkchat-0.1/a_b.py", ["src/zkchat-0.1/a_b.py"]),
        ("@../up.md", ["../up.md"]),
        ("@~/notes.md", ["~/notes.md"]),
        ("请看@notes.md", []),
        ("请看，@笔记.md。", ["笔记.md"]),
        ("@Makefile", ["Makefile"]),
        ("line one\n@main.py\nline three", ["main.py"]),
        ("“@main.py”", ["main.py"]),
        # not one
        ("mail me@example.org", []),
        ("user@host.md", []),
        ("`@main.py`", []),
        ("``a ` @main.py``", []),
        ("```\n@app.route\ndef f(): ...\n```", []),
        ("~~~py\n@cache\n", []),
        ("@", []),
        ("@ main.py", []),
        ("@@main.py", []),
        ("a@@main.py", []),
        ("@...", []),
        ("@./", []),
        ('@""', []),
        ("price@12", []),
        ("", []),
    ],
)
def test_an_at_begins_an_import_only_where_a_word_begins(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


@given(st.text(alphabet='@a./\\ "<>`~\n()é中', max_size=60))
def test_any_text_may_be_searched_for_imports(text: str) -> None:
    for each in find_imports(text):
        assert text.startswith(each.written, each.start)


def test_a_text_of_at_signs_is_read_in_one_pass() -> None:
    assert len(find_imports("@a " * 100_000)) == 50
    assert find_imports("@" * 1_000_000) == ()


# where from


def test_a_file_is_imported_from_the_current_folder(places: ImportRoots) -> None:
    found = file("what does @main.py do?", places)
    assert (found.title, found.is_note) == ("main.py", False)
    assert [(c.text, c.start_line, c.end_line) for c in found.chunks] == [("def main():\n    return 1", 1, 2)]
    assert (places.vault.root / found.relative_path).resolve() == (places.folder or Path()).resolve() / "main.py"


def test_a_file_of_the_vault_is_imported_by_its_path_there(places: ImportRoots) -> None:
    found = file("@data/rows.csv", places)
    assert (found.relative_path, found.chunks[0].text, found.is_note) == ("data/rows.csv", "name,price\nhoe,12", False)


def test_a_note_is_imported_with_its_headings_and_md_may_be_left_out(places: ImportRoots) -> None:
    found = file("@Queries/Combining", places)
    assert (found.relative_path, found.is_note) == ("Queries/Combining.md", True)
    assert found.chunks == tuple(places.vault.chunks("Queries/Combining.md"))


def test_a_markdown_file_outside_of_the_vault_has_headings_too(places: ImportRoots) -> None:
    assert [c.heading for c in file("@sub/deep.md", places).chunks] == ["Deep"]


def test_the_current_folder_comes_before_the_vault(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "Filters.md").write_text("Other filters.")
    assert file("@Filters.md", places).chunks[0].text == "Other filters."


def test_an_absolute_path_is_fine_where_it_leads_to_either(places: ImportRoots) -> None:
    assert places.folder
    assert file(f"@{places.folder}/main.py", places).title == "main.py"
    assert file(f"@{places.vault.root}/Filters.md", places).relative_path == "Filters.md"


def test_without_a_current_folder_the_vault_is_all_there_is(places: ImportRoots) -> None:
    alone = ImportRoots(places.vault, None, places.max_bytes)
    assert file("@Filters.md", alone).relative_path == "Filters.md"
    assert "not found" in why_not("@main.py", alone)


def test_a_current_folder_that_is_gone_is_none(places: ImportRoots, tmp_path: Path) -> None:
    assert file("@Filters.md", ImportRoots(places.vault, tmp_path / "gone", places.max_bytes)).relative_path == "Filters.md"


# what is refused


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "~/x.md", "sub/../../outside.txt"])
def test_nothing_is_imported_from_anywhere_else(places: ImportRoots, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    assert "neither in the vault nor under the current folder" in why_not(f"@{path}", places)


def test_a_link_that_leads_out_is_not_followed(places: ImportRoots, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    assert places.folder
    (places.folder / "way.txt").symlink_to(tmp_path / "outside.txt")
    assert "leads out" in why_not("@way.txt", places)


def test_hidden_files_are_not_imported(places: ImportRoots) -> None:
    assert places.folder
    write(places.folder, {".env": "KEY=1"})
    assert "hidden" in why_not("@.env", places)
    assert "hidden" in why_not("@.secret/key.md", places)


def test_a_folder_is_not_imported(places: ImportRoots) -> None:
    assert why_not("@sub/", places) == "@sub is a folder. Name a file in it."


def test_a_file_that_is_no_text_is_not_imported(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "a.png").write_bytes(b"\x89PNG\0\0")
    assert "not a text file" in why_not("@a.png", places)


def test_a_file_that_is_too_large_is_not_imported(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "big.log").write_text("x" * 200_000)
    assert why_not("@big.log", places) == (
        "@big.log is too large to import: 195 kB of at most 97. Put the part you need into a file of its own, "
        "or raise references.import_max_kilobytes."
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_not_imported(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "main.py").chmod(0)
    assert "cannot be read" in why_not("@main.py", places)


def test_a_link_to_nothing_is_not_imported(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "gone.txt").symlink_to("nothing.txt")
    assert "cannot be read: no such file" in why_not("@gone.txt", places)


def test_a_pipe_is_not_waited_for(places: ImportRoots) -> None:
    assert places.folder
    os.mkfifo(places.folder / "pipe.txt")
    assert "does not exist" in why_not("@pipe.txt", places)


# as references


def test_an_import_is_a_reference_with_its_text(places: ImportRoots) -> None:
    found = named("compare @Filters.md and @main.py", places)
    assert [(r.wikilink, r.reference_type, r.status) for r in found.references] == [
        ("@Filters.md", "import", "found"),
        ("@main.py", "import", "found"),
    ]
    assert [len(text) for text in found.chunks.values()] == [len(places.vault.chunks("Filters.md")), 1]
    assert found.warnings == []


def test_links_and_imports_stand_in_the_order_of_the_text_each_once(places: ImportRoots) -> None:
    found = named("@main.py [[Filters]] @main.py @Filters.md [[Compost]]", places)
    assert [r.wikilink for r in found.references] == ["@main.py", "[[Filters]]", "[[Compost]]"]


def test_a_missing_file_is_a_warning_with_the_nearest_names(places: ImportRoots) -> None:
    found = named("@man.py and @Combning.md", places)
    assert [(r.status, r.candidates[0]) for r in found.references] == [("broken", "main.py"), ("broken", "Queries/Combining.md")]
    assert found.warnings == [
        ("@man.py not found", "nearest: @main.py"),
        ("@Combning.md not found", "nearest: @Queries/Combining.md"),
    ]


def test_a_suffix_in_common_makes_no_name_near(places: ImportRoots) -> None:
    assert similar_paths(find_imports("@nope.md")[0], places) == ()


@pytest.mark.parametrize("path", ["/a\0b", "~/a\0b", "a\0b.md"])
def test_a_path_that_no_file_can_have_is_missing(places: ImportRoots, path: str) -> None:
    assert [reference.status for reference in named(f'@"{path}"', places).references] == ["broken"]
    assert places.vault.find_file(path) is None


def test_a_missing_file_like_no_other_says_so(places: ImportRoots) -> None:
    assert places.folder
    write(places.folder, {".zzzzzzzz.qqq": "hidden"})
    assert named("@zzzzzzzz.qqq", places).warnings == [("@zzzzzzzz.qqq not found", "no file has a similar name")]


def test_a_refused_file_is_warned_of_with_the_reason(places: ImportRoots) -> None:
    found = named("@../x.md", places)
    assert found.warnings == [("@../x.md is neither in the vault nor under the current folder", "Only files from there can be imported.")]
    assert [r.status for r in found.references] == ["broken"]


def test_somebody_s_name_is_no_missing_file(places: ImportRoots) -> None:
    assert named("thanks @annabel", places) == MentionedDocuments()


def test_what_is_piped_in_imports_nothing(places: ImportRoots) -> None:
    piped = "From: @main.py\n\nwhat is in @Filters.md?"
    found = named(piped, places, typed="what is in @Filters.md?")
    assert [r.wikilink for r in found.references] == ["@Filters.md"]


def test_the_nearest_names_of_a_large_tree_are_looked_for_in_a_part_of_it(places: ImportRoots) -> None:
    assert places.folder
    for n in range(6):
        write(places.folder / f"d{n}", {f"f{i}.txt": "" for i in range(1000)})
    assert similar_paths(find_imports("@f10.tx")[0], places)


def test_a_reference_to_an_import_is_like_any_other(places: ImportRoots) -> None:
    (reference,) = named("@data/rows.csv", places).references
    assert reference == DocumentReference(wikilink="@data/rows.csv", relative_path="data/rows.csv", reference_type="import")
