"""Items of outlines and titles of callouts are quoted with what is below them."""

from factories import prompt_message

from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.named_words import is_noun
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource

OUTAGE = """- The shop's server was down from 9:10 to 9:55
\t- cause: the disk was full of thumbnails
\t- fix: moved the cache elsewhere
- Lunch with Ravi
"""
HELP = """> [!question] The cloud icon is grey
> You are signed out. Sign in again.

> [!tip] Use a wired connection
"""
MEETING = """- Meeting about the orchard
  attendees:: Maud, Joost
\t- Decided: no pears
\t- Maud brings the ladder
"""


def answer(question: str, text: str, title: str = "2026_03_17") -> str:
    asked = analyze_question([prompt_message("user", question)], 0)
    return quote_answer(asked, [QuoteSource(1, f"{title}.md", title, None, text)]).text


def test_an_item_is_quoted_with_the_items_nested_in_it() -> None:
    assert (
        "“The shop's server was down from 9:10 to 9:55 • cause: the disk was full of thumbnails"
        " • fix: moved the cache elsewhere” [1]"
    ) in answer("when was the shop's server down", OUTAGE)


def test_a_nested_item_is_quoted_alone_and_found_by_the_words_above_it() -> None:
    assert "“fix: moved the cache elsewhere” [1]" in answer("where was the cache moved", OUTAGE)
    said = answer("what was decided about the orchard", MEETING)
    assert "Decided: no pears" in said


def test_the_title_of_a_callout_is_quoted_with_its_text() -> None:
    said = answer("the cloud icon is grey", HELP, "Sync")
    assert "“The cloud icon is grey • You are signed out. Sign in again.” [1]" in said


def test_a_property_that_only_files_or_names_the_note_is_no_answer() -> None:
    page = "tags:: [[recipe]]\ntype:: [[dish]]\n- Feed the starter twice\n"
    assert "::" not in answer("which recipe needs a starter", page, "Bread")
    trip = "city: Rome\nbudget: 780\n"
    assert "city" not in answer("budget of Rome", trip, "Rome")


def test_what_an_item_is_quoted_with_is_not_quoted_once_more() -> None:
    said = answer("the server was down because the disk was full", OUTAGE)
    assert said.count("disk was full") == 1


def test_a_list_below_its_lead_in_may_be_nested_without_any_heading() -> None:
    packing = "- We went to Wales\n\t- Bring next time:\n\t\t- a tarp\n\t\t- a stove\n"
    said = answer("when did we go to Wales", packing)
    assert "“We went to Wales • Bring next time: a tarp • a stove” [1]" in said


def test_a_preposition_is_not_named_as_what_the_notes_lack() -> None:
    assert not is_noun("against", "what helped against slugs", "english")
    assert is_noun("slugs", "what helped against slugs", "english")
