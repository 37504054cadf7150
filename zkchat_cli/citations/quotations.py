"""The quotations of a text: words in any kind of quotation marks, and block quotations; and which
of them belong to which citation marks: those before a mark in its paragraph, around it, or
introduced by it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import SENTENCE_END
from zkchat_cli.text.words import find_cjk

# Characters from which on words in quotation marks count as a quotation; a Chinese or Japanese
# character counts twice
MIN_QUOTE = 10
_QUOTE_MARK = lazy_pattern('[“”„‟«»‹›「」『』﹁﹂"＂]')
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "‟": "”", "»": "«", "›": "‹"}
"""Opening marks with the marks that close them, as in German and Danish; these do not nest."""
_DOUBLE = {"“": "”", "«": "»", "‹": "›", "「": "」", "『": "』", "﹁": "﹂", **_FLAT}
_SINGLE_MARK = lazy_pattern("['‘’‚]")
_SINGLE = {"'": "'", "‘": "’", "‚": "‘’"}
_ELISION = lazy_pattern(
    r"['‘](?:tis|twas|em|n|til|cause|round|\d0s)\b"
    r"|(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=since )|(?<=from ))['‘]\d\d\b",
    re.IGNORECASE,
)
_BLANK_LINE = lazy_pattern(r"\n[ \t>]*+(?=\n)")
_BLOCK_QUOTATION = lazy_pattern(r"(?:^[ ]{0,3}>.*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_SIGN = lazy_pattern(r"^[ ]{0,3}>[ \t>]*", re.MULTILINE)
_LONGEST_SINGLE = 2000
# Text between a quotation and its mark, if the quotation itself contains marks
_BETWEEN = lazy_pattern(r"[\s.,;:!?。，(（]{0,3}")
_INTRODUCTION = lazy_pattern(r"[)\]*_]*+(?>(?:\s*+[\w'’-]++){0,5})\s*+[,:，：]?\s*+")
"""Text between a mark and a quotation that it introduces: `[[Filters]] says that “…”`."""
_LONGEST_INTRODUCTION = 60
_BEFORE_BLOCK = lazy_pattern(
    r"[)\]*_\"'”’.,:：]*+(?>(?:\s*+[\w'’-]++){0,8})[ \t]*+[.,:：]?[ \t]*+\n\s*+"
)
"""Text between a mark and the block quotation that it introduces."""
# Text between a block quotation and its mark
_AFTER_BLOCK = lazy_pattern(r"[\s>—–(*_-]{0,9}")
_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|))")
"""The end of a paragraph, a list item or a table row."""
_SENTENCE_ENDS = lazy_pattern(SENTENCE_END)


class Quotation(NamedTuple):
    """Quoted words and their span in the answer, including the quotation marks; `block`: a block
    quotation.
    """

    start: int
    end: int
    words: str
    block: bool = False


class AssignedQuote(NamedTuple):
    """Quoted words that belong to a mark: a quotation, by its index, or the part of it before the
    mark.
    """

    quotation: int
    words: str


def is_long_enough(words: str) -> bool:
    """Whether words in quotation marks are checked: a few words, or less with a digit; but not a
    name in quotation marks.
    """
    if len(words) < 2:
        return False
    return len(words) + len(find_cjk(words)) >= MIN_QUOTE or any(map(str.isdigit, words))


def find_quotations(answer: str, text: str) -> list[Quotation]:
    """The quotations long enough to be checked; of nested ones the outermost. `text` is the answer
    with spaces in place of its code. A quotation may contain `code`, but quotation marks inside
    code do not count. A block quotation, unless it is a callout, counts as a whole if not most of
    it is in quotation marks.
    """
    blank = [found.start() for found in _BLANK_LINE.finditer(text)]
    found: list[Quotation] = []
    end = 0
    pairs = [*_pairs(answer, text, blank), *_single_pairs(answer, text, blank)]
    for first, last in sorted(pairs):
        words = answer[first + 1 : last]
        if first >= end and is_long_enough(words):
            end = last + 1
            found.append(Quotation(first, end, words))
    blocks = _block_quotations(answer, text, found)
    outside = [quotation for quotation in found if not _begins_in(quotation, blocks)]
    return sorted([*blocks, *outside])


def _begins_in(quotation: Quotation, blocks: Iterable[Quotation]) -> bool:
    """Whether a quotation begins in one of these block quotations."""
    return any(block.start <= quotation.start < block.end for block in blocks)


def _block_quotations(answer: str, text: str, marked: Sequence[Quotation]) -> list[Quotation]:
    """The block quotations that count as a whole. `marked`: those in quotation marks."""
    starts = [quotation.start for quotation in marked]
    blocks: list[Quotation] = []
    for block in _BLOCK_QUOTATION.finditer(text):
        start = block.start()
        end = start + len(answer[start : block.end()].rstrip())
        words = _QUOTE_SIGN.sub("", answer[start:end]).strip()
        inner = marked[bisect_left(starts, start) : bisect_left(starts, end)]
        is_quoted = 2 * sum(len(each.words) for each in inner) > len(words)
        if not words.startswith("[!") and is_long_enough(words) and not is_quoted:
            blocks.append(Quotation(start, end, words, block=True))
    return blocks


def _pairs(answer: str, text: str, blank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of double marks. Each closing mark closes the last open one of its kind; an unclosed
    mark is no quotation.
    """
    marks = [(found.start(), found[0]) for found in _QUOTE_MARK.finditer(text)]
    for opening, closings in _DOUBLE.items():
        own = [(at, mark) for at, mark in marks if mark == opening or mark in closings]
        if opening in _FLAT:
            yield from _flat_pairs(own, opening, answer, text, blank)
        else:
            yield from _nested_pairs(own, opening)


