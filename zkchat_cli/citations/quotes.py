"""Quotations in notes: whether a note contains the quoted words, where, and whether its sentence is cut so that it says something else."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from zkchat_cli.citations.cut_sentences import is_cut
from zkchat_cli.citations.nearest_wording import LEAST_SHARE, NearestWording, find_nearest, fold_in_place
from zkchat_cli.citations.normalized_text import (
    NormalizedText,
    find_words,
    normalize_quoted,
    normalize_rendered,
    normalize_source,
    task_states,
)
from zkchat_cli.citations.quote_ranges import OMISSION
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk
from zkchat_cli.vault.sections import chunk_headings

MIN_QUOTE = 10
"""Characters from which on words in quotation marks count as a quotation; a Chinese or Japanese character counts twice."""

_ENDS = " \t\r\n.…,;:，。；：、"
_BEGINS_BLOCK = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||$)")
_ONE_LINE = lazy_pattern(r"[ \t>]*(?:#{1,6}[ \t]|[-*_=]{3,}[ \t]*$|```|~~~|\||\[!|</?t[dhr]\b)")
"""A line that is a block of its own: a heading, a rule, a fence, a table row or cell, a callout's title."""
_OPERATORS = lazy_pattern(r"\b(?:AND|OR)\b")
_MAX_PLACES = 50
"""Occurrences of a quotation to look at for one that is not cut."""
_MAX_SENTENCE = 1000

QuotationVerdict = Literal["verified", "cut", "misquoted", "not_found", "outside"]
"""`outside`: its source is a page of the web, which is not looked at."""


class FoundQuotation(NamedTuple):
    """Where a note contains a quotation, for a `cut` one with the whole sentence; for a `misquoted` one, where the `nearest` wording is."""

    verdict: QuotationVerdict
    chunk: ContentChunk | None = None
    heading: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    sentence: str | None = None
    nearest: str | None = None


