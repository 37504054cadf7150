"""The quotations of a text: words in any kind of quotation marks, and block quotations."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.quotes import is_long_enough
from zkchat_cli.text.words import cjk_pattern

_QUOTE_MARK = re.compile('[“”„‟«»‹›「」『』﹁﹂"＂]')
_NESTING = {"“": "”", "«": "»", "‹": "›", "「": "」", "『": "』", "﹁": "﹂"}
_CLOSING = {closing: opening for opening, closing in _NESTING.items()}
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "‟": "”", "»": "«", "›": "‹"}
"""Opening marks with the marks that close them, as in German and Danish; these do not nest."""
_SINGLE_MARK = re.compile("['‘’‚]")
_SINGLE = {"'": "'", "‘": "’", "‚": "‘’"}
_ELISION = re.compile(r"['‘](?:tis|twas|em|n|til|cause|round|\d0s|\d\d)\b", re.IGNORECASE)
BLANK_LINE = re.compile(r"\n[ \t>]*+(?=\n)")
_BLOCK_QUOTATION = re.compile(r"(?:^[ ]{0,3}>.*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_SIGN = re.compile(r"^[ ]{0,3}>[ \t>]*", re.MULTILINE)
_LONGEST_SINGLE = 2000


class Quotation(NamedTuple):
    """Quoted words and their span in the answer, including the quotation marks; `block`: a block quotation."""

    start: int
    end: int
    words: str
    block: bool = False


def find_quotations(answer: str, text: str) -> list[Quotation]:
    """The quotations long enough to be checked; of nested ones the outermost. `text` is the answer with spaces in place of its code.

    A quotation may contain `code`, but quotation marks inside code do not count. A block quotation that has quotation marks of its own is
    not one quotation as a whole, and neither is a callout.
    """
    marks = [(m.start(), m[0]) for m in _QUOTE_MARK.finditer(text)]
    blank = [m.start() for m in BLANK_LINE.finditer(text)]
    found: list[Quotation] = []
    end = 0
    for first, last in sorted([*_nested(marks), *_flat(marks, text, blank), *_single(text, blank)]):
        if first >= end and is_long_enough(answer[first + 1 : last]):
            end = last + 1
            found.append(Quotation(first, end, answer[first + 1 : last]))
    return sorted([*found, *_blocks(answer, text, found)]) if ">" in text else found


def _nested(marks: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    """Pairs of different marks. Each closing mark closes the last open one of its kind; an unclosed mark is no quotation."""
    open_: dict[str, list[int]] = {opening: [] for opening in _NESTING}
    for at, mark in marks:
        if mark in open_:
            open_[mark].append(at)
        elif waiting := open_.get(_CLOSING.get(mark, "")):
            yield waiting.pop(), at


def _flat(marks: Sequence[tuple[int, str]], text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of marks that can open and close: an opening mark is before a word, a closing mark after one."""
    for opening, closings in _FLAT.items():
        open_: list[int] = []
        for at, mark in marks:
            if mark != opening and mark not in closings:
                continue
            if open_ and bisect_right(blank, open_[0]) != bisect_right(blank, at):
                open_.clear()
            if open_ and mark in closings and not text[at - 1].isspace() and not _in_word(text, at + 1):
                yield open_.pop(), at
            elif mark == opening and text[at + 1 : at + 2].strip() and not (at and _in_word(text, at - 1)):
                open_.append(at)


def _single(text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
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
            if open_ and mark in closings and not text[at - 1].isspace() and not before_word:
                if text[at - 1] not in "sS":
                    yield open_.pop()[0], at
                elif not open_[-1][1]:
                    open_[-1] = (open_[-1][0], at)
            elif mark == opening and not after_word and text[at + 1 : at + 2].strip() and not _ELISION.match(text, at):
                if open_ and open_[-1][1]:
                    yield open_.pop()
                open_.append((at, 0))
        yield from (each for each in open_ if each[1])


def _blocks(answer: str, text: str, found: Sequence[Quotation]) -> Iterator[Quotation]:
    starts = [quotation.start for quotation in found]
    for block in _BLOCK_QUOTATION.finditer(text):
        start, end = block.span()
        words = _QUOTE_SIGN.sub("", answer[start:end]).strip()
        first = bisect_right(starts, start)
        has_quotation = (first < len(found) and found[first].start < end) or (first > 0 and found[first - 1].end > start)
        if not words.startswith("[!") and is_long_enough(words) and not has_quotation:
            yield Quotation(start, start + len(answer[start:end].rstrip()), words, block=True)


def _is_letter(c: str) -> bool:
    """Whether an apostrophe next to this character may be part of a word."""
    return c.isalnum() and not cjk_pattern().match(c)


def _in_word(text: str, at: int) -> bool:
    """Whether there is a Latin letter or digit. CJK letters do not count: CJK text has no spaces around quotation marks."""
    c = text[at : at + 1]
    return c.isascii() and (c.isalnum() or c == "_")
