"""Broken and hostile notes: nothing crashes, readable text is found, and `vault status` lists what
was skipped.
"""

import os
from pathlib import Path

import pytest
from conftest import Program
from factories import takes_less_than
from notes_folder import NotesFolder

from zkchat_cli.views.text import summarize_problems


@pytest.fixture
def notes(tmp_path):
    made = NotesFolder(tmp_path, Alpha="The beginning of it all.")
    yield made
    made.vault.close()


def problems(notes: NotesFolder) -> dict[str, str]:
    notes.vault.refresh()
    return dict(problem.split(": ", 1) for problem in notes.vault.status().problems)


def test_a_note_changed_during_a_refresh_is_updated_by_the_next_one(notes):
    def change(done: int, total: int) -> None:
        notes.write("Alpha.md", f"turn {done} of {total}")

    notes.vault.refresh(progress=change)
    notes.vault.refresh()
    assert notes.found("turn") == ["Alpha.md"]
    assert notes.found("beginning") == []
    notes.check()


def test_a_note_of_50_megabytes_is_left_out(notes):
    notes.write("Huge.md", "zebra\n")
    os.truncate(notes.root / "Huge.md", 50_000_000)
    assert "larger than 10 MB" in problems(notes)["Huge.md"]
    assert notes.found("zebra") == []


@pytest.mark.parametrize(
    "name",
    [
        "two\nlines",
        "a; DROP TABLE notes --",
        'it\'s "quoted"',
        "%_*?[x]",
        "−—…",
        "\u202eright",
        "x" * 240,
        "NUL",
        "-",
    ],
)
def test_odd_file_names_work(notes, name):
    notes.write(f"{name}.md", "zebra #stripes")
    notes.write("Source.md", "[[Alpha]]")
    notes.vault.refresh()
    assert notes.found("zebra") == notes.found("tag:stripes") == [f"{name}.md"]
    assert notes.vault.resolve(f"{name}.md").target == f"{name}.md"
    assert notes.vault.graph.links(f"{name}.md") == []
    (notes.root / f"{name}.md").unlink()
    notes.vault.refresh(only=[f"{name}.md"])
    notes.check()


def test_a_name_that_is_not_utf8_is_reported_and_the_rest_indexed(notes):
    try:
        Path(os.fsdecode(os.fsencode(notes.root) + b"/caf\xe9.md")).write_text("zebra")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert list(problems(notes).values()) == ["not indexed: its name is not UTF-8"]
    assert notes.vault.note_paths() == ["Alpha.md"]


def test_names_that_differ_only_in_case_are_separate(notes):
    notes.write("alpha.md", "another")
    if len(list(notes.root.iterdir())) < 2:
        pytest.skip("this file system takes them for the same")
    notes.vault.refresh()
    assert (notes.found("another"), notes.found("beginning")) == (["alpha.md"], ["Alpha.md"])
    (notes.root / "Alpha.md").unlink()
    notes.vault.refresh()
    assert notes.vault.note_paths() == ["alpha.md"]
    notes.check()


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("many", "between"), [(10_000, "\n"), (10_000, " ")], ids=["a line each", "all on one line"]
)
def test_tens_of_thousands_of_broken_links_are_listed_within_seconds(notes, many, between):
    notes.write("Many.md", between.join(f"[[gone {n}]]" for n in range(many)))
    with takes_less_than(20):
        assert notes.vault.refresh().broken_links == many
        broken = notes.vault.graph.broken_links()
        assert len(broken) == many


def test_a_note_of_one_repeated_word_is_searched_fast(notes):
    notes.write("Many.md", "a b " + "a " * 1_000_000)
    notes.vault.refresh()
    with takes_less_than(2):
        assert notes.found('"a b"') == ["Many.md"]
        notes.found('"b a a a a a b"')


def test_vault_status_lists_skipped_files(zkchat: Program) -> None:
    (zkchat.vault / "Latin.md").write_bytes("Gerät".encode("latin-1"))
    (zkchat.vault / "Out.md").symlink_to(zkchat.vault.parent)
    (zkchat.vault / "Circle.md").symlink_to(zkchat.vault / "Circle.md")
    zkchat("vault", "index")
    problems = zkchat("vault", "status", "--json").json["problems"]
    assert {problem.split(":")[0] for problem in problems} >= {"Latin.md", "Out.md", "Circle.md"}
    assert "Latin.md" in zkchat("vault", "status").out


def test_of_many_problems_the_first_are_shown_with_the_command_that_lists_the_others() -> None:
    problems = [f"{i}.md: not UTF-8" for i in range(15)]
    assert summarize_problems(problems) == [*problems[:3], "12 more problems: zkchat vault status"]
    assert summarize_problems(problems[:4]) == problems[:4]
