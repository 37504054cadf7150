"""What notes, folders and sections are dated by, and what finds them by their dates."""

import json
from datetime import date
from pathlib import Path

import pytest
from conftest import write_notes
from notes_folder import NotesFolder

from zkchat_cli.config.schema import VaultSettings
from zkchat_cli.text.date_forms import read_leading, read_name, read_path
from zkchat_cli.text.moment_formats import compile_format, from_java
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.vault import Vault

FIFTH = ["2024-01-05"]
EITHER = ["2024-01-05", "2024-05-01"]


def days(readings) -> list[str]:
    """The days of each reading; a longer period with both ends."""
    shown = []
    for period in (each.period for each in readings):
        is_day = period.first == period.last
        shown.append(str(period.first) if is_day else f"{period.first}/{period.last}")
    return shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, FIFTH)
            for name in (
                "2024-01-05",
                "2024_01_05",
                "2024.01.05",
                "2024/01/05",
                "2024-1-5",
                "20240105",
                "202401051530 Tap",
                "2024-01-05T10:00:00+01:00",
                "2024-01-05-garden",
                "2024-01-05 Friday",
                "📅 2024-01-05",
                "January 5th, 2024",
                "Jan. 5, 2024",
                "Friday, January 5, 2024",
                "Fri 05 Jan 2024",
                "05-Jan-2024",
                "2024-Jan-05",
                "5 janvier 2024",
                "vendredi 5 janvier 2024",
                "5. Januar 2024",
                "5 de enero de 2024",
                "sexta-feira, 5 de janeiro de 2024",
                "5 gennaio 2024",
                "5 januari 2024",
                "5 stycznia 2024",
                "5 января 2024",
                "2024年1月5日",
                "２０２４年１月５日",
                "二〇二四年一月五日",
                "2024년 1월 5일",
                "2024-W01-5",
                "Meeting 2024-01-05",
                "Meeting (5 January 2024)",
                "[1.2.0] - 2024-01-05",
                "[[Jan 5th, 2024]]",
                "[[Journal/2024-01-05|Friday]]",
            )
        ),
        *((name, EITHER) for name in ("05.01.2024", "5/1/2024", "05-01-2024", "05.01.24")),
        ("25.01.2024", ["2024-01-25"]),
        ("01/25/2024", ["2024-01-25"]),
        *(
            (name, ["2024-01-08/2024-01-14"])
            for name in ("2024-W02", "KW 02 2024", "Week 2, 2024", "2024 Week 2", "2024年第2周")
        ),
        *(
            (name, ["2024-01-01/2024-01-31"])
            for name in ("2024-01", "2024_01", "January 2024", "2024 January", "2024年1月")
        ),
        ("2024-Q1", ["2024-01-01/2024-03-31"]),
        *(
            (name, [])
            for name in (
                "2024 plan",
                "Room 2024",
                "Marathon 2024",
                "Version 2.0.24",
                "192.168.1.24",
                "Budget 2023-24",
                "2024-13-01",
                "2024-02-30",
                "From 2024-01-05 to 2024-02-01",
                "How to search",
            )
        ),
    ],
)
def test_a_name_has_a_date(name: str, expected: list[str]) -> None:
    assert days(read_name(name)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *(
            (path, FIFTH)
            for path in (
                "2024/01/05",
                "2024/01/05 Tap",
                "2024/01-January/05",
                "2024/01 January/5 Friday",
                "2024/2024-01/05",
                "Journal 2024/January 5",
                "2024/5. Januar – Garten",
                "2024/01-05",
                "2024年/1月/5日",
            )
        ),
        ("Log 2024/Fri 5.1.", EITHER),
        ("2024/01", ["2024-01-01/2024-01-31"]),
        ("2024/W02", ["2024-01-08/2024-01-14"]),
        *(
            (path, [])
            for path in (
                "Recipes/12",
                "2024/Chapter 1",
                "Report 2024/3.2 Methods",
                "Report 2024/1. Intro",
                "2024/10-11 guests",
                "Projects/2024/05 Kitchen",
            )
        ),
    ],
)
def test_folders_and_headings_complete_a_date(path: str, expected: list[str]) -> None:
    assert days(read_path(path.split("/"))) == expected


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("YYYY-MM-DD", "2024-01-05"),
        ("DD-MM-YYYY", "05-01-2024"),
        ("MM.DD.YY", "01.05.24"),
        ("dddd, MMMM Do YYYY", "Friday, January 5th 2024"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2024/01-January/2024-01-05-Friday"),
        ("[Daily] D.M.YYYY", "Daily 5.1.2024"),
        ("YYYY-DDDD", "2024-005"),
        (from_java("MMM do, yyyy"), "Jan 5th, 2024"),
        (from_java("EEEE, dd.MM.yyyy"), "Freitag, 05.01.2024"),
    ],
)
def test_a_format_of_obsidian_or_logseq_reads_names(written: str, name: str) -> None:
    compiled = compile_format(written)
    assert compiled is not None
    reading = compiled.read(name)
    assert reading is not None
    assert days([reading]) == FIFTH
    assert compiled.read(f"{name} x") is None


def test_a_format_without_a_year_is_none() -> None:
    assert compile_format("DD-MM") is None
    with pytest.raises(ValueError, match="it has no year"):
        VaultSettings(daily_format="DD-MM")


