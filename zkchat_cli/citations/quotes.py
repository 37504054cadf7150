"""Quotations in notes: whether a note contains the quoted words, where, and whether its sentence is
cut so that it says something else. In doubt a quotation counts as cut, because then the whole
sentence is shown. A quotation that no note has gets the wording most like it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from zkchat_cli.citations.cut_sentences import (
    changes_between,
    changes_what_follows,
    changes_what_precedes,
    without_operators,
)
from zkchat_cli.citations.nearest_words import LEAST_SHARE, Wording, find_nearest, fold_in_place
from zkchat_cli.citations.normalized_text import (
    NormalizedText,
    find_words,
    normalize_quoted,
    normalize_rendered,
    normalize_source,
    task_states,
)
from zkchat_cli.citations.quotations import MIN_QUOTE
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.sections import ChunkHeading, chunk_headings

_ENDS = " \t\r\n.…,;:，。；：、"
_BEGINS_BLOCK = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||$)")
_ONE_LINE = lazy_pattern(r"[ \t>]*(?:#{1,6}[ \t]|[-*_=]{3,}[ \t]*$|```|~~~|\||\[!|</?t[dhr]\b)")
"""A line that is a block of its own: a heading, a rule, a fence, a table row or cell, a callout's
title.
"""
# Occurrences of a quotation to look at for one that is not cut
_MAX_PLACES = 50
_MAX_SENTENCE = 1000

# Words of a part of a quotation; searching for more could take seconds, and nobody reads so long a
# mark
MAX_WORDS = 300
# An ellipsis in a quotation
OMISSION = lazy_pattern(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")

QuotationVerdict = Literal["verified", "cut", "misquoted", "not_found"]


class FoundQuotation(NamedTuple):
    """Where a note contains a quotation, for a `cut` one with the whole sentence; for a `misquoted`
    one, where the `nearest` wording is.
    """

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
    def headings(self) -> list[ChunkHeading]:
        """The headings in the chunk with their lines in the note."""
        return chunk_headings(self.chunk)

    def place_at(
        self, verdict: QuotationVerdict, first: int, last: int, sentence: str | None = None
    ) -> FoundQuotation:
        """A quotation on these lines of the text, from 0, under the last heading at or above
        them.
        """
        first = self.chunk.start_line + first
        last = self.chunk.start_line + last
        heading = next((text for line, text in reversed(self.headings) if line <= first), None)
        return FoundQuotation(
            verdict, self.chunk, heading or self.chunk.heading, first, last, sentence
        )

    def misquoted_at(self, wording: Wording) -> FoundQuotation:
        """A quotation that the text has only in another wording."""
        text = self.chunk.text
        first = text.count("\n", 0, wording.start)
        last = text.count("\n", 0, wording.end)
        nearest = " ".join(text[wording.start : wording.end].split())
        return self.place_at("misquoted", first, last)._replace(nearest=nearest)

    def locate(self, quote: str) -> FoundQuotation | None:
        """Where the note contains the quoted words, preferably not `cut`; None if the chunk does
        not contain them. The words are a run of whole words. A quotation with omissions (`…`,
        `[...]`) must have all its parts in one section, in order.
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

    def _find(
        self, text: NormalizedText, parts: Sequence[str], states: Sequence[str]
    ) -> FoundQuotation | None:
        """The first uncut place, else the first, among those with tasks in these `states`, which
        the rendered text does not have.
        """
        cut: tuple[int, int] | None = None
        for count, found in enumerate(self._places(text, parts)):
            first = text.line_at(found[0])
            last = text.line_at(found[-1] + len(parts[-1]) - 1)
            if not self._has_states(states, first, last):
                continue
            if not self._is_cut(text, parts, found):
                return self.place_at("verified", first, last)
            cut = cut or (first, last)
            if count == _MAX_PLACES:
                break
        if cut is None:
            return None
        first, last = cut
        return self.place_at("cut", first, last, self._sentences_with(parts, first, last))

    def _places(self, text: NormalizedText, parts: Sequence[str]) -> Iterator[list[int]]:
        """Where the parts are, all of them in one section."""
        if len(parts) == 1:
            yield from ([at] for at in find_words(text, parts[0]))
            return
        if sum(map(len, parts)) < MIN_QUOTE:
            return
        headings = (text.starts[line - self.chunk.start_line] for line, _ in self.headings)
        for start, end in pairwise((0, *headings, len(text.text))):
            if found := _find_in_order(text, parts, start, end):
                yield found

    def _has_states(self, states: Sequence[str], first: int, last: int) -> bool:
        """Whether the tasks on these lines are in these states, in order, perhaps with others
        between.
        """
        if not states:
            return True
        in_note = iter(task_states("\n".join(self._lines[first : last + 1])))
        return all(state in in_note for state in states)

    def _sentences_with(self, parts: Sequence[str], first: int, last: int) -> str:
        """The whole sentences on these lines with one of the parts; their block if none has any."""
        begin, after = self._block_range(first, last)
        block = "\n".join(self._lines[begin:after])
        quoted: list[str] = []
        for sentence in sentences(block):
            words = normalize_rendered(sentence)
            if any(next(find_words(words, part), None) is not None for part in parts):
                quoted.append(sentence)
        return " ".join((" ".join(quoted) or block).split())[:_MAX_SENTENCE]

    @cached_property
    def _blocks(self) -> list[int]:
        """The lines, from 0, that begin a paragraph, list item, heading or table row, or are blank
        or follow one of these.
        """
        begins: list[int] = []
        is_below_alone = True
        for number, line in enumerate(self._lines):
            is_alone = _ONE_LINE.match(line) is not None
            if is_alone or is_below_alone or _BEGINS_BLOCK.match(line):
                begins.append(number)
            is_below_alone = is_alone
        return begins

    def _block_range(self, first: int, last: int) -> tuple[int, int]:
        """The first line of the block with the line `first`, and the line after the block with the
        line `last`.
        """
        begin = self._blocks[bisect_right(self._blocks, first) - 1]
        following = bisect_right(self._blocks, last)
        if following == len(self._blocks):
            return begin, len(self._lines)
        return begin, self._blocks[following]

    def _is_cut(self, text: NormalizedText, parts: Sequence[str], found: Sequence[int]) -> bool:
        """Whether the quotation leaves out words of its sentence that negate or restrict it: before
        and after it in its paragraph, or at its ellipses.
        """
        ends = [at + len(part) for at, part in zip(found, parts, strict=True)]
        begin, end = self._block_range(text.line_at(found[0]), text.line_at(ends[-1] - 1))
        limit = text.starts[end] if end < len(text.starts) else len(text.text)
        # What ends a sentence may be quoted
        ends = [end - (text.text[end - 1] in "!?！？。") for end in ends]
        before = text.text[text.starts[begin] : found[0]]
        after = text.text[ends[-1] : limit]
        block = "\n".join(self._lines[begin:end])
        if changes_what_follows(without_operators(before, block)):
            return True
        if changes_what_precedes(without_operators(after, block)):
            return True
        gaps = (text.text[end:at] for end, at in zip(ends, found[1:], strict=False))
        return any(map(changes_between, gaps))


