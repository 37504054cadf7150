"""Inline Markdown: links, code, comments and math within a line, each with its place in the text.

What a wikilink or a Markdown link looks like is said here only. The patterns are parts for larger
ones and have no groups. `InlineReader` reads a line from mark to mark and never backwards.

All of it takes linear time, whatever the text is: possessive repetitions (`++`, `*+`) never back
up, each scan stops at the next opening, and what nothing closes is searched for once.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

# An escaped character
ESCAPE = r"\\[!-/:-@\[-`{-~]"
WIKILINK = r"\[\[(?!\[|[^\[\]\n]*+\][ \t,;]*+\[)(?>(?:[^\[\]\n]++|\[(?!\[)|\](?!\])){1,500})\]\]"
"""`[[Note#Heading|shown]]`; single brackets may be in it, but `[[1, 2], [3]]` is a list of lists.
The group is atomic because `*+` with a condition in it finds nothing in Python 3.11.2. It takes
memory per repetition, hence the limit.
"""
_LABEL = r"(?:[^\[\]\n\\]++|\\.|!?\[(?:[^\[\]\n\\]++|\\.)*+\](?:\([^()\n]*+\))?)*+"
_CODE = r"`(?!`)(?:[^`]++|`{2,}+)*+`(?!`)|``(?!`)(?:[^`]++|`(?!`)|`{3,}+)*+``(?!`)"
_LABEL_OF_LINES = (
    rf"(?:(?<!`)(?>{_CODE})|!\[(?:[^\[\]\n\\]++|\\.)*+\](?:\([^()\n]*+\))?"
    r"|\[(?:[^\[\]\n\\]++|\\.)*+\](?!\()|[^\[\]\\]|\\.)*+"
)
"""A label that may run over the lines of one paragraph. Code goes before links, and a link has no
link in it.
"""
_DESTINATION = r"(?:<(?:[^<>\n]*+)>|(?:(?:[^\s()<\\]++|\\.|\((?:[^\s()\\]++|\\.)*+\))*+))"
_TITLE = r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?"""
_LOOSE_DESTINATION = r"[^()\n]*+(?:\([^()\n]*+\)[^()\n]*+){0,3}"
LOOSE_LINK = rf"\[{_LABEL}\]\({_LOOSE_DESTINATION}\)"
"""What looks like a link to a reader. Unlike the links of `match_link` it may have spaces in its
address, as many people and models write them.
"""
REFERENCE_LINK = rf"\[{_LABEL}\]\[[^\[\]\n]*+\]"
FOOTNOTE = r"\[\^[^\[\]\s]++\]"
AUTOLINK = r"<(?:https?://|mailto:)[^<>\s]*+>"
ADDRESS = r"https?://[^\s<>]++"
HTML_TAG = r"</?[A-Za-z][^<>]*+>"
MATH = r"\$(?![\s$])(?:[^$\n\\]++|\\.)++(?<!\s)\$(?!\d)"
COMMENTS = {"<!--": "-->", "%%": "%%"}
"""The openings of comments, with what closes them."""

TokenKind = Literal["wikilink", "link", "code", "comment", "math", "tag"]


class Wikilink(NamedTuple):
    """`[[target#heading|alias]]` with its place, which does not include the `!` of an embed.
    `target` is empty for a link to the note itself.
    """

    start: int
    end: int
    target: str
    heading: str | None = None
    alias: str | None = None

    def shown(self, *, folders: bool = False) -> str:
        """What a reader sees: the alias, or the note and its last heading; the path of the note
        only with `folders`.
        """
        if self.alias:
            return self.alias
        note = self.target if folders else self.target.rpartition("/")[2].strip()
        heading = (self.heading or "").rpartition("#")[2].strip()
        if not heading or heading.startswith("^"):
            return note
        return f"{note} › {heading}" if note else heading


class MarkdownLink(NamedTuple):
    """`[label](destination)` with its place, which does not include the `!` of an image. The
    `destination` is without escapes; `destination_span` is where it is written.
    """

    start: int
    end: int
    label: str
    destination: str
    destination_span: tuple[int, int]

    @property
    def is_web_address(self) -> bool:
        """Whether it leads out of the vault."""
        return bool(_WEB_ADDRESS.match(self.destination))


class CodeSpan(NamedTuple):
    """Inline code with its place; `ticks`: how many backticks open and close it."""

    start: int
    end: int
    ticks: int

    def code(self, text: str) -> str:
        """What is between the backticks."""
        return text[self.start + self.ticks : self.end - self.ticks]


class InlineToken(NamedTuple):
    """A part of a line that is not just words. A comment or math may end on a later line. `link`:
    what a link says; behind a link to a web address come the tokens of its label. The `start` of a
    tag is its `#`.
    """

    kind: TokenKind
    start: int
    end: int
    link: Wikilink | MarkdownLink | None = None


