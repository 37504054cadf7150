"""What distinguishes a question and no passage has: then nothing that is said of the rest of it is
an answer. Pure.

These are a name, a number, a version such as 3.14, the number behind the name of a note ("Godot 5")
and, in a short question, the word without which it is clearly nearer to the best passage: "redis
failover" is nearer to a note about Redis without its second word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from zkchat_cli.llm.offline.asked_parts import unknown_alternative
from zkchat_cli.llm.offline.confidence import MOST_NAMED_WORDS, Confidence, subject_size
from zkchat_cli.llm.offline.named_words import is_name
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import QuoteSource, cjk_characters
from zkchat_cli.llm.offline.term_weights import PassageVocabulary
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import ENGLISH, GERMAN
from zkchat_cli.text.words import is_filler, is_stopword, terms

_VERSION = lazy_pattern(r"(?<![\w.,:/-])v?(\d{1,3}(?:\.\d{1,3}){1,2})(?![\w:/-]|[.,]\d)")
"""`3.14` and `1.2.3`, but no date such as 31.12.2024 and no time."""
_NUMBERED = lazy_pattern(
    r"\b(?P<name>[^\W\d_]+) v?(?P<number>\d{1,2}(?:\.\d{1,3}){0,2})(?![\w:/%€$-]|[.,]\d)"
    r"(?=\W*(?P<after>\w*))"
)
"""A word and the number behind it; more than two digits are a year or an amount."""
# Letters of "min" and "kcal", which have no plural
_LONGEST_UNIT = 4
_EXCLUDED = lazy_pattern(
    r"\b(?:without|not|no|except|instead of|ohne|nicht|kein\w*|statt|außer|sans|sauf|sin|excepto"
    r"|salvo|sem|exceto) (\S+)",
    re.IGNORECASE,
)
"""A word that an answer need not have."""


def without_unknown(
    confidence: Confidence,
    question: AnalyzedQuestion,
    vocabulary: PassageVocabulary,
    excerpts: Sequence[QuoteSource],
    language: str,
) -> Confidence:
    """The confidence, less if the question has a name or version that no passage has, or is short
    and lacks a word that distinguishes it or half of its words: "does it have an android app" is
    not answered by an app.
    """
    unknown = _unknown_version(question.text, excerpts, language)
    unknown = unknown or _unknown_name(question, vocabulary, language)
    unknown = unknown or unknown_alternative(question.text, vocabulary)
    if unknown is None and _lacks_what_distinguishes_it(confidence, question):
        unknown = confidence.missing
    return confidence if unknown is None else confidence.lacking(unknown)


def _lacks_what_distinguishes_it(confidence: Confidence, question: AnalyzedQuestion) -> bool:
    """Whether no passage has the word without which a short question is clearly nearer, or any more
    than half of its words.
    """
    size = subject_size(question)
    if size > MOST_NAMED_WORDS or confidence.missing is None:
        return False
    return confidence.is_clearly_missing or 2 * len(confidence.known) <= size


def _unknown_name(
    question: AnalyzedQuestion, vocabulary: PassageVocabulary, language: str
) -> str | None:
    """A number or a name in the question that no passage has: what is said of others is no
    answer.
    """
    sought = _sought_names(question, language)
    return next((word for word in sought if not vocabulary.has_word(word)), None)


def is_named_elsewhere(
    question: AnalyzedQuestion,
    words_of_note: Set[str],
    vocabulary: PassageVocabulary,
    language: str,
) -> bool:
    """Whether a name or a number of the question is not among the words found of the note that
    would answer: "a berth in Ramsgate" is not answered by the fees of another harbour.
    """
    excluded = set(terms(" ".join(_EXCLUDED.findall(question.text))))
    # The words of a note lack what is a stopword of its language, such as the first of Los Angeles
    return any(
        words_of_note.isdisjoint(vocabulary.forms(word))
        for word in _sought_names(question, language)
        if word not in excluded and not is_stopword(word)
    )


def _sought_names(question: AnalyzedQuestion, language: str) -> Iterator[str]:
    """The names and numbers of a question, names first: "nothing on 5" says less than the name
    beside it. In German, every noun begins with a capital letter.
    """
    text = question.text
    tells_names = language != GERMAN and text not in (text.title(), text.upper())
    for word in sorted(question.subject, key=lambda each: (each.isdecimal(), each)):
        is_sought = is_name(word, text) if tells_names else any(map(str.isdigit, word))
        if is_sought and "'" not in word and not cjk_characters(word):
            yield word


def _unknown_version(question: str, excerpts: Sequence[QuoteSource], language: str) -> str | None:
    """A version in the question that no excerpt has. Its parts are words that any may have."""
    texts = [fold(f"{each.title}\n{each.heading or ''}\n{each.text}") for each in excerpts]
    versions: list[str] = _VERSION.findall(question)
    for version in versions:
        if not _is_in(rf"(?<![\d.,]){_as_pattern(version)}(?!\d)", texts):
            return version
    for name, number in _numbered_names(question, excerpts, language):
        before = rf"(?:\b{re.escape(name)}\W{{0,3}}v?|\bv|\bversion\W)"
        if not _is_in(rf"{before}{_as_pattern(number)}(?!\d)", texts):
            return f"{name} {number}"
    return None


def _as_pattern(number: str) -> str:
    return re.escape(number).replace(r"\.", "[.,]")


def _is_in(pattern: str, texts: Iterable[str]) -> bool:
    return any(re.search(pattern, text) for text in texts)


def _numbered_names(
    question: str, excerpts: Sequence[QuoteSource], language: str
) -> Iterator[tuple[str, str]]:
    """The names of notes or folders in the question that a number follows, and nothing that it
    could count: "in Godot 5", but not "bread 40 minutes".
    """
    names: set[str] = set()
    for each in excerpts:
        names.update(terms(f"{each.path} {each.title}"))
    for found in _NUMBERED.finditer(fold(question)):
        is_version = "." in found["number"]
        if found["name"] in names and (is_version or _counts_nothing(found["after"], language)):
            yield found["name"], found["number"]


def _counts_nothing(word: str, language: str) -> bool:
    """Whether a word behind a number, or the end of the question, is nothing that can be counted:
    "what did Godot 5 remove". In English that has a plural, or is a short unit.
    """
    if not word or is_stopword(word) or is_filler(word, ENGLISH):
        return True
    return language == ENGLISH and len(word) > _LONGEST_UNIT and not word.endswith("s")
