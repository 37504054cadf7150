"""Quotations in notes: whether a note contains the quoted words, where, and whether its sentence is
cut so that it says something else. In doubt a quotation counts as cut, because then the whole
sentence is shown. A quotation that no note has gets the wording most like it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from zkchat_cli.citations.blocks import Blocks
from zkchat_cli.citations.cut_passages import QuotedPassage, is_cut
from zkchat_cli.citations.cut_sentences import negates_list
from zkchat_cli.citations.nearest_words import Wording, find_nearest, fold_in_place
from zkchat_cli.citations.normalized_text import (
    NormalizedText,
    normalize_quoted,
    normalize_rendered,
    normalize_source,
    task_states,
    without_struck_out,
)
from zkchat_cli.citations.omissions import OMISSION
from zkchat_cli.citations.quotations import MIN_QUOTE
from zkchat_cli.citations.word_search import find_in_order, find_words, lacks_accents
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.citations import QuoteRemark
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.hidden_characters import has_unusual_hidden
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk
from zkchat_cli.vault.sections import ChunkHeading, chunk_headings

_ENDS = " \t\r\n.…,;:，。；：、"
# Occurrences of a quotation to look at for one that is not cut
_MAX_PLACES = 50
_BLOCK_MARKS = lazy_pattern(r"\A\s*(?:>\s?)+")
_MAX_SENTENCE = 1000
# Parts of a quotation that can be in another order
_FEWEST_PARTS = 2
# Editorial marks in a quotation: `[t]he`, `[sic]`
_EDITED = lazy_pattern(r"\[(\w)\](?=\w)|\s*[\[(]sic!?[\])]")

QuotationVerdict = Literal["verified", "cut", "misattributed", "misquoted", "not_found"]


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
    remarks: tuple[QuoteRemark, ...] = ()

    @property
    def place(self) -> str | None:
        """The path and first line: `Hiring.md:5`."""
        if self.chunk is None:
            return None
        return f"{self.chunk.relative_path}:{self.start_line}"


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
    def _with_struck_out(self) -> NormalizedText | None:
        """The rendered text with what is struck out; None if nothing is."""
        if without_struck_out(self.chunk.text) == self.chunk.text:
            return None
        return normalize_rendered(self.chunk.text, struck_out=True)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._lines)

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
                    return self._with_hidden_told(place, quote)
                cut = cut or place
        return cut or self._locate_struck_out(quote) or self._locate_block_quotation(quote)

    def _locate_block_quotation(self, quote: str) -> FoundQuotation | None:
        """The words of a quotation that begins with `>`, where a line of the note does, too."""
        bare = _BLOCK_MARKS.sub("", quote)
        if bare == quote or not bare:
            return None
        place = self.locate(bare)
        if place is None or place.start_line is None:
            return None
        line = self._lines[place.start_line - self.chunk.start_line]
        return place if line.lstrip().startswith(">") else None

    def locate_disordered(self, quote: str) -> FoundQuotation | None:
        """The parts of a quotation with omissions, in another order: they are misquoted."""
        parts = _normalized_parts(quote, rendered=True, gaps=True)
        found = [next(find_words(self._rendered, part), -1) for part in parts]
        if len(parts) < _FEWEST_PARTS or min(found) < 0:
            return None
        lines = sorted(map(self._rendered.line_at, found))
        ends = [at + len(part.text) for at, part in zip(found, parts, strict=True)]
        nearest = self._rendered.written[min(found) : max(ends)][:_MAX_SENTENCE]
        return self.place_at("misquoted", lines[0], lines[-1])._replace(nearest=nearest)

    def _with_hidden_told(self, place: FoundQuotation, quote: str) -> FoundQuotation:
        """The place, with a remark if it or the quotation has characters that do not show."""
        assert place.start_line is not None and place.end_line is not None
        first = place.start_line - self.chunk.start_line
        passage = "\n".join(self._lines[first : place.end_line - self.chunk.start_line + 1])
        if not has_unusual_hidden(passage) and not has_unusual_hidden(quote):
            return place
        return place._replace(remarks=("hidden_characters", *place.remarks))

    def _locate_struck_out(self, quote: str) -> FoundQuotation | None:
        """The words with what the note has struck out, which it says no more."""
        parts = _normalized_parts(quote, rendered=True, gaps=False)
        if self._with_struck_out is None or not parts:
            return None
        found = self._find(self._with_struck_out, parts, [])
        if not found or found.verdict == "cut" or not found.start_line or not found.end_line:
            return found
        first = found.start_line - self.chunk.start_line
        last = found.end_line - self.chunk.start_line
        return self.place_at("cut", first, last, self._sentences_with(parts, first, last))

    def _find(
        self, text: NormalizedText, parts: Sequence[NormalizedText], states: Sequence[str]
    ) -> FoundQuotation | None:
        """The first uncut place, else the first, among those with tasks in these `states`, which
        the rendered text does not have.
        """
        cut: tuple[int, int] | None = None
        for count, found in enumerate(self._places(text, parts)):
            first = text.line_at(found[0])
            last = text.line_at(found[-1] + len(parts[-1].text) - 1)
            if not self._has_states(states, first, last):
                continue
            if not is_cut(QuotedPassage(text, parts, found, self._blocks)):
                place = self.place_at("verified", first, last)
                lacks = lacks_accents(text, parts, found)
                return place._replace(remarks=("without_accents",)) if lacks else place
            cut = cut or (first, last)
            if count == _MAX_PLACES:
                break
        if cut is None:
            return None
        first, last = cut
        return self.place_at("cut", first, last, self._sentences_with(parts, first, last))

    def _places(self, text: NormalizedText, parts: Sequence[NormalizedText]) -> Iterator[list[int]]:
        """Where the parts are, all of them in one section."""
        if len(parts) == 1:
            yield from ([at] for at in find_words(text, parts[0]))
            return
        if sum(len(part.text) + len(find_cjk(part.text)) for part in parts) < MIN_QUOTE:
            return
        headings = (text.starts[line - self.chunk.start_line] for line, _ in self.headings)
        for start, end in pairwise((0, *headings, len(text.text))):
            if found := find_in_order(text, parts, start, end):
                yield found

    def _has_states(self, states: Sequence[str], first: int, last: int) -> bool:
        """Whether the tasks on these lines are in these states, in order, perhaps with others
        between.
        """
        if not states:
            return True
        in_note = iter(task_states("\n".join(self._lines[first : last + 1])))
        return all(state in in_note for state in states)

    def _sentences_with(self, parts: Sequence[NormalizedText], first: int, last: int) -> str:
        """The whole sentences on these lines with one of the parts, below what introduces their
        list; their block if none has any.
        """
        begin, after = self._blocks.range(first, last)
        block = "\n".join(self._lines[begin:after])
        quoted = [lead for lead in self._blocks.list_leads(first) if negates_list(lead)]
        for sentence in sentences(block):
            words = normalize_rendered(sentence)
            if any(next(find_words(words, part), None) is not None for part in parts):
                quoted.append(sentence)
        return " ".join((" ".join(quoted) or block).split())[:_MAX_SENTENCE]


def find_quotation(
    quote: str, chunks: Iterable[QuotableChunk], least_telling: float = 0
) -> FoundQuotation:
    """Where the quotation is: the first chunk that has its words uncut, else one that has them
    `cut`, else the nearest wording, with at least this share of the words that say something.
    """
    cut: FoundQuotation | None = None
    disordered: FoundQuotation | None = None
    nearest: tuple[Wording, QuotableChunk] | None = None
    for each in chunks:
        found = each.locate(quote)
        if found and found.verdict == "verified":
            return found
        cut = cut or found
        # Where the words are cut, no other wording is shown
        if cut is None:
            disordered = disordered or each.locate_disordered(quote)
            near = find_nearest(quote, each.folded)
            if near and near.is_near(least_telling) and _is_nearer(near, nearest):
                nearest = (near, each)
    place = cut or disordered
    if place or nearest is None:
        return place or FoundQuotation("not_found")
    wording, source = nearest
    return source.misquoted_at(wording)


def _is_nearer(wording: Wording, nearest: tuple[Wording, QuotableChunk] | None) -> bool:
    if nearest is None:
        return True
    best, _ = nearest
    return wording.share > best.share


@lru_cache(maxsize=8)
def _normalized_parts(quote: str, rendered: bool, gaps: bool) -> tuple[NormalizedText, ...]:
    """The normalized parts to search for, split at omissions if `gaps`; empty if there are none.
    Cached for searches in many chunks.
    """
    if gaps and not OMISSION.search(quote.strip(_ENDS)):
        return ()
    # A sign at the start of a literal quotes no block
    written = f"\\{quote}" if quote[:1] == ">" and "\n" not in quote else quote
    written = _EDITED.sub(r"\1", written)
    normalize = normalize_quoted if rendered else normalize_source
    parts = OMISSION.split(written) if gaps else [written]
    found = [normalize(_without_ends(part)) for part in parts]
    return tuple(part for part in found if part.text)


def _without_ends(part: str) -> str:
    """A part of a quotation without the punctuation at its ends, but with the point of `.5`."""
    bare = part.strip(_ENDS)
    if not bare[:1].isdigit() or part.startswith(".."):
        return bare
    before, _, _ = part.partition(bare)
    return f".{bare}" if before.endswith(".") else bare
