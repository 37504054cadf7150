"""Verification: looks up each citation of an answer in the chunks that were in the prompt.

Deterministic and cheap: one reading of the answer and one search per quotation, without a second model call.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from zkchat_cli.citations import mark_syntax, marks
from zkchat_cli.citations.citable_sources import MAX_NAME_WORDS, CitableSources
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.quotes import BLANK_LINE, QuotableChunk, Quotation, find_quotations
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import Citation, CitationStatus
from zkchat_cli.text.words import cjk_pattern

_NOT_NEWLINE = re.compile(r"[^\n]")
_BETWEEN = re.compile(r"[\s.,;:!?。，(（]{0,3}")
"""Text between a quotation and its mark, if the quotation itself contains marks."""
_INTRODUCTION = re.compile(r"[)\]*_]*+(?:\s*+[\w'’-]++){0,5}+\s*+[,:，：]?\s*+")
"""Text between a mark and a quotation that it introduces: `[[Filters]] says that “…”`."""
_LONGEST_INTRODUCTION = 60
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
    r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b|nothing in (?:your|the) notes\b|I found no sentence\b", re.IGNORECASE
)
_LABEL_MARGIN = 12
"""Characters before a label on its line: markers of a list, quote or heading, and emphasis."""
_LABEL_BEGINS = re.compile(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = re.compile(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")
_QUOTED_ENDS = dict.fromkeys(map(ord, ".!?…。！？"), ",")


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
    citing, uncited = _split_by_sentence(citing, _join_quoted_sentences(text, quotations), sources)
    quotes = _assign_quotes(citing, quotations, text)
    spans: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
    for cited, quote in zip(citing, quotes, strict=True):
        mark = cited.mark
        for number in mark.numbers or (sources.choose_chunk(cited.notes, quote, mark.heading, mark.line),):
            spans.setdefault((number, quote), []).append(mark.span)
    citations = tuple(_citation(number, quote, sources.chunk(number), tuple(where)) for (number, quote), where in spans.items())
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


def _footnotes(reading: marks.MarkedText, answer: str, sources: CitableSources) -> dict[int, tuple[str, ...]]:
    """The numbers that the answer defines and no source has, with the notes from the prompt that the definitions name."""
    found: dict[int, tuple[str, ...]] = {}
    for mark in reading.marks:
        if mark.defines and not sources.by_number.keys() & set(mark.numbers):
            end = answer.find("\n", mark.end)
            defining = marks.find_marks(answer[mark.end + 1 : end if end >= 0 else len(answer)])
            notes = tuple(dict.fromkeys(note for each in defining if each.name for note in sources.matching_notes(each.name)))
            found |= dict.fromkeys(mark.numbers, notes)
    return found


def _citing_marks(
    written: Sequence[CitationMark], answer: str, sources: CitableSources, footnotes: Mapping[int, tuple[str, ...]]
) -> Iterator[_CitingMark]:
    """The marks that cite, paths with all their words. A link to a note that was not in the prompt is only a link."""
    end = 0
    for mark in written:
        numbers = tuple(number for number in mark.numbers if number not in footnotes)
        if mark.numbers and not numbers:
            if notes := tuple(note for number in mark.numbers for note in footnotes[number]):
                yield _CitingMark(replace(mark, numbers=()), notes)
        elif mark.name is None:
            is_year = all(number in _YEARS and number > sources.highest_number for number in mark.numbers)
            if not is_year and not _is_array_index(mark, answer, sources):
                yield _CitingMark(replace(mark, numbers=numbers))
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
        words = [found.start() + line for found in re.finditer(r"\S+", answer[line : mark.start])]
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
        pieces += [text[at : quotation.start], text[quotation.start : inner].translate(_QUOTED_ENDS)]
        at = inner
    return "".join([*pieces, text[at:]])


def _split_by_sentence(citing: Sequence[_CitingMark], text: str, sources: CitableSources) -> tuple[list[_CitingMark], int]:
    """The marks, without names that accompany a number of the same note in one sentence; and the number of sentences without marks."""
    replaced: list[str] = []
    index_of = {cited.mark.span: index for index, cited in enumerate(citing)}
    for piece, mark in marks.split_at_marks(text, (cited.mark for cited in citing)):
        replaced.append(f"{_NUMBERED if mark.numbers else _NAMED}{index_of[mark.span]}{_END}" if mark else piece.translate(_RESERVED))
    uncited = 0
    redundant: set[int] = set()
    for sentence in sentences(_AFTER_SENTENCE.sub(r" \2\1 ", "".join(replaced))):
        indexes = [int(index) for index in _REPLACED.findall(sentence)]
        uncited += not indexes and _states_something(sentence)
        numbers = {number for index in indexes for number in citing[index].mark.numbers}
        paths = {sources.by_number[number].relative_path for number in numbers if number in sources.by_number}
        redundant.update(index for index in indexes if not paths.isdisjoint(citing[index].notes))
    return [cited for index, cited in enumerate(citing) if index not in redundant], uncited


def _assign_quotes(citing: Sequence[_CitingMark], quotations: Sequence[Quotation], text: str) -> list[str | None]:
    """The quoted words of each mark: the quotation between it and the mark before, else the one that it introduces.

    Adjacent marks share a quotation.
    """
    starts, ends = [q.start for q in quotations], [q.end for q in quotations]
    introduced = {index: at for at, cited in enumerate(citing) if (index := _introduced_quotation(cited.mark, starts, text)) is not None}
    paragraphs = [found.start() for found in BLANK_LINE.finditer(text)]
    quotes: list[str | None] = []
    since = 0
    assigned: set[int] = set()
    for at, cited in enumerate(citing):
        mark = cited.mark
        paragraph = bisect_right(paragraphs, mark.start)
        index = bisect_right(ends, mark.start) - 1
        is_near = index >= 0 and ends[index] > max(since, paragraphs[paragraph - 1] if paragraph else 0)
        if is_near and not (index in introduced and _SENTENCE_ENDS.search(text, ends[index] - 2, mark.start)):
            quotes.append(quotations[index].words)
            assigned.add(index)
        else:
            quotes.append(None)
        if not (quotes[-1] and at + 1 < len(citing) and citing[at + 1].mark.start == mark.end):
            since = mark.end
    for index, at in introduced.items():
        if index not in assigned and quotes[at] is None:
            quotes[at] = quotations[index].words
    return quotes


def _introduced_quotation(mark: CitationMark, starts: Sequence[int], text: str) -> int | None:
    """The index of the quotation that follows the mark after a few words; quotations begin at `starts`."""
    index = bisect_left(starts, mark.end)
    if index < len(starts) and starts[index] - mark.end <= _LONGEST_INTRODUCTION and not BLANK_LINE.search(text, mark.end, starts[index]):
        return index if _INTRODUCTION.fullmatch(text, mark.end, starts[index]) else None
    return None


def _citation(number: int, quote: str | None, source: QuotableChunk | None, spans: tuple[tuple[int, int], ...]) -> Citation:
    if source is None:
        return Citation(number=number, quote=quote, spans=spans)
    chunk = source.chunk
    lines = source.locate(quote) if quote else None
    start, end = lines or (chunk.start_line, chunk.end_line)
    status: CitationStatus = "cited" if quote is None else "verified" if lines else "misquoted"
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=(source.heading_above(start) if lines else None) or chunk.heading,
        start_line=start,
        end_line=end,
        quote=quote,
        valid=status != "misquoted",
        status=status,
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
