"""Looks up each citation of an answer in the chunks that were in the prompt: one reading, one
search a quotation, no second model call.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from zkchat_cli.citations import marks
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import (
    Quotation,
    assign_quotes,
    find_quotations,
    marks_outside_quotations,
)
from zkchat_cli.citations.quotes import FoundQuotation, QuotableChunk
from zkchat_cli.citations.support import Evidence, judge_support
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.citations import Citation, CitationVerdict, Support
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import CLOSING, END_MARKS, SENTENCE_END
from zkchat_cli.text.words import CJK_CHARACTER, find_cjk
from zkchat_cli.vault.links.wikilinks import LinkName, WrittenLink, fold_name, link_key, resolve

_YEARS = range(1000, 3000)
# Words of a file name that a text may write without brackets
_MAX_NAME_WORDS = 12
_BEFORE_WORD = lazy_pattern(r"(?<!\S)[(\[{<\"'“‘«*_]*(?=\S)")
# Characters before a label on its line: markers of a list, quote or heading, and emphasis
_LABEL_MARGIN = 12
_LABEL_BEGINS = lazy_pattern(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = lazy_pattern(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")


MatchingNotes = Callable[[str], tuple[str, ...]]
"""The notes that a link or path may mean, the likeliest first."""


class CitableSources:
    """Made for one answer. Chunks without a number cannot be cited; of several with the same number
    the last counts.
    """

    def __init__(
        self,
        chunks: Iterable[ContentChunk],
        earlier: Callable[[int], tuple[ContentChunk, str] | None] = lambda _: None,
    ) -> None:
        """`earlier`: the chunk of an earlier prompt with this number, and the current text of its
        note.
        """
        self.by_number = by_number = {
            chunk.number: chunk for chunk in chunks if chunk.number is not None
        }
        # Few of the chunks are cited
        self.quotable_chunk = cache(lambda number: QuotableChunk(by_number[number]))
        self.evidence = cache(lambda number: Evidence(by_number[number]))
        self.matching_notes = cache(self._matching_notes)
        self._earlier = earlier

    def source(self, number: int, quote: str | None) -> QuotableChunk | None:
        """The chunk with this number; for one of an earlier prompt the current note, if both what
        was sent then and the note contain the quotation.
        """
        if number in self.by_number:
            return self.quotable_chunk(number)
        if (
            quote is None
            or (found := self._earlier(number)) is None
            or QuotableChunk(found[0]).locate(quote) is None
        ):
            return None
        chunk, text = found
        note = QuotableChunk(
            chunk.model_copy(
                update={"text": text, "start_line": 1, "end_line": text.count("\n") + 1}
            )
        )
        return note if note.locate(quote) else None

    def _matching_notes(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a link or path may mean, the likeliest first; matched as
        wikilinks are, then by title.
        """
        resolved = resolve(
            WrittenLink("", "wikilink", name), None, lambda key: self._names.get(key, ())
        )
        return (resolved.target, *resolved.candidates) if resolved.target else ()

    def choose_chunk(
        self, notes: Iterable[str], quote: str | None, heading: str | None, line: int | None
    ) -> int:
        """The number of the chunk of these notes with the quoted words, else under the heading,
        else with the line, else the first.
        """
        wanted = fold_name(heading.rpartition("#")[2].strip()) if heading else "\n"

        def misses(number: int) -> tuple[bool, ...]:
            source = self.quotable_chunk(number)
            chunk = source.chunk
            place = source.locate(quote) if quote else None
            headings = (chunk.heading or "", *(text for _, text in source.headings))
            return (
                place is None or place.verdict != "verified",
                place is None,
                wanted not in map(fold_name, headings),
                line is None or not chunk.start_line <= line <= chunk.end_line,
            )

        return min((number for note in notes for number in self._numbers[note]), key=misses)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The numbers of each note's chunks, sorted."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for number in sorted(self.by_number):
            numbers[self.by_number[number].relative_path].append(number)
        return numbers

    @cached_property
    def _names(self) -> dict[str, list[LinkName]]:
        names: defaultdict[str, list[LinkName]] = defaultdict(list)
        for path in dict.fromkeys(chunk.relative_path for chunk in self.by_number.values()):
            names[link_key(path)].append(LinkName(path, "note", path.rpartition("/")[2]))
        for path, title in dict.fromkeys(
            (chunk.relative_path, chunk.title) for chunk in self.by_number.values()
        ):
            names[link_key(title)].append(LinkName(path, "alias", title))
        return names


