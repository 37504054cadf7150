"""The HTML export, read by a strict parser that follows every link, and attacked in every field."""

import base64
import hashlib
import itertools
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from conftest import Program
from factories import NOON, takes_less_than
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_contrast import contrast, parsed
from test_exporters import archives, make_archive, make_message

from zkchat_cli.exporters import exporter, html
from zkchat_cli.exporters.html import highlight_quotes
from zkchat_cli.exporters.html.markdown import render_markdown
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import TokenUsage, ToolCall, ToolRun
from zkchat_cli.models.notes import ContentChunk, DocumentReference

STYLE = Path(html.__file__).with_name("style.css").read_text(encoding="utf-8")

VOID = {"meta", "br", "hr"}
KNOWN = VOID | set(
    """html head title style body a header h1 h2 h3 h4 h5 h6 dl dt dd time main nav
    article section div p ul ol li em strong s span code pre blockquote
    table thead tbody tfoot tr th td caption cite q mark details summary footer""".split()
)
ATTRIBUTES = set(
    (
        "id class href rel lang dir open charset name content http-equiv datetime start "
        "aria-label aria-labelledby aria-hidden"
    ).split()
)


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    within: "tuple[Element, ...]" = ()
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def words(self) -> str:
        """The text with single spaces."""
        return " ".join(self.text.split())


@dataclass
class Page(HTMLParser):
    """A page read by a strict parser: every element must be closed."""

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
        return [
            e
            for e in self.elements
            if e.tag == tag and class_ in ("", *e.attributes.get("class", "").split())
        ]

    def one(self, tag: str, class_: str = "") -> Element:
        [found] = self.all(tag, class_)
        return found

    def at(self, href: str) -> Element:
        """The target of a link within the page."""
        [found] = [e for e in self.elements if f"#{e.attributes.get('id')}" == href]
        return found


def check(archive: ConversationArchive) -> Page:
    """The archive's page, after the checks that every page must pass."""
    page = Page(exporter("html").export(archive))
    page.source.encode("utf-8")
    unsafe = re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]",
        page.source,
    )
    assert unsafe is None, unsafe
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
                assert urlsplit(href).scheme.lower() in {"http", "https", "mailto", "obsidian"}, (
                    href
                )
                assert element.attributes["rel"] == "noopener noreferrer nofollow"
    assert page.one("html").attributes["lang"] == "en"
    assert [element.text for element in page.all("style")] == [STYLE]
    assert [e.within[-1].tag for e in page.all("title")].count("head") == 1
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("header")) == 1
    return page


def page_of(*messages: Any, **more: Any) -> Page:
    return check(make_archive(*messages, **more))


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
        "verdict": "cited",
    }
    return Citation.model_validate({**values, **more})


def a_turn(content: str, *citations: Citation, **more: Any) -> tuple[Any, ...]:
    """A question, a tool call that brings excerpt 3, and an answer."""
    call = ToolCall(id="t1", name="find_excerpts", arguments={"query": "combine filters"})
    run = ToolRun(name="find_excerpts", arguments={}, ok=True, tokens=812, duration_ms=4.2)
    return (
        make_message("user", "How do I combine filters?"),
        make_message("assistant", tool_calls=(call,), model="offline"),
        make_message(
            "tool", "…", tool_call_id="t1", tool_name="find_excerpts", chunks=(CHUNK,), tool_run=run
        ),
        make_message("assistant", content, citations=citations, model="offline", **more),
    )


def article_words(page: Page) -> str:
    """The last message's text without what describes its marks."""
    words = page.all("div", "prose")[-1].words
    return re.sub(r"[✓•✗?] \([^)]*\)", "", words)


# Sources


