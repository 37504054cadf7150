"""The languages of the passages that may answer a question. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from zkchat_cli.llm.offline.quotes import QuoteSource, have_any_word
from zkchat_cli.text import words
from zkchat_cli.text.languages import language_of_query, may_be_in, written_language
from zkchat_cli.text.word_lists import ENGLISH


def languages_of(excerpts: Sequence[QuoteSource], language: str) -> tuple[str, ...]:
    """The languages of the excerpts, with that of the question: notes may be too short to tell
    theirs.
    """
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    if language in (ENGLISH, *languages):
        return languages
    return (*languages, language)


def is_foreign(question: str, excerpts: Sequence[QuoteSource]) -> bool:
    """Whether no excerpt is in the language of the question: then they have other words for
    everything. "steam engine" tells no language, but may be a question about notes in German, and
    excerpts of a few words tell none.
    """
    language = language_of_query(question)
    known = {name for each in excerpts if (name := written_language(each.text)) is not None}
    if language is not None and known:
        return not may_be_in(question, known)
    if have_any_word(excerpts, words.content_terms(question)):
        return False
    if language is None:
        return bool(known) and ENGLISH not in known
    return language != ENGLISH


def are_english(excerpts: Iterable[QuoteSource]) -> bool:
    """Whether more excerpts are in English than in another language, or none tells its own."""
    texts = dict.fromkeys(each.text for each in excerpts)
    counts = Counter(filter(None, map(written_language, texts)))
    return not counts or counts[ENGLISH] == max(counts.values())
