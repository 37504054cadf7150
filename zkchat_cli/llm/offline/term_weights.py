"""What each word of a question is worth: the rarer a word is in the passages found, the more. Pure.

Sums use `fsum`, because the order of a set differs from process to process.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from zkchat_cli.llm.offline.question import FILLER_WEIGHT, AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import RankedQuote, cjk_characters
from zkchat_cli.text import compounds, words

# A word is rare if at most this share of the passages has it
RARE_SHARE = 0.25
# A word is rare, too, if at most so many times as many passages have it as have the rarest word
RARE_MULTIPLE = 2
# The weight of a single Chinese character: a paraphrase shares characters more often than pairs
CHARACTER_WEIGHT = 0.5
# How many passages count as having a word that none has
UNSEEN_COUNT = 0.5
# The weight of words of the question in the headings above a passage; those in it have 1
ABOVE_WEIGHT = 0.5


class PassageVocabulary(NamedTuple):
    """How many passages have each word, in their text or above it."""

    counts: Mapping[str, int]
    passages: int
    languages: tuple[str, ...]

    def forms(self, word: str) -> tuple[str, ...]:
        """The stems of a question's word in the passages, as the search finds them: its own, or
        else that of a word a single edit away, those of the two words of a compound, or the most
        frequent compound that begins or ends with it.
        """
        own = words.stem(word, self.languages)
        if own in self.counts or cjk_characters(word):
            return (own,)
        misspelled = self._most_frequent(self.counts.keys() & set(words.edits(word)))
        if misspelled:
            return (misspelled,)
        for pair in compounds.compound_parts(word):
            stems = {words.stem(part, self.languages) for part in pair}
            if stems <= self.counts.keys():
                return tuple(sorted(stems))
        return (self._most_frequent(self._compounds(word, own)) or own,)

    def _compounds(self, word: str, stem: str) -> list[str]:
        """The words of the passages that begin or end with a word, in languages that join words."""
        if len(word) < compounds.SHORTEST_CONTAINED or compounds.COMPOUNDING.isdisjoint(
            self.languages
        ):
            return []
        return [each for each in self.counts if each.startswith(stem) or each.endswith(stem)]

    def _most_frequent(self, found: Iterable[str]) -> str | None:
        return max(found, key=lambda each: (self.counts[each], each), default=None)

    def has_word(self, word: str) -> bool:
        """Whether any passage has a word of the question, in one of its forms."""
        return any(form in self.counts for form in self.forms(word))

    def rarity(self, form: str) -> float:
        """The weight of a word by how few passages have it."""
        rarity = math.log(1 + self.passages / (self.counts.get(form, 0) or UNSEEN_COUNT))
        return rarity * CHARACTER_WEIGHT if len(form) == 1 else rarity


def count_words(quotes: Sequence[RankedQuote], languages: tuple[str, ...]) -> PassageVocabulary:
    """The vocabulary of the passages."""
    counts: Counter[str] = Counter()
    for quote in quotes:
        counts.update(quote.words | quote.above)
    return PassageVocabulary(counts, len(quotes), languages)


class Coverage(NamedTuple):
    """The shares of the question that a passage has, and that only the headings above it have."""

    inside: float
    above: float

    @property
    def weighted(self) -> float:
        """The whole share, with less weight for the headings."""
        return self.inside + ABOVE_WEIGHT * self.above

    @property
    def total(self) -> float:
        """The whole share of a passage that has a word of the question; 0 for another."""
        return self.inside + self.above if self.inside else 0.0


class TermWeights(NamedTuple):
    """The weights of a question's words, in all forms that the passages have."""

    weights: Mapping[str, float]
    total: float
    # The forms of rare words of the question's own subject
    rare: frozenset[str]
    # The share of the subject's words that the passages have
    known_share: float

    def share(self, found: Iterable[str]) -> float:
        """The share of the whole question that these words of it are."""
        return math.fsum(self.weights.get(word, 0.0) for word in found) / self.total

    def coverage(self, quote: RankedQuote) -> Coverage:
        """How much of the question a passage and the headings above it have."""
        return Coverage(self.share(quote.words), self.share(quote.above - quote.words))

    def has_rare(self, quote: RankedQuote) -> bool:
        """Whether a passage or the headings above it have a rare word of the question."""
        return not self.rare.isdisjoint(quote.words | quote.above)

    def characters(self) -> "TermWeights":
        """The weights of the question's single Chinese characters."""
        weights = {
            word: weight
            for word, weight in self.weights.items()
            if len(word) == 1 and cjk_characters(word)
        }
        return self._replace(weights=weights, total=_total(weights))


def weigh_terms(question: AnalyzedQuestion, vocabulary: PassageVocabulary) -> TermWeights:
    """The weights of the question's words by their rarity in the passages."""
    forms = {word: vocabulary.forms(word) for word in {*question.weights, *question.subject}}
    weights: dict[str, float] = {}
    for word, weight in question.weights.items():
        for form in (*forms[word], *cjk_characters(word)):
            # A filler that the notes do not have is not missing
            if weight > FILLER_WEIGHT or form in vocabulary.counts:
                weights[form] = weight
    weights = {form: weight * vocabulary.rarity(form) for form, weight in weights.items()}
    subject = {form for word in question.subject for form in forms[word]}
    known = subject & vocabulary.counts.keys()
    return TermWeights(
        weights,
        _total(weights),
        rare=_rare_words(subject, vocabulary),
        known_share=len(known) / max(1, len(subject)),
    )


def _rare_words(subject: Set[str], vocabulary: PassageVocabulary) -> frozenset[str]:
    """The forms of the subject that few passages have, or hardly more than its rarest form."""
    counts = {form: vocabulary.counts.get(form, 0) for form in subject}
    rarest = min((count for count in counts.values() if count), default=0)
    most = max(RARE_SHARE * vocabulary.passages, RARE_MULTIPLE * rarest)
    return frozenset(form for form, count in counts.items() if count <= most)


def _total(weights: Mapping[str, float]) -> float:
    return math.fsum(weights.values()) or 1.0
