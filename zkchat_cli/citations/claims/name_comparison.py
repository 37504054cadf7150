"""Names of a claim that a source has another name in the place of."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.claims.polarity_words import BEFORE_NOUNS
from zkchat_cli.citations.claims.roles import passive_agent, read_phrases
from zkchat_cli.citations.claims.sentence_reader import Clause, SentenceReading, Word
from zkchat_cli.citations.claims.word_keys import shared_keys
from zkchat_cli.text.word_lists import FRENCH, GERMAN

_NAMES_LIKE_PLURALS = frozenset(
    (
        "thomas james charles lars jonas hans klaus agnes ines luis carlos lucas marcos nicolas "
        "denis jules louis mathias matthias andreas niklas iris doris alexis chris ross lewis "
        "francis nicholas dennis marcus jens nils matias tomas jesus elias lukas markus tobias "
        "anders rasmus jeans agatha texas paris athens brussels"
    ).split()
)
_NAME_JOINTS = frozenset("de von del da do dos".split())
_BEHIND_NO_NAME = BEFORE_NOUNS - _NAME_JOINTS | frozenset(("after", "before", "as", "to"))
_GERMAN_NOUN_ENDS = ("ung", "ungen", "heit", "keit", "schaft", "innen", "tion", "ionen")
_MERGED_ARTICLES = frozenset(
    "im am ins ans zum zur vom beim der die das den dem des ein eine einen "
    "einem einer kein keine jeder jeden jede alle".split()
)


# Share of a clause besides the names that the source must have
_ABOUT_SAME = 0.75
_FEW_KEYS = 2


class _Slot(NamedTuple):
    """Where a name is: the keys around it, the preposition before it, and whether it acts."""

    before: str
    behind: str
    preposition: str
    acts: bool


def names_of(words: Sequence[Word], language: str) -> list[Word]:
    """The words that look like names: with a capital letter, but not a German noun behind an
    article, nor the first word of a sentence if it is a plural.
    """
    found: list[Word] = []
    for index, word in enumerate(words):
        if word.key and word.is_capital and _looks_like_name(words, index, language):
            found.append(word)
    return found


def _looks_like_name(words: Sequence[Word], index: int, language: str) -> bool:
    word = words[index]
    following = words[index + 1].text if index + 1 < len(words) else ""
    is_first = word.start <= 1
    is_have = language == FRENCH and following == "a"
    if is_first and following in _BEHIND_NO_NAME and not is_have:
        # "Named after", "Founded in"
        return False
    if language == GERMAN:
        is_plural = is_first and following.endswith("en")
        return not is_plural and _is_german_name(words, index)
    return not is_first or not word.text.endswith("s") or word.text in _NAMES_LIKE_PLURALS


def _is_german_name(words: Sequence[Word], index: int) -> bool:
    """Whether a German noun can be a name: no article and no adjective is before it."""
    before = words[index - 1] if index else None
    if before is not None:
        is_adjective = bool(before.key) and not before.is_capital and before.opposite is None
        if before.text in _MERGED_ARTICLES or is_adjective:
            return False
    return not words[index].text.endswith(_GERMAN_NOUN_ENDS)


def names_keys(clause: Clause, language: str) -> list[str]:
    """The keys of the names of a clause, in its order."""
    return [word.key for word in names_of(clause.words, language)]


def has_other_name(
    clause: Clause,
    source: SentenceReading,
    said: frozenset[str],
    claim_keys: frozenset[str],
) -> bool:
    """Whether a clause has a name where the sentence has another one, which the claim does not
    have, and they say the same otherwise. `said`: the keys of the sentence, and of what it is
    about.
    """
    names = names_of(clause.words, source.language)
    missing = [name for name in names if not shared_keys([name.key], said)]
    keys = clause.keys if len(clause.keys) > _FEW_KEYS else claim_keys
    rest = keys - {name.key for name in missing}
    shared = shared_keys(rest, said)
    if not missing or len(shared) < max(_FEW_KEYS, _ABOUT_SAME * len(rest)):
        return False
    slots = [_slot(name, clause.words, source.language) for name in missing]
    for rival, slot in _slots_of(source.clauses, source.language):
        # The first word of a sentence may be no name
        is_sure = shared == rest or rival.start > 1
        is_new = not shared_keys([rival.key], claim_keys)
        if is_sure and is_new and any(_same_slot(mine, slot) for mine in slots):
            return True
    return False


def _slots_of(clauses: Iterable[Clause], language: str) -> Iterator[tuple[Word, _Slot]]:
    """The names of clauses, and where they are."""
    for clause in clauses:
        for name in names_of(clause.words, language):
            yield name, _slot(name, clause.words, language)


def has_name_of_other(clause: Clause, source: SentenceReading) -> bool:
    """Whether a name of a clause is in another clause of the sentence, while the clause that is
    about the same has another name in its place.
    """
    for name, mine in _slots_of([clause], source.language):
        if mine.behind and mine.acts and _acts_elsewhere(name, mine, source):
            without = [other for other in source.clauses if name.key not in other.keys]
            for rival, slot in _slots_of(without, source.language):
                is_other = rival.key not in clause.keys
                if is_other and slot.acts and slot.behind == mine.behind:
                    return True
    return False


def _acts_elsewhere(name: Word, mine: _Slot, source: SentenceReading) -> bool:
    """Whether a name is only in clauses that say something else of it. One without a verb of its
    own, as in "heating takes 35 %, staff 40 %", has that of another clause.
    """
    with_name = [other for other in source.clauses if shared_keys([name.key], other.keys)]
    is_said = any(mine.behind in other.keys for other in with_name)
    return not is_said and any(len(other.keys) >= _FEW_KEYS for other in with_name)


def _slot(name: Word, words: Sequence[Word], language: str) -> _Slot:
    index = words.index(name)
    before = next(_keys(reversed(words[:index])), "")
    behind = next(_keys(words[index + 1 :]), "")
    preposition = ""
    for phrase in read_phrases(words, language):
        if name in phrase.words:
            preposition = phrase.preposition
    actor = passive_agent(words, language)
    if actor is not None:
        return _Slot(before, behind, preposition, name in actor.words)
    is_subject = not preposition and all(word.is_capital for word in words[:index] if word.key)
    return _Slot(before, behind, preposition, is_subject)


def _keys(words: Iterator[Word] | Sequence[Word]) -> Iterator[str]:
    for word in words:
        if word.key:
            yield word.key


def _same_slot(mine: _Slot, other: _Slot) -> bool:
    """Whether two names are in the same place: both act in the same way, or are behind the same
    word.
    """
    around = {mine.before, mine.behind} & {other.before, other.behind} - {""}
    if mine.acts or other.acts:
        return mine.acts == other.acts and bool(around)
    if mine.preposition != other.preposition:
        return False
    return mine.before == other.before != ""
