"""The HTML export as its readers have it: a parser that follows every link, a phone, a printer, and somebody who wants to do harm."""

import base64
import hashlib
import itertools
import re
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from conftest import Program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_exporters import answer, archives, said, talk

from zkchat_cli.exporters import exporter
from zkchat_cli.exporters.html.elements import HARMFUL, harmless
from zkchat_cli.exporters.html.markdown import rendered
from zkchat_cli.exporters.html.sources import highlighted
from zkchat_cli.exporters.html.style import STYLE
from zkchat_cli.models import Citation, Compaction, ContentChunk, ConversationArchive, DocumentReference, TokenUsage, ToolCall, ToolRun

NOON = "2025-05-08T12:00:00+00:00"

VOID = {"meta", "br", "hr"}
KNOWN = VOID | set(
    """html head title style body a header h1 h2 h3 h4 h5 h6 dl dt dd time main nav article section div p ul ol li em strong s span code pre
    blockquote table thead tbody tfoot tr th td caption cite q mark details summary footer svg desc line rect text""".split()
)
ATTRIBUTES = set(
    """id class href rel lang dir open charset name content http-equiv datetime scope start role viewbox x y x1 x2 y1 y2 width height
    text-anchor aria-label aria-labelledby aria-hidden""".split()
)


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    within: "tuple[Element, ...]" = ()
    pieces: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "".join(self.pieces)


@dataclass
class Page(HTMLParser):
    """A page read by a real parser that forgives nothing: every element is closed where it must be, and every id is there once."""

    source: str
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        assert self.source.startswith("<!DOCTYPE html>\n<html ")
        self.feed(self.source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN, tag
        assert len({name for name, _ in attrs}) == len(attrs)
        found = Element(tag, {name: value or "" for name, value in attrs}, tuple(self._open))
        self.elements.append(found)
        if tag not in VOID:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.pieces.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def all(self, tag: str, class_: str = "") -> list[Element]:
        return [e for e in self.elements if e.tag == tag and class_ in ("", *e.attributes.get("class", "").split())]

    def one(self, tag: str, class_: str = "") -> Element:
        [found] = self.all(tag, class_)
        return found

    def at(self, href: str) -> Element:
        """The element that a link within the page leads to."""
        [found] = [e for e in self.elements if f"#{e.attributes.get('id')}" == href]
        return found


def checked(archive: ConversationArchive) -> Page:
    """The archive's page, after all that must hold of any page."""
    page = Page(exporter("html").export(archive))
    page.source.encode("utf-8")
    acting = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]", page.source)
    assert acting is None, acting
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        assert set(element.attributes) <= ATTRIBUTES, element
        for name in element.attributes.get("aria-labelledby", "").split():
            assert name in ids
        if "href" in element.attributes:
            assert element.tag == "a"
            assert not any(outer.tag == "a" for outer in element.within)
            href = element.attributes["href"]
            if href.startswith("#"):
                assert href[1:] in ids, href
            else:
                assert urlsplit(href).scheme.lower() in {"http", "https", "mailto", "obsidian"}, href
                assert element.attributes["rel"] == "noopener noreferrer nofollow"
    assert page.one("html").attributes["lang"] == "en"
    assert [element.words for element in page.all("style")] == [STYLE]
    assert [e.within[-1].tag for e in page.all("title")].count("head") == 1
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("header")) == 1
    return page


def read(*messages: Any, **more: Any) -> Page:
    return checked(talk(*messages, **more))


CHUNK = ContentChunk(
    id="k3",
    relative_path="Queries/Filters.md",
    title="Filters",
    heading="Boolean operators",
    start_line=12,
    end_line=14,
    text="Filters can be joined:\n> AND, OR, *NOT* … must\n> be in “capitals”.",
    number=3,
)


def cite(number: int = 3, **more: Any) -> Citation:
    values = {
        "number": number,
        "relative_path": "Queries/Filters.md",
        "heading": "Boolean operators",
        "start_line": 12,
        "end_line": 14,
        "valid": True,
        "status": "cited",
    }
    return Citation.model_validate({**values, **more})