_WIKILINK = lazy_pattern(WIKILINK)
_EMBED_OR_WIKILINK = lazy_pattern(rf"!?{WIKILINK}")
_LINK = lazy_pattern(
    rf"\[(?P<label>{_LABEL_OF_LINES})\]"
    rf"\([ \t]*+(?P<destination>{_DESTINATION}){_TITLE}[ \t]*+\)"
)
_LOOSE_LINK = lazy_pattern(LOOSE_LINK)
_NAMED_LOOSE_LINK = lazy_pattern(
    rf"\[(?P<label>{_LABEL})\]\((?P<destination>{_LOOSE_DESTINATION})\)"
)
_SHOWN_LINK = lazy_pattern(rf"!?\[({_LABEL})\]\({_LOOSE_DESTINATION}\)")
_SHOWN_REFERENCE = lazy_pattern(rf"!?\[({_LABEL})\](?:\({_LOOSE_DESTINATION}\)|\[[^\[\]\n]*+\])")
_WEB_ADDRESS = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ESCAPED = lazy_pattern(r"\\([!-/:-@\[-`{-~])")
_MATH = lazy_pattern(MATH)
_BACKTICKS = lazy_pattern("`++")
_BACKTICKS_OR_ESCAPE = lazy_pattern(r"\\[\\`]|`++")
# Every alternative begins with a literal, outside of its group: so the search skips from one such
# character to the next, ten times faster. What precedes a mark is therefore checked after it.
_MARK = lazy_pattern(
    r"""\\.(?:\\.)*+
      | \[(?P<brackets>\[*+)
      | `(?P<backticks>`*+)
      | <(?P<html>!--)
      | %(?P<percent>%)
      | \$(?P<dollars>\$?)
      | \#(?<!\S\#)(?P<tag>[^\s#!@$%^&*(),.?":{}|<>\[\]\\'`;+=~，。、；：！？（）「」【】《》“”…]++)
    """,
    re.VERBOSE,
)
_CLOSING = {**COMMENTS, "$$": "$$"}


def match_wikilink(text: str, at: int, end: int | None = None) -> Wikilink | None:
    """The wikilink with its `[[` at a position; None if there is none, or it names nothing."""
    found = _WIKILINK.match(text, at, len(text) if end is None else end)
    if not found:
        return None
    target, heading, alias = split_target(found[0][2:-2])
    return Wikilink(*found.span(), target, heading, alias) if target or heading else None


def match_link(
    text: str, at: int, end: int | None = None, *, loose: bool = False
) -> MarkdownLink | None:
    """The Markdown link with its `[` at a position, by the rules of CommonMark, or a `loose` one;
    None if there is none, or it leads nowhere.
    """
    end = len(text) if end is None else end
    found = _LINK.match(text, at, end)
    if not found and loose:
        found = _NAMED_LOOSE_LINK.match(text, at, end)
    if not found:
        return None
    first, last = found.span("destination")
    destination = unescape(text[first:last])
    if text.startswith("<", first):
        first += 1
        last -= 1
        destination = text[first:last]
    if not destination:
        return None
    return MarkdownLink(*found.span(), found["label"], destination, (first, last))


def split_target(inner: str) -> tuple[str, str | None, str | None]:
    """The target, heading and alias of what is in a wikilink's brackets: `a#b#c|d` as `("a", "b#c",
    "d")`. In a table the bar is escaped, and that escape belongs to the bar.
    """
    target, bar, alias = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    name, _, heading = target.partition("#")
    return name.strip(), heading.strip() or None, alias.strip() or None


def replace_wikilinks(text: str, replace: Callable[[Wikilink], str]) -> str:
    """The text with what `replace` makes of each wikilink; the `!` of an embed goes, too."""

    def replaced(found: re.Match[str]) -> str:
        target, heading, alias = split_target(found[0].removeprefix("!")[2:-2])
        link = Wikilink(*found.span(), target, heading, alias)
        return replace(link) if link.target or link.heading else found[0]

    return _EMBED_OR_WIKILINK.sub(replaced, text) if "[[" in text else text


def wikilinks(text: str) -> Iterator[Wikilink]:
    """The wikilinks of a text, without looking at code."""
    for found in _WIKILINK.finditer(text):
        if link := match_wikilink(text, found.start(), found.end()):
            yield link


def loose_links(text: str) -> Iterator[MarkdownLink]:
    """The Markdown links of a text and what looks like one, without looking at code."""
    for found in _LOOSE_LINK.finditer(text):
        if link := match_link(text, found.start(), found.end(), loose=True):
            yield link


def show_links(text: str, *, references: bool = False) -> str:
    """The text with the labels of Markdown links and images in place of these; with `references`
    also of `[label][name]`.
    """

    def label(found: re.Match[str]) -> str:
        return show_links(found[1], references=references) if "[" in found[1] else found[1]

    return (_SHOWN_REFERENCE if references else _SHOWN_LINK).sub(label, text)


