"""Pairs of quotation marks: double and single ones of all kinds, and those that are written as HTML
entities or as two characters.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from zkchat_cli.markdown.plain_text import ENTITY
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk

_QUOTE_MARK = lazy_pattern('[“”„‟«»‹›「」『』﹁﹂❝❞〝〞〟"＂]')
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "”": "”", "‟": "”", "»": "«", "›": "‹"}
"""Opening marks with the marks that close them, as in German and Danish; these do not nest."""
_DOUBLE = {
    "“": "”",
    "«": "»",
    "‹": "›",
    "「": "」",
    "『": "』",
    "﹁": "﹂",
    "❝": "❞",
    "〝": "〞〟",
    **_FLAT,
}
_SINGLE_MARK = lazy_pattern("['‘’‚]")
_SINGLE = {"'": "'", "‘": "’", "‚": "‘’", "’": "’"}
_ELISION = lazy_pattern(
    r"['‘](?:tis|twas|em|n|til|cause|round|\d0s)\b"
    r"|(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=since )|(?<=from ))['‘]\d\d\b",
    re.IGNORECASE,
)
_MIXED_OPENINGS = frozenset('“„‟"＂')
_MIXED_CLOSINGS = frozenset('”“‟"＂')
_TWO_CHARACTERS = lazy_pattern(r"(?<![\w,]),,(?=\w)|(?<!\w)``(?=\w)|(?<=[^\s'])''(?!['\w])")
_LONGEST_SINGLE = 2000


def with_plain_marks(text: str) -> str:
    """The text with one character for each quotation mark, at the side of the words, and spaces in
    place of the others, so that all positions stay the same.
    """
    if "&" in text:
        text = ENTITY.sub(_plain_entity, text)
    if ",," in text or "''" in text:
        text = _TWO_CHARACTERS.sub(_plain_pair, text)
    return text


def _plain_entity(entity: re.Match[str]) -> str:
    """The quotation mark of an entity, padded on the side away from the words."""
    mark = html.unescape(entity[0])
    if len(mark) != 1 or not (_QUOTE_MARK.match(mark) or _SINGLE_MARK.match(mark)):
        return entity[0]
    following = entity.string[entity.end() : entity.end() + 1]
    if following.strip() and (following.isalnum() or mark in "“„«‘‚"):
        return mark.rjust(len(entity[0]))
    return mark.ljust(len(entity[0]))


def _plain_pair(pair: re.Match[str]) -> str:
    return "” " if pair[0] == "''" else " „"


def quoted_ranges(answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The positions of the marks of each pair, in any order. `text` has spaces in place of code;
    `blank`: the positions of the blank lines.
    """
    yield from _pairs(answer, text, blank)
    yield from _single_pairs(answer, text, blank)


def _pairs(answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of double marks. Each closing mark closes the last open one of its kind; an unclosed
    mark is no quotation.
    """
    marks = [(found.start(), found[0]) for found in _QUOTE_MARK.finditer(text)]
    paired: set[int] = set()
    for opening, closings in _DOUBLE.items():
        own = [(at, mark) for at, mark in marks if mark == opening or mark in closings]
        if opening in _FLAT:
            found = _flat_pairs(own, opening, answer, text, blank)
        else:
            found = _nested_pairs(own, opening, closings)
        for first, last in found:
            paired |= {first, last}
            yield first, last
    left = [(at, mark) for at, mark in marks if at not in paired]
    yield from _mixed_pairs(left, answer, text, blank)


def _mixed_pairs(
    marks: Iterable[tuple[int, str]], answer: str, text: str, blank: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of marks of different kinds in one paragraph: `“…"`, `"…”`."""
    open_at: int | None = None
    for at, mark in marks:
        may_close = mark in _MIXED_CLOSINGS and not answer[at - 1 : at].isspace()
        is_near = open_at is not None and bisect_right(blank, open_at) == bisect_right(blank, at)
        if open_at is not None and is_near and may_close and not _in_word(text, at + 1):
            yield open_at, at
            open_at = None
        elif mark in _MIXED_OPENINGS and _begins_quotation(answer, text, at):
            open_at = at


def _begins_quotation(answer: str, text: str, at: int) -> bool:
    """Whether a mark that can open and close is before a word, and not behind one."""
    return bool(answer[at + 1 : at + 2].strip()) and not (at and _in_word(text, at - 1))


def _nested_pairs(
    marks: Iterable[tuple[int, str]], opening: str, closings: str
) -> Iterator[tuple[int, int]]:
    """Pairs of marks that only open or only close."""
    open_: list[int] = []
    for at, mark in marks:
        if mark == opening:
            open_.append(at)
        elif open_ and mark in closings:
            yield open_.pop(), at


def _flat_pairs(
    marks: Iterable[tuple[int, str]], opening: str, answer: str, text: str, blank: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of marks that can open and close: they open before a word and close after one, in the
    same paragraph.
    """
    open_: list[int] = []
    for at, mark in marks:
        if open_ and bisect_right(blank, open_[0]) != bisect_right(blank, at):
            open_.clear()
        may_close = not answer[at - 1].isspace() and not _in_word(text, at + 1)
        if open_ and mark in _FLAT[opening] and may_close:
            yield open_.pop(), at
        elif mark == opening and _begins_quotation(answer, text, at):
            open_.append(at)


def _single_pairs(answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of single marks. The same character is an apostrophe: inside a word, after a plural
    ("the dogs' bowl"), before "tis". So a closing mark after an s counts only if no other follows
    before the next quotation or the paragraph's end.
    """
    marks = [(found.start(), found[0]) for found in _SINGLE_MARK.finditer(text)]
    for opening, closings in _SINGLE.items():
        opens = [at for at, mark in marks if mark == opening and _opens_single(answer, text, at)]
        closes = [at for at, mark in marks if mark in closings and _closes_single(answer, text, at)]
        for at, following in pairwise([*opens, len(text)]):
            border = _paragraph_end(at, text, blank)
            last = min(following, border, at + _LONGEST_SINGLE)
            inside = closes[bisect_right(closes, at) : bisect_right(closes, last)]
            if inside:
                yield at, _closing_mark(inside, text)


def _paragraph_end(at: int, text: str, blank: Sequence[int]) -> int:
    """The next blank line after a position, or the end of the text."""
    following = bisect_right(blank, at)
    return blank[following] if following < len(blank) else len(text)


def _closing_mark(possible: Sequence[int], text: str) -> int:
    """The first mark that is not behind an s, else the first one."""
    for at in possible:
        if text[at - 1] not in "sS":
            return at
    return possible[0]


def _opens_single(answer: str, text: str, at: int) -> bool:
    begins_word = bool(answer[at + 1 : at + 2].strip())
    return begins_word and not _is_letter(text[at - 1 : at]) and not _ELISION.match(text, at)


def _closes_single(answer: str, text: str, at: int) -> bool:
    return bool(answer[at - 1 : at].strip()) and not _is_letter(text[at + 1 : at + 2])


def _is_letter(c: str) -> bool:
    """Whether an apostrophe next to this character may be part of a word."""
    return c.isalnum() and not find_cjk(c)


def _in_word(text: str, at: int) -> bool:
    """Whether there is a Latin letter or digit. CJK letters do not count: CJK text has no spaces
    around quotation marks.
    """
    c = text[at : at + 1]
    return c.isascii() and (c.isalnum() or c == "_")