def a_turn(content: str, *citations: Citation, **more: Any) -> tuple[Any, ...]:
    """A question, a tool call that brings excerpt 3, and an answer."""
    call = ToolCall(id="t1", name="find_excerpts", arguments={"query": "combine filters"})
    run = ToolRun(name="find_excerpts", arguments={}, ok=True, tokens=812, duration_ms=4.2)
    return (
        said("user", "How do I combine filters?"),
        said("assistant", tool_calls=(call,), model="offline"),
        said("tool", "…", tool_call_id="t1", tool_name="find_excerpts", chunks=(CHUNK,), tool_run=run),
        said("assistant", content, citations=citations, model="offline", **more),
    )


# Reading it


def test_a_citation_leads_to_its_source_and_back_and_the_quoted_words_are_marked_in_the_excerpt() -> None:
    quote = "and, or, not … must be in capitals"
    text = f'In one line: "{quote}" [3].'
    page = read(*a_turn(text, cite(quote=quote, status="verified", spans=((text.index("[3]"), len(text) - 1),))))
    link = page.one("a", "cite")
    assert link.words == "[3]✓ (verified: the quoted words stand there)"
    source = page.at(link.attributes["href"])
    assert source.attributes["class"] == "verified"
    for words in ("[3]", "✓", "Filters › Boolean operators", "Queries/Filters.md:12-14", "verified: the quoted words stand there"):
        assert words in source.words
    [excerpt] = [e for e in page.all("pre") if source in e.within]
    assert excerpt.words == CHUNK.text
    assert page.all("mark") == []
    [back] = [e for e in page.all("a") if source in e.within]
    assert page.at(back.attributes["href"]) is link


def test_the_words_that_are_quoted_are_marked_and_no_others() -> None:
    page = read(*a_turn('"AND, OR, NOT … must be" [3]', cite(quote="AND, OR, NOT … must be", status="verified")))
    assert page.one("mark").words == "AND, OR, *NOT* … must\n> be"


@pytest.mark.parametrize(
    ("status", "sign", "words"),
    [
        ("verified", "✓", "verified"),
        ("cited", "•", "without quoting"),
        ("misquoted", "✗", "misquoted"),
        ("missing", "?", "no such source was in the prompt"),
    ],
)
def test_what_a_citation_came_to_is_told_by_a_sign_and_in_words(status: str, sign: str, words: str) -> None:
    path = {"relative_path": None, "heading": None, "start_line": None, "end_line": None} if status == "missing" else {}
    page = read(*a_turn("so [3]", cite(status=status, quote="something quoted", spans=((3, 6),), **path)))
    link = page.one("a", "cite")
    assert sign in link.words and words in link.words
    source = page.at(link.attributes["href"])
    assert sign in source.words and words in source.words
    assert [e.words for e in page.all("details", "excerpt")] == ([] if status == "missing" else ["The excerpt" + CHUNK.text])


def test_each_place_has_its_own_mark_and_a_source_the_worst_of_them() -> None:
    text = "good [3] and bad [3]"
    page = read(
        *a_turn(
            text, cite(quote="joined", spans=((5, 8),), status="verified"), cite(quote="nowhere", spans=((17, 20),), status="misquoted")
        )
    )
    assert [e.attributes["class"] for e in page.all("a", "cite")] == ["cite verified", "cite misquoted"]
    assert page.one("li", "misquoted").words.startswith("[3] ✗ ")
    assert [e.words for e in page.all("p", "quote")] == ["joined ✓ verified", "nowhere ✗ misquoted"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("so [3]", "so [3]"),
        ("so [3, 9] and [3][3]", "so [3, 9] and [3][3]"),
        ("*so*[3] **[3]**", "so[3] [3]"),
        ("| a [3] |\n|---|\n| b [3] |", "a [3]\n\n\n\n\nb [3]"),
        ("# Title [3]", "Title [3]"),
        ("> - quoted [3]", "quoted [3]"),
        ("[3]: as it says", "[3]: as it says"),
        ("【3】 and [source 3]", "【3】 and [source 3]"),
    ],
)
def test_marks_of_older_messages_are_found_by_reading_them(written: str, shown: str) -> None:
    page = read(*a_turn(written, cite()))
    places = len(re.findall("3", written))
    assert len(page.all("a", "cite")) == places
    words = page.all("div", "prose")[-1].words.replace("• (cited, without quoting it)", "").replace("•", "")
    assert [line for line in words.strip().splitlines() if line] == [line for line in shown.splitlines() if line]