def _nested_pairs(marks: Iterable[tuple[int, str]], opening: str) -> Iterator[tuple[int, int]]:
    """Pairs of marks that only open or only close."""
    open_: list[int] = []
    for at, mark in marks:
        if mark == opening:
            open_.append(at)
        elif open_:
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
        elif mark == opening:
            begins_word = bool(answer[at + 1 : at + 2].strip())
            if begins_word and not (at and _in_word(text, at - 1)):
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


def marks_outside_quotations(
    written: Iterable[CitationMark], quotations: Sequence[Quotation], text: str
) -> list[CitationMark]:
    """The marks that may cite: no definitions, and none inside a quotation that another mark
    follows, because it belongs to the note.
    """
    found = [mark for mark in written if not mark.defines]
    starts = [mark.start for mark in found]
    quoted: set[CitationMark] = set()
    for quotation in quotations:
        first = bisect_left(starts, quotation.start)
        following = bisect_left(starts, quotation.end)
        has_marks = first < following
        if not has_marks or following == len(starts):
            continue
        if _BETWEEN.fullmatch(text, quotation.end, starts[following]):
            quoted.update(found[first:following])
    return [mark for mark in found if mark not in quoted]


def assign_quotes(
    spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], answer: str, text: str
) -> list[list[AssignedQuote]]:
    """The quotations of each mark. A quotation with marks in it belongs to them. Any other belongs
    to the mark behind it in its paragraph and to those adjacent to that, or else to the one that
    introduces it. `text` is the answer with spaces in place of its code.
    """
    quotes: list[list[AssignedQuote]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    borders = [found.start() for found in _BORDER.finditer(text)]
    introduced_by: int | None = None
    for index, quotation in enumerate(quotations):
        before = bisect_left(starts, quotation.start) - 1
        following = bisect_left(starts, quotation.end)
        continues = introduced_by == before and _continues(quotations, index, text)
        if not continues:
            introduced_by = _introducing_mark(before, spans, quotation, text)
        if before + 1 < following:
            inside = range(before + 1, following)
            for at, words in _inner_quotes(quotation, inside, spans, answer):
                quotes[at].append(AssignedQuote(index, words))
        elif following < len(spans) and _is_followed(
            quotation, starts[following], text, borders, introduced=introduced_by is not None
        ):
            for at in _marks_behind(quotation, following, spans):
                quotes[at].append(AssignedQuote(index, quotation.words))
        elif introduced_by is not None:
            quotes[introduced_by].append(AssignedQuote(index, quotation.words))
    return quotes


def _introducing_mark(
    before: int, spans: Sequence[tuple[int, int]], quotation: Quotation, text: str
) -> int | None:
    """The index of the mark before a quotation, if it introduces it; None if it does not. `before`
    is -1 if there is no mark.
    """
    if before < 0:
        return None
    _, end = spans[before]
    return before if _introduces(end, quotation, text) else None


def _continues(quotations: Sequence[Quotation], index: int, text: str) -> bool:
    """Whether a quotation is in the same sentence as the one before it."""
    quotation = quotations[index]
    gap = (text, quotations[index - 1].end - 2, quotation.start)
    return not (quotation.block or _SENTENCE_ENDS.search(*gap) or _BORDER.search(*gap))


def _marks_behind(
    quotation: Quotation, first: int, spans: Sequence[tuple[int, int]]
) -> Iterator[int]:
    """The first mark behind a quotation, and those adjacent to it."""
    at = first
    yield at
    while not quotation.block and _touches_next(at, spans):
        at += 1
        yield at


def _touches_next(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the next mark begins where this one ends."""
    if at + 1 == len(spans):
        return False
    _, end = spans[at]
    start, _ = spans[at + 1]
    return start == end


def is_beside(span: tuple[int, int], quotation: Quotation, text: str) -> bool:
    """Whether a mark is in the quotation or in its sentence, and so its source; later in the
    paragraph it may be just a link.
    """
    (_, end), (start, _) = sorted((span, (quotation.start, quotation.end)))
    if not _SENTENCE_ENDS.search(text, end - 2, start):
        return True
    return not any(map(str.isalnum, text[end:start]))


def _introduces(end: int, quotation: Quotation, text: str) -> bool:
    """Whether a few words between a mark that ends at `end` and a quotation introduce it."""
    if quotation.start - end > _LONGEST_INTRODUCTION:
        return False
    if quotation.block:
        return bool(_BEFORE_BLOCK.fullmatch(text, end, quotation.start))
    if _BORDER.search(text, end, quotation.start):
        return False
    return bool(_INTRODUCTION.fullmatch(text, end, quotation.start))


def _is_followed(
    quotation: Quotation, start: int, text: str, borders: Sequence[int], *, introduced: bool
) -> bool:
    """Whether a mark that begins at `start` is behind the quotation; behind an introduced one in
    the same sentence.
    """
    if quotation.block:
        return bool(_AFTER_BLOCK.fullmatch(text, quotation.end, start))
    if introduced and _SENTENCE_ENDS.search(text, quotation.end - 2, start):
        return False
    return bisect_right(borders, start) == bisect_left(borders, quotation.end)


def _inner_quotes(
    quotation: Quotation, inside: range, spans: Sequence[tuple[int, int]], answer: str
) -> Iterator[tuple[int, str]]:
    """The marks inside a quotation, each with the words before it, without marks; the last one also
    with those after it.
    """
    begin = quotation.start + (not quotation.block)
    last = quotation.end - (not quotation.block)
    words = ""
    for at in inside:
        start, end = spans[at]
        if answer[begin:start].strip() or not words:
            words = answer[begin:start]
            after = answer[end:last]
            is_last = at + 1 not in inside
            if is_last and any(map(str.isalnum, after)):
                words += after
        bare = _QUOTE_SIGN.sub("", words).strip().rstrip("—–-( \n")
        if is_long_enough(bare):
            yield at, bare
        begin = end
