"""A message's Markdown as HTML in which nothing can act: no raw HTML, no images, links only to addresses that a person would open.

Citation marks are replaced by placeholders before the Markdown is parsed and become links in its HTML, but not in code and in links. Link
definitions are disabled: `[1]: …` would make another link of each `[1]`.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from zkchat_cli.citations.marks import CitationMark, split_at_marks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SCHEMES = ("http:", "https:", "mailto:", "obsidian:")
HEADING_OFFSET = 2
"""A message's headings are below the page's title and the message's own heading."""
_PLACEHOLDER_IN_URL = re.compile("%5B%EF%B7%90([0-9]+)%EF%B7%91%5D")
_PLACEHOLDER_OR_TAG = re.compile("\\[\ufdd0(?P<number>[0-9]+)\ufdd1\\]|</?(?:a|code|pre)\\b[^>]*>")
_NONCHARACTERS = re.compile("[\ufdd0\ufdd1]")
"""A placeholder is a number between these, which the page cannot contain otherwise."""

Link = Callable[[CitationMark, str], Markup]
"""The HTML for a citation mark and its text."""


def render_markdown(source: str, marks: Sequence[CitationMark] = (), link: Link = lambda _, text: Markup.escape(text)) -> Markup:
    parts = list(split_at_marks(source, marks))
    written = [(text, mark) for text, mark in parts if mark is not None]
    numbers = count()
    marked = "".join(_NONCHARACTERS.sub("\ufffd", text) if mark is None else f"[\ufdd0{next(numbers)}\ufdd1]" for text, mark in parts)

    depth = 0  # of code and links, where a mark stays text

    def with_links(found: re.Match[str]) -> str:
        nonlocal depth
        if found["number"] is None:
            depth += -1 if found[0].startswith("</") else 1
            return _PLACEHOLDER_IN_URL.sub(lambda each: quote(written[int(each[1])][0]), found[0])
        text, mark = written[int(found["number"])]
        return str(Markup.escape(text) if depth else link(mark, text))

    parser = _parser()
    tokens = parser.parse(marked)
    for token in tokens:
        _change_block(token)
    return Markup(_PLACEHOLDER_OR_TAG.sub(with_links, parser.renderer.render(tokens, parser.options, {})))


def _change_block(token: "Token") -> None:
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1]) + HEADING_OFFSET)}"
    elif token.type in ("th_open", "td_open"):
        if alignment := str(token.attrs.pop("style", "")).removeprefix("text-align:"):
            token.attrs["class"] = alignment  # the page's policy forbids style attributes
    elif token.type == "fence":
        token.info = ""
    for child in token.children or ():
        if child.type == "link_open":
            child.attrs = {"href": child.attrs["href"], "rel": "noopener noreferrer nofollow"}


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # 40 ms, for this format only

    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["reference", "image", "html_block", "html_inline"])
    parser.validateLink = lambda url: url.strip().lower().startswith(SCHEMES)  # type: ignore[method-assign]
    return parser
