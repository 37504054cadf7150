"""The language a text is written in, recognized by its most frequent words, which is enough to choose a stemmer."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.stopwords import ENGLISH, FREQUENT_WORDS, languages_by_word
from zkchat_cli.text.words import fold

MIN_WORDS = 3
"""Frequent words that a text must have: one or two are in a line of any language."""
MIN_SHARE = 0.06
"""The share of texts that must be in a language before all words are stemmed by its rules, too."""

LANGUAGES = tuple(FREQUENT_WORDS)
_LETTER = lazy_pattern(r"[^\W\d_]")
_LATIN_LETTER = lazy_pattern(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


@cache
def _languages_by_frequent_word() -> dict[str, list[str]]:
    return languages_by_word({language: words.split() for language, words in FREQUENT_WORDS.items()})


def detect_language(text: str) -> str | None:
    """The language with the most frequent words in `text`; None if it has too few of any."""
    by_word = _languages_by_frequent_word()
    counts = Counter(language for word in fold(text).split() if word in by_word for language in by_word[word])
    best = max(LANGUAGES, key=lambda language: counts[language])
    return best if counts[best] >= MIN_WORDS else None


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; also if there are none."""
    return text.isascii() or 2 * len(_LATIN_LETTER.findall(text)) >= len(_LETTER.findall(text))


def detect_languages(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages of a collection of texts, always in the same order; English if none is recognized."""
    return main_languages(Counter(filter(None, map(detect_language, texts))))


def main_languages(counts: Counter[str]) -> tuple[str, ...]:
    """`detect_languages`, given the number of texts in each language."""
    return tuple(language for language in LANGUAGES if counts[language] > MIN_SHARE * counts.total()) or (ENGLISH,)
