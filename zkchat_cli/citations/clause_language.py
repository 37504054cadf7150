"""The words of one language that decide whether a cut sentence says something else. A text in
one language is read with all words of the others that are not different ones in it.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache

from zkchat_cli.citations import clause_words, hedges, negations, quantities, restrictions
from zkchat_cli.citations.word_tables import WordTable, own_words, words_for
from zkchat_cli.text.words import STOPWORDS, language_of, terms


def _any_language(table: Mapping[str, str] | str) -> "cached_property[WordTable]":
    """A table in all languages, built at its first use."""

    def build(words: "ClauseLanguage") -> WordTable:
        return words_for(words.language, table, clause_words.DIFFERENT_WORDS)

    return cached_property(build)


def _own_language(table: Mapping[str, str]) -> "cached_property[WordTable]":
    """A table in the language itself, built at its first use."""
    return cached_property(lambda words: own_words(words.language, table))


class ClauseLanguage:
    """The word tables for texts in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    negating = _any_language(negations.NEGATIONS)
    no_negations = _any_language(negations.CORRELATIVES)
    negations_behind = _any_language(negations.NEGATIONS_BEHIND)
    not_words = _any_language(negations.NOT_WORDS)
    ne_partners = _any_language(negations.NE_PARTNERS)
    conditions = _any_language(restrictions.CONDITIONS)
    no_conditions = _any_language(restrictions.CONCESSIONS)
    limits = _any_language(restrictions.LIMITS)
    no_limits = _any_language(restrictions.NO_LIMITS)
    quantifiers = _any_language(quantities.QUANTIFIERS)
    of_words = _any_language(quantities.OF)
    number_bounds = _any_language(quantities.NUMBER_BOUNDS)
    bounds_behind = _any_language(quantities.BOUNDS_BEHIND)
    number_bounds_behind = _any_language(quantities.NUMBER_BOUNDS_BEHIND)
    number_words = _any_language(quantities.NUMBER_WORDS)
    number_joints = _any_language(quantities.NUMBER_JOINTS)
    hedging = _any_language(hedges.HEDGES)
    hedges_behind = _any_language(hedges.HEDGES_BEHIND)
    that_words = _any_language(clause_words.THAT_WORDS)
    without_words = _any_language(clause_words.WITHOUT_WORDS)
    determiners = _any_language(clause_words.DETERMINERS)
    prepositions = _any_language(clause_words.PREPOSITIONS)
    adverbs = _any_language(clause_words.ADVERBS)
    all_contrasts = _any_language(clause_words.CONTRASTS)
    all_reasons = _any_language(clause_words.REASONS)
    # A border that is none hides a negation before it
    first_conditions = _own_language(restrictions.CONDITION_STARTS)
    contrasts = _own_language(clause_words.CONTRASTS)
    reasons = _own_language(clause_words.REASONS)
    subjects = _own_language(clause_words.SUBJECTS)
    finite_verbs = _own_language(clause_words.FINITE_VERBS)

    @cached_property
    def and_words(self) -> WordTable:
        own = clause_words.LANGUAGE_AND_WORDS.get(self.language, "")
        return WordTable(f"{clause_words.AND_WORDS} {own}".split())

    @cached_property
    def all_borders(self) -> tuple[WordTable, ...]:
        """Words at which clauses may meet in any language."""
        joints = (self.and_words, self.that_words, self.conditions)
        return (*joints, self.all_contrasts, self.all_reasons)


@lru_cache(maxsize=16)
def clause_language(language: str) -> ClauseLanguage:
    """The words of a language, built once."""
    return ClauseLanguage(language)


def language_of_text(text: str) -> ClauseLanguage:
    """The words of the language that a text is in."""
    words = terms(text)
    if STOPWORDS.isdisjoint(words):
        # A single stopword of another language tells it in a text without English ones
        words *= 2
    return clause_language(language_of(words))
