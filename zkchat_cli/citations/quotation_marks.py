"""The quotations of a text: words in any kind of quotation marks, and block quotations."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.quotes import is_long_enough
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk

_QUOTE_MARK = lazy_pattern('[“”„‟«»‹›「」『』﹁﹂"＂]')
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "‟": "”", "»": "«", "›": "‹"}
"""Opening marks with the marks that close them, as in German and Danish; these do not nest."""
_DOUBLE = {"“": "”", "«": "»", "‹": "›", "「": "」", "『": "』", "﹁": "﹂", **_FLAT}
_SINGLE_MARK = lazy_pattern("['‘’‚]")
_SINGLE = {"'": "'", "‘": "’", "‚": "‘’"}
_ELISION = lazy_pattern(
    r"['‘](?:tis|twas|em|n|til|cause|round|\d0s)\b|(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=since )|(?<=from ))['‘]\d\d\b", re.IGNORECASE
)
_BLANK_LINE = lazy_pattern(r"\n[ \t>]*+(?=\n)")
_BLOCK_QUOTATION = lazy_pattern(r"(?:^[ ]{0,3}>.*(?:\n|\Z))+", re.MULTILINE)
QUOTE_SIGN = lazy_pattern(r"^[ ]{0,3}>[ \t>]*", re.MULTILINE)
_LONGEST_SINGLE = 2000


class Quotation(NamedTuple):
    """Quoted words and their span in the answer, including the quotation marks; `block`: a block quotation."""

    start: int
    end: int
    words: str
    block: bool = False


def find_quotations(answer: str, text: str) -> list[Quotation]:
    """The quotations long enough to be checked; of nested ones the outermost. `text` is the answer with spaces in place of its code.

    A quotation may contain `code`, but quotation marks inside code do not count. A block quotation counts as a whole
    unless most of it is in quotation marks.
    """
    marks = [(m.start(), m[0]) for m in _QUOTE_MARK.finditer(text)]
    blank = [m.start() for m in _BLANK_LINE.finditer(text)]
    found: list[Quotation] = []
    end = 0
    for first, last in sorted([*_pairs(marks, answer, text, blank), *_single_pairs(answer, text, blank)]):
        if first >= end and is_long_enough(answer[first + 1 : last]):
            end = last + 1
            found.append(Quotation(first, end, answer[first + 1 : last]))
    if ">" not in text:
        return found
    blocks = list(_block_quotations(answer, text, found))
    inside = [(block.start, block.end) for block in blocks]
    return sorted([*blocks, *(each for each in found if not any(start <= each.start < end for start, end in inside))])


def _pairs(marks: Sequence[tuple[int, str]], answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of double marks. Each closing mark closes the last open one of its kind; an unclosed mark is no quotation.

    Marks that can open and close open before a word and close after one, in the same paragraph.
    """
    for opening, closings in _DOUBLE.items():
        is_flat = opening in _FLAT
        open_: list[int] = []
        for at, mark in marks:
            if mark != opening and mark not in closings:
                continue
            if is_flat and open_ and bisect_right(blank, open_[0]) != bisect_right(blank, at):
                open_.clear()
            if open_ and mark in closings and not (is_flat and (answer[at - 1].isspace() or _in_word(text, at + 1))):
                yield open_.pop(), at
            elif mark == opening and not (is_flat and (not answer[at + 1 : at + 2].strip() or (at and _in_word(text, at - 1)))):
                open_.append(at)


def _single_pairs(answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of single marks. The same character is an apostrophe: inside a word, after a plural ("the dogs' bowl"), before "tis".

    So a closing mark after an s counts only if no other follows before the next quotation or the paragraph's end.
    """
    marks = [(m.start(), m[0]) for m in _SINGLE_MARK.finditer(text)]
    for opening, closings in _SINGLE.items():
        open_: list[tuple[int, int]] = []
        """Where quotations begin, and perhaps end after an s; else 0."""
        for at, mark in marks:
            if mark != opening and mark not in closings:
                continue
            if open_ and (at - open_[0][0] > _LONGEST_SINGLE or bisect_right(blank, open_[0][0]) != bisect_right(blank, at)):
                yield from (each for each in open_ if each[1])
                open_.clear()
            after_word, before_word = at > 0 and _is_letter(text[at - 1]), _is_letter(text[at + 1 : at + 2])
            if open_ and mark in closings and not answer[at - 1].isspace() and not before_word:
                if text[at - 1] not in "sS":
                    yield open_.pop()[0], at
                elif not open_[-1][1]:
                    open_[-1] = (open_[-1][0], at)
            elif mark == opening and not after_word and answer[at + 1 : at + 2].strip() and not _ELISION.match(text, at):
                if open_ and open_[-1][1]:
                    yield open_.pop()
                open_.append((at, 0))
        yield from (each for each in open_ if each[1])


def _block_quotations(answer: str, text: str, found: Sequence[Quotation]) -> Iterator[Quotation]:
    """The block quotations that are no callouts, and not for the most part quotations in marks."""
    starts = [quotation.start for quotation in found]
    for block in _BLOCK_QUOTATION.finditer(text):
        start, end = block.start(), block.start() + len(answer[block.start() : block.end()].rstrip())
        words = QUOTE_SIGN.sub("", answer[start:end]).strip()
        inner = found[bisect_left(starts, start) : bisect_left(starts, end)]
        is_quoted = 2 * sum(len(each.words) for each in inner) > len(words)
        if not words.startswith("[!") and is_long_enough(words) and not is_quoted:
            yield Quotation(start, end, words, block=True)


def _is_letter(c: str) -> bool:
    """Whether an apostrophe next to this character may be part of a word."""
    return c.isalnum() and not find_cjk(c)


def _in_word(text: str, at: int) -> bool:
    """Whether there is a Latin letter or digit. CJK letters do not count: CJK text has no spaces around quotation marks."""
    c = text[at : at + 1]
    return c.isascii() and (c.isalnum() or c == "_")
