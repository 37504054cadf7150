"""Does the answer say where it comes from, and is it true? Looks up each of its citations in what was in the prompt.

Deterministic and cheap: one reading of the answer, one search per quotation in a chunk made comparable once. No second model call.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from zkchat_cli.citations.citable_sources import MAX_NAME_WORDS, CitableSources
from zkchat_cli.citations.marks import marks, patterns
from zkchat_cli.citations.marks.patterns import CitationMark
from zkchat_cli.citations.quotes import MIN_QUOTE, QuotableChunk, Quotation, find_quotations, locate_quote
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import Citation, CitationStatus
from zkchat_cli.text.words import cjk_pattern

__all__ = ["MIN_QUOTE", "CitableSources", "VerificationResult", "locate_quote", "verify_citations"]

_BLANK_LINE = re.compile(r"\n[ \t>]*+(?=\n)")
_NOT_NEWLINE = re.compile(r"[^\n]")
_BETWEEN = re.compile(r"[\s.,;:!?。，(（]{0,3}")
"""What may stand between a quotation and the mark that cites it, if the quotation may hold a mark of its own."""
_INTRODUCES = re.compile(r"[)\]*_]*+(?:\s*+[\w'’-]++){0,5}+\s*+[,:，：]?\s*+")
"""What stands between a mark and a quotation that it introduces: `[[Filters]] says that “…”`."""
_LONGEST_INTRODUCTION = 60
_SENTENCE_ENDS = re.compile(r"[.!?…][\"'”’»)\]*_]*+\s|[。！？]")
_YEARS = range(1000, 3000)
_NUMBERED, _NAMED, _END = "\ue000", "[", "\ue001"
"""What a mark is replaced with while sentences are told apart: one of the first two, its place among the marks, and the third. A name may
begin a sentence, as a bracket may."""
_RESERVED = str.maketrans(dict.fromkeys((_NUMBERED, _END), " "))
_REPLACED = re.compile(rf"[{_NUMBERED}\[]([0-9]+){_END}")
_BEHIND_END = re.compile(rf"""([.!?…。！？]["'”’»」』*_)）]*+)[ \t]*+((?:{_NUMBERED}[0-9]+{_END}[ \t,]{{0,3}})+)""")
"""A number behind a full stop belongs to the sentence before it."""


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """`citations` in the answer's order, each (number, quote) once; `uncited` sentences that state something without a source."""

    citations: tuple[Citation, ...]
    uncited: int


_SILENT = re.compile(r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b", re.IGNORECASE)
_LABEL = 12
"""Characters before a label on its line: marks of a list, a quote, a heading, of emphasis."""
_LABEL_BEGINS = re.compile(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = re.compile(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class _CitationVerifier:
    """A mark that cites, and, if it does so by name, the `notes` from the prompt that it may mean."""

    mark: CitationMark
    notes: tuple[str, ...] = ()


def verify_citations(answer: str, sources: CitableSources) -> VerificationResult:
    """Check every citation of `answer` against `sources`.

    A citation is `verified` when its chunk was in the prompt and the words quoted with it (10 or more characters in quotation marks) stand
    in that chunk, white space, case, emphasis and typography aside; its lines are then the quotation's own. The words may stand before
    the mark, in the same paragraph, or be introduced by it.

    A year in brackets cites nothing: a number of four digits from 1000 to 2999, higher than any that was in the prompt. Nor does a number
    that only the answer itself defines (`[^1]: …`), unless what it says there names a note from the prompt.
    """
    reading = marks.read_marks(answer)
    text = _without(reading.code, answer)
    quoted = find_quotations(answer, text)
    written = [mark for mark in reading.marks if not mark.defines]
    own = _own_marks_of_notes(written, quoted, answer)
    footnotes = _footnotes(reading, answer, sources)
    citing = list(_citing([mark for mark in written if mark not in own], answer, sources, footnotes))
    citing, uncited = _told_apart(citing, text, sources)
    quotes = _quotes(citing, quoted, text)
    found: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
    for cited, quote in zip(citing, quotes, strict=True):
        mark = cited.mark
        for number in mark.numbers or (sources.number_of(cited.notes, quote, mark.heading, mark.line),):
            found.setdefault((number, quote), []).append(mark.span)
    citations = tuple(_cite(number, quote, sources.excerpt(number), tuple(spans)) for (number, quote), spans in found.items())
    return VerificationResult(citations, uncited)


def _without(code: Iterable[tuple[int, int]], text: str) -> str:
    """The text with its code blanked out; every other character and every line where it was."""
    pieces: list[str] = []
    at = 0
    for start, end in code:
        pieces += [text[at:start], _NOT_NEWLINE.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _own_marks_of_notes(written: Sequence[CitationMark], quoted: Sequence[Quotation], answer: str) -> set[CitationMark]:
    """The marks that stand within a quotation which another mark follows: these are the quoted note's."""
    starts = [mark.start for mark in written]
    own: set[CitationMark] = set()
    for quotation in quoted:
        first, following = bisect_left(starts, quotation.start), bisect_left(starts, quotation.end)
        if first < following < len(starts) and _BETWEEN.fullmatch(answer, quotation.end, starts[following]):
            own.update(written[first:following])
    return own


def _footnotes(reading: marks.MarkedText, answer: str, sources: CitableSources) -> dict[int, tuple[str, ...]]:
    """The numbers that the answer defines and that no source has, with the notes from the prompt that they are said to be."""
    found: dict[int, tuple[str, ...]] = {}
    for mark in reading.marks:
        if mark.defines and not sources.by_number.keys() & set(mark.numbers):
            ends = answer.find("\n", mark.end)
            said = marks.find_marks(answer[mark.end + 1 : ends if ends >= 0 else len(answer)])
            notes = tuple(dict.fromkeys(note for each in said if each.name for note in sources.notes(each.name)))
            found |= dict.fromkeys(mark.numbers, notes)
    return found


def _citing(
    written: Sequence[CitationMark], answer: str, sources: CitableSources, footnotes: Mapping[int, tuple[str, ...]]
) -> Iterator[_CitationVerifier]:
    """Those of the marks that cite, a path with all its words. A link to a note that was not in the prompt is just a link."""
    end = 0
    for mark in written:
        numbers = tuple(number for number in mark.numbers if number not in footnotes)
        if mark.numbers and not numbers:
            if notes := tuple(note for number in mark.numbers for note in footnotes[number]):
                yield _CitationVerifier(replace(mark, numbers=()), notes)
        elif mark.name is None:
            if not all(number in _YEARS and number > sources.highest for number in mark.numbers) and not _is_index(mark, answer, sources):
                yield _CitationVerifier(replace(mark, numbers=numbers))
        elif answer[mark.start] == "[":
            if not _is_label(mark, answer) and (notes := sources.notes(mark.name)):
                yield _CitationVerifier(mark, notes)
        else:
            for start in _possible_starts(mark, answer, end, sources):
                if notes := sources.notes(answer[start : mark.start + len(mark.name)]):
                    yield _CitationVerifier(replace(mark, start=start), notes)
                    break
        end = mark.end


def _is_index(mark: CitationMark, answer: str, sources: CitableSources) -> bool:
    """Whether a number that nothing stands under, right behind a word, is that of an array's item."""
    before = answer[mark.start - 1 : mark.start] if mark.start else ""
    behind_word = answer[mark.start] == "[" and answer[mark.start + 1].isdigit() and before.isascii() and before.isalpha()
    return behind_word and not sources.by_number.keys() & set(mark.numbers)


def _is_label(mark: CitationMark, answer: str) -> bool:
    """Whether a link has a line for itself that ends with a colon: it says what the lines below it are about, and cites nothing."""
    return bool(_LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(answer[max(0, mark.start - _LABEL) : mark.start]))


def _possible_starts(mark: CitationMark, answer: str, earliest: int, sources: CitableSources) -> Iterator[int]:
    """Where a path may begin: words before it if a file's name may have several, where it stands, and behind CJK text before it."""
    assert mark.name is not None
    if sources.may_end_a_name(mark.name):
        line = max(earliest, mark.start - patterns.LONGEST_PATH, 0)
        line = max(line, answer.rfind("\n", line, mark.start) + 1)
        words = [found.start() + line for found in re.finditer(r"\S+", answer[line : mark.start])]
        yield from words[-MAX_NAME_WORDS:]
    yield mark.start
    for found in cjk_pattern().finditer(answer, mark.start, mark.start + len(mark.name)):
        yield found.end()


def _told_apart(citing: Sequence[_CitationVerifier], text: str, sources: CitableSources) -> tuple[list[_CitationVerifier], int]:
    """The citing marks without names beside a number of the same note, in one sentence; and how many sentences cite nothing."""
    replaced: list[str] = []
    by_span = {cited.mark.span: number for number, cited in enumerate(citing)}
    for piece, mark in marks.split_at_marks(text, (cited.mark for cited in citing)):
        replaced.append(f"{_NUMBERED if mark.numbers else _NAMED}{by_span[mark.span]}{_END}" if mark else piece.translate(_RESERVED))
    uncited = 0
    beside: set[int] = set()
    for sentence in sentences(_BEHIND_END.sub(r" \2\1 ", "".join(replaced))):
        places = [int(number) for number in _REPLACED.findall(sentence)]
        uncited += not places and _states_something(sentence)
        numbered = {number for place in places for number in citing[place].mark.numbers}
        paths = {sources.by_number[number].relative_path for number in numbered if number in sources.by_number}
        beside.update(place for place in places if not paths.isdisjoint(citing[place].notes))
    return [cited for place, cited in enumerate(citing) if place not in beside], uncited


def _quotes(citing: Sequence[_CitationVerifier], quoted: Sequence[Quotation], text: str) -> list[str | None]:
    """The words that each mark is given for: those quoted before it, behind the mark before; else those that it introduces.

    Marks side by side share them.
    """
    starts, ends = [q.start for q in quoted], [q.end for q in quoted]
    introduced = {place: at for at, cited in enumerate(citing) if (place := _introduced(cited.mark, starts, text)) is not None}
    paragraphs = [found.start() for found in _BLANK_LINE.finditer(text)]
    quotes: list[str | None] = []
    since = 0
    taken: set[int] = set()
    for at, cited in enumerate(citing):
        mark = cited.mark
        paragraph = bisect_right(paragraphs, mark.start)
        place = bisect_right(ends, mark.start) - 1
        here = place >= 0 and ends[place] > max(since, paragraphs[paragraph - 1] if paragraph else 0)
        if here and not (place in introduced and _SENTENCE_ENDS.search(text, ends[place] - 2, mark.start)):
            quotes.append(quoted[place].words)
            taken.add(place)
        else:
            quotes.append(None)
        if not (quotes[-1] and at + 1 < len(citing) and citing[at + 1].mark.start == mark.end):
            since = mark.end
    for place, at in introduced.items():
        if place not in taken and quotes[at] is None:
            quotes[at] = quoted[place].words
    return quotes


def _introduced(mark: CitationMark, starts: Sequence[int], text: str) -> int | None:
    """The place among the quotations, which begin at `starts`, of the one that follows the mark after a few words."""
    place = bisect_left(starts, mark.end)
    if place < len(starts) and starts[place] - mark.end <= _LONGEST_INTRODUCTION and not _BLANK_LINE.search(text, mark.end, starts[place]):
        return place if _INTRODUCES.fullmatch(text, mark.end, starts[place]) else None
    return None


def _cite(number: int, quote: str | None, excerpt: QuotableChunk | None, spans: tuple[tuple[int, int], ...]) -> Citation:
    if excerpt is None:
        return Citation(number=number, quote=quote, spans=spans)
    chunk = excerpt.chunk
    lines = excerpt.locate(quote) if quote else None
    start, end = lines or (chunk.start_line, chunk.end_line)
    status: CitationStatus = "cited" if quote is None else "verified" if lines else "misquoted"
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=(excerpt.heading_over(start) if lines else None) or chunk.heading,
        start_line=start,
        end_line=end,
        quote=quote,
        valid=status != "misquoted",
        status=status,
        spans=spans,
    )


def _states_something(sentence: str) -> bool:
    """Questions, lead-ins that end in a colon and scraps of up to three words claim nothing that would need a source; nor does it take one
    to say that the notes are silent.

    Two CJK characters are taken for a word.
    """
    bare = sentence.strip(" *_\"'”")
    if _SILENT.match(bare):
        return False
    size = max(len(bare.split()), len(cjk_pattern().findall(bare)) // 2)
    return size > 3 and not bare.endswith((":", "?", "：", "？"))