def test_of_several_numbers_only_those_that_are_citations_are_links() -> None:
    page = read(*a_turn("so [3, 9]", cite()))
    assert page.one("a", "cite").words.startswith("3•")
    assert page.all("div", "prose")[-1].words.strip().endswith(", 9]")


@pytest.mark.parametrize("code", ["`a[3]`", "```py\na[3]\n```", "    a[3]", "~~~\na[3]"])
def test_code_stays_as_it_was_written(code: str) -> None:
    at = code.index("[3]")
    page = read(*a_turn(f"{code}", cite(spans=((at, at + 3),))))
    assert page.all("a", "cite") == []
    [shown] = [e for e in page.all("code") if any(outer.attributes.get("class") == "prose" for outer in e.within)]
    assert shown.words.strip() == "a[3]"


def test_a_mark_in_a_link_stays_words_and_one_in_an_address_stays_the_address() -> None:
    text = "[see [3] there](https://x.org/a[3]) <https://x.org/[3]> ![pic [3]](https://x.org/p[3].png)"
    spans = tuple(m.span() for m in re.finditer(r"\[3\]", text))
    page = read(*a_turn(text, cite(spans=spans)))
    links = [e for e in page.all("a") if "rel" in e.attributes]
    assert [e.words for e in links] == ["see [3] there", "https://x.org/[3]", "Image: pic [3]"]
    assert [e.attributes["href"] for e in links] == ["https://x.org/a%5B3%5D", "https://x.org/%5B3%5D", "https://x.org/p%5B3%5D.png"]
    assert page.all("a", "cite") == []


def test_spans_that_no_text_has_do_no_harm() -> None:
    spans = ((-5, 2), (0, 0), (4, 2), (3, 6), (3, 5), (4, 900), (900, 905))
    page = read(*a_turn("so [3] it is", cite(spans=spans)))
    assert "so [3" in page.all("div", "prose")[-1].words


def test_markdown_is_rendered_and_its_headings_stand_below_ours() -> None:
    page = read(*a_turn("# One\n\n###### Six\n\n- a\n- **b**\n\n1. c\n\n~~d~~\n\n| l | r |\n|---|--:|\n| x | y |\n\n---\n\n`code`"))
    inside = {e.tag for e in page.elements if any(outer.attributes.get("class") == "prose" for outer in e.within)}
    assert inside >= {"h3", "h6", "ul", "ol", "li", "strong", "s", "table", "hr", "code"}
    assert not inside & {"h1", "h2"}
    assert [e.words for e in page.all("td", "right")] == ["y"]


def test_a_tool_call_is_one_folded_line_with_what_it_brought() -> None:
    page = read(*a_turn("so [3]", cite()))
    call = page.one("details", "call")
    assert "open" not in call.attributes
    assert [e.words.split(" · ")[0] for e in page.all("h2")] == ["You", "zkchat calls tools", "zkchat"]
    assert (
        call.words == 'find_excerpts "combine filters": 1 excerpt, 812 tokens, 4 ms[3] Filters › Boolean operators Queries/Filters.md:12-14'
    )


def test_other_tool_answers_are_shown_as_they_are() -> None:
    calls = (ToolCall(id="1", name="resolve"), ToolCall(id="2", name="lost"))
    failed = ToolRun(name="resolve", arguments={}, ok=False, tokens=5, duration_ms=1)
    page = read(
        said("assistant", "Let me see.", tool_calls=calls),
        said("tool", "an <error>", tool_call_id="1", tool_run=failed),
        said("tool", "x" * 3000, tool_call_id="9", tool_name="other"),
        said("tool", "nameless"),
    )
    assert [e.words[:30] for e in page.all("details", "call")] == [
        "resolve : failed, 1 msan <erro",
        "lost No answer is stored.",
        "other" + "x" * 25,
        "toolnameless",
    ]
    assert len(page.all("details", "call")[2].words) == len("other") + 2001


