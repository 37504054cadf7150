"""Dates in words and figures: which period a question names, and which notes have a date in it."""

import os
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from conftest import Program, write_notes
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.errors import UsageError
from zkchat_cli.text.dates import Period, find_period
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.vault import Vault

TODAY = date(2026, 11, 22)  # a Sunday
LAST_WEEK = (date(2026, 11, 9), date(2026, 11, 15))
MARCH = (date(2026, 3, 1), date(2026, 3, 31))


@pytest.mark.parametrize(
    ("question", "days", "rest"),
    [
        ("What did I do last week?", LAST_WEEK, "What did I do ?"),
        ("was habe ich letzte Woche gemacht", LAST_WEEK, "was habe ich gemacht"),
        ("上周做了什么", LAST_WEEK, "做了什么"),
        ("la semana pasada", LAST_WEEK, ""),
        ("notes about the roof in March", MARCH, "notes about the roof"),
        ("was war am 3.11.?", (date(2026, 11, 3), date(2026, 11, 3)), "was war ?"),
        ("was war am 24.12.?", (date(2025, 12, 24), date(2025, 12, 24)), "was war ?"),
        ("qué hice el 3/11", (date(2026, 11, 3), date(2026, 11, 3)), "qué hice"),
        ("seit 1.11.", (date(2026, 11, 1), date.max), ""),
        ("yesterday", (date(2026, 11, 21), date(2026, 11, 21)), ""),
        ("letzten Dienstag", (date(2026, 11, 17), date(2026, 11, 17)), ""),
        ("vorige Woche", LAST_WEEK, ""),
        ("previous week", LAST_WEEK, ""),
        ("past week", LAST_WEEK, ""),
        ("previous Friday", (date(2026, 11, 20), date(2026, 11, 20)), ""),
        ("last November", (date(2025, 11, 1), date(2025, 11, 30)), ""),
        ("last March", MARCH, ""),
        ("mardi dernier", (date(2026, 11, 17), date(2026, 11, 17)), ""),
        ("el martes pasado", (date(2026, 11, 17), date(2026, 11, 17)), ""),
        ("el mes pasado", (date(2026, 10, 1), date(2026, 10, 31)), ""),
        ("o que fiz na semana passada?", LAST_WEEK, "o que fiz ?"),
        ("na última semana", LAST_WEEK, ""),
        ("notas sobre o telhado em março", MARCH, "notas sobre o telhado"),
        ("há dois dias", (date(2026, 11, 20), date(2026, 11, 20)), ""),
        ("dois dias atrás", (date(2026, 11, 20), date(2026, 11, 20)), ""),
        ("ontem", (date(2026, 11, 21), date(2026, 11, 21)), ""),
        ("12 de março de 2026", (date(2026, 3, 12), date(2026, 3, 12)), ""),
        ("antes de março", (date.min, date(2026, 2, 28)), ""),
        ("depois de março", (date(2026, 4, 1), date.max), ""),
        ("vor zwei Tagen", (date(2026, 11, 20), date(2026, 11, 20)), ""),
        ("seit Montag", (date(2026, 11, 16), date.max), ""),
        ("roof since 2024-05-01", (date(2024, 5, 1), date.max), "roof"),
        ("roof before 1.5.2024", (date.min, date(2024, 4, 30)), "roof"),
        ("on 3rd of May 2024", (date(2024, 5, 3), date(2024, 5, 3)), ""),
        ("between March and May 2026", (date(2026, 3, 1), date(2026, 5, 31)), ""),
        ("in March and April 2026", (date(2026, 3, 1), date(2026, 4, 30)), ""),
        ("en marzo y abril de 2026", (date(2026, 3, 1), date(2026, 4, 30)), ""),
        ("roof between 9 and 15 march", (date(2026, 3, 9), date(2026, 3, 15)), "roof"),
        ("from March 9 to 15", (date(2026, 3, 9), date(2026, 3, 15)), ""),
        ("9–15 March 2024", (date(2024, 3, 9), date(2024, 3, 15)), ""),
        ("vom 3. bis zum 9. März", (date(2026, 3, 3), date(2026, 3, 9)), ""),
        ("entre le 3 et le 9 mars", (date(2026, 3, 3), date(2026, 3, 9)), ""),
        ("del 10 al 20 de febrero", (date(2026, 2, 10), date(2026, 2, 20)), ""),
        ("de 3 a 9 de março", (date(2026, 3, 3), date(2026, 3, 9)), ""),
        ("von Oktober bis Februar", (date(2025, 10, 1), date(2026, 2, 28)), ""),
        ("from 20 to 25 november", (date(2025, 11, 20), date(2025, 11, 25)), ""),
        ("in 2024", (date(2024, 1, 1), date(2024, 12, 31)), ""),
        ("2024-W18", (date(2024, 4, 29), date(2024, 5, 5)), ""),
        ("what do I do today", (TODAY, TODAY), "what do I do"),
    ],
)
def test_a_question_names_a_period(question: str, days: tuple[date, date], rest: str) -> None:
    period, _, without = find_period(question, TODAY) or (None, "", "")
    assert (period, without) == (Period(*days), rest)