def unescape(text: str) -> str:
    """The text without the backslashes that escape a character."""
    return _ESCAPED.sub(r"\1", text)


def is_embed(text: str, at: int) -> bool:
    """Whether an unescaped `!` precedes the link at a position."""
    backslashes = at - 1
    while backslashes > 0 and text[backslashes - 1] == "\\":
        backslashes -= 1
    return at > 0 and text[at - 1] == "!" and (at - 1 - backslashes) % 2 == 0


def code_spans(text: str) -> list[CodeSpan]:
    """The inline code of one paragraph. The next run of as many backticks closes a span. A backtick
    behind a backslash opens nothing.
    """
    spans: list[CodeSpan] = []
    if "`" not in text:
        return spans
    runs = _BacktickRuns(text, 0, len(text))
    at = 0
    while opening := _BACKTICKS_OR_ESCAPE.search(text, at):
        start, at = opening.span()
        if text[start] == "\\":
            continue
        ticks = at - start
        closing = runs.closing_end(ticks, at)
        if closing is not None:
            spans.append(CodeSpan(start, closing, ticks))
            at = closing
    return spans


class _BacktickRuns:
    """Where runs of backticks begin in a part of a text, by their length."""

    def __init__(self, text: str, begin: int, end: int) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in _BACKTICKS.finditer(text, begin, end):
            self._starts.setdefault(run.end() - run.start(), []).append(run.start())

    def closing_end(self, ticks: int, at: int) -> int | None:
        """The end of the first run of so many backticks from a position on; None without one."""
        starts = self._starts.get(ticks, [])
        index = bisect_left(starts, at)
        return starts[index] + ticks if index < len(starts) else None


class InlineReader:
    """Reads the lines of one text, in order: it remembers which comments and math nothing closes,
    because to search for that again would take quadratic time.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._unclosed: set[str] = set()
        # Those of the line that is being read, from its first backtick on
        self._runs: _BacktickRuns | None = None

    def read(self, begin: int, end: int, *, at_start: bool = False) -> Sequence[InlineToken]:
        """The parts of the line that ends at `end`, from `begin` on. A comment that nothing closes
        goes to the end of the text, if it begins its line: `at_start` says that `begin` does.
        """
        text = self._text
        mark = _MARK.search(text, begin, end)
        # Most lines of a note have no mark
        if not mark:
            return ()
        tokens: list[InlineToken] = []
        self._runs = None
        while mark:
            at = mark.end()
            token = self._token(mark, end, is_first=at_start and mark.start() == begin)
            if token:
                if not (isinstance(token.link, MarkdownLink) and token.link.is_web_address):
                    at = token.end
                tokens.append(token)
            mark = _MARK.search(text, at, end) if at < end else None
        return tokens

    def _token(self, mark: re.Match[str], end: int, *, is_first: bool) -> InlineToken | None:
        """The part of the line that begins with this mark, if it means anything."""
        start, at = mark.span()
        match mark.lastgroup:
            case "brackets":
                return self._link(start, at, end)
            case "backticks":
                return self._code(start, at, end)
            case "tag":
                return InlineToken("tag", start, at)
            case "html" | "percent" | "dollars" if mark[0] in _CLOSING:
                return self._spanning(mark[0], start, is_first=is_first)
            case "dollars":
                math = _MATH.match(self._text, start, end)
                return InlineToken("math", *math.span()) if math else None
        return None

    def _code(self, start: int, at: int, end: int) -> InlineToken | None:
        """The code that a run of backticks opens."""
        self._runs = self._runs or _BacktickRuns(self._text, start, end)
        closing = self._runs.closing_end(at - start, at)
        return InlineToken("code", start, closing) if closing is not None else None

    def _link(self, start: int, at: int, end: int) -> InlineToken | None:
        """The link at a run of brackets: the inner two make a wikilink, the innermost one a
        Markdown link.
        """
        if at - start > 1 and (wikilink := match_wikilink(self._text, at - 2, end)):
            return InlineToken("wikilink", wikilink.start, wikilink.end, wikilink)
        if link := match_link(self._text, at - 1, end):
            return InlineToken("link", link.start, link.end, link)
        return None

    def _spanning(self, opening: str, start: int, *, is_first: bool) -> InlineToken | None:
        """The comment or math that opens here, and may end on a later line."""
        kind: TokenKind = "math" if opening == "$$" else "comment"
        closing = _CLOSING[opening]
        if closing not in self._unclosed:
            found = self._text.find(closing, start + len(opening))
            if found >= 0:
                return InlineToken(kind, start, found + len(closing))
            self._unclosed.add(closing)
        if is_first and kind == "comment":
            return InlineToken(kind, start, len(self._text))
        return None
