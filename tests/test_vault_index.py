"""The index follows the files, through damage, interruptions and other processes."""

import os
import sqlite3
from pathlib import Path

import pytest
from notes_folder import NotesFolder

from zkchat_cli.errors import VaultError
from zkchat_cli.vault.index.sqlite.database import IndexDatabase


@pytest.fixture
def notes(tmp_path):
    made = NotesFolder(
        tmp_path,
        Alpha=(
            "---\naliases: [First]\ntags: [greek]\n---\n# Alpha\nThe beginning of it all, see "
            "[[Beta|the second letter]].\n"
        ),
        Beta="# Beta\nSoftware that nobody finished. [[Gamma]] [[Alpha#Alpha]]\n",
    )
    yield made
    made.vault.close()


def test_an_unchanged_vault_is_not_written(notes):
    notes.vault.refresh()
    before = notes.vault.index_file.stat().st_mtime_ns
    report = notes.vault.refresh()
    assert (report.added, report.changed, report.removed) == (0, 0, 0)
    assert notes.vault.index_file.stat().st_mtime_ns == before


def test_a_change_with_the_same_size_and_time_is_seen(notes):
    notes.vault.refresh()
    file = notes.root / "Beta.md"
    was = file.stat()
    file.write_text(
        file.read_text(encoding="utf-8").replace("Software", "Hardware"), encoding="utf-8"
    )
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert notes.vault.refresh().changed == 1
    assert [chunk.relative_path for chunk in notes.vault.search("hardware")] == ["Beta.md"]


def test_touching_a_note_does_not_change_it(notes):
    notes.vault.refresh()
    notes.write("Beta.md", (notes.root / "Beta.md").read_bytes())
    assert notes.vault.refresh().changed == 0


@pytest.mark.parametrize(
    ("path", "content", "link"),
    [
        ("sub/Gamma.md", "third", "[[Gamma]]"),
        ("C.md", "---\naliases: Gamma\n---\n", "[[gamma]]"),
        ("img/c.png", "\x89PNG", "![[c.png]]"),
    ],
)
def test_a_new_name_fixes_links_to_it_until_it_is_gone(notes, path, content, link):
    notes.write("Beta.md", link)
    assert notes.vault.refresh().broken_links == 1
    notes.write(path, content)
    assert notes.vault.refresh().broken_links == 0
    assert [(row.source, row.raw) for row in notes.vault.graph.backlinks(path)] == [
        ("Beta.md", link)
    ]
    (notes.root / path).unlink()
    assert notes.vault.refresh().broken_links == 1
    notes.check()


def test_a_better_match_takes_over_the_links_to_a_name(notes):
    notes.write("sub/Gamma.md", "third")
    notes.vault.refresh()
    notes.write("Gamma.md", "nearer")
    notes.vault.refresh()
    assert [row.target for row in notes.vault.graph.links("Beta.md")] == ["Gamma.md", "Alpha.md"]
    assert notes.vault.graph.backlinks("sub/Gamma.md") == []
    notes.check()


def test_links_of_a_missing_note_are_an_error_with_suggestions(notes):
    with pytest.raises(VaultError, match=r"no note Alfa\.md") as e:
        notes.vault.graph.links("Alfa.md")
    assert e.value.hint == "Nearest: [[Alpha]]"


def test_an_index_outlives_an_absence_of_the_folder_and_no_trace_of_deleted_notes_stays(notes):
    notes.vault.refresh()
    away = notes.root.rename(notes.root.with_name("away"))
    for looked in (None, ["Alpha.md"]):
        with pytest.raises(VaultError, match="there is no folder"):
            notes.vault.refresh(only=looked)
    assert (notes.vault.has_index, notes.found("beginning")) == (True, ["Alpha.md"])
    away.rename(notes.root)
    assert notes.vault.refresh().added == 0
    notes.root.rename(away)
    notes.root.mkdir()
    with pytest.raises(VaultError, match="no Markdown notes"):
        notes.vault.refresh()
    assert not notes.vault.has_index