def test_documents_that_no_answer_cites_are_listed_broken_ones_with_what_was_near() -> None:
    references = (
        DocumentReference(wikilink="[[Filtrs]]", reference_type="direct", status="broken", candidates=("Filters",)),
        DocumentReference(
            wikilink="[[B]]", relative_path="B.md", reference_type="direct", delivery="partly", delivery_reason="812 of 900 tokens"
        ),
    )
    found = DocumentReference(wikilink="[[C]]", relative_path="C.md", reference_type="search")
    question, *rest = a_turn("so [3]", cite(), references=(found,), uncited_statements=2)
    page = read(question.model_copy(update={"references": references}), *rest)
    entries = [e.words for e in page.all("li") if any(outer.attributes.get("class") == "unused" for outer in e.within)]
    assert entries == [
        "✗ [[Filtrs]]: not found; nearest: [[Filters]]",
        "B.md: named, a part of it was in the prompt (812 of 900 tokens)",
        "C.md: found",
    ]
    assert page.one("div", "unused").words.endswith("2 sentences have no citation.")
    assert read(*a_turn("so.", uncited_statements=1)).one("div", "unused").words == "1 sentence has no citation."


def test_what_a_question_brought_into_the_prompt_is_listed_with_it() -> None:
    unnumbered = CHUNK.model_copy(update={"number": None, "heading": "Filters", "end_line": 12})
    page = read(said("user", "so?", chunks=(CHUNK, unnumbered)))
    assert page.one("details", "call").words.startswith("2 excerpts of the notes it names[3] Filters › Boolean operators")
    assert page.one("details", "call").words.endswith("Filters Queries/Filters.md:12")
    assert "1 excerpt of the" in read(said("user", "so?", chunks=(CHUNK,))).one("details", "call").words


def test_an_excerpt_is_only_shown_for_the_note_it_is_of() -> None:
    page = read(*a_turn("so [3] [4]", cite(relative_path="Other.md", start_line=None), cite(4, relative_path="Lost.md", end_line=12)))
    assert page.all("details", "excerpt") == []
    assert [e.words for e in page.all("li", "cited")] == [
        "[3] • Other › Boolean operators Other.md cited, without quoting it ↩",
        "[4] • Lost › Boolean operators Lost.md:12 cited, without quoting it ↩",
    ]


def test_the_first_of_two_excerpts_with_one_number_is_the_one_meant() -> None:
    other = CHUNK.model_copy(update={"text": "another"})
    page = read(*a_turn("so [3]", cite()), said("tool", "x", tool_call_id="z", chunks=(other,)))
    assert page.one("details", "excerpt").words == "The excerpt" + CHUNK.text


def test_the_head_says_what_this_is() -> None:
    page = read(*a_turn("so"), title="Filters & <more>")
    assert page.all("title")[0].words == "Filters & <more>"
    meta = {e.attributes.get("name"): e.attributes.get("content") for e in page.all("meta")}
    assert (meta["conversation"], meta["date"], meta["model"]) == ("c1", NOON, "offline")
    assert page.one("dl").words == "Date2025-05-08 12:00ModelofflineConversationc1"
    assert page.one("header").words.startswith("Filters & <more>")


def test_several_questions_have_a_list_of_them() -> None:
    page = read(*a_turn("so"), *a_turn("so"))
    links = [e for e in page.all("a") if any(outer.tag == "nav" for outer in e.within)]
    assert [e.words for e in links] == ["How do I combine filters?"] * 2
    assert page.at(links[1].attributes["href"]).attributes["class"] == "user"
    assert read(*a_turn("so")).all("nav") == []


def test_only_the_current_branch_is_shown_but_a_number_is_known_from_any() -> None:
    whole = talk(
        said("user", "first"), said("assistant", "so [3]", citations=(cite(),)), said("tool", "z", chunks=(CHUNK,)), said("user", "other")
    )
    page = checked(whole.model_copy(update={"conversation": whole.conversation.model_copy(update={"head_id": "m1"})}))
    assert "other" not in page.one("main").words
    assert page.one("details", "excerpt").words.endswith(CHUNK.text)


