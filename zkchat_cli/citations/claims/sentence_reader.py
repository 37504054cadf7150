"""A sentence as it is compared: clauses with their words, quantities and negations.

Words are compared by their keys: the stem, or the name of a pair of opposites, which has a sign
besides.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from zkchat_cli.citations.claims import polarity_words
from zkchat_cli.citations.claims.measure import Measure
from zkchat_cli.citations.claims.measures import read_measures
from zkchat_cli.citations.claims.opposites import Opposite, OppositeKind, has_degrees, opposites_of
from zkchat_cli.citations.negations import NEGATIONS
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.spans import blank_spans
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN
from zkchat_cli.text.words import LANGUAGES, find_cjk, stem, stopwords, terms

_WORD = lazy_pattern(
    r"(?<![^\W_])(?:n|l|d|qu|j|c|s|t|m|jusqu|dell|all|nell)['’](?=[^\W\d_])"
    r"|[^\W_]+(?:['’][^\W\d_]+)*|[,;:()–—.!?，；。、]",
    re.IGNORECASE,
)
_MARKS = frozenset(",;:()–—.!?，；。、")
_CJK_NEGATION = lazy_pattern("[不没沒未無无非]")
_NO_NEGATION_BEHIND = frozenset("only just merely nur solo so apenas seulement".split())
_FEMININE = lazy_pattern("ees?$")
_CLITICS = frozenset("n' l' d' qu' j' c' s' t' m' jusqu' dell' all' nell'".split())
# Keys and quantities of the smallest clause
_SMALLEST_CLAUSE = 2
# Quantities that are words, too: "white bread"
_ALSO_WORDS = frozenset(("color", "direction"))


class Word(NamedTuple):
    """A word: folded, its key (empty for function words and marks), the pair of opposites that it
    is in, and where it is.
    """

    text: str
    key: str
    opposite: Opposite | None
    start: int
    is_capital: bool
    is_mark: bool = False

    @property
    def sign(self) -> int:
        return self.opposite.sign if self.opposite else 0


class Clause(NamedTuple):
    """A part of a sentence with at least a statement's beginning."""

    words: tuple[Word, ...]
    measures: tuple[Measure, ...]
    negated: bool

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words if word.key)

    @property
    def texts(self) -> frozenset[str]:
        """Its folded words, also those that say little."""
        return frozenset(word.text for word in self.words)