@pytest.mark.parametrize("text", ["\0", "二〇二四年", "99999999999", "2024-", "[[", "-" * 300])
def test_any_text_can_be_read(text: str) -> None:
    assert read_leading(text) == read_path([text, text]) == ()


LOG = """# Log
Kept by Ola.

## 2024-01-05
Painted the fence.

### Tools
A brush and a bucket.

## January 6th, 2024
Met Anna about the fence.

## Ideas
A gate for the fence.
"""


@pytest.fixture
def notes(tmp_path: Path):
    made = NotesFolder(tmp_path)
    yield made
    made.vault.close()


def found_lines(notes: NotesFolder, query: str) -> set[tuple[str, int]]:
    return {(each.relative_path, each.start_line) for each in notes.vault.search(query)}


def test_sections_have_the_dates_of_their_headings(notes: NotesFolder) -> None:
    notes.write("Log.md", LOG)
    notes.write("Other.md", "---\ndate: 2024/01/05\n---\nA fence is expensive.")
    notes.vault.refresh()
    assert found_lines(notes, "fence on:2024-01-05") == {("Log.md", 4), ("Other.md", 4)}
    assert found_lines(notes, "fence after:2024-01-05") == {("Log.md", 10)}
    assert found_lines(notes, "on:2024-01") == {("Log.md", 4), ("Log.md", 10), ("Other.md", 4)}
    assert found_lines(notes, "fence") == {
        *(("Log.md", line) for line in (4, 10, 13)),
        ("Other.md", 4),
    }
    wanted = NoteSelection(since="2024-01-01", until="2024-01-05", newest=True)
    listed = notes.vault.catalog.list_notes(wanted)
    assert {(note.path, note.day) for note in listed} == {
        ("Log.md", "2024-01-05"),
        ("Other.md", "2024-01-05"),
    }
    # Another process, and the same log with one more day
    notes.write("Log.md", f"{LOG}\n## 2024-01-09\nThe fence is dry.\n")
    other = notes.another()
    other.refresh()
    assert [each.start_line for each in other.search("fence on:2024-01-09")] == [16]
    other.close()
    notes.check()


def test_other_dates_in_the_note_of_a_day_are_its_subjects(notes: NotesFolder) -> None:
    notes.write("2024-01-05.md", "# Today\nDug.\n\n# Plan for 2024-02-01\nWater the fence.\n")
    notes.vault.refresh()
    assert found_lines(notes, "fence on:2024-01-05") == {("2024-01-05.md", 1)}


@pytest.mark.parametrize(
    "value", ['"[[2024-01-05]]"', "[[2024-01-05]]", "2024/01/05", "5 Jan 2024"]
)
def test_a_property_has_a_date_in_any_form(notes: NotesFolder, value: str) -> None:
    notes.write("Pond.md", f"---\ndate: {value}\n---\nIce on the pond.")
    notes.vault.refresh()
    assert notes.found("ice on:2024-01-05") == ["Pond.md"]


@pytest.mark.parametrize(
    ("others", "day"),
    [(["25.02.2024"], "2024-01-05"), (["02.25.2024", "2024-01-09"], "2024-05-01")],
)
def test_the_other_dates_of_a_vault_tell_day_and_month(
    notes: NotesFolder, others: list[str], day: str
) -> None:
    for name in (*others, "05.01.2024"):
        notes.write(f"{name}.md", "Frost.")
    notes.vault.refresh()
    assert notes.found(f"frost on:{day}") == ["05.01.2024.md"]
    # The reason is gone
    notes.write("Other/25.03.2024.md", "Frost.")
    notes.write("Other/26.03.2024.md", "Frost.")
    notes.vault.refresh()
    assert notes.found("frost on:2024-01-05") == ["05.01.2024.md"]
    notes.check()


@pytest.mark.parametrize(
    ("file", "settings", "name"),
    [
        (".obsidian/daily-notes.json", json.dumps({"format": "MM-DD-YYYY"}), "01-05-2024"),
        (
            ".obsidian/plugins/periodic-notes/data.json",
            json.dumps({"daily": {"format": "[on] D.M.YYYY"}, "weekly": 7}),
            "on 5.1.2024",
        ),
        ("logseq/config.edn", '{:journal/page-title-format "MM-dd-yyyy" ; x\n}', "01-05-2024"),
        (".obsidian/daily-notes.json", "{broken", "2024-01-05"),
    ],
)
def test_settings_of_obsidian_and_logseq_say_what_names_mean(
    tmp_path: Path, file: str, settings: str, name: str
) -> None:
    root = write_notes(tmp_path / "notes", {f"{name}.md": "Frost.", "25.12.2023.md": "Snow."})
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(settings)
    vault = Vault.open(root, tmp_path / "cache", today=lambda: date(2024, 6, 1))
    vault.refresh()
    assert [each.title for each in vault.search("frost on:2024-01-05")] == [name]
    vault.close()


def test_another_format_in_the_settings_counts_at_once(notes: NotesFolder) -> None:
    notes.write("01-05-2024.md", "Frost.")
    notes.vault.refresh()
    assert notes.found("frost on:2024-01-05") == []
    vault = Vault.open(notes.root, notes.cache, daily_format="MM-DD-YYYY")
    assert [each.title for each in vault.search("frost on:2024-01-05")] == ["01-05-2024"]
    vault.close()
