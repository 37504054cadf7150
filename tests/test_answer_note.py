"""An answer as a note: its links, its front matter, its name."""

import json

import pytest
import yaml
from factories import NOON, message
from hypothesis import example, given
from hypothesis import strategies as st

from zkchat_cli.exporters import md
from zkchat_cli.models.citations import Citation
from zkchat_cli.slash.builtin.save import file_name
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.links.wikilinks import note_name, write_link


def cite(
    number: int, path: str | None = "Queries/Filters.md", *marks: str, of: str = "", **more: object
) -> Citation:
    """A citation that stands where the marks stand in `of`."""
    spans = tuple((of.index(mark), of.index(mark) + len(mark)) for mark in marks)
    known = {"start_line": 3, "end_line": 3, "valid": True, "verdict": "cited"} if path else {}
    return Citation.model_validate(
        {"number": number, "relative_path": path, "spans": spans, **known, **more}
    )


def note(text: str, *citations: Citation, question: str = "How?") -> str:
    answer = message("assistant", text, "a", citations=citations, model="offline", timestamp=NOON)
    return md.answer_note(question, answer, "c1", note_name)


@example("\x7f\x85\u2028\ufeff\x00---\n")
@given(st.text())
def test_whatever_was_asked_the_front_matter_is_yaml_and_ends_where_it_should(
    question: str,
) -> None:
    made = note("Yes.", question=question)
    front, text = made.removeprefix("---\n").split("\n---\n", 1)
    assert text == "\nYes.\n"
    assert yaml.safe_load(front)["question"] == question.strip()
    assert json.loads(front.split("\n")[0].removeprefix("question: ")) == question.strip()


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


def test_citations_become_footnotes_and_what_did_not_hold_is_marked() -> None:
    text = "“It is\nso” [1], “not so” [2], and 【9】.\n\n```py\nprint()"
    held = cite(1, "A.md", "[1]", of=text, quote="It is\nso", verdict="verified")
    wrong = cite(
        2,
        "Sub/B.md",
        "[2]",
        of=text,
        quote="not so",
        valid=False,
        verdict="misquoted",
        start_line=1,
        end_line=4,
    )
    unknown = cite(9, None, "【9】", of=text)
    assert note(text, held, wrong, unknown).split("\n---\n\n")[1].splitlines() == [
        "“It is",
        "so” [^1], “not so” [^2], and [^9].",
        "",
        "```py",
        "print()",
        "```",
        "",
        '[^1]: [[A]] A.md:3 "It is so"',
        '[^2]: [[B]] Sub/B.md:1-4 "not so" *(not verified: the quoted words are not there)*',
        "[^9]: *missing: no such source was in the prompt*",
    ]


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
    assert file_name(question, lambda _: False) == name


@example("\U0001f468\u200d" * 100)
@example("字" * 500)
@example("\U00020000" * 100)
@given(st.text())
def test_every_question_gives_a_name_that_file_systems_take(question: str) -> None:
    name = file_name(question, lambda _: False)
    assert len(name.encode()) <= 250
    assert not set(name) & set('/\\:*?"<>|#^[]\0\n') and not name.startswith((".", " "))
    assert name.isprintable() or any(not c.isprintable() for c in question)