def test_a_citation_links_to_its_source_and_back() -> None:
    quote = "AND, OR, NOT … must be"
    text = f'In one line: "{quote}" [3].'
    page = page_of(
        *a_turn(
            text, cite(quote=quote, verdict="verified", spans=((text.index("[3]"), len(text) - 1),))
        )
    )
    link = page.one("a", "cite")
    assert link.words == "[3]✓ (verified: the source contains the quoted words)"
    source = page.at(link.attributes["href"])
    assert source.attributes["class"] == "verified"
    for words in (
        "[3] ✓ Filters › Boolean operators Queries/Filters.md:12-14 verified: the source contains",
        f"{quote} ✓ verified",
    ):
        assert words in source.words
    [excerpt] = [e for e in page.all("pre") if source in e.within]
    assert excerpt.text == CHUNK.text
    assert [mark.text for mark in page.all("mark")] == ["AND, OR, *NOT", "must\n> be"]
    [back] = [e for e in page.all("a") if source in e.within]
    assert page.at(back.attributes["href"]) is link


@pytest.mark.parametrize(
    ("status", "sign", "words"),
    [
        ("verified", "✓", "verified"),
        ("cited", "•", "without a quotation"),
        ("cut", "✂", "whole sentence says something else"),
        ("misquoted", "✗", "misquoted"),
        ("missing", "?", "no such source was in the prompt"),
    ],
)
def test_a_status_is_shown_by_a_sign_and_in_words(status: str, sign: str, words: str) -> None:
    path = (
        {"relative_path": None, "heading": None, "start_line": None, "end_line": None}
        if status == "missing"
        else {}
    )
    page = page_of(
        *a_turn("so [3]", cite(verdict=status, quote="something quoted", spans=((3, 6),), **path))
    )
    link = page.one("a", "cite")
    source = page.at(link.attributes["href"])
    for element in (link, source):
        assert sign in element.words and words in element.words
    assert len(page.all("details", "excerpt")) == (0 if status == "missing" else 1)


@pytest.mark.parametrize(
    "text", ["It rains [1] ✓.", "[[1]✓](https://a.b)", "`[1] ✔`", "# ✅ [1]", "| a |\n|-|\n| ✓ |"]
)
def test_signs_that_a_model_writes_do_not_look_like_ours(text: str) -> None:
    html = render_markdown(text)
    assert re.search('<span class="written">[✓✔✅]</span>', html)
    assert not re.search("[✓✔✅](?!</span>)", html)


def test_a_source_that_is_quoted_and_cited_has_the_sign_of_a_terminal() -> None:
    page = page_of(
        *a_turn(
            "so [3]",
            cite(verdict="cited", spans=((3, 6),)),
            cite(verdict="verified", quote="so", spans=((3, 6),)),
        )
    )
    assert "✓" in page.at(page.one("a", "cite").attributes["href"]).words


@pytest.mark.parametrize(
    ("written", "links", "shown"),
    [
        ("so [3, 9] and [3][3]", 3, "so [3, 9] and [3][3]"),
        ("*so*[3] **[3]**", 2, "so[3] [3]"),
        ("| a [3] |\n|---|\n| b [3] |", 2, "a [3] b [3]"),
        ("# Title [3]", 1, "Title [3]"),
        ("> - quoted [3]", 1, "quoted [3]"),
        ("[3]: as it says", 1, "[3]: as it says"),
        ("【3】 and [source 3]", 2, "【3】 and [source 3]"),
        ("`a[3]`", 0, "a[3]"),
        ("```py\na[3]\n```", 0, "a[3]"),
        ("    a[3]", 0, "a[3]"),
    ],
)
def test_marks_are_links_wherever_they_are_written_but_in_code(
    written: str, links: int, shown: str
) -> None:
    page = page_of(*a_turn(written, cite()))
    assert len(page.all("a", "cite")) == links
    assert article_words(page) == shown


