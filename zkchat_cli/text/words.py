"""The tokenizer, folding and stemming that search, quoting, summaries and name suggestions share,
and the language of a text, which chooses a stemmer.

CJK text has no spaces between words, so it is split into overlapping bigrams, in the index and in
queries.
"""

import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.literals import (
    find_literals,
    is_literal,
    remove_addresses,
    separate_literals,
)
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import (
    ENGLISH,
    FILLERS,
    FREQUENT_WORDS,
    OTHER_STOPWORDS,
    RUSSIAN,
)

if TYPE_CHECKING:
    from Stemmer import Stemmer

# Words of a text that decide its language
_COUNTED = 200


@cache
def stopwords(language: str) -> frozenset[str]:
    """The stopwords of a language, folded."""
    return frozenset(f"{OTHER_STOPWORDS.get(language, '')} {FREQUENT_WORDS[language]}".split())


@cache
def _languages_by_word(*, frequent: bool) -> dict[str, list[str]]:
    """The languages that have each word among its stopwords, or only the `frequent` ones, in their
    order.
    """
    languages: dict[str, list[str]] = {}
    for language, written in FREQUENT_WORDS.items():
        for word in written.split() if frequent else stopwords(language):
            languages.setdefault(word, []).append(language)
    return languages


def language_of(words: Sequence[str]) -> str:
    """The language of a text by its folded words: English unless more stopwords of another one tell
    otherwise.
    """
    counts = count_stopwords(words)
    language = max(counts, key=lambda each: counts[each])
    return ENGLISH if counts[language] <= max(1, counts[ENGLISH]) else language


def count_stopwords(words: Sequence[str]) -> dict[str, int]:
    """How many stopwords of each language are among the first folded words of a text, in the order
    of `FREQUENT_WORDS`.
    """
    by_word = _languages_by_word(frequent=False)
    # A Counter takes twice as long, and every sentence that is verified or recalled is counted
    counts = dict.fromkeys(FREQUENT_WORDS, 0)
    for word in words[:_COUNTED]:
        bare = word.partition("'")[0] if "'" in word else word
        for language in by_word.get(bare, ()):
            counts[language] += 1
    return counts


def is_stopword(word: str) -> bool:
    """Whether a folded word is a stopword of any language, or two ("qu'ai")."""
    known = _languages_by_word(frequent=False)
    return word in known or all(part in known for part in word.split("'"))


# A text in another language is read without the stopwords of that language (`content_terms`)
STOPWORDS = stopwords(ENGLISH)

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
"""Characters of scripts without spaces between words, for use inside a regular expression's
brackets.
"""

# Frequent words that a text must have: one or two are in a line of any language
MIN_WORDS = 3
# The share of texts that must be in a language before all words are stemmed by its rules, too
MIN_SHARE = 0.06

LANGUAGES = tuple(FREQUENT_WORDS)
SHORTEST_CORRECTED = 4
SHORTEST_MISSPELLED = 6
"""Letters of a word that may have a typo beside known words. Most shorter words are one edit from
another, such as "chart" from "chat".
"""
LONGEST_CORRECTED = 30
_RUSSIAN_VOWELS = "аеиоуыэюя"
_RUSSIAN_LETTERS = tuple(map(chr, range(0x430, 0x450)))
# Letters of a word: the stemmer's time grows with the square of them, and a data URL is one word
LONGEST_STEMMED = 100
_LETTER = lazy_pattern(r"[^\W\d_]")
_LATIN_LETTER = lazy_pattern(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# "don't" is one word; "don't2" is not, because the index has "don" and "t2"
_ASCII_RUN = lazy_pattern(r"[a-z0-9]+(?:'[a-z]++(?![0-9]))*")
_HALF = lazy_pattern("[\ud800-\udfff]")
_WORD = lazy_pattern(
    rf"[{CJK}]+|[\u0900-\u0963\u0966-\u0dff]+|[^\W_{CJK}]+(?:['’][^\W\d_{CJK}]++(?!\d))*"
)
"""A word, or a run of CJK characters. In Indian scripts vowels are marks, which `\\w` does not
match.
"""
_WRITTEN_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)*")
_SPACED_WORD = lazy_pattern(r"\w\S*+")
_PLAIN_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W\d_]++(?!\d))*")
CJK_CHARACTER = lazy_pattern(f"[{CJK}]")
_INDIAN_CHARACTER = lazy_pattern("[\u0900-\u0dff]")


