"""An answer as a note: its links, its front matter, its name."""

import json

import pytest
import yaml
from factories import NOON, message
from hypothesis import example, given
from hypothesis import strategies as st

from zkchat_cli.models import Citation
from zkchat_cli.slash import save
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.links.wikilinks import note_name, write_link


def cite(number: int, path: str | None = "Queries/Filters.md", *marks: str, of: str = "", **more: object) -> Citation:
    """A citation that stands where the marks stand in `of`."""
    spans = tuple((of.index(mark), of.index(mark) + len(mark)) for mark in marks)
    known = {"start_line": 3, "end_line": 3, "valid": True, "verdict": "cited"} if path else {}
    return Citation.model_validate({"number": number, "relative_path": path, "spans": spans, **known, **more})


def note(text: str, *citations: Citation, question: str = "How?") -> str:
    answer = message("assistant", text, "a", citations=citations, model="offline", timestamp=NOON)
    return save.note_text(question, answer, "c1", note_name)


def body(text: str, *citations: Citation) -> str:
    """What stands between front matter and sources."""
    return note(text, *citations).split("\n---\n\n", 1)[1].split("\n\n## Sources")[0].rstrip("\n")


@example("\x7f\x85\u2028\ufeff\x00---\n")
@given(st.text())
def test_whatever_was_asked_the_front_matter_is_yaml_and_ends_where_it_should(question: str) -> None:
    made = note("Yes.", question=question)
    front, text = made.removeprefix("---\n").split("\n---\n", 1)
    assert text == "\nYes.\n"
    assert yaml.safe_load(front)["question"] == question.strip()[: save.MAX_QUESTION]
    assert json.loads(front.split("\n")[0].removeprefix("question: ")) == question.strip()[: save.MAX_QUESTION]


def test_citations_become_links_to_note_and_heading() -> None:
    text = "In capitals [1], in brackets [2][1]."
    dates = cite(2, "Queries/Filters.md", "[2]", of=text, heading="Dates")
    first = cite(1, "A.md").model_copy(update={"spans": ((12, 15), (32, 35))})
    assert body(text, first, dates) == "In capitals [[A]], in brackets [[Filters#Dates]][[A]]."


def test_an_unknown_number_stays_unchanged_and_is_reported() -> None:
    text = "So it is 【9】."
    assert body(text, cite(9, None, "【9】", of=text)) == text
    assert note(text, cite(9, None, "【9】", of=text)).endswith("## Sources\n\n- [9] no such source *(not verified)*\n")


def test_a_link_is_never_an_embedded_note() -> None:
    text = "Look out!【1】"
    assert body(text, cite(1, "A.md", "【1】", of=text)) == "Look out! [[A]]"


@pytest.mark.parametrize(
    ("heading", "link"),
    [
        ("Dates", "[[Filters#Dates]]"),
        ("Filters", "[[Filters]]"),
        ("a [b] | c#d ^e\n%%f", "[[Filters#a b c d e f]]"),
        ("[[]]", "[[Filters]]"),
        (None, "[[Filters]]"),
    ],
)
def test_a_heading_is_made_safe(heading: str | None, link: str) -> None:
    assert write_link("Queries/Filters.md", "Filters", heading) == link


@pytest.mark.parametrize("name", ["a#b", "a|b", "[a]", "a^b", "a%%b", "a\nb"])
def test_a_note_that_no_wikilink_can_name_gets_a_markdown_link_that_leads_there(name: str) -> None:
    made = write_link(f"Sub folder/{name}.md", name, "Dates")
    assert not made.startswith("[[")
    [link] = note_parser.parse_note("n.md", f"See {made}.").markup.links
    assert link.kind == "markdown"
    assert link.text == f"Sub folder/{name}.md".replace("\n", "\n")


def test_sources_have_lines_and_quotes_and_what_did_not_hold_is_marked() -> None:
    text = "“It is\nso” [1], “not so” [2]."
    held = cite(1, "A.md", "[1]", of=text, quote="It is\nso", verdict="verified")
    wrong = cite(2, "Sub/B.md", "[2]", of=text, quote="not so", valid=False, verdict="misquoted", start_line=1, end_line=4)
    whole = cite(3, "C`.md", start_line=None, end_line=None)
    assert note(text, held, wrong, whole, whole).split("## Sources\n\n")[1].splitlines() == [
        "- [[A]] `A.md`:3 “It is so”",
        "- [[B]] `Sub/B.md`:1-4 “not so” *(not verified: the quoted words are not there)*",
        "- [[C`]] `C'.md`",
    ]


def test_an_open_code_block_does_not_swallow_the_sources() -> None:
    text = "So [1]:\n\n```py\nprint()"
    assert "print()\n```\n\n## Sources" in note(text, cite(1, "A.md", "[1]", of=text))


# names


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("how do I combine filters with or? see [[Filtrs]]", "How do I combine filters with or.md"),
        ("What's new in v1.2?", "What's new in v1 2.md"),
        ("../../etc/passwd", "Etc passwd.md"),
        ("\n\n  Zeile eins\nZeile zwei", "Zeile eins.md"),
        ("筛选器如何组合？", "筛选器如何组合.md"),
        ("cafe\u0301 au lait", "Cafe\u0301 au lait.md"),
        ("???", "Answer.md"),
        ("", "Answer.md"),
        (".hidden", "Hidden.md"),
        ("word " * 50, "Word word word word word word word word word word word word.md"),
    ],
)
def test_a_note_is_named_after_its_question(question: str, name: str) -> None:
    assert save.file_name(question, lambda _: False) == name


@example("\U0001f468\u200d" * 100)
@example("字" * 500)
@example("\U00020000" * 100)
@given(st.text())
def test_every_question_gives_a_name_that_file_systems_take(question: str) -> None:
    name = save.file_name(question, lambda _: False)
    assert len(name.encode()) <= 250
    assert not set(name) & set('/\\:*?"<>|#^[]\0\n') and not name.startswith((".", " "))
    assert name.isprintable() or any(not c.isprintable() for c in question)