def test_a_mark_in_a_link_stays_text_and_one_in_an_address_stays_the_address() -> None:
    text = (
        "[see [3] there](https://x.org/a[3]) <https://x.org/[3]> ![pic [3]](https://x.org/p[3].png)"
    )
    page = page_of(*a_turn(text, cite(spans=tuple(m.span() for m in re.finditer(r"\[3\]", text)))))
    links = [e for e in page.all("a") if "rel" in e.attributes]
    assert [e.words for e in links] == ["see [3] there", "https://x.org/[3]", "pic [3]"]
    assert [e.attributes["href"] for e in links] == [
        "https://x.org/a%5B3%5D",
        "https://x.org/%5B3%5D",
        "https://x.org/p%5B3%5D.png",
    ]
    assert page.all("a", "cite") == []


def test_an_excerpt_is_shown_only_for_its_own_note_and_the_first_of_two_with_one_number() -> None:
    page = page_of(
        *a_turn(
            "so [3] [4]",
            cite(relative_path="Other.md", start_line=None),
            cite(4, relative_path="Lost.md", end_line=12),
        )
    )
    assert page.all("details", "excerpt") == []
    assert [e.words for e in page.all("li", "cited")] == [
        "[3] • Other › Boolean operators Other.md cited without a quotation ↩",
        "[4] • Lost › Boolean operators Lost.md:12 cited without a quotation ↩",
    ]
    page = page_of(
        *a_turn("so [3]", cite()),
        make_message(
            "tool", "x", tool_call_id="z", chunks=(CHUNK.model_copy(update={"text": "other"}),)
        ),
    )
    assert page.one("pre").text == CHUNK.text


@pytest.mark.parametrize(
    ("excerpt", "quotes", "shown"),
    [
        ("The Filter is here", ["filter  IS"], "The <mark>Filter is</mark> here"),
        ("one two three", ["two three", "one two", "two"], "<mark>one two three</mark>"),
        ("so…", ["… so …", "…", " "], "<mark>so</mark>…"),
        ("<b> & </b>", ["b> & <"], "&lt;<mark>b&gt; &amp; &lt;</mark>/b&gt;"),
    ],
)
def test_quoted_words_are_highlighted(excerpt: str, quotes: list[str], shown: str) -> None:
    assert highlight_quotes(excerpt, quotes) == shown


# The rest of the page


def test_markdown_is_rendered_with_headings_below_ours() -> None:
    page = page_of(
        *a_turn(
            "# One\n\n###### Six\n\n- a\n- **b**\n\n1. c\n\n~~d~~\n\n| l | r |\n|---|--:|\n"
            "| x | y |\n\n---\n\n`code`"
        )
    )
    inside = {
        e.tag
        for e in page.elements
        if any(outer.attributes.get("class") == "prose" for outer in e.within)
    }
    assert inside >= {"h3", "h6", "ul", "ol", "li", "strong", "s", "table", "hr", "code"}
    assert not inside & {"h1", "h2"}
    assert [e.words for e in page.all("td", "right")] == ["y"]


def test_a_tool_call_is_folded_with_its_result() -> None:
    page = page_of(*a_turn("so [3]", cite()))
    call = page.one("details", "call")
    assert "open" not in call.attributes
    assert [e.words.split(" · ")[0] for e in page.all("h2")] == [
        "You",
        "zkchat calls tools",
        "zkchat",
    ]
    assert call.words == (
        'find_excerpts "combine filters": 1 excerpt, 812 tokens [3] Filters › Boolean '
        "operators Queries/Filters.md:12-14"
    )