def test_an_import_may_begin_with_an_answer_and_hold_nothing_at_all() -> None:
    assert read(said("assistant", "Hello."), said("system", "Be brief.")).one("main").words.startswith("zkchat · 2025-05-08 12:00Hello.")
    assert read(title=None).one("main").words == "No messages yet."


def test_messages_that_are_not_complete_are_marked() -> None:
    page = read(said("user", "a", status="failed"), said("user", "b"), said("assistant", "half", status="unfinished"))
    assert [e.words for e in page.all("p", "note")] == ["Failed: there is no answer.", "Unfinished: the answer was cut off here."]


def test_the_summary_that_holds_stands_apart() -> None:
    first = Compaction(
        id="s", created_at=NOON, tokens_before=9000, tokens_after=100, messages_folded=4, summary="- *One* <b>", mode="extractive"
    )
    masked = first.model_copy(update={"id": "t", "summary": None})
    page = read(*a_turn("so"), compactions=(first, masked))
    [summary] = [e for e in page.all("section") if e.attributes["aria-labelledby"] == "summary"]
    assert not any(outer.tag == "main" for outer in summary.within)
    assert summary.words.split() == "Summary2025-05-08 12:00: 4 messages, 9,000 → 100 tokens One <b>".split()
    assert "Summary" not in read(*a_turn("so"), compactions=(masked,)).one("body").words


def test_of_summaries_that_took_in_one_another_the_last_is_written_out() -> None:
    one, two, three = (
        Compaction(id=f"s{n}", created_at=NOON, tokens_before=9, tokens_after=1, messages_folded=n, summary=f"told {n}", mode="full")
        for n in range(3)
    )
    shown = read(*a_turn("so"), compactions=(one, two, three)).one("body").words
    assert "told 2" in shown
    assert "told 0" not in shown
    assert "2 earlier summaries, taken into this one" in shown
    assert "1 earlier summary, taken into this one" in read(*a_turn("so"), compactions=(one, two)).one("body").words


# Figures


def usage(prompt: int, completion: int, **more: Any) -> TokenUsage:
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion, **more)


def test_the_tokens_of_each_answer_are_a_table_and_a_chart() -> None:
    first = a_turn("so", usage=usage(1200, 80, estimated=False))
    second = a_turn("so", usage=usage(2400, 40, cached_tokens=1000))
    page = read(*first, *second)
    rows = [[cell.words for cell in page.elements if row in cell.within and cell.tag in ("th", "td")] for row in page.all("tr")]
    assert rows == [
        ["Answer", "Question", "Prompt", "Completion", "Cached"],
        ["3", "How do I combine filters?", "1,200", "80", ""],
        ["6", "How do I combine filters?", "~2,400", "~40", "1,000"],
        ["Total", "", "~3,600", "~120", "1,000"],
    ]
    assert "estimate" in page.one("caption").words
    assert "estimate" not in read(*first).one("caption").words
    heights = {kind: [float(e.attributes["height"]) for e in page.all("rect", kind)] for kind in ("prompt", "completion")}
    assert heights == {"prompt": [45, 90], "completion": [90, 45]}
    assert all(float(e.attributes["y"]) + float(e.attributes["height"]) == 90 for e in page.all("rect", "prompt"))
    assert page.one("svg").attributes["role"] == "img"
    assert "at most 2,400" in page.one("desc").words
    assert read(*a_turn("so")).all("svg") == []


def test_a_long_table_of_tokens_is_folded_under_its_total() -> None:
    page = read(*(said("assistant", "so", usage=usage(1000, 2)) for _ in range(25)))
    [costs] = page.all("details", "costs")
    assert "25 answers: ~25,000 tokens of prompts, ~50 of completions" in costs.words
    assert "open" not in costs.attributes
    assert costs in page.one("table").within
    assert read(*a_turn("so", usage=usage(1, 1))).all("details", "costs") == []


