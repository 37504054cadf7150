"""The quotations of a text: words in any kind of quotation marks, and block quotations; and which
of them belong to which citation marks: those before a mark in its paragraph, around it, or
introduced by it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotation_marks import quoted_ranges, with_plain_marks
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk

# Characters from which on words in quotation marks count as a quotation; a Chinese or Japanese
# character counts twice
MIN_QUOTE = 10
_CLOSING = {"“": "”", "«": "»", "„": "“", '"': '"'}
_CONTINUED = lazy_pattern(
    r"(?:\A|\n[ \t]*\n)[ \t>]*(?P<mark>[“«„\"])(?=\S)(?P<words>(?:(?!\n[ \t>]*\n).)+?)"
    r"(?=\s*\n[ \t>]*\n[ \t>]*(?P=mark)\S)",
    re.DOTALL,
)
_BLANK_LINE = lazy_pattern(r"\n[ \t>]*+(?=\n)")
_BLOCK_QUOTATION = lazy_pattern(r"(?:^[ ]{0,3}>.*(?:\n|\Z))+", re.MULTILINE)
QUOTE_SIGN = lazy_pattern(r"^[ ]{0,3}>[ \t>]*", re.MULTILINE)
# Text between a quotation and its mark, if the quotation itself contains marks
_BETWEEN = lazy_pattern(r"[\s.,;:!?。，(（]{0,3}")


class Quotation(NamedTuple):
    """Quoted words and their span in the answer, including the quotation marks; `block`: a block
    quotation; `continues`: the next paragraph continues it, as in books.
    """

    start: int
    end: int
    words: str
    block: bool = False
    continues: bool = False


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
    answer = with_plain_marks(answer)
    text = with_plain_marks(text)
    blank = [found.start() for found in _BLANK_LINE.finditer(text)]
    found: list[Quotation] = []
    end = 0
    pairs = [(first, last, False) for first, last in quoted_ranges(answer, text, blank)]
    pairs += [(*paragraph, True) for paragraph in _continued_paragraphs(text)]
    for first, last, continues in sorted(pairs):
        words = answer[first + 1 : last].strip()
        if first >= end and is_long_enough(words):
            end = last + (not continues)
            found.append(Quotation(first, end, words, continues=continues))
    blocks = _block_quotations(answer, text, found)
    outside = [quotation for quotation in found if not _begins_in(quotation, blocks)]
    return sorted([*blocks, *outside])


def _continued_paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Where paragraphs are quoted that are opened and not closed, because the next one, which is
    opened with the same mark, continues them.
    """
    for paragraph in _CONTINUED.finditer(text):
        mark = paragraph["mark"]
        closed = paragraph["words"].count(_CLOSING[mark])
        opened = paragraph["words"].count(mark)
        if closed % 2 == 0 if mark == '"' else closed <= opened:
            yield paragraph.start("mark"), paragraph.end("words")


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
        words = QUOTE_SIGN.sub("", answer[start:end]).strip()
        inner = marked[bisect_left(starts, start) : bisect_left(starts, end)]
        is_quoted = 2 * sum(len(each.words) for each in inner) > len(words)
        if not words.startswith("[!") and is_long_enough(words) and not is_quoted:
            blocks.append(Quotation(start, end, words, block=True))
    return blocks


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
