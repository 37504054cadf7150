"""The language of a text by its script and its frequent words. A short text does not tell its own:
it has that of the texts around it.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import (
    ENGLISH,
    FILLERS,
    FRENCH,
    GERMAN,
    PORTUGUESE,
    RUSSIAN,
    SPANISH,
)
from zkchat_cli.text.words import (
    count_stopwords,
    detect_language,
    is_filler,
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
_WRITTEN = lazy_pattern(r"[^\W\d_]+")
_FORMS = {
    GERMAN: lazy_pattern(
        r"[äöüß]|.{3}(?:ung|ungen|keit|keiten|heit|heiten|schaft|schaften|lich|liche[nrs]?|isch"
        r"|ische[nrs]?)$|.{8}(?:(?<!tt)(?<!dd)(?<!th)en|tz|cht)$"
    ),
    FRENCH: lazy_pattern(r"[èêëîïœùû]|.{3}(?:eaux?|euse|euses|iques|oire|oires|ettes|ées?)$"),
    SPANISH: lazy_pattern(
        r"[ñ]|^(?:qué|cómo|cuándo|cuál(?:es)?|quién(?:es)?|dónde|cuánt[oa]s?)$"
        r"|.{3}(?:ción|ciones|dades|miento|mientos|ería|ía|ías|illos?)$"
    ),
    PORTUGUESE: lazy_pattern(r"[ãõ]|.{3}(?:ção|ções|dade|mentos?|agem|agens|ões|inhos?|inhas?)$"),
}
"""Letters and endings of words that are rare in the others of these languages."""


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


def language_of_query(text: str) -> str | None:
    """The language of a question by its script, or by its common words and the letters and endings
    of the others; None if they do not tell. One common word more than English ones tells nothing:
    "a car" has two French ones.
    """
    if not is_latin(text[:SAMPLED_CHARACTERS]):
        return language_of_script(text[:SAMPLED_CHARACTERS])
    forms = count_word_forms(text)
    counts = _count_signs(text, forms)
    language = max(counts, key=lambda each: counts[each])
    lead = counts[language] - counts[ENGLISH]
    if lead >= CLEAR_LEAD or (lead > 0 and forms[language]):
        return language
    return ENGLISH if _is_ahead(ENGLISH, counts) else None


def may_be_in(text: str, languages: Iterable[str]) -> bool:
    """Whether a question may be in one of these languages: no other one has more of its words.
    "diferencia entre té y mate" has as many French words as Spanish ones.
    """
    if not is_latin(text[:SAMPLED_CHARACTERS]):
        return language_of_script(text[:SAMPLED_CHARACTERS]) in languages
    counts = _count_signs(text, count_word_forms(text))
    most = max(counts.values())
    return any(counts[language] == most for language in languages)


def _count_signs(text: str, forms: Mapping[str, int]) -> Counter[str]:
    """How many different words of a Latin text are common in each language or have its forms."""
    found = list(dict.fromkeys(terms(text)))
    counts = Counter(count_stopwords(found))
    for word in found:
        counts.update(each for each in FILLERS if is_filler(word, each))
    counts.update(forms)
    return counts


def _is_ahead(language: str, counts: Mapping[str, int]) -> bool:
    """Whether a language has a higher count than any other."""
    return all(counts[language] > count for each, count in counts.items() if each != language)


def count_word_forms(text: str) -> Counter[str]:
    """How many words of a Latin text have letters or endings that few other languages than this one
    have.
    """
    counts: Counter[str] = Counter()
    for written in dict.fromkeys(_WRITTEN.findall(unicodedata.normalize("NFC", text).lower())):
        for language, pattern in _FORMS.items():
            counts[language] += pattern.search(written) is not None
    return counts


def language_of_script(text: str) -> str:
    """The language of a text by its letters that are not Latin; `OTHER` without any."""
    if text.isascii():
        return OTHER
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
