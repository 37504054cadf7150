"""The language of a text by its script and its frequent words. A short text does not tell its own:
it has that of the texts around it.
"""

from collections import Counter
from collections.abc import Iterable

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import ENGLISH, RUSSIAN
from zkchat_cli.text.words import (
    count_stopwords,
    detect_language,
    is_latin,
    language_of,
    terms,
)

CHINESE = "chinese"
JAPANESE = "japanese"
KOREAN = "korean"
THAI = "thai"
ARABIC = "arabic"
# Any language of another script
OTHER = "other"

# Characters that tell the script of a text
SAMPLED_CHARACTERS = 2_000
# So many more stopwords than English ones tell that a question is in another language
CLEAR_LEAD = 2
# A text with so many kana for each Chinese character is Japanese
KANA_SHARE = 0.1
_KANA = lazy_pattern("[\u3040-\u30ff]")
_LETTERS = {
    CHINESE: lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"),
    KOREAN: lazy_pattern("[\u1100-\u11ff\uac00-\ud7af]"),
    THAI: lazy_pattern("[\u0e00-\u0e7f]"),
    ARABIC: lazy_pattern("[\u0600-\u06ff\u0750-\u077f]"),
    RUSSIAN: lazy_pattern("[\u0400-\u04ff]"),
}
"""The letters of the languages that are told by their script. Most Cyrillic text is Russian."""


def written_language(text: str) -> str | None:
    """The language of a text; None if it has too few words to tell."""
    if is_latin(text[:SAMPLED_CHARACTERS]):
        return detect_language(text)
    return language_of_script(text[:SAMPLED_CHARACTERS])


def likely_language(text: str) -> str:
    """The language of a text or a question: English unless two more stopwords of another one, or
    another script, tell otherwise. "a car" has two French ones.
    """
    if not is_latin(text[:SAMPLED_CHARACTERS]):
        return language_of_script(text[:SAMPLED_CHARACTERS])
    counts = count_stopwords(terms(text))
    language = max(counts, key=lambda each: counts[each])
    return language if counts[language] >= counts[ENGLISH] + CLEAR_LEAD else ENGLISH


def language_of_script(text: str) -> str:
    """The language of a text by its letters that are not Latin; `OTHER` without any."""
    counts = Counter({name: len(letters.findall(text)) for name, letters in _LETTERS.items()})
    kana = len(_KANA.findall(text))
    if kana > KANA_SHARE * counts[CHINESE]:
        counts[JAPANESE] = kana + counts[CHINESE]
    [(language, most)] = counts.most_common(1)
    return language if most else OTHER


def language_of_surroundings(text: str) -> str | None:
    """The language that a text tells for short Latin ones in it, also by a few words of another
    language than English; None if nothing tells.
    """
    language = detect_language(text)
    if language is None:
        by_few_words = language_of(terms(text))
        language = None if by_few_words == ENGLISH else by_few_words
    return None if language == RUSSIAN else language


def main_language(texts: Iterable[str]) -> str | None:
    """The language that most of the texts tell for short Latin ones beside them; None if none of
    them does.
    """
    counts = Counter(filter(None, map(detect_language, texts)))
    counts.pop(RUSSIAN, None)
    return max(counts, key=lambda language: counts[language], default=None)