def find_quotation(quote: str, chunks: Iterable[QuotableChunk]) -> FoundQuotation:
    """Where the quotation is: the first chunk that has its words uncut, else one that has them
    `cut`, else the nearest wording.
    """
    cut: FoundQuotation | None = None
    nearest: Wording | None = None
    nearest_source: QuotableChunk | None = None
    for each in chunks:
        found = each.locate(quote)
        if found and found.verdict == "verified":
            return found
        cut = cut or found
        # Where the words are cut, no other wording is shown
        near = None if cut else find_nearest(quote, each.folded)
        if near and near.share >= LEAST_SHARE and (not nearest or near.share > nearest.share):
            nearest = near
            nearest_source = each
    if cut:
        return cut
    if not nearest or not nearest_source:
        return FoundQuotation("not_found")
    return nearest_source.misquoted_at(nearest)


@lru_cache(maxsize=8)
def _normalized_parts(quote: str, rendered: bool, gaps: bool) -> tuple[str, ...]:
    """The normalized parts to search for, split at omissions if `gaps`; empty if there are none.
    Cached for searches in many chunks.
    """
    if gaps and not OMISSION.search(quote.strip(_ENDS)):
        return ()
    normalize = normalize_quoted if rendered else normalize_source
    parts = OMISSION.split(quote) if gaps else [quote]
    found = [normalize(_without_ends(part)).text for part in parts]
    return tuple(filter(None, found))


def _without_ends(part: str) -> str:
    """A part of a quotation without the punctuation at its ends, but with the point of `.5`."""
    bare = part.strip(_ENDS)
    if not bare[:1].isdigit() or part.startswith(".."):
        return bare
    before, _, _ = part.partition(bare)
    return f".{bare}" if before.endswith(".") else bare


def _find_in_order(
    text: NormalizedText, parts: Sequence[str], start: int, end: int
) -> list[int] | None:
    """Where the parts are, one after another; of several places of the first part the last one
    before the second.
    """
    found: list[int] = []
    for part in parts:
        at = next(find_words(text, part, start, end), None)
        if at is None:
            return None
        found.append(at)
        start = at + len(part)
    *_, found[0] = find_words(text, parts[0], found[0], found[1])
    return found


def quote_ranges(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    """The character ranges of the quotations that `text` contains, one per part between ellipses;
    those that overlap or touch are one. Only words are compared, in any case: emphasis, list
    markers and typography between them do not matter.
    """
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(found for quote in quotes for found in _find_parts(text, quote)):
        if merged:
            last_begin, last_end = merged[-1]
            if begin <= last_end:
                begin = last_begin
                end = max(end, last_end)
                merged.pop()
        merged.append((begin, end))
    return merged


def _find_parts(text: str, quote: str) -> list[tuple[int, int]]:
    """Where the parts of a quotation are, in order; nowhere if one is missing."""
    found: list[tuple[int, int]] = []
    at = 0
    for part in OMISSION.split(quote):
        words = re.findall(r"[^\W_]+", part)
        if not words:
            continue
        if len(words) > MAX_WORDS:
            return []
        place = re.compile(r"[\W_]*".join(words), re.IGNORECASE).search(text, at)
        if place is None:
            return []
        at = place.end()
        ending = re.search(r"[\W_]*\Z", part.rstrip())
        if ending and text.startswith(ending[0], at):
            at += len(ending[0])
        found.append((place.start(), at))
    return found
