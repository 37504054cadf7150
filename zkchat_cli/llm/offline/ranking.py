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

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from zkchat_cli.llm.offline.asked_parts import lacks_asked_parts
from zkchat_cli.llm.offline.confidence import (
    LEAST_SURE,
    LEAST_SURE_BY_SECOND_MODEL,
    MOST_LEADING,
    USUAL_LOSS,
    WITHIN_A_LANGUAGE,
    Confidence,
    ConfidenceSignals,
    foreign_words,
    is_clearly_foreign,
    is_pair_needed,
    lead_of_nearest_note,
    missing_word,
)
from zkchat_cli.llm.offline.foreign_confidence import (
    LEAST_PROBABILITY,
    LEAST_SIMILARITY,
    ForeignSignals,
    scores_of_search,
)
from zkchat_cli.llm.offline.passage_languages import are_english, is_foreign, languages_of
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import (
    INCOMPLETE_FACTOR,
    QuoteSource,
    RankedQuote,
    characters_of,
    comparable_words,
    find_quotes,
    mark_labels_of_code,
)
from zkchat_cli.llm.offline.selection import MIN_SHARE
from zkchat_cli.llm.offline.term_weights import (
    Coverage,
    PassageVocabulary,
    TermWeights,
    count_words,
    weigh_terms,
)
from zkchat_cli.llm.offline.unknown_terms import is_named_elsewhere, without_unknown
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.word_lists import ENGLISH

# The likeliest passages, which are compared by meaning; each takes about 5 ms. 25 and 40 quote as
# many of 100 answers; with 18, two of 60 were not among them.
MAX_BY_MEANING = 30
# The best of these, which are compared again with the names above them to find the first. On two
# sets of questions, 40 instead of 34 of 126 answers are in the first quotation
MOST_COMPARED_TWICE = 8
WORDS_WEIGHT = 0.6
HEADING_WEIGHT = 0.3
"""The weights of the words and of the heading's similarity; the similarity of the passage has 1."""
MIN_HEADING = 0.3
OPENING_WEIGHT = 1.5
"""From this similarity of its heading on (without a sentence model: share of the question) the
opening of a section is worth more, by the square of the rest: much for a question about just this
heading, little for others, where it often hid the sentence that answers.
"""
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
# A note with so much of the question in its headings is about it: "how do I make bread?"
MIN_NAMED = 0.9
# The share of the question that the lead-in of a list and its heading must have, and the characters
# from which on such a list loses quality
MIN_LEAD = 0.5
LONG_LIST = 480


class RankedPassages(NamedTuple):
    """All passages, and those that are about the question, best first. `confidence` tells whether
    they answer.
    """

    all: tuple[RankedQuote, ...]
    on_topic: tuple[RankedQuote, ...]
    confidence: Confidence

    @property
    def is_answer(self) -> bool:
        """Whether the best passage is an answer."""
        return bool(self.on_topic) and self.confidence.is_answer

    @property
    def matches(self) -> bool:
        """Whether anything in the passages is about the question at all, by words or meaning."""
        return self.confidence.matches