def test_head_and_header_describe_the_conversation() -> None:
    usages = (
        TokenUsage(prompt_tokens=1200, completion_tokens=80, estimated=False),
        TokenUsage(prompt_tokens=2400, completion_tokens=40),
    )
    page = page_of(
        *a_turn("so", usage=usages[0]), *a_turn("so", usage=usages[1]), title="Filters & <more>"
    )
    assert page.all("title")[0].words == "Filters & <more>"
    meta = {e.attributes.get("name"): e.attributes.get("content") for e in page.all("meta")}
    assert (meta["conversation"], meta["date"], meta["model"]) == ("c1", NOON, "offline")
    assert (
        page.one("dl").words
        == "Date2025-05-08 12:00 Modeloffline Conversationc1 Tokens~3,600 in, ~120 out"
    )
    links = [e for e in page.all("a") if any(outer.tag == "nav" for outer in e.within)]
    assert [e.words for e in links] == ["How do I combine filters?"] * 2
    assert page.at(links[1].attributes["href"]).attributes["class"] == "user"
    assert page_of(*a_turn("so")).all("nav") == []


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
    "[x](javascript:alert(1)) [x](JaVaScRiPt:alert(1)) [x](java\tscript:alert(1)) "
    "[x](\x01javascript:alert(1))",
    "[x](&#106;avascript:alert(1)) [x](javascript&colon;alert(1)) <javascript:alert(1)> "
    "[x](vbscript:x) [x](data:text/html,<script>)",
    "[x](data:image/png;base64,AAAA) [x](file:///etc/passwd) [x](//evil.example) "
    "[x](blob:x) [x](Note.md) [x](\\\\evil)",
    "![x](https://evil.example/p.png) ![x](//evil.example/p.png) "
    "[![x](https://evil.example/a.png)](https://evil.example)",
    '[x](https://evil.example "t" onclick=alert(1)) '
    "[x](https://evil.example/\"onclick=\"alert(1)) <https://evil.example/'x'>",
    "[1]: javascript:alert(1)\n[3]: https://evil.example\n\n[1] [3] [x][3]",
    "a\u202eb\u2066c &#x202E; &#8238; &rlm; \x1b[2J\x00\x07\x9b \ufdd0 [\ufdd00\ufdd1] "
    "&#xFDD0; \uffff",
    "| a |\n|:-:|\n| <script> |\n\n<div style='position:fixed'>\n\n<style>*{display:none}</style>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    '`<script>` ``` </code> ```\n\n```"><script>\n</code></pre><script>\n```',
    "http://[::1 <http://[x]> [x](http://[) [x](https://%zz) [x](https://例え.jp/ü?q=<>&\"')",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_any_field_stays_text(attack: str) -> None:
    run = ToolRun(name=attack, arguments={}, ok=True, tokens=1, duration_ms=1)
    chunk = CHUNK.model_copy(
        update={"text": attack, "title": attack, "heading": attack, "relative_path": attack}
    )
    reference = DocumentReference(
        wikilink=attack,
        relative_path=f"{attack}2",
        reference_type="direct",
        delivery="offered",
        delivery_reason=attack,
    )
    broken = DocumentReference(
        wikilink=attack, reference_type="direct", status="broken", candidates=(attack,)
    )
    summary = Compaction(
        id="s",
        created_at=attack,
        tokens_before=9,
        tokens_after=1,
        messages_folded=4,
        summary=attack,
        mode="full",
    )
    cited = cite(
        relative_path=attack, heading=attack, quote=attack, verdict="verified", spans=((0, 4),)
    )
    archive = make_archive(
        make_message("user", attack, references=(reference, broken)),
        make_message(
            "assistant",
            attack,
            tool_calls=(ToolCall(id="t", name=attack, arguments={"a": attack}),),
            model=attack,
        ),
        make_message("tool", attack, tool_call_id="t", tool_name=attack, tool_run=run),
        make_message("tool", attack, tool_call_id="u", tool_name=attack, chunks=(chunk,)),
        make_message(
            "assistant",
            f"so [3] {attack}",
            citations=(cited,),
            timestamp=attack,
            usage=TokenUsage(prompt_tokens=1, completion_tokens=1),
        ),
        title=attack,
        compactions=(summary,),
    )
    changed = archive.conversation.model_copy(update={"created_at": attack})
    page = check(archive.model_copy(update={"conversation": changed}))
    assert not page.all("script")
    assert "javascript" not in "".join(e.attributes.get("href", "") for e in page.elements).lower()


def test_links_have_allowed_schemes_and_images_are_links() -> None:
    page = page_of(
        *a_turn(
            "<https://a.b> [m](mailto:a@b.c) [o](obsidian://open?vault=v&file=f) "
            "[n](Note.md) ![a *cat*](https://x.org/c.png)"
        )
    )
    links = {e.words: e.attributes["href"] for e in page.all("a") if "rel" in e.attributes}
    assert links == {
        "https://a.b": "https://a.b",
        "m": "mailto:a@b.c",
        "o": "obsidian://open?vault=v&file=f",
        "a cat": "https://x.org/c.png",
    }
    assert "[n](Note.md)" in page.one("main").words


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    page = page_of(*a_turn("so"))
    [policy] = [
        e.attributes["content"]
        for e in page.all("meta")
        if e.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = base64.b64encode(hashlib.sha256(page.one("style").text.encode()).digest()).decode()
    assert (
        policy
        == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in STYLE and "@import" not in STYLE


anything = st.text(
    st.sampled_from("ab 1[]()<>!&#;:/\\`*_~|-+\n\t\"'=\ufdd0\u202e3^【】") | st.characters(),
    max_size=60,
)