@pytest.mark.parametrize("answers", [1, 25, pytest.param(1500, marks=pytest.mark.untraced)])
def test_the_chart_keeps_within_its_borders_however_many_answers_there_are(answers: int) -> None:
    page = read(*(said("assistant", "so", usage=usage(n, -n)) for n in range(answers)))
    for bar in page.all("rect"):
        assert 70 <= float(bar.attributes["x"]) <= 720
        assert float(bar.attributes["x"]) + float(bar.attributes["width"]) <= 720
        assert 0 <= float(bar.attributes["height"]) <= 90
    labels = [e for e in page.all("text") if e.attributes["text-anchor"] == "middle"]
    assert 1 <= len(labels) <= 20


# Marking quoted words


@pytest.mark.parametrize(
    ("excerpt", "quotes", "shown"),
    [
        ("a b c", [], "a b c"),
        ("The Filter is here", ["filter  IS"], "The <mark>Filter is</mark> here"),
        ("> one\n> two", ["one two"], "&gt; <mark>one\n&gt; two</mark>"),
        ("so *it* `is` said", ["it is"], "so *<mark>it* `is</mark>` said"),
        ("“Well” it’s", ['"well" it\'s'], "<mark>“Well” it’s</mark>"),
        ("a 中文字 b", ["中文"], "a <mark>中文</mark>字 b"),
        ("cafe\u0301 x", ["café"], "<mark>cafe\u0301</mark> x"),
        ("𝓐 \N{GRINNING FACE} b", ["a \N{GRINNING FACE}"], "<mark>𝓐 \N{GRINNING FACE}</mark> b"),
        ("one two three", ["two three", "one two", "two"], "<mark>one two</mark><mark> three</mark>"),
        ("so…", ["… so …", "…", " "], "<mark>so</mark>…"),
        ("nothing of it", ["something else"], "nothing of it"),
        ("<b> & </b>", ["b> & <"], "&lt;<mark>b&gt; &amp; &lt;</mark>/b&gt;"),
        ("한글 x", ["한글"], "<mark>한글</mark> x"),
        ("ﬁne", ["f"], "<mark>ﬁ</mark>ne"),
        ("a\n\n\nb", ["a b"], "<mark>a\n\n\nb</mark>"),
    ],
)
def test_quoted_words_are_marked_as_they_stand_in_the_excerpt(excerpt: str, quotes: list[str], shown: str) -> None:
    assert highlighted(excerpt, quotes) == shown


@given(st.text(), st.lists(st.text(max_size=8), max_size=3), st.integers(0, 20), st.integers(0, 20))
def test_marking_adds_nothing_and_takes_nothing_away(excerpt: str, quotes: list[str], start: int, length: int) -> None:
    from html import unescape

    shown = highlighted(excerpt, [*quotes, excerpt[start : start + length]])
    assert re.sub("</?mark>", "", shown) == highlighted(excerpt, [])
    assert unescape(highlighted(excerpt.replace("\r", "").replace("&", ""), [])) == excerpt.replace("\r", "").replace("&", "")