class _ValuedQuote(NamedTuple):
    """A valued quote, the share of the question that it covers, that share with the headings above
    it, and its similarity to the question.
    """

    quote: RankedQuote
    covered: float
    named: float
    similarity: float


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
    languages = languages_of(excerpts, language)
    quotes = mark_labels_of_code(find_quotes(excerpts, languages))
    vocabulary = count_words(quotes, languages)
    weights = weigh_terms(question, vocabulary)
    coverages = [weights.coverage(quote) for quote in quotes]
    is_across = is_foreign(question.text, excerpts)
    least_similarity = LEAST_SIMILARITY if is_across else WITHIN_A_LANGUAGE.least_similarity
    similarity = _compare_meaning(question.text, quotes, coverages, similarities)
    ranked: list[_ValuedQuote] = []
    for index, (quote, coverage) in enumerate(zip(quotes, coverages, strict=True)):
        worth = WORDS_WEIGHT * coverage.weighted + quote.rank_worth
        worth += _meaning_worth(index, quote, similarity, weights, languages)
        near = similarity.by_quote.get(index, 0.0)
        valued = quote._replace(
            value=worth * _quality(quote, weights, languages),
            is_on_topic=near >= least_similarity or weights.has_rare(quote),
        )
        named = coverage.inside + coverage.above
        ranked.append(_ValuedQuote(valued, coverage.total, named, near))
    ranked.sort(key=lambda each: (-each.quote.value, each.quote.order))
    if similarities is None or not similarity.is_known:
        confidence = _confidence_by_words(quotes, weights, ranked)
    elif is_across:
        confidence = _confidence_across_languages(ranked, similarity, excerpts)
    else:
        confidence = _confidence_by_meaning(question, ranked, similarity, vocabulary, similarities)
        confidence = without_unknown(confidence, question, vocabulary, excerpts, language)
    if _lacks_what_is_asked(question, confidence, ranked, excerpts, vocabulary):
        confidence = confidence.doubted()
    if not is_across:
        ranked[:MOST_COMPARED_TWICE] = _valued_as_first(
            question.text, ranked[:MOST_COMPARED_TWICE], similarities
        )
    return RankedPassages(
        all=tuple(each.quote for each in ranked),
        on_topic=tuple(each.quote for each in ranked if each.quote.is_on_topic),
        confidence=confidence,
    )


def _lacks_what_is_asked(
    question: AnalyzedQuestion,
    confidence: Confidence,
    ranked: Sequence[_ValuedQuote],
    excerpts: Sequence[QuoteSource],
    vocabulary: PassageVocabulary,
) -> bool:
    """Whether the passages that would be quoted lack the Chinese word or one of the parts that the
    question asks for.
    """
    leading = [each.quote for each in _leading(ranked)]
    quoted = [each for each in leading if each.value >= MIN_SHARE * leading[0].value]
    if lacks_asked_parts(question.text, quoted, excerpts, vocabulary):
        return True
    return is_pair_needed(confidence.missing, confidence.signals)


def _valued_as_first(
    question: str, leading: Sequence[_ValuedQuote], similarities: Similarities | None
) -> list[_ValuedQuote]:
    """The best passages with their worth as the first quotation: again by meaning, now with the
    names above each, and with more weight for the rank of its excerpt. Unchanged without a
    sentence model that can tell.
    """
    if similarities is None:
        return list(leading)
    cosines = similarities(question, [each.quote.with_names for each in leading])
    if not cosines:
        return list(leading)
    valued = []
    for each, cosine in zip(leading, cosines, strict=True):
        quote = each.quote
        worth = quote.value + (cosine + quote.rank_worth) * quote.quality
        valued.append(each._replace(quote=quote._replace(value_as_first=worth)))
    return valued


def _quality(quote: RankedQuote, weights: TermWeights, languages: tuple[str, ...]) -> float:
    """How well a quote can be quoted: a list may be longer if the question is about what leads in
    to it, and what only repeats words of the question does not answer it.
    """
    if quote.words <= weights.weights.keys():
        return INCOMPLETE_FACTOR * quote.quality
    if not quote.passage.lead:
        return quote.quality
    lead = f"{quote.section[-1]} {quote.passage.lead}"
    if weights.share(comparable_words(lead, languages)) < MIN_LEAD:
        return quote.quality
    return quote.quality_if(shortest_loss=LONG_LIST)


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


def _leading(ranked: Sequence[_ValuedQuote]) -> list[_ValuedQuote]:
    """The best passages about the question, or else the best ones."""
    leading = [each for each in ranked if each.quote.is_on_topic][:MOST_LEADING]
    return leading or list(ranked[:MOST_LEADING])


