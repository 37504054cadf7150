"""Verification: looks up each citation of an answer in the chunks that were in the prompt.

Deterministic and cheap: one reading of the answer and one search per quotation, without a second model call.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from zkchat_cli.citations import mark_syntax, marks
from zkchat_cli.citations.citable_sources import MAX_NAME_WORDS, CitableSources
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.quotation_marks import BLANK_LINE, Quotation, find_quotations
from zkchat_cli.citations.quotes import is_long_enough
from zkchat_cli.citations.support import judge_support
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import Citation, CitationVerdict, Support
from zkchat_cli.text.words import cjk_pattern

_NOT_NEWLINE = re.compile(r"[^\n]")
_BETWEEN = re.compile(r"[\s.,;:!?。，(（]{0,3}")
"""Text between a quotation and its mark, if the quotation itself contains marks."""
_INTRODUCTION = re.compile(r"[)\]*_]*+(?:\s*+[\w'’-]++){0,5}+\s*+[,:，：]?\s*+")
"""Text between a mark and a quotation that it introduces: `[[Filters]] says that “…”`."""
_LONGEST_INTRODUCTION = 60
_BEFORE_BLOCK = re.compile(r"[)\]*_\"'”’.,:：]*+(?:\s*+[\w'’-]++){0,8}+[ \t]*+[.,:：]?[ \t]*+\n\s*+")
"""Text between a mark and the block quotation that it introduces."""
_AFTER_BLOCK = re.compile(r"[\s>—–(*_-]{0,9}")
"""Text between a block quotation and its mark."""
_BORDER = re.compile(r"\n(?=[ \t>]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|))")
"""The end of a paragraph, a list item or a table row."""
_SENTENCE_ENDS = re.compile(r"[.!?…][\"'”’»)\]*_]*+\s|[。！？]")
_YEARS = range(1000, 3000)
_NUMBERED, _NAMED, _END = "\ue000", "[", "\ue001"
"""While sentences are split, a mark is replaced with one of the first two, its index and the third. A name may begin a sentence, as a
bracket may."""
_RESERVED = str.maketrans(dict.fromkeys((_NUMBERED, _END), " "))
_REPLACED = re.compile(rf"[{_NUMBERED}\[]([0-9]+){_END}")
_AFTER_SENTENCE = re.compile(rf"""([.!?…。！？]["'”’»」』*_)）]*+)[ \t]*+((?:{_NUMBERED}[0-9]+{_END}[ \t,]{{0,3}})+)""")
"""Numbers after a full stop belong to the sentence before it."""
_SILENCE = re.compile(
    r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b|nothing in (?:your|the) notes\b|I found no sentence\b|(?:most likely|or): ",
    re.IGNORECASE,
)
_BEFORE_WORD = re.compile(r"(?<!\S)[(\[{<\"'“‘«*_]*(?=\S)")
_ADDRESS = re.compile(r"\s*<?[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_QUOTE_SIGN = re.compile(r"^[ \t]*>[ \t>]*", re.MULTILINE)
_LABEL_MARGIN = 12
"""Characters before a label on its line: markers of a list, quote or heading, and emphasis."""
_LABEL_BEGINS = re.compile(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = re.compile(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")
_QUOTED_END = re.compile(r"[.!?…](?=\s)|[。！？]")


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """`citations` in the answer's order, each (number, quote) once; `uncited`: how many sentences state something without a source."""

    citations: tuple[Citation, ...]
    uncited: int


@dataclass(frozen=True, slots=True)
class _CitingMark:
    """A mark that cites; if it cites by name, the `notes` from the prompt that may be meant."""

    mark: CitationMark
    notes: tuple[str, ...] = ()
    defined: tuple[int, ...] = ()
    """Its numbers that the answer defines."""


class _Footnote(NamedTuple):
    """What the definition of a number says: the notes from the prompt that it names, its quotations, or an address of the web."""

    notes: tuple[str, ...]
    quotes: tuple[str, ...]
    is_address: bool


def verify_citations(answer: str, sources: CitableSources) -> VerificationResult:
    """Check every citation of `answer` against `sources`.

    A citation is `verified` if its chunk was in the prompt and contains the words quoted with it (10 or more characters in quotation
    marks), apart from white space, case, emphasis and typography; its lines are then those of the quotation. The quotation precedes the
    mark in the same paragraph, or the mark introduces it.

    A year in brackets cites nothing: a number from 1000 to 2999 above all numbers in the prompt. Nor does a number that only the answer
    itself defines (`[^1]: …`), unless its definition names a note from the prompt.
    """
    reading = marks.read_marks(answer)
    text = _without_code(answer, reading.code)
    quotations = find_quotations(answer, text)
    written = [mark for mark in reading.marks if not mark.defines]
    quoted = _quoted_marks(written, quotations, answer)
    footnotes = _footnotes(reading, answer, sources)
    citing = list(_citing_marks([mark for mark in written if mark not in quoted], answer, sources, footnotes))
    citing, cited_sentences, uncited = _split_by_sentence(citing, _join_quoted_sentences(text, quotations), sources)
    quotes = _assign_quotes(citing, quotations, answer, text)
    spans: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
    claims: dict[tuple[int, str | None], list[str]] = {}
    numbers_of: dict[str, dict[int, None]] = {}
    """The sources that each sentence cites."""
    for cited, own, sentence in zip(citing, quotes, cited_sentences, strict=True):
        mark = cited.mark
        defined = [quote for number in cited.defined for quote in footnotes[number].quotes]
        for quote in dict.fromkeys([*own, *defined]) or (None,):
            for number in mark.numbers or (sources.choose_chunk(cited.notes, quote, mark.heading, mark.line),):
                spans.setdefault((number, quote), []).append(mark.span)
                if sentence and number in sources.by_number:
                    claims.setdefault((number, quote), []).append(sentence)
                    numbers_of.setdefault(sentence, {})[number] = None
    judged = {sentence: _judge(sentence, numbers, sources) for sentence, numbers in numbers_of.items()}
    citations = tuple(
        _citation(number, quote, sources, tuple(where), _worst([judged[claim] for claim in claims.get((number, quote), ())]))
        for (number, quote), where in spans.items()
    )
    return VerificationResult(citations, uncited)


def _without_code(text: str, code: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of its code, so that all positions stay the same."""
    pieces: list[str] = []
    at = 0
    for start, end in code:
        pieces += [text[at:start], _NOT_NEWLINE.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _quoted_marks(written: Sequence[CitationMark], quotations: Sequence[Quotation], answer: str) -> set[CitationMark]:
    """The marks inside a quotation that another mark follows: they belong to the quoted note."""
    starts = [mark.start for mark in written]
    quoted: set[CitationMark] = set()
    for quotation in quotations:
        first, following = bisect_left(starts, quotation.start), bisect_left(starts, quotation.end)
        if first < following < len(starts) and _BETWEEN.fullmatch(answer, quotation.end, starts[following]):
            quoted.update(written[first:following])
    return quoted


def _footnotes(reading: marks.MarkedText, answer: str, sources: CitableSources) -> dict[int, _Footnote]:
    """What the answer's definitions of numbers name and quote."""
    found: dict[int, _Footnote] = {}
    for mark in reading.marks:
        if mark.defines:
            end = answer.find("\n", mark.end)
            definition = answer[mark.end + 1 : end if end >= 0 else len(answer)]
            names = (each.name for each in marks.find_marks(definition) if each.name)
            notes = tuple(dict.fromkeys(note for name in names for note in sources.matching_notes(name)))
            quotes = tuple(quotation.words for quotation in find_quotations(definition, definition))
            found |= dict.fromkeys(mark.numbers, _Footnote(notes, quotes, is_address=bool(_ADDRESS.match(definition))))
    return found


def _citing_marks(
    written: Sequence[CitationMark], answer: str, sources: CitableSources, footnotes: Mapping[int, _Footnote]
) -> Iterator[_CitingMark]:
    """The marks that cite, paths with all their words. A link to a note that was not in the prompt is only a link."""
    end = 0
    for mark in written:
        defined = tuple(number for number in mark.numbers if number in footnotes)
        numbers = tuple(number for number in mark.numbers if number not in footnotes or number in sources.by_number)
        if defined and answer[mark.start - 1 : mark.start] == "]" and mark.start != end and any(footnotes[n].is_address for n in defined):
            pass  # `[text][1]` is a link to the defined address
        elif mark.numbers and not numbers:
            if notes := tuple(note for number in defined for note in footnotes[number].notes):
                yield _CitingMark(replace(mark, numbers=()), notes, defined)
        elif mark.name is None:
            is_year = all(number in _YEARS and number > sources.highest_number for number in mark.numbers)
            if not is_year and not _is_array_index(mark, answer, sources):
                yield _CitingMark(replace(mark, numbers=numbers), defined=tuple(n for n in defined if n in numbers))
        elif answer[mark.start] == "[":
            if not _is_label(mark, answer) and (notes := sources.matching_notes(mark.name)):
                yield _CitingMark(mark, notes)
        else:
            for start in _possible_starts(mark, answer, end, sources):
                if notes := sources.matching_notes(answer[start : mark.start + len(mark.name)]):
                    yield _CitingMark(replace(mark, start=start), notes)
                    break
        end = mark.end


def _is_array_index(mark: CitationMark, answer: str, sources: CitableSources) -> bool:
    """Whether an unknown number directly after a word is an array index."""
    before = answer[mark.start - 1 : mark.start] if mark.start else ""
    after_word = answer[mark.start] == "[" and answer[mark.start + 1].isdigit() and before.isascii() and before.isalpha()
    return after_word and not sources.by_number.keys() & set(mark.numbers)


def _is_label(mark: CitationMark, answer: str) -> bool:
    """Whether a link is a line of its own with a colon: it names the subject of the lines below and cites nothing."""
    return bool(_LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(answer[max(0, mark.start - _LABEL_MARGIN) : mark.start]))


def _possible_starts(mark: CitationMark, answer: str, earliest: int, sources: CitableSources) -> Iterator[int]:
    """Where a path may begin: at a word before it if file names have several words, at the mark, or after CJK text before it."""
    assert mark.name is not None
    if sources.has_name_ending_with(mark.name):
        line = max(earliest, mark.start - mark_syntax.MAX_PATH_LENGTH, 0)
        line = max(line, answer.rfind("\n", line, mark.start) + 1)
        words = [found.end() + line for found in _BEFORE_WORD.finditer(answer[line : mark.start])]
        yield from words[-MAX_NAME_WORDS:]
    yield mark.start
    for found in cjk_pattern().finditer(answer, mark.start, mark.start + len(mark.name)):
        yield found.end()


def _join_quoted_sentences(text: str, quotations: Sequence[Quotation]) -> str:
    """The text with commas in place of what ends sentences within quotations: a mark behind a quotation cites all of it."""
    pieces: list[str] = []
    at = 0
    for quotation in quotations:
        inner = quotation.end - 2  # what ends the last sentence stays
        pieces += [text[at : quotation.start], _QUOTED_END.sub(",", text[quotation.start : inner])]
        at = inner
    return "".join([*pieces, text[at:]])


def _split_by_sentence(citing: Sequence[_CitingMark], text: str, sources: CitableSources) -> tuple[list[_CitingMark], list[str], int]:
    """The marks, without names that accompany a number of the same note in one sentence; the sentence of each, without marks, empty in
    tables and headings; and the number of sentences without marks."""
    replaced: list[str] = []
    index_of = {cited.mark.span: index for index, cited in enumerate(citing)}
    for piece, mark in marks.split_at_marks(text, (cited.mark for cited in citing)):
        replaced.append(f"{_NUMBERED if mark.numbers else _NAMED}{index_of[mark.span]}{_END}" if mark else piece.translate(_RESERVED))
    uncited = 0
    redundant: set[int] = set()
    sentence_of: dict[int, str] = {}
    for sentence in sentences(_AFTER_SENTENCE.sub(r" \2\1 ", "".join(replaced))):
        indexes = [int(index) for index in _REPLACED.findall(sentence)]
        uncited += not indexes and _states_something(sentence)
        if indexes and _states_something(bare := _REPLACED.sub("", sentence)):
            sentence_of.update(dict.fromkeys(indexes, bare))
        numbers = {number for index in indexes for number in citing[index].mark.numbers}
        paths = {sources.by_number[number].relative_path for number in numbers if number in sources.by_number}
        redundant.update(index for index in indexes if not paths.isdisjoint(citing[index].notes))
    kept = [index for index in range(len(citing)) if index not in redundant]
    return [citing[index] for index in kept], [sentence_of.get(index, "") for index in kept], uncited


def _assign_quotes(citing: Sequence[_CitingMark], quotations: Sequence[Quotation], answer: str, text: str) -> list[list[str]]:
    """The quotations of each mark: those around it, else those between it and the mark before, else those that it introduces.

    Adjacent marks share quotations.
    """
    ends = [quotation.end for quotation in quotations]
    spans = [cited.mark.span for cited in citing]
    quotes, assigned = _inner_quotes(spans, quotations, answer)
    inner = set().union(*assigned)
    introduced = _introduced_quotations(spans, quotations, text)
    borders = [found.start() for found in _BORDER.finditer(text)]
    since = 0
    for at, (start, end) in enumerate(spans):
        paragraph = bisect_right(borders, start)
        earliest = max(since, borders[paragraph - 1] if paragraph else 0)
        for index in range(bisect_right(ends, earliest), bisect_right(ends, start)):
            introduces = index in introduced and bool(_SENTENCE_ENDS.search(text, ends[index] - 2, start))
            if not introduces and index not in inner and not quotations[index].block:
                quotes[at].append(quotations[index].words)
                assigned[at].add(index)
        index = bisect_right(ends, start) - 1
        if index >= 0 and quotations[index].block and ends[index] >= since and _AFTER_BLOCK.fullmatch(text, ends[index], start):
            quotes[at].append(quotations[index].words)
            assigned[at].add(index)
        if not (quotes[at] and at + 1 < len(citing) and spans[at + 1][0] == end):
            since = end
    taken = set().union(*assigned)
    for index, at in introduced.items():
        if index not in taken:
            quotes[at].append(quotations[index].words)
    return quotes


def _inner_quotes(spans: Sequence[tuple[int, int]], quotations: Sequence[Quotation], answer: str) -> tuple[list[list[str]], list[set[int]]]:
    """The words that each mark inside a quotation follows, without marks, and the indexes of these quotations."""
    quotes: list[list[str]] = [[] for _ in spans]
    assigned: list[set[int]] = [set() for _ in spans]
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
            bare = _QUOTE_SIGN.sub("", words).strip().rstrip("—–-( \n")
            if is_long_enough(bare):
                quotes[at].append(bare)
            assigned[at].add(index)
            begin = end
    return quotes, assigned


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
        if BLANK_LINE.search(text, end, starts[index]) or not _INTRODUCTION.fullmatch(text, end, starts[index]):
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


def _judge(sentence: str, numbers: Iterable[int], sources: CitableSources) -> Support:
    return judge_support(sentence, [evidence for number in numbers if (evidence := sources.evidence(number))])


def _worst(judged: Sequence[Support]) -> Support | None:
    order: tuple[Support, ...] = ("does_not_support", "unclear", "supports")
    return next((each for each in order if each in judged), None)


def _citation(
    number: int, quote: str | None, sources: CitableSources, spans: tuple[tuple[int, int], ...], support: Support | None
) -> Citation:
    source = sources.chunk(number) or (sources.earlier_chunk(number, quote) if quote else None)
    if source is None:
        return Citation(number=number, quote=quote, spans=spans)
    chunk = source.chunk
    place = source.locate(quote) if quote else None
    start, end = (place.start_line, place.end_line) if place else (chunk.start_line, chunk.end_line)
    verdict: CitationVerdict = place.verdict if place else "cited" if quote is None else "misquoted"
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=(source.heading_above(start) if place else None) or chunk.heading,
        start_line=start,
        end_line=end,
        quote=quote,
        valid=verdict in ("verified", "cited"),
        verdict=verdict,
        sentence=place.sentence if place else None,
        support=support,
        spans=spans,
    )


def _states_something(sentence: str) -> bool:
    """Whether a sentence needs a source. Questions, lead-ins with a colon, up to three words, and "the notes do not say" do not.

    Two CJK characters count as one word.
    """
    bare = sentence.strip(" *_\"'”")
    if _SILENCE.match(bare):
        return False
    size = max(len(bare.split()), len(cjk_pattern().findall(bare)) // 2)
    return size > 3 and not bare.endswith((":", "?", "：", "？"))
