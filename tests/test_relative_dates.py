"""Dates behind "yesterday" and the like in the passages that recall quotes."""

import pytest
from factories import COUNTER, message, recall_texts, turns
from factories import split_into_turns as split

from zkchat_cli.context.passages import format_passages
from zkchat_cli.context.recall import index_turns, recall_passages
from zkchat_cli.text.relative_dates import with_dates


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("Yesterday", "Yesterday [7 May 2023]"),
        ("last night", "last night [7 May 2023]"),
        ("the day before yesterday", "the day before yesterday [6 May 2023]"),
        ("tomorrow", "tomorrow [9 May 2023]"),
        ("last Friday", "last Friday [5 May 2023]"),
        ("last Monday", "last Monday [1 May 2023]"),
        ("next Monday", "next Monday [15 May 2023]"),
        ("last week", "last week [week of 1 May 2023]"),
        ("last weekend", "last weekend [6 to 7 May 2023]"),
        ("next month", "next month [June 2023]"),
        ("last year", "last year [2022]"),
        ("two years ago", "two years ago [2021]"),
        ("5 months ago", "5 months ago [December 2022]"),
        ("gestern, vor drei Tagen", "gestern [7 May 2023], vor drei Tagen [5 May 2023]"),
        ("letzten Freitag", "letzten Freitag [5 May 2023]"),
        ("il y a deux ans", "il y a deux ans [2021]"),
        ("la semaine dernière", "la semaine dernière [week of 1 May 2023]"),
        ("ayer, el mes pasado", "ayer [7 May 2023], el mes pasado [April 2023]"),
        ("ontem, há dois meses", "ontem [7 May 2023], há dois meses [March 2023]"),
        ("na semana passada", "na semana passada [week of 1 May 2023]"),
        ("sexta-feira passada", "sexta-feira passada [5 May 2023]"),
        ("昨天去的，去年", "昨天 [7 May 2023]去的，去年 [2022]"),
        ("三个月前", "三个月前 [February 2023]"),
    ],
)
def test_a_relative_date_is_followed_by_what_it_means(text: str, dated: str) -> None:
    assert with_dates(text, "2023-05-08") == dated


@pytest.mark.parametrize(
    "text",
    [
        "the next year was hard",
        "the last week of May",
        "next to me",
        "lastly",
        "at last",
        "ago",
        "",
    ],
)
def test_what_only_resembles_a_relative_date_stays(text: str) -> None:
    assert with_dates(text, "2023-05-08") == text


def test_a_date_that_no_calendar_has_is_left_out() -> None:
    assert with_dates("999 years ago", "0700-01-01") == "999 years ago"
    assert with_dates("yesterday", "") == "yesterday"
    assert with_dates("yesterday", "0001-01-01") == "yesterday"


def test_recall_adds_dates_and_says_so_within_its_budget() -> None:
    said = "We went to the lake yesterday, and two years ago."
    lake = [message("user", said, "u", timestamp="2023-05-08T12:00:00Z")]
    chatter = turns(*[(f"Is number {i} there?", "Indeed.") for i in range(12)])
    index = index_turns([*split(lake, COUNTER), *chatter])
    found = recall_passages(index, "When at the lake?", 13, 120, COUNTER)
    text = format_passages(found.passages)
    assert "the lake yesterday [7 May 2023], and two years ago [2021]." in text
    assert "dates in brackets are added" in text
    assert COUNTER.count(text) <= found.tokens <= 120


def test_a_speaker_with_a_name_needs_no_role() -> None:
    talk = turns(("Ada: An anvil, brown.", "Ben: Oh, an anvil."), *[("So?", "So.")] * 9)
    assert recall_texts("Which anvil?", talk)[:2] == [
        "Ada: An anvil, brown.",
        "Ben: Oh, an anvil.",
    ]
    chat = turns(("Note: an anvil, brown.", "Oh, an anvil."), *[("So?", "So.")] * 9)
    assert recall_texts("Which anvil?", chat)[0] == "user: Note: an anvil, brown."
