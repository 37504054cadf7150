"""How surely the best passages answer a question, by words and meaning. Pure.

The words that a question shares with a passage tell little: a note about Svelte has some of a
question about its runes. Five signals tell more. Logistic regression weighed them on 277 questions
about three vaults. 70 of these have no answer in the notes; others were asked twice, the second
time without the notes that answer, and these counted .3: so many near misses are no user's.
docs/explanation/search.md has the figures, tests/bench/confidence.py measures them.
"""

import math
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import RankedQuote, cjk_characters
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.word_lists import FUNCTION_CHARACTERS

# The passages that an answer begins with
MOST_LEADING = 3
# Words of a question that are left out, one at a time; each costs about 4 ms, and a pair of Chinese
# characters 2 ms
MOST_LEFT_OUT = 8
MOST_PAIRS_LEFT_OUT = 16
# A missing word is named if the question's subject has at most so many words: in a long sentence,
# it may be any verb
MOST_NAMED_WORDS = 4
# A question in Chinese that is nearer to the best passage by so much without two characters, which
# no passage has, asks for something else. Of 80 questions, this takes away 3 of 3 false answers,
# 2 of 12 wrong and 1 of 12 right ones
LEAST_LOSS_OF_PAIR = -0.04
# So much nearer to the best passage is a short question without the word that names what it is
# about. On 831 technical notes, this is so for 5 of 10 false answers and for one of 33 right ones
CLEAR_LOSS = 0.05
# The loss by a word of a question that has no word to leave out
USUAL_LOSS = 0.0
# The lead of the only note
USUAL_LEAD = 0.05


class SignalWeights(NamedTuple):
    """What the signals are worth where one model compares. From `least_close` on, passages
    are close to an answer; a passage with less than `least_similarity` needs a rare word of the
    question to be about it.
    """

    intercept: float
    similarity: float
    covered: float
    lead: float
    least_loss: float
    worth: float
    least_close: float
    least_similarity: float


WITHIN_A_LANGUAGE = SignalWeights(
    intercept=-5.42,
    similarity=0.88,
    covered=1.11,
    lead=6.31,
    least_loss=1.83,
    worth=4.22,
    least_close=0.40,
    least_similarity=0.35,
)

# From this probability on, English passages are an answer to an English question. The second model,
# which compares others, has lower cosines
LEAST_SURE = 0.70
LEAST_SURE_BY_SECOND_MODEL = 0.40


class WordLoss(NamedTuple):
    """How much less similar to the best passage a question is without one of its words."""

    word: str
    loss: float


class ConfidenceSignals(NamedTuple):
    """What distinguishes passages that answer from those that are only about the subject.

    `similarity` is that of the nearest leading passage; `covered` the share of the question's words
    in one of them. `lead` is how much nearer the nearest note is than any other one: if many notes
    are as near, the question is about their common subject. `least_loss` is how much nearer the
    question's most foreign word brings it to the best passage; it is negative if the question is
    nearer without the word. `worth` is the value of the best passage, which also has its heading
    and its rank among the results in it.
    """

    similarity: float
    covered: float
    lead: float
    least_loss: float
    worth: float

    def probability(self, calibration: SignalWeights = WITHIN_A_LANGUAGE) -> float:
        """The probability that the passages answer."""
        value = calibration.intercept
        for name, signal in self._asdict().items():
            value += getattr(calibration, name) * signal
        return 1 / (1 + math.exp(-value))


class Confidence(NamedTuple):
    """Whether the passages answer, and whether any of them is about the question at all. `missing`
    is the word that distinguishes the question, if no passage has it.
    """

    is_answer: bool
    matches: bool
    missing: str | None = None
    # The words of the question's subject that passages have
    known: frozenset[str] = frozenset()
    # Whether they probably answer, though not surely
    is_close: bool = False
    # What it is based on; None without a sentence model
    signals: ConfidenceSignals | None = None
    # Whether the question is short and clearly nearer to the passages without what is missing
    is_clearly_missing: bool = False

    def lacking(self, name: str) -> "Confidence":
        """The same for a question with a word that distinguishes it and that no passage has: no
        answer. A number is only told if no word is missing.
        """
        missing = self.missing if name.isdecimal() and self.missing else name
        return self.doubted()._replace(missing=missing)

    def doubted(self) -> "Confidence":
        """The same for passages that cannot answer, however near they are."""
        return self._replace(is_answer=False, is_close=False)


