"""`@path`: which words of a message import a file, from where, and what happens if that fails."""

import os
from pathlib import Path

import pytest
from conftest import needs_permissions, write_notes
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.errors import VaultError, on_one_line
from zkchat_cli.events import Notice
from zkchat_cli.references.file_imports import ImportedFile, ImportRoots, find_imports, read_import
from zkchat_cli.references.mentions import MentionedDocument, find_mentions
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(vault, {"data/rows.csv": "name,price\nhoe,12\n", ".secret/key.md": "never"})


@pytest.fixture
def places(notes: Vault, tmp_path: Path) -> ImportRoots:
    folder = write_notes(
        tmp_path / "code",
        {
            "main.py": "def main():\n    return 1\n",
            "my plan.txt": "Plan A.",
            "sub/deep.md": "# Deep\n\nText.",
        },
    )
    return ImportRoots(notes, folder)


def file(text: str, places: ImportRoots) -> ImportedFile:
    (wanted,) = find_imports(text)
    return read_import(wanted, places)


def mentioned(
    text: str, places: ImportRoots, typed: str | None = None
) -> tuple[MentionedDocument, ...]:
    return find_mentions(text, places, lambda _: None, typed)[0]


def error_of(text: str, places: ImportRoots) -> str:
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
        ("请看@notes.md", []),
        ("请看，@笔记.md。", ["笔记.md"]),
        ("“@main.py”", ["main.py"]),
        # not one
        ("mail me@example.org", []),
        ("`@main.py`", []),
        ("``a ` @main.py``", []),
        ("```\n@app.route\ndef f(): ...\n```", []),
        ("~~~py\n@cache\n", []),
        ("@", []),
        ("@@main.py", []),
        ("a@@main.py", []),
        ("@...", []),
        ('@""', []),
    ],
)
def test_an_import_begins_at_the_start_of_a_word(text: str, expected: list[str]) -> None:
    assert [each.path for each in find_imports(text)] == expected


@given(st.text(alphabet='@a./\\ "<>`~\n()é中', max_size=60))
def test_any_text_may_be_searched_for_imports(text: str) -> None:
    for each in find_imports(text):
        assert text.startswith(each.written, each.start)


def test_many_at_signs_take_linear_time() -> None:
    assert len(find_imports("@a " * 100_000)) == 50
    assert find_imports("@" * 1_000_000) == ()


# where from


def test_a_file_is_imported_from_the_current_folder(places: ImportRoots) -> None:
    found = file("what does @main.py do?", places)
    assert (found.relative_path.endswith("main.py"), found.is_note) == (True, False)
    assert [(c.text, c.start_line, c.end_line) for c in found.chunks] == [
        ("def main():\n    return 1", 1, 2)
    ]
    assert (places.vault.root / found.relative_path).resolve() == (
        places.folder or Path()
    ).resolve() / "main.py"


def test_a_path_may_lead_out_of_the_current_folder_and_back(places: ImportRoots) -> None:
    assert places.folder
    assert file(f"@../{places.folder.name}/main.py", places).relative_path.endswith("main.py")


def test_a_path_may_lead_out_of_a_folder_of_the_vault(places: ImportRoots) -> None:
    inside = places._replace(folder=places.vault.root / "Queries")
    assert file("@../data/rows.csv", inside).relative_path == "data/rows.csv"


def test_a_vault_file_is_imported_by_its_path(places: ImportRoots) -> None:
    found = file("@data/rows.csv", places)
    assert (found.relative_path, found.chunks[0].text, found.is_note) == (
        "data/rows.csv",
        "name,price\nhoe,12",
        False,
    )


def test_a_note_is_imported_without_its_suffix(places: ImportRoots) -> None:
    found = file("@Queries/Combining", places)
    assert (found.relative_path, found.is_note) == ("Queries/Combining.md", True)
    assert found.chunks == tuple(places.vault.reader.chunks("Queries/Combining.md"))