class CitingMark(NamedTuple):
    """A mark that cites; if it cites by name, the `notes` that may be meant."""

    mark: CitationMark
    notes: tuple[str, ...] = ()
    defined: tuple[int, ...] = ()  # its numbers that the text defines


class Footnote(NamedTuple):
    """What the definition of a number says: the notes that it names, and its quotations."""

    notes: tuple[str, ...]
    quotes: tuple[str, ...]


def read_footnotes(
    reading: marks.MarkedText, text: str, matching_notes: MatchingNotes
) -> dict[int, Footnote]:
    """What the text's definitions of numbers name and quote."""
    found: dict[int, Footnote] = {}
    for mark in reading.marks:
        if mark.defines:
            end = text.find("\n", mark.end)
            definition = text[mark.end + 1 : end if end >= 0 else len(text)]
            found |= dict.fromkeys(mark.numbers, read_footnote(definition, matching_notes))
    return found


def read_footnote(definition: str, matching_notes: MatchingNotes) -> Footnote:
    written = [mark for mark in marks.read_marks(definition).marks if not mark.defines]
    notes = tuple(
        dict.fromkeys(
            note
            for cited in citing_marks(written, definition, matching_notes)
            for note in cited.notes
        )
    )
    return Footnote(
        notes, tuple(quotation.words for quotation in find_quotations(definition, definition))
    )


def citing_marks(
    written: Sequence[CitationMark],
    answer: str,
    matching_notes: MatchingNotes,
    footnotes: Mapping[int, Footnote] = {},
    known: Collection[int] = (),
) -> Iterator[CitingMark]:
    """The marks that cite, paths with all their words. `known`: numbers of sources. A link to a
    note that is none is only a link.
    """
    end = 0
    for mark in written:
        before = answer[mark.start - 1 : mark.start] if mark.start else ""
        defined = tuple(number for number in mark.numbers if number in footnotes)
        numbers = tuple(
            number for number in mark.numbers if number not in footnotes or number in known
        )
        if (
            defined
            and before == "]"
            and mark.start != end
            and not any(footnotes[n].notes for n in defined)
        ):
            # `[text][1]` is a link to the defined address
            pass
        elif mark.numbers and not numbers:
            if notes := tuple(note for number in defined for note in footnotes[number].notes):
                yield CitingMark(mark._replace(numbers=()), notes, defined)
        elif mark.name is None:
            is_year = all(
                number in _YEARS and number > max(known, default=0) for number in mark.numbers
            )
            after_word = (
                answer[mark.start] == "["
                and answer[mark.start + 1].isdigit()
                and before.isascii()
                and before.isalpha()
            )
            # Else it is an array index
            if not is_year and (not after_word or any(number in known for number in mark.numbers)):
                yield CitingMark(
                    mark._replace(numbers=numbers),
                    defined=tuple(n for n in defined if n in numbers),
                )
        elif answer[mark.start] == "[":
            line_before = answer[max(0, mark.start - _LABEL_MARGIN) : mark.start]
            # Of the lines below
            names_subject = _LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(
                line_before
            )
            if not names_subject and (notes := matching_notes(mark.name)):
                yield CitingMark(mark, notes)
        else:
            for start in _possible_starts(mark, answer, end):
                if notes := matching_notes(answer[start : mark.start + len(mark.name)]):
                    yield CitingMark(mark._replace(start=start), notes)
                    break
        end = mark.end


def _possible_starts(mark: CitationMark, text: str, earliest: int) -> Iterator[int]:
    """Where a path may begin: at a word before it, because file names may have several words, at
    the mark, or after CJK text before it.
    """
    assert mark.name is not None
    line = max(earliest, mark.start - marks.MAX_PATH_LENGTH, 0)
    line = max(line, text.rfind("\n", line, mark.start) + 1)
    yield from [found.end() + line for found in _BEFORE_WORD.finditer(text[line : mark.start])][
        -_MAX_NAME_WORDS:
    ]
    yield mark.start
    for found in CJK_CHARACTER.finditer(text, mark.start, mark.start + len(mark.name)):
        yield found.end()


