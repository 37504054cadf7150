"""Ranks the passages of notes as answers to a question, by words and, with a sentence model, by
meaning. Deterministic and pure.

`rank_passages` is a pipeline of values: the quotes of the excerpts, the vocabulary of these, the
weights of the question's words, how much of the question each quote covers, how similar the
likeliest ones are to it in meaning, and from these the value of each quote and the confidence in
the best.

The value of a passage adds up the question's words in it, each weighted by its rarity among the
passages found (words of the headings above count half), its similarity to the question, that of its
heading, and its rank among the search results. The figures were chosen on half of 120 questions
about one vault.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import (
    QuoteSource,
    RankedQuote,
    cjk_characters,
    comparable_words,
    find_quotes,
    mark_labels_of_code,
)
from zkchat_cli.llm.offline.term_weights import Coverage, TermWeights, count_words, weigh_terms
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.word_lists import ENGLISH

# The likeliest passages, which are compared by meaning; each takes about 8 ms
MAX_BY_MEANING = 18
WORDS_WEIGHT = 0.6
HEADING_WEIGHT = 0.3
"""The weights of the words and of the heading's similarity; the similarity of the passage has 1."""
MIN_HEADING = 0.3
OPENING_WEIGHT = 1.5
"""From this similarity of its heading on (without a sentence model: share of the question) the
opening of a section is worth more, by the square of the rest: much for a question about just this
heading, little for others, where it often hid the sentence that answers.
"""
UNKNOWN_PENALTY = 0.3
COVERAGE_BONUS = 0.1
"""How much words of the question that no passage has take from the confidence, and how much the
covered share of the question adds.
"""
# Confidence from which passages are an answer, with a sentence model
MIN_CONFIDENCE = 0.4
# Share of the question from which passages are an answer, without a sentence model
MIN_COVERAGE = 0.52
MIN_TITLE = 0.16
"""The share of the characters of a Chinese question that the title of a note must contain to answer
it, without a sentence model.
"""
MIN_SIMILARITY = 0.22
MIN_SIMILARITY_OF_LANGUAGES = 0.17
MIN_COVERED = 0.5
"""Below all of these, nothing is about the question: its mean similarity to the nearest passage and
heading (the second figure for a question that is not in English), and the share of it that a
passage contains. They deny 25 of 40 questions about the world, and none of 90 about the notes.
"""
MIN_PASSAGE_SIMILARITY = 0.35
"""Below this, a passage is off the topic of a question if neither it nor the headings above it have
a rare word of the question.
"""


class RankedPassages(NamedTuple):
    """All passages, and those that are about the question, best first. `confidence` is 1 where an
    answer begins; `matches` says whether anything in them is about the question at all, by words or
    meaning.
    """

    all: tuple[RankedQuote, ...]
    on_topic: tuple[RankedQuote, ...]
    confidence: float
    matches: bool

    @property
    def is_answer(self) -> bool:
        """Whether the best passage is an answer."""
        return bool(self.on_topic) and self.confidence >= 1


class Confidence(NamedTuple):
    """How surely the passages answer (1 where an answer begins), and whether any of them is about
    the question at all.
    """

    value: float
    matches: bool


class QuestionSimilarity(NamedTuple):
    """How similar the likeliest quotes, by their index, and their sections are to the question in
    meaning. Empty without a sentence model that can tell.
    """

    by_quote: Mapping[int, float] = {}
    by_section: Mapping[tuple[str, ...], float] = {}

    @property
    def is_known(self) -> bool:
        """Whether the meaning was compared."""
        return bool(self.by_quote)

    @property
    def best(self) -> float:
        """The mean of the nearest passage's and the nearest section's similarity."""
        return (max(self.by_quote.values()) + max(self.by_section.values())) / 2