def test_the_current_folder_comes_before_the_vault(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "Filters.md").write_text("Other filters.")
    assert file("@Filters.md", places).chunks[0].text == "Other filters."


def test_an_absolute_path_into_either_folder_is_imported(places: ImportRoots) -> None:
    assert places.folder
    assert file(f"@{places.folder}/main.py", places).relative_path.endswith("main.py")
    assert file(f"@{places.vault.root}/Filters.md", places).relative_path == "Filters.md"


# what is refused


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/hostname", "~/x.md", "sub/../../outside.txt"]
)
def test_other_folders_are_refused(places: ImportRoots, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    assert "neither in the vault nor under the current folder" in error_of(f"@{path}", places)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("way.txt", "leads out"),
        (".env", "hidden"),
        (".secret/key.md", "hidden"),
        ("a.bin", "not a text file"),
        (
            "big.log",
            "@big.log is too large to import: 585 kB of at most 512. Put the part you need "
            "into a file of its own.",
        ),
        ("pipe.txt", "not a regular file"),
    ],
)
def test_what_is_no_plain_text_in_the_folder_is_refused(
    places: ImportRoots, tmp_path: Path, path: str, problem: str
) -> None:
    assert places.folder
    write_notes(
        tmp_path, {"outside.txt": "secret", "code/.env": "KEY=1", "code/big.log": "x" * 600_000}
    )
    (places.folder / "way.txt").symlink_to(tmp_path / "outside.txt")
    (places.folder / "a.bin").write_bytes(b"\x89PNG\0\0")
    os.mkfifo(places.folder / "pipe.txt")
    assert problem in error_of(f"@{path}", places)


@needs_permissions
def test_an_unreadable_file_is_refused(places: ImportRoots) -> None:
    assert places.folder
    (places.folder / "main.py").chmod(0)
    assert "cannot be read" in error_of("@main.py", places)


# as references


def test_an_import_is_a_reference_with_its_text(places: ImportRoots) -> None:
    found = mentioned("compare @Filters.md and @main.py", places)
    assert [
        (r.wikilink, r.reference_type, r.status) for r in (each.reference for each in found)
    ] == [
        ("@Filters.md", "import", "found"),
        ("@main.py", "import", "found"),
    ]
    assert [len(each.chunks) for each in found] == [
        len(places.vault.reader.chunks("Filters.md")),
        1,
    ]
    assert [(each.readable, each.warnings) for each in found] == [(True, ()), (False, ())]


def test_links_and_imports_keep_the_order_of_the_text(places: ImportRoots) -> None:
    found = mentioned("@main.py [[Filters]] @main.py @Filters.md [[Compost]]", places)
    assert [each.reference.wikilink for each in found] == ["@main.py", "[[Filters]]", "[[Compost]]"]


def test_a_missing_file_warns_with_the_nearest_names(places: ImportRoots) -> None:
    found = mentioned("@man.py and @Combning.md", places)
    assert [
        (each.reference.status, each.reference.candidates[0], each.warnings) for each in found
    ] == [
        ("broken", "main.py", (Notice("@man.py not found", "nearest: @main.py"),)),
        (
            "broken",
            "Queries/Combining.md",
            (Notice("@Combning.md not found", "nearest: @Queries/Combining.md"),),
        ),
    ]


def test_while_a_name_is_typed_it_is_compared_with_no_file(places: ImportRoots) -> None:
    assert (
        find_mentions("@man.py", places, lambda _: None, compare=False)[0][0].reference.candidates
        == ()
    )


def test_a_refused_file_warns_with_the_reason(places: ImportRoots) -> None:
    [found] = mentioned("@../x.md", places)
    assert found.warnings == (
        Notice(
            "@../x.md is neither in the vault nor under the current folder",
            "Only files from there can be imported.",
        ),
    )
    assert found.reference.status == "broken"


def test_a_person_s_name_is_not_a_missing_file(places: ImportRoots) -> None:
    assert mentioned("thanks @annabel", places) == ()