_WORD = lazy_pattern(r"\w\S*+")
FEW_WORDS = 3  # words that state nothing by themselves
_NUMBERED = "\ue000"
_NAMED = "["
_END = "\ue001"
"""While sentences are split, a mark is replaced with one of the first two, its index and the third.
A name may begin a sentence, as a bracket may.
"""
_RESERVED = str.maketrans(dict.fromkeys((_NUMBERED, _END), " "))
_REPLACED = lazy_pattern(rf"[{_NUMBERED}\[]([0-9]+){_END}")
_AFTER_SENTENCE = lazy_pattern(
    rf"""([{END_MARKS}]{CLOSING}*+)[ \t]*+((?:{_NUMBERED}[0-9]+{_END}[ \t,]{{0,3}})+)"""
)
"""Numbers after a full stop belong to the sentence before it."""
_SILENCE = lazy_pattern(
    r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b|nothing in (?:your|the) "
    r"notes\b|I found no sentence\b|(?:most likely|or): ",
    re.IGNORECASE,
)
_QUOTED_END = lazy_pattern(SENTENCE_END)
_NO_ENDS = dict(zip(map(ord, END_MARKS), range(0xE002, 0xE009), strict=True))
"""While sentences are split, what ends sentences within a quotation is another character."""
_ENDS_AGAIN = {hidden: end for end, hidden in _NO_ENDS.items()}


class VerificationResult(NamedTuple):
    """`citations` in the answer's order, each (number, quote) once; `uncited`: how many sentences
    state something without a source.
    """

    citations: tuple[Citation, ...]
    uncited: int


class CitedSentence(NamedTuple):
    """A sentence of an answer without its marks, the numbers that it cites, and whether they
    support it; a model gives a `reason`.
    """

    text: str
    numbers: tuple[int, ...]
    support: Support = "unclear"
    reason: str = ""


def verify_citations(answer: str, sources: CitableSources) -> VerificationResult:
    """Check every citation of `answer` against `sources`. A citation is `verified` if its chunk was
    in the prompt and contains the words quoted with it, apart from white space, case, emphasis and
    typography; its lines are then those of the quotation. A year in brackets cites nothing, nor
    does a number that only the answer itself defines (`[^1]: …`), unless its definition names a
    note from the prompt.
    """
    reading = marks.read_marks(answer)
    text = marks.blank_spans(answer, reading.code)
    quotations = find_quotations(answer, text)
    footnotes = read_footnotes(reading, answer, sources.matching_notes)
    written = marks_outside_quotations(reading.marks, quotations, answer)
    citing = list(
        citing_marks(written, answer, sources.matching_notes, footnotes, sources.by_number)
    )
    uncited = 0
    # The sentence of each mark, without marks; not in tables and headings
    sentence_of: dict[int, str] = {}
    # Names that accompany a number of the same note in one sentence
    redundant: set[int] = set()
    for sentence, indexes in _marked_sentences([cited.mark for cited in citing], text, quotations):
        if not indexes:
            uncited += _states_something(sentence)
        elif _states_something(sentence):
            sentence_of.update(dict.fromkeys(indexes, sentence))
        numbers = {number for index in indexes for number in citing[index].mark.numbers}
        paths = {
            sources.by_number[number].relative_path
            for number in numbers
            if number in sources.by_number
        }
        redundant.update(index for index in indexes if not paths.isdisjoint(citing[index].notes))
    kept = [index for index in range(len(citing)) if index not in redundant]
    places: dict[tuple[int, str | None], list[tuple[tuple[int, int], str]]] = {}
    """The citations, each with the spans of its marks and the sentences that cite it."""
    for index, own in zip(
        kept,
        assign_quotes([citing[index].mark.span for index in kept], quotations, answer, text),
        strict=True,
    ):
        mark, notes, defined = citing[index]
        quotes = [
            *(words for _, words in own),
            *(quote for number in defined for quote in footnotes[number].quotes),
        ]
        for quote in dict.fromkeys(quotes) or (None,):
            for number in mark.numbers or (
                sources.choose_chunk(notes, quote, mark.heading, mark.line),
            ):
                sentence = sentence_of.get(index, "") if number in sources.by_number else ""
                places.setdefault((number, quote), []).append((mark.span, sentence))
    citations = {
        key: _citation(*key, sources, tuple(span for span, _ in where))
        for key, where in places.items()
    }
    cited_in: dict[str, list[Citation]] = {}
    for key, where in places.items():
        for _, sentence in where:
            cited_in.setdefault(sentence, []).append(citations[key])
    judged = {
        sentence: _sentence_support(sentence, cited, sources)
        for sentence, cited in cited_in.items()
        if sentence
    }
    support = {
        key: _worst(judged[sentence] for _, sentence in where if sentence)
        for key, where in places.items()
    }
    return VerificationResult(
        tuple(each.model_copy(update={"support": support[key]}) for key, each in citations.items()),
        uncited,
    )


