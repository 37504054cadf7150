"""Which quotations of a text belong to which of its citation marks: those before a mark in its
paragraph, around it, or introduced by it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.quotations import QUOTE_SIGN, Quotation, is_long_enough
from zkchat_cli.citations.reporting_words import names_source
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import SENTENCE_END

_INTRODUCTION = lazy_pattern(
    r"[)\]*_]*+(?>(?:\s*+[\w'’-]++){0,5})\s*+(?:[,:，：–—-]?[)*_]*+|\|)\s*+"
)
"""Text between a mark and a quotation that it introduces: `[[Filters]] says that “…”`,
`**[1]:** “…”`, `| [1] | “…”`.
"""
_LONGEST_INTRODUCTION = 60
_BEFORE_BLOCK = lazy_pattern(
    r"[)\]*_\"'”’.,:：]*+(?>(?:\s*+[\w'’-]++){0,8})[ \t]*+[.,:：]?[)*_]*+[ \t]*+\n\s*+"
)
"""Text between a mark and the block quotation that it introduces."""
_BEFORE_LIST = lazy_pattern(
    r"[)\]*_]*+(?>(?:[ \t]*+[\w'’-]++){0,8})[ \t]*+[:：][)*_]*+[ \t]*+\n"
    r"(?>\s*+(?:[-*+]|\d{1,3}[.)])[ \t][^\n]*\n)*+\s*+(?:[-*+]|\d{1,3}[.)])[ \t][^\n]*\Z"
)
"""Text between a mark and a quotation in the list that it introduces: `The minutes [1] say:`."""
_HEADING = lazy_pattern(r"^[ ]{0,3}#{1,6}[ \t][^\n]*$", re.MULTILINE)
# Text between a block quotation and its mark
_AFTER_BLOCK = lazy_pattern(r"[\s>—–(*_-]{0,9}")
_PARAGRAPH_AFTER_BLOCK = lazy_pattern(r"\s*(?P<words>[(*_—–-]{0,4}[^\n\[\]“”\"«»|#]{0,60})\Z")
_SOURCE_LINE_END = lazy_pattern(r"[)*_.。:]{0,4}[ \t]*(?:\n|\Z)")
_MOST_WORDS = 8
_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|))")
"""The end of a paragraph, a list item or a table row."""
_SENTENCE_ENDS = lazy_pattern(SENTENCE_END)


class AssignedQuote(NamedTuple):
    """Quoted words that belong to a mark: a quotation, by its index, or the part of it before the
    mark.
    """

    quotation: int
    words: str


def assign_quotes(
    spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], answer: str, text: str
) -> list[list[AssignedQuote]]:
    """The quotations of each mark. A quotation with marks in it belongs to them. Any other belongs
    to the mark behind it in its paragraph and to those adjacent to that, or else to the one that
    introduces it, or that a line below a block quotation has. One that continues in the next
    paragraph belongs to the marks of that. `text` is the answer with spaces in place of its code.
    """
    quotes: list[list[AssignedQuote]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    borders = [found.start() for found in _BORDER.finditer(text)]
    introduced_by: int | None = None
    continued: list[int] = []
    for index, quotation in enumerate(quotations):
        before = bisect_left(starts, quotation.start) - 1
        following = bisect_left(starts, quotation.end)
        if not (introduced_by == before and _continues(quotations, index, text)):
            introduced_by = _introducing_mark(before, spans, quotation, text)
        if quotation.continues:
            continued.append(index)
            continue
        if before + 1 < following:
            inside = range(before + 1, following)
            own = list(_inner_quotes(quotation, inside, spans, answer))
        else:
            marks = _marks_of(quotation, following, introduced_by, spans, text, borders)
            own = [(at, quotation.words) for at in marks]
        for at, words in own:
            earlier = [AssignedQuote(each, quotations[each].words) for each in continued]
            quotes[at] += [*earlier, AssignedQuote(index, words)]
        continued = []
    return quotes


def _marks_of(
    quotation: Quotation,
    following: int,
    introduced_by: int | None,
    spans: Sequence[tuple[int, int]],
    text: str,
    borders: Sequence[int],
) -> Iterator[int]:
    """The indexes of the marks that cite a quotation without marks in it. `following`: the index of
    the first one behind it.
    """
    has_following = following < len(spans)
    start = spans[following][0] if has_following else len(text)
    if has_following and _is_followed(
        quotation, start, text, borders, introduced=introduced_by is not None
    ):
        yield from _marks_behind(quotation, following, spans)
    elif introduced_by is not None:
        yield introduced_by
    elif has_following and _is_source_line(quotation, spans[following], text):
        yield following


def _is_source_line(quotation: Quotation, span: tuple[int, int], text: str) -> bool:
    """Whether a mark is in a line below a block quotation that says where it is from: `Source:
    [1]`, `(Minutes [1])`, `So the minutes say [1].`
    """
    start, end = span
    if not quotation.block or start < quotation.end:
        return False
    line = _PARAGRAPH_AFTER_BLOCK.match(text, quotation.end, start)
    if line is None or not _SOURCE_LINE_END.match(text, end):
        return False
    words = line["words"].strip(" *_")
    is_bracketed = words.startswith(("(", "—", "–", "-")) and len(words.split()) <= _MOST_WORDS
    return is_bracketed or not words or names_source(words)


def _introducing_mark(
    before: int, spans: Sequence[tuple[int, int]], quotation: Quotation, text: str
) -> int | None:
    """The index of the mark before a quotation, if it introduces it; None if it does not. `before`
    is -1 if there is no mark.
    """
    if before < 0:
        return None
    span = spans[before]
    _, end = span
    if _introduces(end, quotation, text) or _heads_section(span, quotation, text):
        return before
    return before if _BEFORE_LIST.fullmatch(text, end, quotation.start) else None


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
    if _is_source_line(quotation, span, text) or _heads_section(span, quotation, text):
        return True
    if _BEFORE_LIST.fullmatch(text, span[1], quotation.start):
        return True
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
    if text.startswith("|", text.rfind("\n", 0, end) + 1):
        return True
    return bool(_INTRODUCTION.fullmatch(text, end, quotation.start))


def _heads_section(span: tuple[int, int], quotation: Quotation, text: str) -> bool:
    """Whether a mark is in the heading above a quotation."""
    start, end = span
    if end > quotation.start:
        return False
    line_start = text.rfind("\n", 0, start) + 1
    heading = _HEADING.match(text, line_start)
    return bool(
        heading
        and heading.end() >= end
        and not _HEADING.search(text, heading.end(), quotation.start)
    )


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
        bare = QUOTE_SIGN.sub("", words).strip().rstrip("—–-( \n")
        if is_long_enough(bare):
            yield at, bare
        begin = end
