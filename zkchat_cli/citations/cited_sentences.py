"""The sentences of an answer, each with the citation marks in it.

While sentences are split, a mark is replaced with a private character, its index and another one,
and what ends sentences within a quotation with other characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.cited_marks import cited_marks, split_at_marks
from zkchat_cli.citations.marks import CitationMark, read_marks
from zkchat_cli.citations.quotations import Quotation, find_quotations
from zkchat_cli.citations.support import worst_support
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.citations import Citation, Support
from zkchat_cli.text.answer_phrases import silent_pattern
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import CLOSING, END_MARKS, SENTENCE_END
from zkchat_cli.text.spans import blank_spans, replace_spans
from zkchat_cli.text.words import count_words

# Words that state nothing by themselves
FEW_WORDS = 3
_NUMBERED = "\ue000"
# A name may begin a sentence, as a bracket may
_NAMED = "["
_END = "\ue001"
_RESERVED = str.maketrans(dict.fromkeys((_NUMBERED, _END), " "))
_REPLACED = lazy_pattern(rf"[{_NUMBERED}\[]([0-9]+){_END}")
_AFTER_SENTENCE = lazy_pattern(
    rf"""([{END_MARKS}]{CLOSING}*+)[ \t]*+((?:{_NUMBERED}[0-9]+{_END}[ \t,]{{0,3}})+)"""
)
"""Numbers after a full stop belong to the sentence before it."""
_SILENCE = lazy_pattern(
    r"(?:your|the) notes (?:don['’]t|do not) (?:say|mention)\b"
    r"|nothing in (?:your|the) notes\b|I found no sentence\b|I found nothing on\b"
    rf"|(?:most likely|or): |{silent_pattern()}",
    re.IGNORECASE,
)
_QUOTED_END = lazy_pattern(SENTENCE_END)
_NO_ENDS = dict(zip(map(ord, END_MARKS), range(0xE002, 0xE009), strict=True))
_ENDS_AGAIN = {hidden: end for end, hidden in _NO_ENDS.items()}


class CitedSentence(NamedTuple):
    """A sentence of an answer without its marks, the numbers that it cites, and whether they
    support it; a model gives a `reason`.
    """

    text: str
    numbers: tuple[int, ...]
    support: Support = "unclear"
    reason: str = ""


class MarkedSentence(NamedTuple):
    """A sentence without its marks, in which quotations end no sentence, and the indexes of the
    marks.
    """

    text: str
    marks: tuple[int, ...]

    @property
    def plain(self) -> str:
        """The sentence as it is read, on one line."""
        words = " ".join(self.text.translate(_ENDS_AGAIN).split())
        return re.sub(r" (?=[.,;:!?])", "", words)


def cited_sentences(answer: str, citations: Sequence[Citation]) -> list[CitedSentence]:
    """The sentences of an answer that state something and cite a source."""
    cited = [mark for mark in cited_marks(answer, citations) if not mark.defines]
    text = blank_spans(answer, read_marks(answer).code)
    found: list[CitedSentence] = []
    for sentence in split_marked_sentences(cited, text, find_quotations(answer, text)):
        spans = {cited[index].span for index in sentence.marks}
        own = [citation for citation in citations if not spans.isdisjoint(citation.spans)]
        if own and states_something(sentence.text):
            found.append(_cited_sentence(sentence, own))
    return found


def _cited_sentence(sentence: MarkedSentence, citations: Iterable[Citation]) -> CitedSentence:
    """The sentence with its citations, and the worst verdict on these."""
    numbers: dict[int, None] = {}
    judged: list[Support] = []
    for citation in citations:
        numbers[citation.number] = None
        if citation.support:
            judged.append(citation.support)
    return CitedSentence(sentence.plain, tuple(numbers), worst_support(judged) or "unclear")


def split_marked_sentences(
    written: Sequence[CitationMark], text: str, quotations: Sequence[Quotation]
) -> Iterator[MarkedSentence]:
    """The sentences of a text with the marks in each. No sentence ends within a quotation: a mark
    behind it cites all of it.
    """
    # What ends the last sentence stays
    inner = ((quotation.start, quotation.end - 2) for quotation in quotations)
    joined = replace_spans(text, inner, _without_sentence_ends)
    replaced: list[str] = []
    index_of = {mark.span: index for index, mark in enumerate(written)}
    for piece, mark in split_at_marks(joined, written):
        if mark:
            opening = _NUMBERED if mark.numbers else _NAMED
            replaced.append(f"{opening}{index_of[mark.span]}{_END}")
        else:
            replaced.append(piece.translate(_RESERVED))
    for sentence in sentences(_AFTER_SENTENCE.sub(r" \2\1 ", "".join(replaced))):
        indexes = tuple(int(index) for index in _REPLACED.findall(sentence))
        yield MarkedSentence(_REPLACED.sub("", sentence), indexes)


def _without_sentence_ends(words: str) -> str:
    return _QUOTED_END.sub(lambda end: end[0].translate(_NO_ENDS), words)


def states_something(sentence: str) -> bool:
    """Whether a sentence needs a source. Questions, lead-ins with a colon, up to three words, and
    "the notes do not say" do not.
    """
    bare = sentence.strip(" *_\"'”")
    if _SILENCE.match(bare) or bare.endswith((":", "?", "：", "？")):
        return False
    return count_words(bare) > FEW_WORDS
