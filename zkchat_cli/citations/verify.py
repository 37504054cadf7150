"""Looks up each citation of an answer in the chunks that were in the prompt: one reading, one search a quotation, no second model call."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations import marks
from zkchat_cli.citations.citable_sources import CitableSources, citing_marks, read_footnotes
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import Quotation, assign_quotes, find_quotations, marks_outside_quotations
from zkchat_cli.citations.quotes import FoundQuotation
from zkchat_cli.citations.support import judge_support
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import Citation, CitationVerdict, Support
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk

_WORD = lazy_pattern(r"\w\S*+")
FEW_WORDS = 3
"""Words that state nothing by themselves."""
_NUMBERED, _NAMED, _END = "\ue000", "[", "\ue001"
"""While sentences are split, a mark is replaced with one of the first two, its index and the third. A name may begin a sentence, as a
bracket may."""
_RESERVED = str.maketrans(dict.fromkeys((_NUMBERED, _END), " "))
_REPLACED = lazy_pattern(rf"[{_NUMBERED}\[]([0-9]+){_END}")
_AFTER_SENTENCE = lazy_pattern(rf"""([.!?…。！？]["'”’»」』*_)）]*+)[ \t]*+((?:{_NUMBERED}[0-9]+{_END}[ \t,]{{0,3}})+)""")
"""Numbers after a full stop belong to the sentence before it."""
_SILENCE = lazy_pattern(
    r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b|nothing in (?:your|the) notes\b|I found no sentence\b|(?:most likely|or): ",
    re.IGNORECASE,
)
_QUOTED_END = lazy_pattern(r"""[.!?…](?=['"’”»)\]*_]*+\s)|[。！？]""")
_ENDS = ".!?…。！？"
_NO_ENDS = dict(zip(map(ord, _ENDS), range(0xE002, 0xE009), strict=True))
"""While sentences are split, what ends sentences within a quotation is another character."""
_ENDS_AGAIN = {hidden: end for end, hidden in _NO_ENDS.items()}


class VerificationResult(NamedTuple):
    """`citations` in the answer's order, each (number, quote) once; `uncited`: how many sentences state something without a source."""

    citations: tuple[Citation, ...]
    uncited: int


class CitedSentence(NamedTuple):
    """A sentence of an answer without its marks, the numbers that it cites, and whether they support it; a model gives a `reason`."""

    text: str
    numbers: tuple[int, ...]
    support: Support = "unclear"
    reason: str = ""


def verify_citations(answer: str, sources: CitableSources) -> VerificationResult:
    """Check every citation of `answer` against `sources`.

    A citation is `verified` if its chunk was in the prompt and contains the words quoted with it, apart from white space, case, emphasis
    and typography; its lines are then those of the quotation. A year in brackets cites nothing, nor does a number that only the answer
    itself defines (`[^1]: …`), unless its definition names a note from the prompt.
    """
    reading = marks.read_marks(answer)
    text = marks.blank_spans(answer, reading.code)
    quotations = find_quotations(answer, text)
    footnotes = read_footnotes(reading, answer, sources)
    citing = list(citing_marks(marks_outside_quotations(reading.marks, quotations, answer), answer, sources, footnotes))
    uncited = 0
    sentence_of: dict[int, str] = {}
    """The sentence of each mark, without marks; not in tables and headings."""
    redundant: set[int] = set()
    """Names that accompany a number of the same note in one sentence."""
    for sentence, indexes in _marked_sentences([cited.mark for cited in citing], _join_quoted_sentences(text, quotations)):
        if not indexes:
            uncited += _states_something(sentence)
        elif _states_something(sentence):
            sentence_of.update(dict.fromkeys(indexes, sentence))
        numbers = {number for index in indexes for number in citing[index].mark.numbers}
        paths = {sources.by_number[number].relative_path for number in numbers if number in sources.by_number}
        redundant.update(index for index in indexes if not paths.isdisjoint(citing[index].notes))
    kept = [index for index in range(len(citing)) if index not in redundant]
    places: dict[tuple[int, str | None], list[tuple[tuple[int, int], str]]] = {}
    """The citations, each with the spans of its marks and the sentences that cite it."""
    for index, own in zip(kept, assign_quotes([citing[index].mark.span for index in kept], quotations, answer, text), strict=True):
        mark, notes, defined = citing[index]
        quotes = [*(words for _, words in own), *(quote for number in defined for quote in footnotes[number].quotes)]
        for quote in dict.fromkeys(quotes) or (None,):
            for number in mark.numbers or (sources.choose_chunk(notes, quote, mark.heading, mark.line),):
                sentence = sentence_of.get(index, "") if number in sources.by_number else ""
                places.setdefault((number, quote), []).append((mark.span, sentence))
    citations = {key: _citation(*key, sources, tuple(span for span, _ in where)) for key, where in places.items()}
    cited_in: dict[str, list[Citation]] = {}
    for key, where in places.items():
        for _, sentence in where:
            cited_in.setdefault(sentence, []).append(citations[key])
    judged = {sentence: _sentence_support(sentence, cited, sources) for sentence, cited in cited_in.items() if sentence}
    support = {key: _worst(judged[sentence] for _, sentence in where if sentence) for key, where in places.items()}
    return VerificationResult(tuple(each.model_copy(update={"support": support[key]}) for key, each in citations.items()), uncited)


def _join_quoted_sentences(text: str, quotations: Sequence[Quotation]) -> str:
    """The text without what ends sentences within quotations: a mark behind a quotation cites all of it."""
    pieces: list[str] = []
    at = 0
    for quotation in quotations:
        inner = quotation.end - 2  # what ends the last sentence stays
        pieces += [text[at : quotation.start], _QUOTED_END.sub(lambda end: end[0].translate(_NO_ENDS), text[quotation.start : inner])]
        at = inner
    return "".join([*pieces, text[at:]])


def cited_sentences(answer: str, citations: Sequence[Citation]) -> list[CitedSentence]:
    """The sentences of an answer that state something and cite a source."""
    cited = [mark for mark in marks.cited_marks(answer, citations) if not mark.defines]
    text = marks.blank_spans(answer, marks.read_marks(answer).code)
    found: list[CitedSentence] = []
    for sentence, indexes in _marked_sentences(cited, _join_quoted_sentences(text, find_quotations(answer, text))):
        spans = {cited[index].span for index in indexes}
        of_sentence = [citation for citation in citations if not spans.isdisjoint(citation.spans)]
        numbers = tuple(dict.fromkeys(citation.number for citation in of_sentence))
        if numbers and _states_something(sentence):
            words = " ".join(sentence.translate(_ENDS_AGAIN).split())
            support = _worst(citation.support for citation in of_sentence if citation.support)
            found.append(CitedSentence(re.sub(r" (?=[.,;:!?])", "", words), numbers, support or "unclear"))
    return found


def _marked_sentences(written: Sequence[CitationMark], text: str) -> Iterator[tuple[str, list[int]]]:
    """The sentences of a text without these marks, and the indexes of the marks in each."""
    replaced: list[str] = []
    index_of = {mark.span: index for index, mark in enumerate(written)}
    for piece, mark in marks.split_at_marks(text, written):
        replaced.append(f"{_NUMBERED if mark.numbers else _NAMED}{index_of[mark.span]}{_END}" if mark else piece.translate(_RESERVED))
    for sentence in sentences(_AFTER_SENTENCE.sub(r" \2\1 ", "".join(replaced))):
        yield _REPLACED.sub("", sentence), [int(index) for index in _REPLACED.findall(sentence)]


def _sentence_support(sentence: str, cited: Sequence[Citation], sources: CitableSources) -> Support:
    """The verdict on a sentence. One that is itself a verified quotation, apart from a few words, needs no judgement."""
    quoted = {citation.quote for citation in cited if citation.quote and citation.verdict == "verified"}
    if quoted and _count_words(sentence) - sum(map(_count_words, quoted)) <= FEW_WORDS:
        return "supports"
    return judge_support(sentence, [sources.evidence(number) for number in dict.fromkeys(citation.number for citation in cited)])


def _worst(judged: Iterable[Support]) -> Support | None:
    return min(judged, key=("does_not_support", "unclear", "supports").index, default=None)


def _citation(number: int, quote: str | None, sources: CitableSources, spans: tuple[tuple[int, int], ...]) -> Citation:
    if number in sources.by_number:
        source = sources.quotable_chunk(number)
    elif (earlier := sources.earlier_chunk(number, quote) if quote else None) is not None:
        source = earlier
    else:
        return Citation(number=number, quote=quote, spans=spans)
    chunk = source.chunk
    found = source.locate(quote) if quote else None
    where = found or FoundQuotation("not_found", chunk, chunk.heading, chunk.start_line, chunk.end_line)
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
    """Whether a sentence needs a source. Questions, lead-ins with a colon, up to three words, and "the notes do not say" do not."""
    bare = sentence.strip(" *_\"'”")
    if _SILENCE.match(bare):
        return False
    return _count_words(bare) > FEW_WORDS and not bare.endswith((":", "?", "：", "？"))


def _count_words(text: str) -> int:
    """Two CJK characters count as one word."""
    return max(len(_WORD.findall(text)), len(find_cjk(text)) // 2)
