"""A message's Markdown as HTML in which nothing can act: no raw HTML, no images, links only to addresses that a person would open.

Citation marks are replaced by placeholders before the Markdown is parsed and become links afterwards, but not in code and in links. Link
definitions are disabled: `[1]: …` would make another link of each `[1]`.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.marks import split_at_marks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SCHEMES = ("http:", "https:", "mailto:", "obsidian:")
HEADING_OFFSET = 2
"""A message's headings are below the page's title and the message's own heading."""
_PLACEHOLDER = re.compile("\\[\ufdd0([0-9]+)\ufdd1\\]")
"""Noncharacters, which the page cannot contain otherwise."""
_PLACEHOLDER_IN_URL = re.compile("%5B%EF%B7%90([0-9]+)%EF%B7%91%5D")
_NONCHARACTERS = re.compile("[\ufdd0\ufdd1]")

Link = Callable[[CitationMark, str], Markup]
"""The HTML for a citation mark and its text."""


def render_markdown(source: str, marks: Sequence[CitationMark] = (), link: Link = lambda _, text: Markup.escape(text)) -> Markup:
    parts = list(split_at_marks(source, marks))
    return _Renderer([(part, mark) for part, mark in parts if mark is not None], link).render(parts)


class _Renderer:
    def __init__(self, marks: list[tuple[str, CitationMark]], link: Link) -> None:
        self._marks = marks
        self._link = link

    def render(self, parts: Sequence[tuple[str, CitationMark | None]]) -> Markup:
        number = count()
        source = "".join(_NONCHARACTERS.sub("\ufffd", part) if mark is None else f"[\ufdd0{next(number)}\ufdd1]" for part, mark in parts)
        parser = _parser()
        tokens = parser.parse(source)
        for token in tokens:
            self._change_block(token)
        return Markup(parser.renderer.render(tokens, parser.options, {}))

    def _change_block(self, token: "Token") -> None:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + HEADING_OFFSET)}"
        elif token.type in ("th_open", "td_open"):
            alignment = str(token.attrs.pop("style", "")).removeprefix("text-align:")
            if alignment:
                token.attrs["class"] = alignment  # the page's policy forbids style attributes
        elif token.type in ("fence", "code_block"):
            token.content, token.info = self._mark_texts(token.content), ""
        elif token.type == "inline":
            token.children = self._change_inline(token.children or [])

    def _change_inline(self, tokens: "Sequence[Token]") -> "list[Token]":
        changed: list[Token] = []
        links = 0
        for token in tokens:
            links += token.nesting if token.type.startswith("link_") else 0
            if token.type == "text" and not links:
                changed += self._text_with_links(token.content)
            else:
                if token.type == "link_open":
                    token.attrs = self._link_attributes(token.attrs["href"])
                token.content = self._mark_texts(token.content)
                changed.append(token)
        return changed

    def _text_with_links(self, content: str) -> "list[Token]":
        from markdown_it.token import Token  # see `_parser`

        parts = _PLACEHOLDER.split(content)  # text and placeholder numbers in turn
        tokens = []
        for n, part in enumerate(parts):
            if n % 2:
                text, mark = self._marks[int(part)]
                tokens.append(Token("html_inline", "", 0, content=str(self._link(mark, text))))
            elif part:
                tokens.append(Token("text", "", 0, content=part))
        return tokens

    def _link_attributes(self, url: object) -> dict[str, str | int | float]:
        address = _PLACEHOLDER_IN_URL.sub(lambda found: quote(self._marks[int(found[1])][0]), str(url))
        return {"href": address, "rel": "noopener noreferrer nofollow"}

    def _mark_texts(self, content: str) -> str:
        """Placeholders replaced by the text of their marks."""
        return _PLACEHOLDER.sub(lambda found: self._marks[int(found[1])][0], content)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # 40 ms, for this format only

    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["reference", "image", "html_block", "html_inline"])
    parser.validateLink = lambda url: url.strip().lower().startswith(SCHEMES)  # type: ignore[method-assign]
    return parser
