"""A message's Markdown as HTML in which nothing acts: no HTML of its own, no images, links only to where a person would look.

The places where an answer cites are taken out before the Markdown is read and put back as anchors afterwards, in words only: in code and in
links stands what was written. Link definitions are not read, or `[1]: …` would make another link of each `[1]`.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.marks import split_at_marks
from zkchat_cli.exporters.html.elements import element, harmless, text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SCHEMES = ("http:", "https:", "mailto:", "obsidian:")
LONGEST = 100_000
"""Characters up to which a text is read as Markdown. Hard ones take up to 3 s; what is longer is shown as it was written."""
_LOWER = 2
"""A message stands under a heading of its own, so its headings are that much lower."""
_PLACE = re.compile("\\[\ufdd0([0-9]+)\ufdd1\\]")
"""How a place is marked while the Markdown is read; in no text, as these two characters are for a program's own use only."""
_ACTING = re.compile("[\\\\`*_<>&~|\t]|\\]\\(|^(?![^\\W\\d_]|[“‘„«([]|$)|[^\\S\n]$", re.MULTILINE)
"""What there is in any text that Markdown makes more of than paragraphs: its signs, a line that begins with none of a letter, a quotation
mark and a bracket, blanks at the end of a line. Half of what is said has none of it, and to read it as Markdown takes ten times as long."""
_BETWEEN_PARAGRAPHS = re.compile("\n\n+")
_PLACE_IN_URL = re.compile("%5B%EF%B7%90([0-9]+)%EF%B7%91%5D")

Anchor = Callable[[CitationMark, str], str]
"""The HTML for a mark as it was written."""


def rendered(source: str, marks: Sequence[CitationMark], anchor: Anchor) -> str:
    """`source` as HTML, its marks as `anchor` makes them."""
    parts = list(split_at_marks(source, marks))
    if len(source) > LONGEST:
        return element("pre", *(text(part) if mark is None else anchor(mark, part) for part, mark in parts), class_="plain")
    return _MarkdownRenderer([(part, mark) for part, mark in parts if mark is not None], anchor).html(parts)


class _MarkdownRenderer:
    def __init__(self, places: list[tuple[str, CitationMark]], anchor: Anchor) -> None:
        self._places = places
        self._anchor = anchor

    def html(self, parts: Sequence[tuple[str, CitationMark | None]]) -> str:
        at = count()
        source = "".join(harmless(part) if mark is None else f"[\ufdd0{next(at)}\ufdd1]" for part, mark in parts)
        if not _ACTING.search(source):
            return self._plain(source)
        markdown = _markdown()
        tokens = markdown.parse(source)
        for token in tokens:
            self._block(token)
        html: str = markdown.renderer.render(tokens, markdown.options, {})
        return html

    def _plain(self, source: str) -> str:
        """What the Markdown of it comes to: paragraphs of words and places."""
        paragraphs = (each for each in _BETWEEN_PARAGRAPHS.split(source.strip("\n")) if each)
        return "".join(f"<p>{''.join(map(self._shown, count(), _PLACE.split(each)))}</p>\n" for each in paragraphs)

    def _shown(self, n: int, part: str) -> str:
        """Of a text that is split at its places: every second part is the number of one."""
        return self._anchored(part) if n % 2 else part.replace('"', "&quot;")

    def _block(self, token: "Token") -> None:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _LOWER)}"
        elif token.type in ("th_open", "td_open"):
            side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
            if side:
                token.attrs["class"] = side  # the page's policy allows no style in attributes
        elif token.type in ("fence", "code_block"):
            token.content, token.info = self._written(token.content), ""
        elif token.type == "inline":
            token.children = self._inline(token.children or [])

    def _inline(self, tokens: "Sequence[Token]") -> "list[Token]":
        found: list[Token] = []
        links = 0
        for token in tokens:
            links += token.nesting if token.type.startswith("link_") else 0
            if token.type == "image":
                found += self._image(token, in_link=links > 0)
            elif token.type == "text" and not links:
                found += self._words(token.content)
            else:
                if token.type == "link_open":
                    token.attrs = {"href": self._address(str(token.attrs["href"])), "rel": "noopener noreferrer nofollow"}
                token.content = self._written(token.content)
                found.append(token)
        return found

    def _words(self, content: str) -> "list[Token]":
        """Text with anchors in it: what stands between two of them, and the number of the next, in turn."""
        found = []
        for n, part in enumerate(_PLACE.split(content)):
            if n % 2:
                found.append(_token("html_inline", self._anchored(part)))
            elif part:
                found.append(_token("text", part))
        return found

    def _anchored(self, number: str) -> str:
        written, mark = self._places[int(number)]
        return self._anchor(mark, written)

    def _image(self, token: "Token", *, in_link: bool) -> "list[Token]":
        """A link to it, as nothing may be loaded; only its words where a link is already."""
        words = _token("text", f"Image: {self._written(token.content) or 'without a description'}")
        if in_link:
            return [words]
        opening = _token("link_open", "", tag="a", nesting=1)
        opening.attrs = {"href": self._address(str(token.attrs["src"])), "rel": "noopener noreferrer nofollow"}
        return [opening, words, _token("link_close", "", tag="a", nesting=-1)]

    def _written(self, content: str) -> str:
        return _PLACE.sub(lambda place: self._places[int(place[1])][0], content)

    def _address(self, url: str) -> str:
        return _PLACE_IN_URL.sub(lambda place: quote(self._places[int(place[1])][0]), url)


def _token(type_: str, content: str, tag: str = "", nesting: int = 0) -> "Token":
    from markdown_it.token import Token

    return Token(type_, tag, nesting, content=content)  # type: ignore[arg-type]


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # 40 ms, for this format only

    reader = MarkdownIt("commonmark", {"html": False})
    reader.enable(["table", "strikethrough"]).disable(["reference", "html_block", "html_inline"])
    reader.validateLink = _is_allowed  # type: ignore[method-assign]
    return reader


def _is_allowed(url: str) -> bool:
    """Not even `Note.md`: beside the page lies no note. What is refused stays as it was written."""
    return url.strip().lower().startswith(SCHEMES)