def foreign_words(
    question: AnalyzedQuestion, passage: str, similarities: Similarities
) -> list[WordLoss]:
    """The words of the question's subject, that without which it is nearest to the passage in
    meaning first; none if no word can be left out.
    """
    variants = _without_each_word(question)
    if not variants:
        return []
    cosines = similarities(passage, [question.text, *variants.values()])
    if not cosines:
        return []
    whole, *others = cosines
    losses = [WordLoss(word, whole - each) for word, each in zip(variants, others, strict=True)]
    return sorted(losses, key=lambda each: each.loss)


def missing_word(foreign: Sequence[WordLoss], unknown: Set[str]) -> WordLoss | None:
    """The word without which the question is nearest to the passage, of those that no passage has.
    Pairs of Chinese characters overlap, so only the first of all counts there.
    """
    candidates = foreign[:1] if foreign and _is_pair_of_characters(foreign[0].word) else foreign
    return next((each for each in candidates if each.word in unknown and each.loss < 0), None)


def is_clearly_foreign(
    foreign: WordLoss | None, question: AnalyzedQuestion, section: str, similarities: Similarities
) -> bool:
    """Whether a short question is clearly nearer to the best passage without its most foreign word,
    also to the whole `section` with the names above the passage: "bees" is not foreign to a note
    about beekeeping.
    """
    if foreign is None or foreign.loss > -CLEAR_LOSS or subject_size(question) > MOST_NAMED_WORDS:
        return False
    without = _without_each_word(question)[foreign.word]
    cosines = similarities(section, [question.text, without])
    return not cosines or cosines[0] - cosines[1] <= -CLEAR_LOSS


def subject_size(question: AnalyzedQuestion) -> int:
    """The number of words of the question's subject: "next.js" is one, though search takes it for
    three.
    """
    size = len(question.subject)
    for written in question.text.split():
        parts = question.subject & set(words.content_terms(written))
        if parts and not any(map(cjk_characters, parts)):
            size -= len(parts) - 1
    return size


def _without_each_word(question: AnalyzedQuestion) -> dict[str, str]:
    """The question without each word of its subject. Chinese has no spaces to tell words by, but
    each pair of characters may be one.
    """
    pairs = [term for term in sorted(question.subject) if _is_pair_of_characters(term)]
    if pairs:
        return {pair: question.text.replace(pair, "") for pair in pairs[:MOST_PAIRS_LEFT_OUT]}
    written = question.text.split()
    variants: dict[str, str] = {}
    for word in sorted(question.subject):
        others = [each for each in written if word not in words.content_terms(each)]
        if 0 < len(others) < len(written):
            variants[word] = " ".join(others)
    rarest = sorted(variants, key=lambda word: question.weights.get(word, 0.0), reverse=True)
    return {word: variants[word] for word in rarest[:MOST_LEFT_OUT]}


def _is_pair_of_characters(term: str) -> bool:
    """Whether a term is two Chinese characters that may be a word of the subject."""
    is_pair = len(term) == 2 and all(map(cjk_characters, term))
    return is_pair and FUNCTION_CHARACTERS.isdisjoint(term)


def is_pair_needed(missing: str | None, signals: ConfidenceSignals | None) -> bool:
    """Whether the word that no passage has is a pair of Chinese characters without which a question
    is clearly nearer to the best passage.
    """
    if missing is None or signals is None or not _is_pair_of_characters(missing):
        return False
    return signals.least_loss <= LEAST_LOSS_OF_PAIR


def lead_of_nearest_note(similarities: Iterable[tuple[RankedQuote, float]]) -> float:
    """How much more similar the nearest note's best passage is than the best of any other note."""
    nearest: dict[str, float] = {}
    for quote, similarity in similarities:
        path = quote.excerpt.path
        nearest[path] = max(similarity, nearest.get(path, -1.0))
    best, *others = sorted(nearest.values(), reverse=True)
    return best - others[0] if others else USUAL_LEAD