def find_cjk(text: str) -> list[str]:
    """The CJK characters of a text. English with quotation marks is no reason to compile the
    pattern, which takes 3 ms.
    """
    if text.isascii() or max(text) < CJK[0]:
        return []
    return CJK_CHARACTER.findall(text)


def replace_surrogates(text: str) -> str:
    """`text` without surrogate halves, which command lines, file names and models may contain and
    UTF-8 cannot encode.
    """
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def join_surrogates(text: str) -> str:
    """`text` with each pair of surrogate halves as the one character that it means."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def normalize_line_ends(text: str) -> str:
    r"""`text` with `\n` at the end of each line, instead of `\r\n` or `\r`."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def terms(text: str) -> list[str]:
    """The folded words of `text` in order, including stopwords. A CJK run becomes its bigrams; a
    single character stays. The parts of web addresses are no words.
    """
    return _tokenize(text)[0]


def literals(text: str) -> list[str]:
    """The symbols, names with signs and web addresses of `text` as terms (see text/literals.py)."""
    return find_literals(text)


def _tokenize(text: str) -> tuple[list[str], set[str]]:
    """`terms`, and the last characters of CJK runs, which begin no bigram."""
    folded = remove_addresses(fold(text))
    if folded.isascii():
        return _ASCII_RUN.findall(folded), set()
    # As in `find_cjk`; the pattern of all scripts takes 9 ms
    if max(folded) < CJK[0] and not _INDIAN_CHARACTER.search(folded):
        return [run.replace("’", "'") for run in _PLAIN_WORD.findall(folded)], set()
    found: list[str] = []
    ends: set[str] = set()
    for run in _WORD.findall(folded):
        if not (run >= CJK[0] and CJK_CHARACTER.match(run)):
            found.append(run.replace("’", "'"))
        elif len(run) == 1:
            found.append(run)
        else:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
            ends.add(run[-1])
    return found, ends


_TYPOGRAPHY = str.maketrans({**dict.fromkeys("“”„‘‚«»‹›–—―…•·→←↔⇒✓✅❌\xa0\u200b", " "), "’": "'"})


def written_words(text: str) -> list[str]:
    """The words of `text` as they are written, in order, without the signs around them. "don't" is
    one word; a run of CJK characters is one, too.
    """
    return _WRITTEN_WORD.findall(text)