# Nothing acts, nothing is loaded

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)>",
    "</pre></details></article></main><iframe src='https://evil.example'></iframe>",
    "<!-- <script> --!><svg onload=alert(1)>",
    "]]><?xml?><!DOCTYPE x>",
    '"><a href="javascript:alert(1)">x</a>',
    "' onmouseover='alert(1)",
    "[x](javascript:alert(1)) [x](JaVaScRiPt:alert(1)) [x](java\tscript:alert(1)) [x](\x01javascript:alert(1))",
    "[x](&#106;avascript:alert(1)) [x](javascript&colon;alert(1)) <javascript:alert(1)> [x](vbscript:x) [x](data:text/html,<script>)",
    "[x](data:image/png;base64,AAAA) [x](file:///etc/passwd) [x](//evil.example) [x](blob:x) [x](Note.md) [x](\\\\evil)",
    "![x](https://evil.example/p.png) ![x](//evil.example/p.png) [![x](https://evil.example/a.png)](https://evil.example)",
    '[x](https://evil.example "t" onclick=alert(1)) [x](https://evil.example/"onclick="alert(1)) <https://evil.example/\'x\'>',
    "[1]: javascript:alert(1)\n[3]: https://evil.example\n\n[1] [3] [x][3]",
    "a\u202eb\u2066c &#x202E; &#8238; &rlm; \x1b[2J\x00\x07\x9b \ufdd0 [\ufdd00\ufdd1] &#xFDD0; \uffff",
    "| a |\n|:-:|\n| <script> |\n\n<div style='position:fixed'>\n\n<style>*{display:none}</style>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    '`<script>` ``` </code> ```\n\n```"><script>\n</code></pre><script>\n```',
    "http://[::1 <http://[x]> [x](http://[) [x](https://%zz) [x](https://例え.jp/ü?q=<>&\"')",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_stands_anywhere_it_stays_words(attack: str) -> None:
    run = ToolRun(name=attack, arguments={}, ok=True, tokens=1, duration_ms=1)
    chunk = CHUNK.model_copy(update={"text": attack, "title": attack, "heading": attack, "relative_path": attack})
    reference = DocumentReference(
        wikilink=attack, relative_path=f"{attack}2", reference_type="direct", delivery="offered", delivery_reason=attack
    )
    broken = DocumentReference(wikilink=attack, reference_type="direct", status="broken", candidates=(attack,))
    summary = Compaction(id="s", created_at=attack, tokens_before=9, tokens_after=1, messages_folded=4, summary=attack, mode="full")
    cited = cite(relative_path=attack, heading=attack, quote=attack, status="verified", spans=((0, 4),))
    archive = talk(
        said("user", attack, references=(reference, broken)),
        said("assistant", attack, tool_calls=(ToolCall(id="t", name=attack, arguments={"a": attack}),), model=attack),
        said("tool", attack, tool_call_id="t", tool_name=attack, tool_run=run),
        said("tool", attack, tool_call_id="u", tool_name=attack, chunks=(chunk,)),
        said("assistant", f"so [3] {attack}", citations=(cited,), timestamp=attack, usage=usage(1, 1)),
        title=attack,
        compactions=(summary,),
    )
    changed = archive.conversation.model_copy(update={"created_at": attack})
    page = checked(archive.model_copy(update={"conversation": changed}))
    assert not page.all("script")
    assert "javascript" not in "".join(e.attributes.get("href", "") for e in page.elements).lower()


def test_an_image_is_a_link_because_nothing_may_be_loaded() -> None:
    page = read(*a_turn("![a *cat*](https://x.org/cat.png) ![](https://x.org/dog.png) [![b](https://x.org/b.png)](https://x.org/)"))
    links = [(e.words, e.attributes["href"]) for e in page.all("a") if "rel" in e.attributes]
    assert links == [
        ("Image: a *cat*", "https://x.org/cat.png"),
        ("Image: without a description", "https://x.org/dog.png"),
        ("Image: b", "https://x.org/"),
    ]


def test_links_of_the_allowed_kinds_are_links_and_others_stay_as_they_were_written() -> None:
    page = read(*a_turn("<https://a.b> [m](mailto:a@b.c) [o](obsidian://open?vault=v&file=f) [n](Note.md) <a@b.c>"))
    links = [e.attributes["href"] for e in page.all("a") if "rel" in e.attributes]
    assert links == ["https://a.b", "mailto:a@b.c", "obsidian://open?vault=v&file=f", "mailto:a@b.c"]
    assert "[n](Note.md)" in page.one("main").words


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    page = read(*a_turn("so"))
    [policy] = [e.attributes["content"] for e in page.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.one("style").words.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in STYLE and "@import" not in STYLE


anything = st.text(st.sampled_from("ab 1[]()<>!&#;:/\\`*_~|-+\n\t\"'=\ufdd0\u202e3^【】") | st.characters(), max_size=60)


