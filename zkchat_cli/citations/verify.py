"""Looks up each citation of an answer in the chunks that were in the prompt: one reading, one
search a quotation, no second model call.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli.citations import marks
from zkchat_cli.citations.assigned_quotes import AssignedQuote, assign_quotes
from zkchat_cli.citations.cited_sentences import (
    FEW_WORDS,
    split_marked_sentences,
    states_something,
)
from zkchat_cli.citations.citing_marks import (
    CitingMark,
    Footnote,
    citing_marks,
    own_footnotes,
    read_footnotes,
)
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import (
    Quotation,
    find_quotations,
    marks_outside_quotations,
)
from zkchat_cli.citations.quotes import FoundQuotation
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.support import judge_support, worst_support
from zkchat_cli.models.citations import Citation, CitationVerdict, Support
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.spans import blank_spans
from zkchat_cli.text.words import count_words, find_cjk

# Characters of a coined word
_LONGEST_WORD = 40
_FILE_NAME = lazy_pattern(r"[^\s.][^\n]{0,100}\.[A-Za-z]\w{0,4}")


class VerificationResult(NamedTuple):
    """`citations` in the answer's order, each (number, quote) once; `uncited`: how many sentences
    state something without a source.
    """

    citations: tuple[Citation, ...]
    uncited: int


class CitedClaim(NamedTuple):
    """What an answer cites a source for: words that it quotes, or just the source; with the spans
    of the marks that do so, and the sentences that they are in, if these state something.
    """

    number: int
    quote: str | None
    spans: tuple[tuple[int, int], ...] = ()
    sentences: tuple[str, ...] = ()

    def cited_again(self, span: tuple[int, int], sentence: str | None) -> "CitedClaim":
        """The claim with one more mark, and the sentence that it is in, if this is judged."""
        sentences = (*self.sentences, sentence) if sentence else self.sentences
        return self._replace(spans=(*self.spans, span), sentences=sentences)


@dataclass(frozen=True, slots=True)
class _ReadAnswer:
    """An answer with its quotations, footnotes and citing marks. `text` has spaces in place of
    code.
    """

    answer: str
    text: str
    quotations: Sequence[Quotation]
    footnotes: Mapping[int, Footnote]
    citing: Sequence[CitingMark]


class _SentencesOfMarks(NamedTuple):
    """The sentence of each mark that states something, by the mark's index; the indexes of names
    that accompany a number of the same note in one sentence; and how many sentences lack a source.
    """

    sentence_of: Mapping[int, str]
    redundant: Collection[int]
    uncited: int


def verify_citations(answer: str, sources: CitableSources) -> VerificationResult:
    """Check every citation of `answer` against `sources`. A citation is `verified` if its chunk was
    in the prompt and contains the words quoted with it, apart from white space, case, emphasis and
    typography; its lines are then those of the quotation. A year in brackets cites nothing, nor
    does a number that only the answer itself defines (`[^1]: …`), unless its definition names a
    note from the prompt.
    """
    read = _read_answer(answer, sources)
    sentences = _sentences_of_marks(read, sources)
    claims = _cited_claims(read, sentences, sources)
    return VerificationResult(_judged_citations(claims, sources), sentences.uncited)


def _read_answer(answer: str, sources: CitableSources) -> _ReadAnswer:
    reading = marks.read_marks(answer)
    text = blank_spans(answer, reading.code)
    quotations = find_quotations(answer, text)
    footnotes = read_footnotes(reading, answer, sources.matching_notes)
    written = marks_outside_quotations(reading.marks, quotations, answer)
    own = own_footnotes(reading, answer, sources.matching_notes)
    if own:
        written = [mark for mark in written if not _refers_to(mark, own, answer)]
    citing = citing_marks(written, answer, sources.matching_notes, footnotes, sources.by_number)
    return _ReadAnswer(answer, text, quotations, footnotes, list(citing))


def _refers_to(mark: CitationMark, own: frozenset[int], answer: str) -> bool:
    """Whether a mark refers to a remark of the answer itself."""
    return answer.startswith("[^", mark.start) and own.issuperset(mark.numbers)


def _sentences_of_marks(read: _ReadAnswer, sources: CitableSources) -> _SentencesOfMarks:
    citing = read.citing
    sentence_of: dict[int, str] = {}
    redundant: set[int] = set()
    uncited = 0
    written = [cited.mark for cited in citing]
    for sentence, indexes in split_marked_sentences(written, read.text, read.quotations):
        if states_something(sentence):
            uncited += not indexes
            sentence_of.update(dict.fromkeys(indexes, sentence))
        paths = _numbered_notes([citing[index] for index in indexes], sources)
        for index in indexes:
            if not paths.isdisjoint(citing[index].notes):
                redundant.add(index)
    return _SentencesOfMarks(sentence_of, redundant, uncited)


def _numbered_notes(citing: Iterable[CitingMark], sources: CitableSources) -> set[str]:
    """The paths of the notes that marks cite by numbers."""
    paths: set[str] = set()
    for cited in citing:
        for number in cited.mark.numbers:
            if number in sources.by_number:
                paths.add(sources.by_number[number].relative_path)
    return paths


def _cited_claims(
    read: _ReadAnswer, sentences: _SentencesOfMarks, sources: CitableSources
) -> list[CitedClaim]:
    """The claims in the answer's order, each number and quotation once."""
    kept = [index for index in range(len(read.citing)) if index not in sentences.redundant]
    spans = [read.citing[index].mark.span for index in kept]
    assigned = assign_quotes(spans, read.quotations, read.answer, read.text)
    claims: dict[tuple[int, str | None], CitedClaim] = {}
    for index, own in zip(kept, assigned, strict=True):
        cited = read.citing[index]
        sentence = sentences.sentence_of.get(index)
        quotes = _quotes_of_mark(cited, own, read.footnotes)
        claimed = tuple(each for each in quotes if not _is_name(each, sources))
        for quote in claimed or (None,):
            for number in _cited_numbers(cited, quote, sources):
                claim = claims.get((number, quote)) or CitedClaim(number, quote)
                # A number that is not in the prompt has nothing that could support a sentence
                judged = sentence if number in sources.by_number else None
                claims[number, quote] = claim.cited_again(cited.mark.span, judged)
    return list(claims.values())