def rank_passages(
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    similarities: Similarities | None = None,
) -> RankedPassages:
    """The passages of the excerpts by their worth as an answer. `similarities` compares by meaning;
    without it, words decide alone.
    """
    language = words.language_of(words.terms(question.text))
    languages = _languages_of(excerpts, language)
    quotes = mark_labels_of_code(find_quotes(excerpts, languages))
    weights = weigh_terms(question, count_words(quotes, languages))
    coverages = [weights.coverage(quote) for quote in quotes]
    similarity = _compare_meaning(question.text, quotes, coverages, similarities)
    ranked = []
    for index, (quote, coverage) in enumerate(zip(quotes, coverages, strict=True)):
        meaning = _meaning_worth(index, quote, similarity, weights, languages)
        value = (WORDS_WEIGHT * coverage.weighted + meaning + quote.rank_worth) * quote.quality
        is_similar = similarity.by_quote.get(index, 0.0) >= MIN_PASSAGE_SIMILARITY
        has_rare_word = not weights.rare.isdisjoint(quote.words | quote.above)
        ranked.append(quote._replace(value=value, is_on_topic=is_similar or has_rare_word))
    ranked.sort(key=lambda quote: (-quote.value, quote.order))
    covered = max((coverage.total for coverage in coverages), default=0.0)
    if similarity.is_known:
        confidence = _confidence_by_meaning(similarity, weights, covered, language)
    else:
        confidence = _confidence_by_words(quotes, weights, covered)
    return RankedPassages(
        all=tuple(ranked),
        on_topic=tuple(quote for quote in ranked if quote.is_on_topic),
        confidence=confidence.value,
        matches=confidence.matches,
    )


def _languages_of(excerpts: Sequence[QuoteSource], language: str) -> tuple[str, ...]:
    """The languages of the excerpts, with that of the question: notes may be too short to tell
    theirs.
    """
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    if language in (ENGLISH, *languages):
        return languages
    return (*languages, language)


def _compare_meaning(
    question: str,
    quotes: Sequence[RankedQuote],
    coverages: Sequence[Coverage],
    similarities: Similarities | None,
) -> QuestionSimilarity:
    """Compare the likeliest quotes and their sections with the question, in one call of the
    model.
    """
    if similarities is None or not quotes:
        return QuestionSimilarity()
    likeliness = [
        (WORDS_WEIGHT * coverage.weighted + quote.rank_worth) * quote.quality
        for quote, coverage in zip(quotes, coverages, strict=True)
    ]
    likeliest = sorted(range(len(quotes)), key=likeliness.__getitem__, reverse=True)
    compared = sorted(likeliest[:MAX_BY_MEANING])
    sections = list(dict.fromkeys(quotes[index].section for index in compared))
    texts = [quotes[index].text for index in compared]
    texts += [" › ".join(section) for section in sections]
    cosines = iter(similarities(question, texts) or ())
    by_quote = dict(zip(compared, islice(cosines, len(compared)), strict=False))
    return QuestionSimilarity(by_quote, dict(zip(sections, cosines, strict=False)))


def _meaning_worth(
    index: int,
    quote: RankedQuote,
    similarity: QuestionSimilarity,
    weights: TermWeights,
    languages: tuple[str, ...],
) -> float:
    """What a quote's similarity to the question, that of its heading and its position below the
    heading are worth. Without a sentence model, the words of the heading count.
    """
    heading = similarity.by_section.get(quote.section, 0.0)
    worth = similarity.by_quote.get(index, 0.0) + HEADING_WEIGHT * heading
    is_opening = quote.passage.position == 0 and quote.passage.kind != "row"
    if not is_opening:
        return worth
    matching = heading
    if not similarity.is_known:
        matching = weights.share(comparable_words(quote.section[-1], languages))
    return worth + OPENING_WEIGHT * max(0.0, matching - MIN_HEADING) ** 2


def _confidence_by_meaning(
    similarity: QuestionSimilarity, weights: TermWeights, covered: float, language: str
) -> Confidence:
    unknown = UNKNOWN_PENALTY * (1 - weights.known_share)
    value = (similarity.best - unknown + COVERAGE_BONUS * covered) / MIN_CONFIDENCE
    least = MIN_SIMILARITY if language == ENGLISH else MIN_SIMILARITY_OF_LANGUAGES
    return Confidence(value, similarity.best >= least or covered >= MIN_COVERED)


def _confidence_by_words(
    quotes: Sequence[RankedQuote], weights: TermWeights, covered: float
) -> Confidence:
    """The confidence by the covered share of the question, or by the share of a Chinese question's
    characters in a title.
    """
    of_characters = weights.characters()
    titles = {quote.excerpt.title for quote in quotes}
    in_title = max((of_characters.share(_characters(title)) for title in titles), default=0.0)
    value = max(covered / MIN_COVERAGE, in_title / MIN_TITLE)
    return Confidence(value, weights.known_share > 0)


def _characters(title: str) -> set[str]:
    """The Chinese characters of a title."""
    return {character for word in words.terms(title) for character in cjk_characters(word)}
