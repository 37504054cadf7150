"""The Markdown of messages as HTML for the page and the window, with links to the cited sources.
Nothing in it can act.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from zkchat_cli.citations.cited_marks import split_at_marks
from zkchat_cli.citations.marks import CitationMark

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SCHEMES = ("http:", "https:", "mailto:", "obsidian:")
# Levels that a message's headings move down: the page's title and the message's own heading are
# above them
HEADING_OFFSET = 2
_LOWEST_HEADING = 6
_PLACEHOLDER_IN_URL = re.compile("%5B%EF%B7%90([0-9]+)%EF%B7%91%5D")
# Signs that look like those that zkchat puts at citations
_SIGNS = "✓✔✅☑🗸✂✗✘❌•"
_PLACEHOLDER_OR_TAG = re.compile(
    "\\[\ufdd0(?P<number>[0-9]+)\ufdd1\\]|(?P<tag></?(?:a|code|pre)\\b[^>]*>)"
    f"|(?P<sign>[{_SIGNS}]\ufe0f?)"
)
# A placeholder is a number between these, which the page cannot contain otherwise
_NONCHARACTERS = re.compile("[\ufdd0\ufdd1]")


class _WrittenMark(NamedTuple):
    """A citation mark, and its text in the message."""

    text: str
    mark: CitationMark


def render_markdown(
    source: str,
    marks: Sequence[CitationMark] = (),
    link: Callable[[CitationMark, str], Markup] = lambda _, text: Markup.escape(text),
) -> Markup:
    """Markdown as HTML in which nothing can act: no raw HTML, no images, links only to addresses
    that a person would open. Citation marks are replaced by placeholders before the Markdown is
    parsed and become links in its HTML, but not in code and in links.
    """
    written: list[_WrittenMark] = []
    marked = ""
    for text, mark in split_at_marks(source, marks):
        if mark is None:
            marked += _NONCHARACTERS.sub("\ufffd", text)
        else:
            marked += f"[\ufdd0{len(written)}\ufdd1]"
            written.append(_WrittenMark(text, mark))
    # The number of open tags of code and links: inside of these a mark stays text
    depth = 0

    def written_text(found: re.Match[str]) -> str:
        return quote(written[int(found[1])].text)

    def with_links(found: re.Match[str]) -> str:
        nonlocal depth
        if found["sign"] is not None:
            return f'<span class="written">{found[0]}</span>'
        if found["tag"] is not None:
            depth += -1 if found[0].startswith("</") else 1
            return _PLACEHOLDER_IN_URL.sub(written_text, found[0])
        text, mark = written[int(found["number"])]
        return str(Markup.escape(text) if depth else link(mark, text))

    parser = _parser()
    tokens = parser.parse(marked)
    _adapt_tokens(tokens)
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup(_PLACEHOLDER_OR_TAG.sub(with_links, html))


def _adapt_tokens(tokens: Iterable["Token"]) -> None:
    """Move headings below those of the page, give table cells a class instead of a style, and make
    links reveal nothing.
    """
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag.removeprefix("h")) + HEADING_OFFSET
            token.tag = f"h{min(_LOWEST_HEADING, level)}"
        elif token.type in ("th_open", "td_open"):
            alignments = (str(style).removeprefix("text-align:") for style in token.attrs.values())
            # The page's policy forbids style attributes
            token.attrs = dict(zip(("class",), alignments, strict=False))
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs = {"href": child.attrs["href"], "rel": "noopener noreferrer nofollow"}


@cache
def _parser() -> "MarkdownIt":
    # 40 ms, for this format only
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    # A definition `[1]: …` would make another link of each `[1]`, so there is no `reference`
    parser.enable(["table", "strikethrough"]).disable(
        ["reference", "image", "html_block", "html_inline"]
    )
    parser.validateLink = lambda url: url.strip().lower().startswith(SCHEMES)  # type: ignore[method-assign]
    return parser
