"""Who does what to whom in a clause, as far as the order of words, prepositions, the passive and
German articles show.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.claims import polarity_words
from zkchat_cli.citations.claims.sentence_reader import Word
from zkchat_cli.text.word_lists import ENGLISH


class Phrase(NamedTuple):
    """Words beside one another, with the preposition before them, and whether they are what
    somebody acts on.
    """

    words: tuple[Word, ...]
    preposition: str
    is_object: bool

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)


class Roles(NamedTuple):
    """The keys of who acts, and of all who take part otherwise."""

    agents: frozenset[str]
    others: frozenset[str]


def read_phrases(words: Sequence[Word], language: str) -> list[Phrase]:
    """The phrases of some words, which function words and marks separate."""
    return list(_phrases(words, language))


def _phrases(words: Sequence[Word], language: str) -> Iterator[Phrase]:
    prepositions = frozenset(polarity_words.PREPOSITIONS.get(language, "").split())
    part: list[Word] = []
    preposition = ""
    is_object = False
    for word in words:
        if word.key:
            part.append(word)
            continue
        if part:
            yield Phrase(tuple(part), preposition, is_object)
            part = []
            preposition = ""
            is_object = False
        if word.text in prepositions:
            preposition = word.text
        is_object = is_object or word.text in polarity_words.OBJECT_ARTICLES
    if part:
        yield Phrase(tuple(part), preposition, is_object)


def first_phrase(words: Sequence[Word], language: str) -> frozenset[str]:
    """The keys of the first phrase without a preposition, which mostly is the subject."""
    for phrase in read_phrases(words, language):
        if not phrase.preposition and not phrase.is_object:
            return phrase.keys
    return frozenset()


def subject_keys(words: Sequence[Word], language: str) -> frozenset[str]:
    """The keys of the phrases without a preposition: a subject and what is set beside it."""
    phrases = read_phrases(words, language)
    return _keys([each for each in phrases if not each.preposition and not each.is_object])


def read_roles(words: Sequence[Word], verb: int, language: str) -> Roles:
    """Who acts and who else takes part, given the index of the verb."""
    actor = passive_agent(words, language)
    before = read_phrases(words[:verb], language)
    after = read_phrases(words[verb + 1 :], language)
    phrases = [*before, *after]
    if actor is None:
        if is_passive(words, language):
            return Roles(frozenset(), _keys(phrases))
        subjects = [each for each in phrases if not each.preposition and not each.is_object]
        if not subjects:
            return Roles(frozenset(), _keys(phrases))
        actor = subjects[0]
    others = [each for each in phrases if each.keys != actor.keys and _takes_part(each)]
    agents = actor.keys - {words[verb].key}
    return Roles(agents, _keys(others) - agents)


def _takes_part(phrase: Phrase) -> bool:
    is_argument = phrase.preposition in polarity_words.ARGUMENT_PREPOSITIONS
    return not phrase.preposition or is_argument or all(word.is_capital for word in phrase.words)


def _keys(phrases: Sequence[Phrase]) -> frozenset[str]:
    return frozenset[str]().union(*(phrase.keys for phrase in phrases))


def is_passive(words: Sequence[Word], language: str) -> bool:
    """Whether a clause has a form of "be" that makes the passive, and who acts may be missing."""
    forms = polarity_words.PASSIVE.get(language, "").split()
    return any(word.text in forms for word in words)


def passive_agent(words: Sequence[Word], language: str) -> Phrase | None:
    """Who acts in a passive clause, perhaps one without "be": "announced by Ann"."""
    passive = is_passive(words, language)
    by_words = polarity_words.BY.get(language, "").split()
    for index, word in enumerate(words):
        if word.text not in by_words:
            continue
        before = words[index - 1].text if index else ""
        if not passive and not (language == ENGLISH and before.endswith(("ed", "en"))):
            continue
        for phrase in read_phrases(words[index:], language)[:1]:
            if phrase.preposition == word.text:
                return phrase
    return None