@settings(max_examples=150, deadline=None)
@given(anything, st.lists(st.tuples(st.integers(-2, 62), st.integers(-2, 62)), max_size=4).map(tuple))
def test_any_markdown_with_citations_anywhere_is_a_sound_page(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    read(*a_turn(text, cite(spans=spans), cite(9, relative_path=None, status="missing", spans=spans[:1])))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(archives())
def test_any_conversation_is_a_sound_page(archive: ConversationArchive) -> None:
    checked(archive)


HARD = ["[", "![", "](", "*a ", "_a", "> ", "- ", "<a", "&", "|a", "~~a", "\\", "\n", "`a", "a@b", "[3]", "**", "[a](http://b", "1. a\n\n"]


def test_a_text_as_long_as_a_book_is_shown_as_it_is() -> None:
    assert rendered("*a* & b" * 20_000, (), str).startswith('<pre class="plain">*a* &amp; b*a*')


@pytest.mark.parametrize("piece", HARD)
def test_a_text_that_is_hard_to_read_is_exported_in_seconds(piece: str, untraced: None) -> None:
    for size in (25_000, 200_000):
        archive = talk(*a_turn(piece * (size // len(piece)), cite()))
        began = time.process_time()
        exporter("html").export(archive)
        assert time.process_time() - began < 30


@pytest.mark.untraced
def test_a_very_long_text_is_shown_as_it_was_written_with_its_citations() -> None:
    page = read(*a_turn("# so [3] <b>\n" * 10_000, cite()))
    assert len(page.all("a", "cite")) == 10_000
    assert page.one("pre", "plain").words.startswith("# so [3]•")
    assert page.one("li", "cited").words.count("↩") == 10


# For everybody


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_colour_can_be_read_by_day_and_by_night() -> None:
    day, night = STYLE.split("@media (prefers-color-scheme: dark)")
    for block in (day, night):
        of = colours(block)
        assert len(of) == 12
        for name in ("text", "quiet", "link", "verified", "cited", "misquoted", "missing"):
            for ground in ("ground", "raised"):
                assert contrast(of[name], of[ground]) >= 4.5, (name, ground)
        assert contrast(of["on-marked"], of["marked"]) >= 4.5


def test_it_has_its_landmarks_and_each_message_its_name() -> None:
    page = read(*a_turn("so [3]", cite(), usage=usage(1, 1)), *a_turn("so"))
    assert [e.tag for e in page.elements if e.tag in ("header", "nav", "main", "footer")] == ["header", "nav", "main", "footer"]
    assert page.at(page.all("a")[0].attributes["href"]) is page.one("main")
    for article in page.all("article"):
        assert page.at(f"#{article.attributes['aria-labelledby']}").tag == "h2"
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "width=device-width" in page.source and "@media print" in STYLE


# On the command line


def test_it_is_written_by_the_command_line_and_opens_offline(zkchat: Program, tmp_path: Path) -> None:
    zkchat("ask", "How are filters joined? See [[Combining]] and [[Nowhere]].")
    done = zkchat("context", "export", "--format", "html", "-o", tmp_path / "talk.html")
    assert (done.exit_status, done.out) == (0, "")
    page = Page((tmp_path / "talk.html").read_text(encoding="utf-8"))
    assert page.all("a", "cite")
    assert "Queries/Combining.md" in page.one("main").words
    assert "[[Nowhere]]: not found" in page.one("main").words
    assert not re.search(r"""(?:src|srcset|action|poster|background)\s*=|url\(""", page.source)


def test_an_answer_without_a_citation_has_no_sources() -> None:
    assert read(said("user", "Hm?"), answer("So.")).all("section", "sources") == []


def test_each_character_that_acts_is_found_wherever_it_stands() -> None:
    acting = list(map(chr, HARMFUL))
    assert len(acting) > 2000
    assert not [c for c in acting if harmless(f"a{c}b") in (f"a{c}b", "ab")]
    assert harmless("a\tb\nc \U00020000 \U0001f600 \ue000") == "a\tb\nc \U00020000 \U0001f600 \ue000"


WRITTEN = [*"aB9é中“('\"!?.,:;-+=/%^@{}[]*|…» \n\u00a0\u2028\u0301", "\n\n", "[[", "]]", "word ", "the end.\n", "1. ", "---\n", "===\n"]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=9).map("".join))
def test_what_has_no_markdown_comes_to_what_markdown_makes_of_it(written: str) -> None:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")
    tokens = reader.parse(written)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{int(token.tag[1]) + 2}"
    assert rendered(written, (), lambda _, words: words) == reader.renderer.render(tokens, reader.options, {})
