"""The text of a Markdown block: emphasis, code and links as styles, with wikilinks, citations and addresses of the web as links."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from rich.style import Style
from rich.text import Text

from zkchat_cli.terminal.hyperlinks import LinkTargets, web_address
from zkchat_cli.text.sanitize import sanitize_name

MAX_NESTING = 60
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]{1,300}\]\]")
_LINE_BREAK = re.compile(r"<br[ \t]{0,9}/?>[ \t]*", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?<![0-9A-Za-z_])(?P<citation>\[\^?(?:sources? )?\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}\](?![(:])|【\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}】)"
    r"|(?P<url>https?://[^\s<>\"`\[\]{}|\\^]{1,2000})"
)
_NUMBER = re.compile(r"\d+")
_OPENER = re.compile(r"`|~~|&(?=[#\w]*\Z)|<(?=[A-Za-z]|\Z)|\*(?=\S|\Z)|(?<!\w)_|\[(?![^\[\]]*\][^(\[])|【(?![^【】]*】)")
"""A mark that the text to come may still turn into the beginning of emphasis, code, a link or a character by its name."""
LONGEST_WORD = 40
"""Characters of a word that moves to another row as a whole; text without spaces breaks anywhere."""
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*`\n]{1,300})(?<!\s)\*\*(?!\*)")
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """A lenient parser, because models are: four spaces do not make code, a line of dashes is no heading, HTML is text."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(["reference", "code", "lheading", "html_block", "html_inline"])
    parser.inline.ruler.before("link", "wikilink", partial(_read_token, pattern=_WIKILINK, kind="wikilink"))
    parser.inline.ruler.before("autolink", "line_break", partial(_read_token, pattern=_LINE_BREAK, kind="hardbreak"))
    parser.inline.ruler.before("emphasis", "strong_cjk", _read_strong_in_cjk)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]  # `web_address` encodes, and refuses what no click may open
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _read_token(state: StateInline, silent: bool, *, pattern: re.Pattern[str], kind: str) -> bool:
    found = pattern.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push(kind, "", 0).content = found[0]
    state.pos = found.end()
    return True


def _read_strong_in_cjk(state: StateInline, silent: bool) -> bool:
    """`**“words”**` between Chinese characters: CommonMark wants a space there, which Chinese does not have."""
    found = _STRONG.match(state.src, state.pos)
    around = state.src[max(0, state.pos - 1) : state.pos] + (state.src[found.end() : found.end() + 1] if found else "")
    if found is None or silent or not _CJK.search(around):
        return False
    end = state.posMax
    state.push("strong_open", "strong", 1)
    state.pos, state.posMax = found.start(1), found.end(1)
    state.md.inline.tokenize(state)
    state.push("strong_close", "strong", -1)
    state.pos, state.posMax = found.end(), end
    return True


class InlineText:
    """Inline tokens as styled text. `certain`: how many characters can be drawn for good while more text comes."""

    def __init__(self, tokens: Sequence[Token], links: LinkTargets) -> None:
        self.text = Text()
        self._links = links
        self._opener: int | None = None
        href = ""
        starts: list[int] = []
        for token in tokens:
            if token.nesting > 0:
                starts.append(len(self.text))
            start = starts.pop() if token.nesting < 0 else len(self.text)
            match token.type:
                case "text" | "text_special":
                    self._add_words(token.content, linked=bool(href))
                case "softbreak" | "hardbreak":
                    self.text.rstrip()
                    self.text.append("\n")
                case "code_inline":
                    self._add(f"{token.markup}{token.content}{token.markup}", "code")
                case "wikilink":
                    shown = token.content.replace("\\|", "|")
                    self._add(shown, "note")
                    self._link(start, self._links.note(shown.lstrip("!").strip("[]").partition("|")[0].strip()))
                case "image":
                    self._add(token.content)
                    self._end_link(start, str(token.attrs["src"]))
                case "link_open":
                    href = str(token.attrs["href"])
                case "link_close":
                    self._end_link(start, href)
                    href = ""
                case "s_open" | "s_close":
                    self._add("~~")  # not every terminal can strike text through
            if token.nesting < 0 and token.tag in _EMPHASIS:
                self.text.stylize(_EMPHASIS[token.tag], start)
        self.text.rstrip()

    @property
    def certain(self) -> int:
        return len(self.text) if self._opener is None else max(0, self._opener - LONGEST_WORD)  # a word may move to the row before

    def _add(self, text: str, style: str = "") -> None:
        self.text.append(sanitize_name(text), style or None)

    def _link(self, start: int, address: str | None, end: int | None = None) -> None:
        if address:
            self.text.stylize(Style(link=address), start, end)

    def _end_link(self, start: int, target: str) -> None:
        """Make the text since `start` a link. Where it leads must be seen, because not every terminal can open links."""
        shown = self.text.plain[start:]
        self.text.stylize("link", start)
        if target and target not in (shown, f"mailto:{shown}"):
            self._add(f" ({target})" if shown else target, "address")
        self._link(start, web_address(target) or self._links.note(target))

    def _add_words(self, text: str, *, linked: bool) -> None:
        """Plain text, with its citations and addresses of the web as links."""
        text = text.replace("\t", " ")
        if self._opener is None and (opener := _OPENER.search(text)):
            self._opener = len(self.text) + opener.start()
        at = 0
        for found in () if linked else _REFERENCE.finditer(text):
            self._add(text[at : found.start()])
            start, at = len(self.text), found.end()
            if found["url"]:
                url = _without_punctuation(found["url"])
                at = found.start() + len(url)
                self._add(url, "link")
                self._link(start, web_address(url))
            else:
                self._add(found[0], "citation")
                for number in _NUMBER.finditer(found[0]):
                    self._link(start + number.start(), self._links.source(int(number[0])), start + number.end())
        self._add(text[at:])


def _without_punctuation(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    url = url.rstrip(".,;:!?'*_~")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?'*_~")
    return url