def count_words(text: str) -> int:
    """Words between spaces that have a letter or digit; two Chinese or Japanese characters count as
    one.
    """
    return max(len(_SPACED_WORD.findall(text)), len(find_cjk(text)) // 2)


def to_index_text(text: str) -> str:
    """The `terms` of `text` for an index with a tokenizer that splits and folds only ASCII; ASCII
    lines without addresses stay unchanged. Appended are its literals and the last characters of CJK
    runs, so that a prefix search for one character finds it anywhere.
    """
    text, appended = separate_literals(text)
    if text.isascii():
        return "\n".join([text, " ".join(appended)]) if appended else text
    lines: list[str] = []
    ends: set[str] = set()
    for line in text.split("\n"):
        plain = line if line.isascii() else line.translate(_TYPOGRAPHY)
        if not plain.isascii():
            found, last = _tokenize(plain)
            plain = " ".join(found)
            ends |= last
        lines.append(plain)
    appended += sorted(ends)
    if appended:
        lines.append(" ".join(appended))
    return "\n".join(lines)


def content_terms(text: str) -> list[str]:
    """`terms` without the stopwords of the text's language, elided articles ("l'index") and single
    Latin letters, and after them the `literals`; all terms if nothing else is left ("what is it?").
    """
    every = terms(text)
    language = language_of(every)
    stop = stopwords(language)
    plain = every
    if language != ENGLISH:
        plain = [_without_article(term, stop) for term in every]
    found = [term for term in plain if term not in stop]
    found = [term for term in found if len(term) > 1 or _says_something(term)]
    return [*found, *literals(text)] or every


def _without_article(term: str, articles: Collection[str]) -> str:
    """The noun of "l'index", if "l" is among the articles."""
    article, _, noun = term.partition("'")
    return noun if noun and article in articles else term


def _says_something(character: str) -> bool:
    """Whether a single character is a word: not a Latin letter."""
    return not character.isascii() or character.isdigit()


def rarest_first(terms: Iterable[str], frequency: Mapping[str, int], most: int) -> list[str]:
    """The rarest of the terms that occur, as many as have `most` rows together."""
    ordered = sorted((term for term in terms if frequency[term]), key=lambda term: frequency[term])
    totals = accumulate(frequency[term] for term in ordered)
    return [term for term, total in zip(ordered, totals, strict=True) if total <= most]


def is_filler(term: str, language: str) -> bool:
    """Whether a term of a text in this language is one of its fillers in any form."""
    return stem(term, (language,)) in _filler_stems(language)


def is_written_filler(term: str, language: str) -> bool:
    """Whether a term is a filler in a form that is written: "form" is the stem of the Spanish
    "forma", but no Spanish word.
    """
    is_bare_stem = stem(term, (language,)) == term
    is_listed = term in FILLERS.get(language, "").split()
    return is_listed or (is_filler(term, language) and not is_bare_stem)


@cache
def _filler_stems(language: str) -> frozenset[str]:
    return frozenset(stem(word, (language,)) for word in FILLERS.get(language, "").split())


@cache
def _stemmer(language: str) -> "Stemmer":
    # Not on the way to the prompt
    from Stemmer import Stemmer

    return Stemmer(language, 0)


def stem_words(words: Sequence[str], language: str = ENGLISH) -> list[str]:
    """The Snowball stems of folded words; words of another script, and of more than LONGEST_STEMMED
    letters, stay as they are.
    """
    written = words
    if language == RUSSIAN:
        written = [_with_short_i(word) for word in words]
    if max(map(len, words), default=0) <= LONGEST_STEMMED:
        return list(_stemmer(language).stemWords(written))
    return [_stem_if_short(word, _stemmer(language)) for word in written]


def _stem_if_short(word: str, stemmer: "Stemmer") -> str:
    return word if len(word) > LONGEST_STEMMED else stemmer.stemWord(word)


def _with_short_i(word: str) -> str:
    """A Russian word with й at its end: folding makes и of it, and the stemmer needs it to know
    the endings of adjectives.
    """
    if word.endswith("и") and word[-2:-1] in _RUSSIAN_VOWELS:
        return f"{word[:-1]}й"
    return word


@lru_cache(maxsize=16_384)
def stem(word: str, languages: tuple[str, ...] = (ENGLISH,)) -> str:
    """The stem by which words are compared, by the rules of each of `languages`, those of all
    compared texts; use the same for both sides. Cyrillic words are always stemmed by the Russian
    rules; Chinese words stay as they are.
    """
    if is_literal(word):
        return word
    for language in (RUSSIAN,) if "а" <= word[:1] <= "я" else languages:
        [word] = stem_words([word], language)
    return word


def content_stems(text: str, languages: tuple[str, ...] = (ENGLISH,)) -> list[str]:
    """The stems of the words of `text` that are no stopwords, in its order."""
    return [stem(term, languages) for term in content_terms(text)]


def detect_language(text: str) -> str | None:
    """The language with the most frequent words in `text`; None if it has too few of any."""
    by_word = _languages_by_word(frequent=True)
    counts = dict.fromkeys(LANGUAGES, 0)
    for word in fold(text).split():
        for language in by_word.get(word, ()):
            counts[language] += 1
    best = max(LANGUAGES, key=lambda language: counts[language])
    return best if counts[best] >= MIN_WORDS else None


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; also if there are none."""
    return text.isascii() or 2 * len(_LATIN_LETTER.findall(text)) >= len(_LETTER.findall(text))


def detect_languages(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages of a collection of texts, always in the same order; English if none is
    recognized.
    """
    return main_languages(Counter(filter(None, map(detect_language, texts))))


def main_languages(counts: Counter[str]) -> tuple[str, ...]:
    """`detect_languages`, given the number of texts in each language."""
    least = MIN_SHARE * counts.total()
    found = tuple(language for language in LANGUAGES if counts[language] > least)
    return found or (ENGLISH,)


def edits(word: str, shortest: int = SHORTEST_MISSPELLED) -> Iterator[str]:
    """The words that differ by one letter, but not the first, or by two neighbouring letters in
    exchange.
    """
    if len(word) > LONGEST_CORRECTED:
        return
    if len(word) >= SHORTEST_CORRECTED:
        for i in range(len(word) - 1):
            yield f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
    if len(word) < shortest or not word.isalpha():
        return
    letters = string.ascii_lowercase
    if not word.isascii():
        letters = "".join(sorted({*word, *_RUSSIAN_LETTERS}))
    for i in range(1, len(word) + 1):
        yield word[:i] + word[i + 1 :]
        for letter in letters:
            yield word[:i] + letter + word[i:]
            yield word[:i] + letter + word[i + 1 :]