def cited_sentences(answer: str, citations: Sequence[Citation]) -> list[CitedSentence]:
    """The sentences of an answer that state something and cite a source."""
    cited = [mark for mark in marks.cited_marks(answer, citations) if not mark.defines]
    text = marks.blank_spans(answer, marks.read_marks(answer).code)
    found: list[CitedSentence] = []
    for sentence, indexes in _marked_sentences(cited, text, find_quotations(answer, text)):
        spans = {cited[index].span for index in indexes}
        of_sentence = [citation for citation in citations if not spans.isdisjoint(citation.spans)]
        numbers = tuple(dict.fromkeys(citation.number for citation in of_sentence))
        if numbers and _states_something(sentence):
            words = " ".join(sentence.translate(_ENDS_AGAIN).split())
            support = _worst(citation.support for citation in of_sentence if citation.support)
            found.append(
                CitedSentence(re.sub(r" (?=[.,;:!?])", "", words), numbers, support or "unclear")
            )
    return found


def _marked_sentences(
    written: Sequence[CitationMark], text: str, quotations: Sequence[Quotation]
) -> Iterator[tuple[str, list[int]]]:
    """The sentences of a text without these marks, and the indexes of the marks in each. No
    sentence ends within a quotation: a mark behind it cites all of it.
    """
    # What ends the last sentence stays
    inner = ((quotation.start, quotation.end - 2) for quotation in quotations)
    joined = marks.replace_spans(
        text, inner, lambda words: _QUOTED_END.sub(lambda end: end[0].translate(_NO_ENDS), words)
    )
    replaced: list[str] = []
    index_of = {mark.span: index for index, mark in enumerate(written)}
    for piece, mark in marks.split_at_marks(joined, written):
        replaced.append(
            f"{_NUMBERED if mark.numbers else _NAMED}{index_of[mark.span]}{_END}"
            if mark
            else piece.translate(_RESERVED)
        )
    for sentence in sentences(_AFTER_SENTENCE.sub(r" \2\1 ", "".join(replaced))):
        yield _REPLACED.sub("", sentence), [int(index) for index in _REPLACED.findall(sentence)]


def _sentence_support(sentence: str, cited: Sequence[Citation], sources: CitableSources) -> Support:
    """The verdict on a sentence. One that is itself a verified quotation, apart from a few words,
    needs no judgement.
    """
    quoted = {
        citation.quote for citation in cited if citation.quote and citation.verdict == "verified"
    }
    if quoted and _count_words(sentence) - sum(map(_count_words, quoted)) <= FEW_WORDS:
        return "supports"
    return judge_support(
        sentence,
        [
            sources.evidence(number)
            for number in dict.fromkeys(citation.number for citation in cited)
        ],
    )


def _worst(judged: Iterable[Support]) -> Support | None:
    return min(judged, key=("does_not_support", "unclear", "supports").index, default=None)


def _citation(
    number: int, quote: str | None, sources: CitableSources, spans: tuple[tuple[int, int], ...]
) -> Citation:
    source = sources.source(number, quote)
    if source is None:
        return Citation(number=number, quote=quote, spans=spans)
    chunk = source.chunk
    found = source.locate(quote) if quote else None
    where = found or FoundQuotation(
        "not_found", chunk, chunk.heading, chunk.start_line, chunk.end_line
    )
    verdict: CitationVerdict = "cited" if quote is None else "misquoted"
    if found is not None:
        verdict = "cut" if found.verdict == "cut" else "verified"
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=where.heading,
        start_line=where.start_line,
        end_line=where.end_line,
        quote=quote,
        valid=verdict in ("verified", "cited"),
        verdict=verdict,
        sentence=where.sentence,
        spans=spans,
    )


def _states_something(sentence: str) -> bool:
    """Whether a sentence needs a source. Questions, lead-ins with a colon, up to three words, and
    "the notes do not say" do not.
    """
    bare = sentence.strip(" *_\"'”")
    return (
        not _SILENCE.match(bare)
        and _count_words(bare) > FEW_WORDS
        and not bare.endswith((":", "?", "：", "？"))
    )


def _count_words(text: str) -> int:
    """Two CJK characters count as one word."""
    return max(len(_WORD.findall(text)), len(find_cjk(text)) // 2)