@pytest.mark.parametrize(
    "question",
    [
        "may I use this?",
        "the second note",
        "the past may be long",
        "every friday",
        "tasks due today",
        "version 2024",
        "3.11.2",
        "date created: 2022-08-02 and what else the properties of this note say",
        "2024-99-99",
        "room 12-34",
        "contracts valid after 9999-12-31",
    ],
)
def test_other_words_are_no_dates(question: str) -> None:
    assert find_period(question, TODAY) is None


@given(st.text(max_size=60) | st.text("0123456789-./ Wwin last week may 年月日", max_size=30))
def test_any_text_may_be_searched_for_dates(text: str) -> None:
    find_period(text, TODAY)


NOTES = {
    "Daily/2026-11-10.md": "Met Anna about the boiler.",
    "Daily/2026-11-12.md": "Painted the fence.",
    "Daily/2026-11-20.md": "Boiler repaired.",
    "Weekly/2026-W46.md": "A quiet week for the boiler.",
    "Boiler.md": "---\ncreated: 2024-03-05\nupdated: 2026-03-09\n---\nThe boiler is from Kunze.",
    "2024-05-06 Misnamed.md": "---\ndate: 2026-11-13\n---\nThe front matter counts, not the name.",
    "Undated.md": "The boiler is loud.",
}


@pytest.fixture
def dated(tmp_path: Path) -> Vault:
    folder = write_notes(tmp_path / "notes", NOTES)
    for path in NOTES:
        os.utime(folder / path, (1_700_000_000, 1_700_000_000))  # 14 November 2023
    vault = Vault.open(folder, tmp_path / "cache", today=lambda: TODAY)
    vault.refresh()
    return vault


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What did I do last week?", {"2026-11-13", "2026-11-12", "2026-11-10", "2026-W46"}),
        ("boiler last week", {"2026-11-10", "2026-W46"}),
        ("boiler after:2026-11-15", {"2026-11-20"}),
        ("boiler in March 2024", {"Boiler"}),
        ("boiler on:2026-03", {"Boiler"}),
        ("boiler before:2024", {"Undated"}),
        ("after:2026-11-10 before:2026-11-13", {"2026-11-12", "2026-W46"}),
        ('on:"last week" fence', {"2026-11-12"}),
        ("boiler in August 2019", {"2026-11-10", "2026-11-20", "2026-W46", "Boiler", "Undated"}),
        ("boiler on:2019-08", set()),
        ("what did I do in August 2019?", set()),
    ],
)
def test_search_takes_dates(dated: Vault, query: str, found: set[str]) -> None:
    names = {"2024-05-06 Misnamed": "2026-11-13"}
    assert {names.get(chunk.title, chunk.title) for chunk in dated.search(query)} == found


def test_without_other_words_the_newest_notes_of_the_period_come_first(dated: Vault) -> None:
    assert next(chunk.title for chunk in dated.search("on:2026-11")) == "2026-11-20"


def test_a_guessed_day_on_which_all_notes_were_copied_is_no_date(tmp_path: Path) -> None:
    folder = write_notes(
        tmp_path / "notes",
        {f"Week {n}.md": f"Chores of week {n}." for n in range(30)}
        | {"Daily.md": "Chores yesterday."},
    )
    for path in folder.iterdir():
        os.utime(
            path,
            (
                yesterday := datetime.combine(TODAY - timedelta(days=1), time(12)).timestamp(),
                yesterday,
            ),
        )
    vault = Vault.open(folder, tmp_path / "cache", today=lambda: TODAY)
    vault.refresh()
    assert vault.search("What were the chores yesterday?")[0].title == "Daily"
    assert len(vault.search("chores on:yesterday", limit=40)) == 31


def test_notes_are_listed_by_date(dated: Vault) -> None:
    listed = {
        note.path
        for note in dated.catalog.list_notes(NoteSelection(since="last week", until="2026-11-12"))
    }
    assert listed == {"Daily/2026-11-10.md", "Daily/2026-11-12.md", "Weekly/2026-W46.md"}


@pytest.mark.parametrize("query", ["after:foo", "on:2024-13", 'before:"the flood"'])
def test_a_wrong_date_is_refused_with_examples(dated: Vault, query: str) -> None:
    with pytest.raises(UsageError, match="is no date") as refused:
        dated.search(query)
    assert "2024-05-01" in refused.value.hint


def test_the_offline_provider_tells_what_was_noted_in_a_period(
    zkchat: Program, vault: Path
) -> None:
    # Monday of last week
    day = (date.today() - timedelta(days=7 + date.today().weekday())).isoformat()
    write_notes(vault, {f"{day}.md": "Met Anna about the boiler."})
    answer = zkchat("ask", "What did I do last week?", "--json").json
    assert "“Met Anna about the boiler.”" in answer["answer"]
    assert [citation["relative_path"] for citation in answer["citations"]] == [f"{day}.md"]
    assert answer["level"] == "answer"
    assert (
        zkchat("ask", "What was new in March 1999?").out
        == "None of your notes is from that time.\n"
    )