def _confidence_across_languages(
    ranked: Sequence[_ValuedQuote],
    similarity: QuestionSimilarity,
    excerpts: Sequence[QuoteSource],
) -> Confidence:
    """The confidence in passages of another language than the question's. No word is missing in
    them.
    """
    scores = scores_of_search(excerpts)
    signals = ForeignSignals(
        similarity=max(each.similarity for each in _leading(ranked)),
        lead=lead_of_nearest_note((each.quote, each.similarity) for each in ranked),
        score=scores.best,
        search_lead=scores.lead,
    )
    return Confidence(
        is_answer=signals.probability >= LEAST_PROBABILITY,
        matches=similarity.best >= MIN_SIMILARITY_OF_LANGUAGES,
    )


def _confidence_by_meaning(
    question: AnalyzedQuestion,
    ranked: Sequence[_ValuedQuote],
    similarity: QuestionSimilarity,
    vocabulary: PassageVocabulary,
    similarities: Similarities,
) -> Confidence:
    """The confidence by the signals that distinguish an answer from passages about its subject."""
    leading = _leading(ranked)
    best = leading[0].quote
    foreign = foreign_words(question, best.text, similarities)
    known = frozenset(filter(vocabulary.has_word, question.subject))
    missing = missing_word(foreign, question.subject - known)
    signals = ConfidenceSignals(
        similarity=max(each.similarity for each in leading),
        covered=max(each.covered for each in leading),
        lead=lead_of_nearest_note((each.quote, each.similarity) for each in ranked),
        least_loss=foreign[0].loss if foreign else USUAL_LOSS,
        worth=best.value,
    )
    language = words.language_of(words.terms(question.text))
    words_of_note = _words_of_note(best.excerpt.path, ranked)
    probability = signals.probability()
    may_be_answer = not is_named_elsewhere(question, words_of_note, vocabulary, language)
    return Confidence(
        is_answer=may_be_answer and probability >= _least_sure(language, ranked),
        is_close=may_be_answer and probability >= WITHIN_A_LANGUAGE.least_close,
        matches=_matches(language, ranked, similarity),
        missing=missing.word if missing is not None else None,
        known=known,
        signals=signals,
        is_clearly_missing=is_clearly_foreign(missing, question, best.with_names, similarities),
    )


def _least_sure(language: str, ranked: Iterable[_ValuedQuote]) -> float:
    """The probability from which on passages answer a question in this language for sure."""
    is_english = language == ENGLISH and are_english(each.quote.excerpt for each in ranked)
    return LEAST_SURE if is_english else LEAST_SURE_BY_SECOND_MODEL


def _matches(language: str, ranked: Sequence[_ValuedQuote], similarity: QuestionSimilarity) -> bool:
    """Whether anything is about the question: a passage near to it or with much of it, or a note
    with nearly all of it in its names.
    """
    least = MIN_SIMILARITY if language == ENGLISH else MIN_SIMILARITY_OF_LANGUAGES
    if similarity.best >= least or max(each.covered for each in ranked) >= MIN_COVERED:
        return True
    return max(each.named for each in ranked) >= MIN_NAMED


def _words_of_note(path: str, ranked: Iterable[_ValuedQuote]) -> frozenset[str]:
    """The words of all passages found of a note, and of the names above them."""
    found: set[str] = set()
    for each in ranked:
        if each.quote.excerpt.path == path:
            found |= each.quote.words | each.quote.above
    return frozenset(found)


def _confidence_by_words(
    quotes: Sequence[RankedQuote], weights: TermWeights, ranked: Sequence[_ValuedQuote]
) -> Confidence:
    """The confidence by the covered share of the question, or by the share of a Chinese question's
    characters in a title.
    """
    covered = max((each.covered for each in ranked), default=0.0)
    of_characters = weights.characters()
    titles = {quote.excerpt.title for quote in quotes}
    in_title = max((of_characters.share(characters_of(title)) for title in titles), default=0.0)
    is_answer = covered >= MIN_COVERAGE or in_title >= MIN_TITLE
    return Confidence(is_answer, weights.known_share > 0)