@settings(max_examples=25)
@given(anything, st.lists(st.tuples(st.integers(0, 62), st.integers(0, 62)), max_size=4).map(tuple))
def test_any_markdown_with_citations_anywhere_is_a_valid_page(
    text: str, spans: tuple[tuple[int, int], ...]
) -> None:
    page_of(
        *a_turn(
            text, cite(spans=spans), cite(9, relative_path=None, verdict="missing", spans=spans[:1])
        )
    )


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(archives().filter(lambda archive: bool(archive.messages and archive.conversation.head_id)))
def test_any_conversation_is_a_valid_page(archive: ConversationArchive) -> None:
    check(archive)


@pytest.mark.parametrize(
    "piece", ["[", "](", "*a ", "> ", "<a", "|a", "`a", "[3]", "**", "[a](http://b", "1. a\n\n"]
)
def test_a_text_that_is_hard_to_parse_takes_seconds(piece: str, untraced: None) -> None:
    archive = make_archive(*a_turn(piece * (10_000 // len(piece)), cite()))
    with takes_less_than(30):
        exporter("html").export(archive)


# Accessibility


def test_every_color_has_enough_contrast_in_light_and_dark() -> None:
    for of in (html.colors(dark=False), html.colors(dark=True)):
        assert len(of) == 13
        for name in ("text", "quiet", "link", "verified", "cited", "cut", "misquoted", "missing"):
            for ground in ("ground", "raised"):
                assert contrast(parsed(of[name]), parsed(of[ground])) >= 4.5, (name, ground)
        assert contrast(parsed(of["on-marked"]), parsed(of["marked"])) >= 4.5


def test_the_page_has_landmarks_and_ordered_headings() -> None:
    page = page_of(*a_turn("so [3]", cite()), *a_turn("so"))
    assert [e.tag for e in page.elements if e.tag in ("header", "nav", "main", "footer")] == [
        "header",
        "nav",
        "main",
        "footer",
    ]
    assert page.at(page.all("a")[0].attributes["href"]) is page.one("main")
    for article in page.all("article"):
        assert page.at(f"#{article.attributes['aria-labelledby']}").tag == "h2"
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_command_writes_a_page_that_opens_offline(zkchat: Program, tmp_path: Path) -> None:
    zkchat("ask", "How are filters joined? See [[Combining]] and [[Nowhere]].")
    done = zkchat("context", "export", "--format", "html", "-o", tmp_path / "talk.html")
    assert (done.exit_status, done.out) == (0, "")
    page = Page((tmp_path / "talk.html").read_text(encoding="utf-8"))
    assert page.all("a", "cite")
    assert "Queries/Combining.md" in page.one("main").words
    assert "[[Nowhere]]: not found" in page.one("main").words
    assert not re.search(r"""(?:src|srcset|action|poster|background)\s*=|url\(""", page.source)
