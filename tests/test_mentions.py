"""Requests for notes that mention somebody, in their order of time, in five languages."""

import pytest
from factories import AppFixture, answer_to

from zkchat_cli.llm.offline.requests import parse_request

VAULT = {
    "Meetings/2026-02-10 Budget.md": "Hamza said that it is too much.\n",
    "Meetings/2025-11-20 Kickoff.md": "Hamza and Ines presented.\n",
    "Meetings/2026-04-02 Launch.md": "We launch in June.\n",
    "Ideas.md": "Ask Hamza for a lamp.\n",
}


@pytest.mark.parametrize(
    "message",
    [
        "meetings that Hamza is named in, oldest first",
        "meetings where Hamza is mentioned, from oldest to newest",
        "meetings with Hamza in them in chronological order",
        "meetings about Hamza oldest first",
        "Sitzungen, in denen Hamza erwähnt wird, die ältesten zuerst",
        "Sitzungen, die Hamza erwähnen, von alt nach neu",
        "réunions où Hamza est mentionné, les plus anciennes d'abord",
        "réunions dans lesquelles Hamza apparaît par ordre chronologique",
        "reuniones en las que se menciona a Hamza, las más antiguas primero",
        "reuniones donde aparece Hamza en orden cronológico",
        "reuniões em que o Hamza é mencionado, as mais antigas primeiro",
        "reuniões onde aparece o Hamza, da mais antiga para a mais recente",
    ],
)
def test_notes_of_a_kind_that_mention_a_name_are_listed_in_their_order(
    app: AppFixture, message: str
) -> None:
    said = answer_to(app, message)
    assert said.index("2025-11-20 Kickoff") < said.index("2026-02-10 Budget")
    assert "Launch" not in said
    assert "Ideas" not in said


@pytest.mark.parametrize(
    ("message", "is_newest"),
    [
        ("notes that mention Hamza, newest first", True),
        ("notes that Hamza is named in, in reverse chronological order", True),
        ("Notizen, in denen Hamza vorkommt, chronologisch sortiert", False),
        ("notes qui nomment Hamza, les plus récentes d'abord", True),
        ("notas donde se menciona a Hamza, primero las más antiguas", False),
        ("notas onde o Hamza é citado, da mais recente para a mais antiga", True),
        ("notes about Hamza sorted by date, oldest first", False),
    ],
)
def test_order_at_the_end_is_read(message: str, is_newest: bool) -> None:
    request = parse_request(message)
    assert (request.kind, request.about) == ("list", "Hamza")
    assert (request.newest, request.oldest) == (is_newest, not is_newest)


def test_noun_with_an_order_is_a_list(app: AppFixture) -> None:
    said = answer_to(app, "meetings, oldest first")
    assert said.startswith("3 notes in Meetings/:\n\n- 2025-11-20 Kickoff [1]\n")


@pytest.mark.parametrize("message", ["how do I sort files by date", "last in, first out"])
def test_order_elsewhere_is_searched(message: str) -> None:
    assert parse_request(message).kind in ("lookup", "how_to")