@dataclass(frozen=True)
class QuotableChunk:
    """A chunk to search for quotations; its normalized text is computed once."""

    chunk: ContentChunk

    @cached_property
    def _source(self) -> NormalizedText:
        return normalize_source(self.chunk.text)

    @cached_property
    def _rendered(self) -> NormalizedText:
        return normalize_rendered(self.chunk.text)

    @cached_property
    def folded(self) -> str:
        return fold_in_place(self.chunk.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.chunk.text.split("\n")

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The headings in the chunk with their lines in the note."""
        return [(self.chunk.start_line + h.line - 1, h.text) for h in chunk_headings(self.chunk.text, self.chunk.heading)]

    def place_at(self, verdict: QuotationVerdict, first: int, last: int, sentence: str | None = None) -> FoundQuotation:
        """A quotation on these lines of the text, from 0, under the last heading at or above them."""
        first, last = self.chunk.start_line + first, self.chunk.start_line + last
        above = bisect_right(self.headings, first, key=lambda heading: heading[0])
        heading = self.headings[above - 1][1] if above else None
        return FoundQuotation(verdict, self.chunk, heading or self.chunk.heading, first, last, sentence)

    def locate(self, quote: str) -> FoundQuotation | None:
        """Where the note contains the quoted words, preferably not `cut`; None if the chunk does not contain them.

        The words are a run of whole words. A quotation with omissions (`…`, `[...]`) must have all its parts in one section, in order.
        """
        cut: FoundQuotation | None = None
        for gaps in (False, True):
            for rendered in (False, True):
                parts = _normalized_parts(quote, rendered, gaps)
                if not parts:
                    continue
                states = task_states(quote) if rendered else []
                place = self._find(self._rendered if rendered else self._source, parts, states)
                if place and place.verdict == "verified":
                    return place
                cut = cut or place
        return cut

    def _find(self, text: NormalizedText, parts: Sequence[str], states: Sequence[str]) -> FoundQuotation | None:
        """The first uncut place, else the first, among those with tasks in these `states`, which the rendered text does not have."""
        cut: tuple[int, int] | None = None
        if len(parts) == 1:
            places = ([at] for at in find_words(text, parts[0]))
        elif sum(map(len, parts)) < MIN_QUOTE:
            return None
        else:
            places = (found for start, end in self._sections(text) if (found := _find_in_order(text, parts, start, end)))
        for count, found in enumerate(places):
            first, last = text.line_at(found[0]), text.line_at(found[-1] + len(parts[-1]) - 1)
            in_note = iter(task_states("\n".join(self._lines[first : last + 1])) if states else "")
            if not all(state in in_note for state in states):
                continue
            if not self._is_cut(text, parts, found):
                return self.place_at("verified", first, last)
            cut = cut or (first, last)
            if count == _MAX_PLACES:
                break
        return self.place_at("cut", *cut, self._sentence(parts, *cut)) if cut else None

    def _sections(self, text: NormalizedText) -> list[tuple[int, int]]:
        """The ranges of the normalized text between headings."""
        borders = [0, *(text.starts[line - self.chunk.start_line] for line, _ in self.headings), len(text.text)]
        return list(pairwise(borders))

    @cached_property
    def _blocks(self) -> list[int]:
        """The lines, from 0, that begin a paragraph, list item, heading or table row, or are blank or follow one of these."""
        alone = [bool(_ONE_LINE.match(line)) for line in self._lines]
        return [i for i, line in enumerate(self._lines) if i == 0 or alone[i] or alone[i - 1] or _BEGINS_BLOCK.match(line)]

    def _block_range(self, first: int, last: int) -> tuple[int, int]:
        """The first line of the block with the line `first`, and the line after the block with the line `last`."""
        begin = self._blocks[bisect_right(self._blocks, first) - 1]
        following = bisect_right(self._blocks, last)
        return begin, self._blocks[following] if following < len(self._blocks) else len(self._lines)

    def _is_cut(self, text: NormalizedText, parts: Sequence[str], found: Sequence[int]) -> bool:
        ends = [at + len(part) for at, part in zip(found, parts, strict=True)]
        begin, after = self._block_range(text.line_at(found[0]), text.line_at(ends[-1] - 1))
        limit = text.starts[after] if after < len(text.starts) else len(text.text)
        ends = [end - (text.text[end - 1] in "!?！？。") for end in ends]  # what ends a sentence may be quoted
        omitted = [text.text[end:at] for end, at in zip(ends, found[1:], strict=False)]
        block = "\n".join(self._lines[begin:after])
        operators = "NOT" in block and bool(_OPERATORS.search(block))
        return is_cut(text.text[text.starts[begin] : found[0]], text.text[ends[-1] : limit], omitted, names_operators=operators)

    def _sentence(self, parts: Sequence[str], first: int, last: int) -> str:
        """The sentences with the parts of a quotation, as they are written."""
        begin, after = self._block_range(first, last)
        block = "\n".join(self._lines[begin:after])
        found = [
            each for each in sentences(block) if any(next(find_words(normalize_rendered(each), part), None) is not None for part in parts)
        ]
        return " ".join((" ".join(found) or block).split())[:_MAX_SENTENCE]


def is_long_enough(words: str) -> bool:
    """Whether words in quotation marks are checked: a few words, or less with a digit; but not a name in quotation marks."""
    if len(words) >= MIN_QUOTE:
        return True
    return len(words) > 1 and (any(c.isdigit() for c in words) or len(words) + len(find_cjk(words)) >= MIN_QUOTE)


def find_quotation(quote: str, chunks: Iterable[QuotableChunk]) -> FoundQuotation:
    """Where the quotation is: the first chunk that has its words uncut, else one that has them `cut`, else the nearest wording."""
    cut: FoundQuotation | None = None
    wrong: tuple[QuotableChunk, NearestWording] | None = None
    for each in chunks:
        if found := each.locate(quote):
            if found.verdict == "verified":
                return found
            cut = cut or found
        elif cut is None and (nearest := find_nearest(quote, each.folded)) and nearest.share >= LEAST_SHARE:
            wrong = max(wrong or (each, nearest), (each, nearest), key=lambda found: found[1].share)
    return cut or (_misquoted(*wrong) if wrong else FoundQuotation("not_found"))


def _misquoted(source: QuotableChunk, nearest: NearestWording) -> FoundQuotation:
    text = source.chunk.text
    found = source.place_at("misquoted", text.count("\n", 0, nearest.start), text.count("\n", 0, nearest.end))
    return found._replace(nearest=" ".join(text[nearest.start : nearest.end].split()))


@lru_cache(maxsize=8)
def _normalized_parts(quote: str, rendered: bool, gaps: bool) -> tuple[str, ...]:
    """The normalized parts to search for, split at omissions if `gaps`; empty if there are none. Cached for searches in many chunks."""
    if gaps and not OMISSION.search(quote.strip(_ENDS)):
        return ()
    normalize = normalize_quoted if rendered else normalize_source
    parts = (normalize(_strip_punctuation(part)).text for part in (OMISSION.split(quote) if gaps else [quote]))
    return tuple(part for part in parts if part)


def _strip_punctuation(part: str) -> str:
    """Words without punctuation around them; the point of `.5` stays."""
    bare = part.strip(_ENDS)
    return f".{bare}" if bare[:1].isdigit() and part[: part.find(bare)].endswith(".") and not part.startswith("..") else bare


def _find_in_order(text: NormalizedText, parts: Sequence[str], start: int, end: int) -> list[int] | None:
    """Where the parts are, one after another; of several places of the first part the last one before the second."""
    found: list[int] = []
    for part in parts:
        at = next(find_words(text, part, start, end), None)
        if at is None:
            return None
        found.append(at)
        start = at + len(part)
    nearer = list(find_words(text, parts[0], found[0], found[1]))
    i = bisect_left(nearer, found[1] - len(parts[0]) + 1) - 1
    return [nearer[i] if i >= 0 else found[0], *found[1:]]