def test_problems_stay_until_they_are_fixed(notes):
    notes.write("old.md", b"caf\xe9")
    notes.write("odd.md", "---\na: {b\n---\n")
    expected = (
        "odd.md: front matter is not valid YAML (did not find expected ',' or '}'), read as text",
    )
    old = ("old.md: Windows-1252 instead of UTF-8, decoded",)
    assert notes.vault.refresh().problems == expected + old
    assert notes.vault.refresh().problems == expected + old
    notes.vault.close()  # a new process sees them too
    assert notes.vault.status().problems == expected + old
    notes.write("old.md", "café")
    assert notes.vault.refresh().problems == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: change(file, "PRAGMA user_version = 999"),
        lambda file: change(file, "UPDATE meta SET value = '1.0' WHERE key = 'unicode'"),
        lambda file: change(file, "DROP TABLE links"),
        lambda file: change(file, "DROP TABLE meta"),
    ],
    ids=["newer", "other Unicode", "a table gone", "no meta"],
)
@pytest.mark.parametrize("ask", ["refresh", "search"])
def test_an_index_of_another_version_or_without_a_table_is_rebuilt(notes, damage, ask):
    notes.vault.refresh()
    notes.vault.close()
    damage(notes.vault.index_file)
    notes.write("Alpha.md", "beginning, changed since")
    if ask == "refresh":
        assert notes.vault.refresh().rebuilt
    assert notes.found("beginning") == ["Alpha.md"]
    notes.vault.refresh()
    notes.check()


def change(file: Path, sql: str) -> None:
    db = sqlite3.connect(file)
    db.execute(sql)
    db.commit()
    db.close()


@pytest.mark.parametrize("full", [False, True])
def test_an_interrupted_refresh_changes_nothing(notes, full):
    notes.vault.refresh()
    notes.write("Alpha.md", "other words")

    def interrupt(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        notes.vault.refresh(full=full, progress=interrupt)
    assert notes.found("beginning") == ["Alpha.md"]
    notes.vault.refresh()
    assert notes.found("beginning") == []
    notes.check()


def test_a_rebuilt_index_is_seen_by_others(notes):
    notes.vault.refresh()
    other = notes.another()
    assert other.search("beginning")
    notes.write("Alpha.md", "changed words")
    notes.vault.refresh(full=True)
    assert other.search("changed")[0].relative_path == "Alpha.md"
    notes.write("Alpha.md", "changed again")
    assert other.refresh().changed == 1
    other.close()
    assert notes.found("again") == ["Alpha.md"]
    notes.check()


def test_a_locked_index_is_busy(notes):
    notes.vault.refresh()
    other = sqlite3.connect(notes.vault.index_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    notes.write("Alpha.md", "changed")
    mine = IndexDatabase(notes.vault.index_file)
    mine.connection.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(VaultError, match="another zkchat"), mine.transaction():
        pass
    mine.close()
    other.close()


def test_chunks_are_cut_to_the_lines_asked_for(notes):
    notes.write("Long.md", "\n".join(f"line {n} " + "word " * 20 for n in range(1, 41)))
    whole = notes.vault.reader.chunks("Long.md")
    assert whole[0].start_line == 1 and whole[-1].end_line == 40 and len(whole) > 1
    [part] = notes.vault.reader.chunks("./Long.md", 2, 3)
    assert (part.relative_path, part.start_line, part.end_line) == ("Long.md", 2, 3)
    assert part.text.splitlines()[0].startswith("line 2 ")
    assert notes.vault.reader.chunks("Long.md", 41) == []


# a refresh of known paths


def test_a_refresh_of_some_paths_sees_only_those(notes):
    notes.vault.refresh()
    notes.write("Delta.md", "Four letters.")
    notes.write("Beta.md", "Not this one.")
    (notes.root / "Alpha.md").unlink()
    report = notes.vault.refresh(only=["Delta.md", "Alpha.md", "Never.md"])
    assert (report.added, report.changed, report.removed) == (1, 0, 1)
    assert notes.found("letters") == ["Delta.md"]
    assert notes.found("Software") == ["Beta.md"]
    report = notes.vault.refresh()
    assert (report.added, report.changed, report.removed) == (0, 1, 0)
    notes.check()


def test_a_folder_among_the_paths_causes_a_full_scan(notes):
    notes.vault.refresh()
    notes.write("Sub/Deep.md", "bottomless")
    notes.vault.refresh(only=["Sub"])
    assert notes.found("bottomless") == ["Sub/Deep.md"]
