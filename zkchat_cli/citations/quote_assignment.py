"""Which quotations belong to which citation marks: those before a mark in its paragraph, around it, or introduced by it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.quotation_marks import QUOTE_SIGN, Quotation
from zkchat_cli.citations.quotes import is_long_enough
from zkchat_cli.text.patterns import lazy_pattern

_BETWEEN = lazy_pattern(r"[\s.,;:!?。，(（]{0,3}")
"""Text between a quotation and its mark, if the quotation itself contains marks."""
_INTRODUCTION = lazy_pattern(r"[)\]*_]*+(?>(?:\s*+[\w'’-]++){0,5})\s*+[,:，：]?\s*+")
"""Text between a mark and a quotation that it introduces: `[[Filters]] says that “…”`."""
_LONGEST_INTRODUCTION = 60
_BEFORE_BLOCK = lazy_pattern(r"[)\]*_\"'”’.,:：]*+(?>(?:\s*+[\w'’-]++){0,8})[ \t]*+[.,:：]?[ \t]*+\n\s*+")
"""Text between a mark and the block quotation that it introduces."""
_AFTER_BLOCK = lazy_pattern(r"[\s>—–(*_-]{0,9}")
"""Text between a block quotation and its mark."""
_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|))")
"""The end of a paragraph, a list item or a table row."""
_SENTENCE_ENDS = lazy_pattern(r"[.!?…][\"'”’»)\]*_]*+\s|[。！？]")


def marks_outside_quotations(written: Iterable[CitationMark], quotations: Sequence[Quotation], text: str) -> list[CitationMark]:
    """The marks that may cite: no definitions, and none inside a quotation that another mark follows, because it belongs to the note."""
    found = [mark for mark in written if not mark.defines]
    starts = [mark.start for mark in found]
    quoted: set[CitationMark] = set()
    for quotation in quotations:
        first, following = bisect_left(starts, quotation.start), bisect_left(starts, quotation.end)
        if first < following < len(starts) and _BETWEEN.fullmatch(text, quotation.end, starts[following]):
            quoted.update(found[first:following])
    return [mark for mark in found if mark not in quoted]


def assign_quotes(spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], answer: str, text: str) -> list[list[tuple[int, str]]]:
    """The quotations of each mark, as their indexes and words: those around it, else those between it and the mark before, else those that
    it introduces. Adjacent marks share quotations. `text` is the answer with spaces in place of its code.
    """
    ends = [quotation.end for quotation in quotations]
    quotes, inner = _inner_quotes(spans, quotations, answer)
    taken = set(inner)
    introduced = _introduced_quotations(spans, quotations, text)
    borders = [found.start() for found in _BORDER.finditer(text)]
    since = 0
    for at, (start, end) in enumerate(spans):
        paragraph = bisect_right(borders, start)
        earliest = max(since, borders[paragraph - 1] if paragraph else 0)
        for index in range(bisect_right(ends, earliest), bisect_right(ends, start)):
            introduces = index in introduced and bool(_SENTENCE_ENDS.search(text, ends[index] - 2, start))
            if not introduces and index not in inner and not quotations[index].block:
                quotes[at].append((index, quotations[index].words))
                taken.add(index)
        index = bisect_right(ends, start) - 1
        if index >= 0 and quotations[index].block and ends[index] >= since and _AFTER_BLOCK.fullmatch(text, ends[index], start):
            quotes[at].append((index, quotations[index].words))
            taken.add(index)
        if not (quotes[at] and at + 1 < len(spans) and spans[at + 1][0] == end):
            since = end
    for index, at in introduced.items():
        if index not in taken:
            quotes[at].append((index, quotations[index].words))
    return quotes


def is_beside(span: tuple[int, int], quotation: Quotation, text: str) -> bool:
    """Whether a mark is in the quotation or in its sentence, and so its source; later in the paragraph it may be just a link."""
    first, last = sorted((span, (quotation.start, quotation.end)))
    between = text[first[1] : last[0]]
    return not _SENTENCE_ENDS.search(text, first[1] - 2, last[0]) or not any(c.isalnum() for c in between)


def _inner_quotes(
    spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], answer: str
) -> tuple[list[list[tuple[int, str]]], set[int]]:
    """The words that each mark inside a quotation follows, without marks, with the quotation's index; and the indexes of all with marks."""
    quotes: list[list[tuple[int, str]]] = [[] for _ in spans]
    with_marks: set[int] = set()
    starts = [start for start, _ in spans]
    for index, quotation in enumerate(quotations):
        inside = range(bisect_left(starts, quotation.start), bisect_left(starts, quotation.end))
        begin = quotation.start + (not quotation.block)
        words = ""
        for at in inside:
            start, end = spans[at]
            following = spans[at + 1][0] if at + 1 in inside else quotation.end - (not quotation.block)
            if answer[begin:start].strip() or not words:
                words = answer[begin:start]
                if at + 1 not in inside and any(c.isalnum() for c in answer[end:following]):
                    words += answer[end:following]
            bare = QUOTE_SIGN.sub("", words).strip().rstrip("—–-( \n")
            if is_long_enough(bare):
                quotes[at].append((index, bare))
            with_marks.add(index)
            begin = end
    return quotes, with_marks


def _introduced_quotations(spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], text: str) -> dict[int, int]:
    """The quotations that follow a mark after a few words, and the others in the same sentence; with the mark's index."""
    starts = [quotation.start for quotation in quotations]
    found: dict[int, int] = {}
    for at, (_, end) in enumerate(spans):
        index = bisect_left(starts, end)
        if index == len(starts) or starts[index] - end > _LONGEST_INTRODUCTION:
            continue
        if quotations[index].block:
            if _BEFORE_BLOCK.fullmatch(text, end, starts[index]):
                found[index] = at
            continue
        if _BORDER.search(text, end, starts[index]) or not _INTRODUCTION.fullmatch(text, end, starts[index]):
            continue
        found[index] = at
        limit = spans[at + 1][0] if at + 1 < len(spans) else len(text)
        while index + 1 < len(starts) and starts[index + 1] < limit and not quotations[index + 1].block:
            between = quotations[index].end - 2, starts[index + 1]
            if _SENTENCE_ENDS.search(text, *between) or _BORDER.search(text, *between):
                break
            index += 1
            found[index] = at
    return found
