"""The language a text is written in, recognized by its most frequent words, which is enough to choose a stemmer."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from zkchat_cli.text.words import ENGLISH, fold

MIN_WORDS = 3
"""Frequent words that a text must have: one or two are in a line of any language."""
MIN_SHARE = 0.06
"""The share of texts that must be in a language before all words are stemmed by its rules, too."""

_FREQUENT_WORDS = {
    ENGLISH: "the and of to in is that for with it you this are on as be have not from what how when which my do does",
    "german": "der die das und ist nicht ein eine einen ich zu den mit auf fur von im dem wie sich des auch werden wenn was kann wird",
    "french": "le la les des et est un une pour dans que qui je pas sur avec ce du au vous sont par plus comment quand mes",
    "spanish": "el la los las de y que en es un una por con para no se como del al lo cuando son mis",
    "italian": "il la di che un una per non con del della sono le gli come si da nel alla quando anche",
    "portuguese": "os as de que do da em um uma para com nao se por no na dos como ao quando mais",
    "dutch": "de het een en van ik te dat die is niet op aan met voor zijn er om hoe wordt naar",
    "swedish": "och att det som en pa ar av for med den till inte om ett jag har kan hur",
    "danish": "og at det som en pa er af for med den til ikke om et jeg har kan hvordan",
    "norwegian": "og at det som en pa er av for med den til ikke om et jeg har kan hvordan",
    "finnish": "ja on ei se etta oli ovat tai kun myos mutta miten mika voi",
    "polish": "na nie sie ze to do jest jak po dla czy przez od oraz co",
    "czech": "se na je ze to do pro jsem jak nebo jako ale po tak co",
    "russian": "и в не на что с по это как для от за из к но или когда",
    "hungarian": "az es hogy nem egy is van meg ez ha vagy mint hogyan",
    "turkish": "ve bir bu icin ile de da ne nasil daha olarak gibi var",
}
"""Folded. Where two languages share most of them, the first of equals is taken."""

LANGUAGES = tuple(_FREQUENT_WORDS)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN_LETTER = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


@cache
def _languages_by_word() -> dict[str, list[str]]:
    languages: dict[str, list[str]] = {}
    for language, words in _FREQUENT_WORDS.items():
        for word in words.split():
            languages.setdefault(word, []).append(language)
    return languages


def detect_language(text: str) -> str | None:
    """The language with the most frequent words in `text`; None if it has too few of any."""
    by_word = _languages_by_word()
    counts = Counter(language for word in fold(text).split() for language in by_word.get(word, ()))
    best = max(LANGUAGES, key=lambda language: counts[language])
    return best if counts[best] >= MIN_WORDS else None


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; also if there are none."""
    return text.isascii() or 2 * len(_LATIN_LETTER.findall(text)) >= len(_LETTER.findall(text))


def detect_languages(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages of a collection of texts, always in the same order; English if none is recognized."""
    return main_languages(Counter(filter(None, map(detect_language, texts))))


def main_languages(counts: Counter[str]) -> tuple[str, ...]:
    """The same from the number of texts in each language."""
    return tuple(language for language in LANGUAGES if counts[language] > MIN_SHARE * counts.total()) or (ENGLISH,)
