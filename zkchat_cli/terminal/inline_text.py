"""The inline Markdown of a block as styled text with links."""

import re
from collections.abc import Callable, Mapping, Sequence

from markdown_it.token import Token
from rich.style import Style
from rich.text import Text

from zkchat_cli.terminal.link_targets import LinkTargets, web_address
from zkchat_cli.text.sanitize import sanitize_name

_REFERENCE = re.compile(
    r"""
    (?<![0-9A-Za-z_])
    (?P<citation>
        \[\^?(?:sources?[ ])?\d{1,4}(?:[ ]?[,;–-][ ]?\d{1,4}){0,20}\](?![(:])
        | 【\d{1,4}(?:[ ]?[,;–-][ ]?\d{1,4}){0,20}】
    )
    | (?P<url>https?://[^\s<>"`\[\]{}|\\^]{1,2000})
    """,
    re.VERBOSE,
)
"""A citation, or a web address."""
_NUMBER = re.compile(r"\d+")
# Characters at the end of an address that belong to the surrounding sentence
_PUNCTUATION = ".,;:!?'*_~"
_EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}


class InlineText:
    """The styled text of a block's inline tokens, in `text`."""

    def __init__(self, tokens: Sequence[Token], links: LinkTargets) -> None:
        self.text = Text()
        self._links = links
        # The address of the open link; empty outside of a link
        self._href = ""
        # Start positions of the tokens that are open
        starts: list[int] = []
        for token in tokens:
            if token.nesting > 0:
                starts.append(len(self.text))
            start = starts.pop() if token.nesting < 0 else len(self.text)
            add = _ADD.get(token.type)
            if add is not None:
                add(self, token, start)
            if token.nesting < 0 and token.tag in _EMPHASIS:
                self.text.stylize(_EMPHASIS[token.tag], start)
        self.text.rstrip()

    # one method for each type of token

    def _add_text(self, token: Token, _: int) -> None:
        if self._href:
            self._append(token.content.replace("\t", " "))
        else:
            self._add_words(token.content.replace("\t", " "))

    def _break_line(self, _: Token, __: int) -> None:
        self.text.rstrip()
        self.text.append("\n")

    def _add_code(self, token: Token, _: int) -> None:
        self._append(f"{token.markup}{token.content}{token.markup}", "cyan")

    def _add_wikilink(self, token: Token, start: int) -> None:
        shown = token.content.replace("\\|", "|")
        target, _, _ = shown.lstrip("!").strip("[]").partition("|")
        self._append(shown, "cyan")
        self.text.stylize(Style(link=self._links.note(target.strip())), start)

    def _add_image(self, token: Token, start: int) -> None:
        self._append(token.content)
        self._end_link(start, str(token.attrs["src"]))

    def _open_link(self, token: Token, _: int) -> None:
        self._href = str(token.attrs["href"])

    def _close_link(self, _: Token, start: int) -> None:
        self._end_link(start, self._href)
        self._href = ""

    def _add_strike_mark(self, _: Token, __: int) -> None:
        # Some terminals cannot strike text through
        self._append("~~")

    # what they share

    def _append(self, text: str, style: str = "") -> None:
        self.text.append(sanitize_name(text), style or None)

    def _end_link(self, start: int, target: str) -> None:
        """Make the text since `start` a link.

        The target is printed too, because some terminals cannot open links.
        """
        shown = self.text.plain[start:]
        self.text.stylize("underline", start)
        if target and target not in (shown, f"mailto:{shown}"):
            self._append(f" ({target})" if shown else target, "dim")
        self.text.stylize(Style(link=web_address(target) or self._links.note(target)), start)

    def _add_words(self, text: str) -> None:
        """Plain text, with its citations and web addresses as links."""
        at = 0
        for found in _REFERENCE.finditer(text):
            self._append(text[at : found.start()])
            if found["url"]:
                url = _without_punctuation(found["url"])
                self._add_url(url)
                at = found.start() + len(url)
            else:
                self._add_citation(found[0])
                at = found.end()
        self._append(text[at:])

    def _add_url(self, url: str) -> None:
        start = len(self.text)
        self._append(url, "underline")
        self.text.stylize(Style(link=web_address(url)), start)

    def _add_citation(self, mark: str) -> None:
        start = len(self.text)
        self._append(mark, "cyan")
        for number in _NUMBER.finditer(mark):
            link = Style(link=self._links.source(int(number[0])))
            self.text.stylize(link, start + number.start(), start + number.end())


_ADD: Mapping[str, Callable[[InlineText, Token, int], None]] = {
    "text": InlineText._add_text,
    "text_special": InlineText._add_text,
    "softbreak": InlineText._break_line,
    "hardbreak": InlineText._break_line,
    "code_inline": InlineText._add_code,
    "wikilink": InlineText._add_wikilink,
    "image": InlineText._add_image,
    "link_open": InlineText._open_link,
    "link_close": InlineText._close_link,
    "s_open": InlineText._add_strike_mark,
    "s_close": InlineText._add_strike_mark,
}
"""The methods that add the text of a token, by its type. Other tokens, such as the marks of
emphasis, add no text.
"""


def _without_punctuation(url: str) -> str:
    """An address without the end of the surrounding sentence, such as `).`."""
    url = url.rstrip(_PUNCTUATION)
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(_PUNCTUATION)
    return url