class SentenceReading:
    """A sentence in a language, read when something of it is needed."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language

    @property
    def is_question(self) -> bool:
        return self.text.rstrip(' "”»*_').endswith(("?", "？"))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(read_measures(self.text, self.language))

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words apart from quantities, and the marks between clauses."""
        spans = [(each.start, each.end) for each in self.measures if each.kind not in _ALSO_WORDS]
        rest = blank_spans(self.text, spans)
        written = [
            word
            for word in _read_words(rest, self.language)
            if not word.is_mark or not self._is_in_number(word.start)
        ]
        return tuple(_with_phrases(written, self.language))

    def _is_in_number(self, at: int) -> bool:
        """Whether a mark is between two digits: "3:1"."""
        around = self.text[max(0, at - 1) : at], self.text[at + 1 : at + 2]
        return all(each.isdigit() for each in around)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words if word.key)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its clauses; a single word that is not negated belongs to the next one."""
        parts = list(_split(self.words, self.language))
        starts = [part[0].start for part in parts]
        found: list[Clause] = []
        for index, part in enumerate(parts):
            first = starts[index] if index else 0
            last = starts[index + 1] if index + 1 < len(parts) else len(self.text)
            measures = tuple(each for each in self.measures if first <= each.start < last)
            negated = is_negated_clause(part, self.language)
            found.append(Clause(tuple(part), measures, negated))
        return tuple(_joined(found, self.language)) or (Clause((), self.measures, False),)


def _read_words(text: str, language: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        written = found[0]
        if written in _MARKS:
            yield Word(written, "", None, found.start(), False, is_mark=True)
        elif find_cjk(written):
            yield from _cjk_words(written, found.start())
        else:
            folded = _folded_word(written)
            is_capital = written[0].isupper()
            key, opposite = word_key(folded, language)
            is_noun = language == GERMAN and not (opposite and has_degrees(opposite))
            if is_capital and found.start() > 1 and opposite and not is_noun:
                # A name that is a word: "Petit"
                key = folded
                opposite = None
            yield Word(folded, key, opposite, found.start(), is_capital)


@lru_cache(maxsize=16_384)
def _folded_word(written: str) -> str:
    """A word folded; the French preposition is no form of "avoir"."""
    return "à" if written in ("à", "À") else fold(written).replace("’", "'").removesuffix("'s")


def _cjk_words(run: str, start: int) -> Iterator[Word]:
    """The bigrams of a run without its negations, and these as words of their own."""
    for negation in _CJK_NEGATION.findall(run):
        yield Word(negation, "", None, start, False)
    for term in terms(_CJK_NEGATION.sub("", run)):
        yield Word(term, term, None, start, False)


@lru_cache(maxsize=16_384)
def word_key(word: str, language: str) -> tuple[str, Opposite | None]:
    """The key of a folded word, empty if it says little, and its pair of opposites."""
    if word in _CLITICS or word == "à":
        return "", None
    if language == FRENCH:
        word = _FEMININE.sub("e", word)
    opposites = opposites_of(language)
    opposite = opposites.get(word)
    if opposite and opposite.kind is OppositeKind.ORDER:
        return "", opposite
    if opposite and opposite.kind is OppositeKind.COMPARED:
        return opposite.name, opposite
    if _says_little(word, language):
        return "", None
    stemmed = stem(word, (language if language in LANGUAGES else ENGLISH,))
    opposite = opposite or opposites.get(stemmed)
    if opposite and opposite.kind is not OppositeKind.ORDER:
        return opposite.name, opposite
    return stemmed, None


def _says_little(word: str, language: str) -> bool:
    is_letter = len(word) == 1 and word.isascii() and word.isalpha()
    return is_letter or word in language_stopwords(language) or word in _function_words(language)


def language_stopwords(language: str) -> frozenset[str]:
    """The folded stopwords of a language; none if they are not known."""
    return stopwords(language) if language in LANGUAGES else frozenset()


@cache
def _function_words(language: str) -> frozenset[str]:
    """Words that say little beside the stopwords: of polarity, which is compared by itself."""
    passive = polarity_words.PASSIVE.get(language, "").split()
    prepositions = polarity_words.PREPOSITIONS.get(language, "").split()
    light = _LIGHT_WORDS.get(language, "").split()
    known = (polarity_words.ALL, polarity_words.MOST, polarity_words.SOME, polarity_words.HEDGED)
    negators = negators_of(language)
    return frozenset().union(passive, prepositions, light, negators, *known)


_LIGHT_WORDS = {
    ENGLISH: "one ones another each also there per mr mrs ms must shall upon again cannot",
    "german": "statt uhr herr frau",
    FRENCH: "lieu chaque avoir fait fais m mme",
    "spanish": "hizo hacer sr sra",
    "portuguese": "mandou fazer sr sra todas",
}


@cache
def negators_of(language: str) -> frozenset[str]:
    """The words that negate a clause, folded."""
    written = polarity_words.NEGATORS.get(language) or NEGATIONS.get(language, "")
    return frozenset(fold(written).replace("_", " ").split(" "))


def is_negated_clause(words: Sequence[Word], language: str) -> bool:
    """Whether a clause is negated. Two negations are none in some languages."""
    negators = negators_of(language)
    count = 0
    for index, word in enumerate(words):
        following = words[index + 1].text if index + 1 < len(words) else ""
        is_negator = word.text in negators and following not in _NO_NEGATION_BEHIND
        count += is_negator or bool(_CJK_NEGATION.fullmatch(word.text))
    if language in polarity_words.DOUBLE_NEGATION or language not in polarity_words.NEGATORS:
        return count % 2 == 1
    return count > 0


def _with_phrases(words: list[Word], language: str) -> Iterator[Word]:
    """The words, those of a phrase in the table of opposites as one, and "more" with its
    adjective.
    """
    opposites = opposites_of(language)
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else None
        phrase = opposites.get(f"{word.text} {following.text}") if following else None
        if phrase:
            yield word._replace(key=phrase.name, opposite=phrase)
            at += 2
        elif following and _is_amount(word) and _is_compared(following):
            opposite = following.opposite
            assert opposite is not None
            sign = word.sign * opposite.sign
            yield following._replace(opposite=opposite._replace(sign=sign))
            at += 2
        else:
            yield word
            at += 1


def _is_amount(word: Word) -> bool:
    return word.opposite is not None and word.opposite.name == "amount"


def _is_compared(word: Word) -> bool:
    opposite = word.opposite
    return opposite is not None and opposite.kind is OppositeKind.COMPARED and not _is_amount(word)


@cache
def _border_words(language: str) -> frozenset[str]:
    return frozenset(polarity_words.CLAUSE_WORDS.get(language, "and but und et y e").split())


def _split(words: Sequence[Word], language: str) -> Iterator[list[Word]]:
    """The words between marks and conjunctions, which begin the next part."""
    borders = _border_words(language)
    part: list[Word] = []
    for word in words:
        if (word.is_mark or word.text in borders) and any(not each.is_mark for each in part):
            yield part
            part = []
        part.append(word)
    if any(not each.is_mark for each in part):
        yield part


def _joined(clauses: Iterable[Clause], language: str) -> Iterator[Clause]:
    """The clauses, small ones with the next, or the last one with the one before it."""
    waiting: Clause | None = None
    for clause in clauses:
        if waiting is not None:
            clause = _join(waiting, clause, language)
        if len(clause.keys) + len(clause.measures) < _SMALLEST_CLAUSE and not clause.negated:
            waiting = clause
        else:
            waiting = None
            yield clause
    if waiting is not None:
        yield waiting


def _join(first: Clause, second: Clause, language: str) -> Clause:
    words = first.words + second.words
    negated = is_negated_clause(words, language)
    return Clause(words, first.measures + second.measures, negated)


def text_keys(text: str, language: str) -> frozenset[str]:
    """The keys of all words of a text, without reading it as sentences."""
    return frozenset(ordered_keys(text, language))


def ordered_keys(text: str, language: str) -> list[str]:
    """The keys of all words of a text in its order."""
    if find_cjk(text):
        text = _CJK_NEGATION.sub("", text)
    keys = [_term_key(term, language) for term in terms(text)]
    return [key for key in keys if key]


@lru_cache(maxsize=16_384)
def _term_key(term: str, language: str) -> str:
    """The key of a term, without a French article or an English genitive."""
    clitic, apostrophe, rest = term.partition("'")
    word = rest if f"{clitic}{apostrophe}" in _CLITICS else term.removesuffix("'s")
    key, _ = word_key(word, language)
    return key