def _is_name(quote: str, sources: CitableSources) -> bool:
    """Whether words in quotation marks are the name of a note or a file, or a coined word, which no
    source has.
    """
    words = quote.split()
    is_word = len(words) == 1 and len(quote) <= _LONGEST_WORD and not find_cjk(quote)
    is_plain = is_word and not any(map(str.isdigit, quote))
    if not is_plain and not _FILE_NAME.fullmatch(quote) and not sources.matching_notes(quote):
        return False
    return not sources.numbers_with(quote)


def _quotes_of_mark(
    cited: CitingMark, own: Sequence[AssignedQuote], footnotes: Mapping[int, Footnote]
) -> tuple[str, ...]:
    """The quoted words that belong to a mark, and those in the footnotes that it refers to, each
    once.
    """
    quotes = [quote.words for quote in own]
    for number in cited.defined:
        quotes += footnotes[number].quotes
    return tuple(dict.fromkeys(quotes))


def _cited_numbers(
    cited: CitingMark, quote: str | None, sources: CitableSources
) -> tuple[int, ...]:
    """The numbers of the sources that a mark cites for a quotation."""
    if cited.mark.numbers:
        return cited.mark.numbers
    return (sources.choose_chunk(cited.notes, quote, cited.mark.heading, cited.mark.line),)


def _judged_citations(
    claims: Sequence[CitedClaim], sources: CitableSources
) -> tuple[Citation, ...]:
    """The claims as citations, each with the worst verdict on the sentences that make it."""
    citations = [_citation(claim, sources) for claim in claims]
    cited_in: dict[str, list[Citation]] = {}
    for claim, citation in zip(claims, citations, strict=True):
        for sentence in claim.sentences:
            cited_in.setdefault(sentence, []).append(citation)
    judged = {
        sentence: _sentence_support(sentence, cited, sources)
        for sentence, cited in cited_in.items()
    }
    with_support: list[Citation] = []
    for claim, citation in zip(claims, citations, strict=True):
        support = worst_support(judged[sentence] for sentence in claim.sentences)
        with_support.append(citation.model_copy(update={"support": support}))
    return tuple(with_support)


def _sentence_support(sentence: str, cited: Sequence[Citation], sources: CitableSources) -> Support:
    """The verdict on a sentence. One that is itself a verified quotation, apart from a few words,
    needs no judgement.
    """
    verified = [citation for citation in cited if citation.verdict == "verified"]
    quoted = {citation.quote for citation in verified if citation.quote}
    if quoted and count_words(sentence) - sum(map(count_words, quoted)) <= FEW_WORDS:
        return "supports"
    numbers = dict.fromkeys(citation.number for citation in cited)
    return judge_support(sentence, [sources.evidence(number) for number in numbers])


def _citation(claim: CitedClaim, sources: CitableSources) -> Citation:
    """The claim with its verdict and the place of its words, without a verdict on its sentences."""
    number, quote, spans, _ = claim
    source = sources.source(number, quote)
    if source is None:
        elsewhere = _found_elsewhere(claim, sources)
        return Citation(
            number=number,
            quote=quote,
            spans=spans,
            found_in=elsewhere.chunk.number if elsewhere and elsewhere.chunk else None,
            found_at=elsewhere.place if elsewhere else None,
        )
    chunk = source.chunk
    found = source.locate(quote) if quote else None
    where = found or FoundQuotation(
        "not_found", chunk, chunk.heading, chunk.start_line, chunk.end_line
    )
    verdict: CitationVerdict = "cited" if quote is None else "misquoted"
    if found is not None:
        verdict = "cut" if found.verdict == "cut" else "verified"
    elsewhere = _found_elsewhere(claim, sources) if verdict == "misquoted" else None
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=where.heading,
        start_line=where.start_line,
        end_line=where.end_line,
        quote=quote,
        valid=verdict in ("verified", "cited"),
        verdict="misattributed" if elsewhere else verdict,
        sentence=where.sentence,
        spans=spans,
        found_in=elsewhere.chunk.number if elsewhere and elsewhere.chunk else None,
        found_at=elsewhere.place if elsewhere else None,
        remarks=where.remarks,
    )


def _found_elsewhere(claim: CitedClaim, sources: CitableSources) -> FoundQuotation | None:
    """Where another source of the turn has the quoted words as they are quoted."""
    if claim.quote is None:
        return None
    for number in sources.numbers_with(claim.quote):
        found = sources.quotable_chunk(number).locate(claim.quote)
        if number != claim.number and found and found.verdict == "verified":
            return found
    return None
