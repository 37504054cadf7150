"""Which quotations belong to which citation marks: those before a mark in its paragraph, around it, or introduced by it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

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
    """The quotations of each mark, as their indexes and words. A quotation with marks in it belongs to them, another one to the mark behind
    it in its paragraph, and to those adjacent to that, or else to the one that introduces it. `text` is the answer with spaces in place of
    its code.
    """
    quotes: list[list[tuple[int, str]]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    borders = [found.start() for found in _BORDER.finditer(text)]
    introduced_by: int | None = None
    for index, quotation in enumerate(quotations):
        first, following = bisect_left(starts, quotation.start), bisect_left(starts, quotation.end)
        continues = (
            introduced_by == first - 1 and not quotation.block and _is_same_sentence(quotations[index - 1].end, quotation.start, text)
        )
        introduced_by = first - 1 if continues or (first and _introduces(spans[first - 1][1], quotation, text)) else None
        if first < following:
            for at, words in _inner_quotes(quotation, range(first, following), spans, answer):
                quotes[at].append((index, words))
        elif following < len(spans) and _is_followed(quotation, starts[following], text, borders, introduced=introduced_by is not None):
            quotes[following].append((index, quotation.words))
            while not quotation.block and following + 1 < len(spans) and starts[following + 1] == spans[following][1]:
                following += 1
                quotes[following].append((index, quotation.words))
        elif introduced_by is not None:
            quotes[introduced_by].append((index, quotation.words))
    return quotes


def is_beside(span: tuple[int, int], quotation: Quotation, text: str) -> bool:
    """Whether a mark is in the quotation or in its sentence, and so its source; later in the paragraph it may be just a link."""
    first, last = sorted((span, (quotation.start, quotation.end)))
    between = text[first[1] : last[0]]
    return not _SENTENCE_ENDS.search(text, first[1] - 2, last[0]) or not any(c.isalnum() for c in between)


def _is_same_sentence(end: int, start: int, text: str) -> bool:
    """Whether a quotation that begins at `start` is in the sentence of the one before it, which ends at `end`."""
    return not _SENTENCE_ENDS.search(text, end - 2, start) and not _BORDER.search(text, end - 2, start)


def _introduces(end: int, quotation: Quotation, text: str) -> bool:
    """Whether a few words between a mark that ends at `end` and a quotation introduce it."""
    if quotation.start - end > _LONGEST_INTRODUCTION:
        return False
    if quotation.block:
        return bool(_BEFORE_BLOCK.fullmatch(text, end, quotation.start))
    return not _BORDER.search(text, end, quotation.start) and bool(_INTRODUCTION.fullmatch(text, end, quotation.start))


def _is_followed(quotation: Quotation, start: int, text: str, borders: Sequence[int], *, introduced: bool) -> bool:
    """Whether a mark that begins at `start` is behind the quotation; behind an introduced one in the same sentence."""
    if quotation.block:
        return bool(_AFTER_BLOCK.fullmatch(text, quotation.end, start))
    if introduced and _SENTENCE_ENDS.search(text, quotation.end - 2, start):
        return False
    return bisect_right(borders, start) == bisect_left(borders, quotation.end)


def _inner_quotes(quotation: Quotation, inside: range, spans: Sequence[tuple[int, int]], answer: str) -> Iterator[tuple[int, str]]:
    """The marks inside a quotation, each with the words before it, without marks; the last one also with those after it."""
    begin, last = quotation.start + (not quotation.block), quotation.end - (not quotation.block)
    words = ""
    for at in inside:
        start, end = spans[at]
        if answer[begin:start].strip() or not words:
            words = answer[begin:start]
            if at + 1 not in inside and any(c.isalnum() for c in answer[end:last]):
                words += answer[end:last]
        bare = QUOTE_SIGN.sub("", words).strip().rstrip("—–-( \n")
        if is_long_enough(bare):
            yield at, bare
        begin = end
