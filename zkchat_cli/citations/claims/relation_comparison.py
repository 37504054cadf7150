"""Whether a source says the opposite of a claim: with an opposite word, or with both sides of a
relation in exchange.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.citations.claims import polarity_words
from zkchat_cli.citations.claims.measure_comparison import MeasureMatch, compare_measures
from zkchat_cli.citations.claims.opposites import OppositeKind
from zkchat_cli.citations.claims.roles import (
    Roles,
    first_phrase,
    is_passive,
    read_roles,
    subject_keys,
)
from zkchat_cli.citations.claims.sentence_reader import Clause, SentenceReading, Word
from zkchat_cli.citations.claims.word_keys import are_forms, shared_keys
from zkchat_cli.citations.claims.word_relations import NEGATING_PREFIXES, PARTICLES
from zkchat_cli.text.word_lists import FRENCH, GERMAN, SPANISH

# Content words behind "before" that are what it is about, where no comma shows it
_HEAD_WORDS = 2
# Letters of a word that a negating prefix may be before
_SHORTEST_NEGATED = 4


class Relation(NamedTuple):
    """What comparing relations showed: a contradiction, or that all were `compared` and agree;
    whether words of the pair say what a negation would, so that negations need not be compared.
    """

    contrary: bool
    compared: bool
    decides_negation: bool = False


class _RelationWord(NamedTuple):
    """A word in a sentence, the clause that it is in, and who acts in the clause before that."""

    words: Sequence[Word]
    at: int
    clause: Clause
    subject: frozenset[str] = frozenset()

    @property
    def word(self) -> Word:
        return self.words[self.at]


def compare_relations(clause: Clause, source: SentenceReading) -> Relation:
    """The words of a clause that have an opposite, compared with those of a sentence."""
    contrary = False
    compared = True
    decides = False
    for index, word in enumerate(clause.words):
        if not word.opposite or not word.sign:
            continue
        place = _RelationWord(clause.words, index, clause)
        found = _compare_opposites(place, source)
        if found is None:
            # An adverb such as "after" may be a preposition without meaning here
            compared = compared and word.opposite.kind is OppositeKind.ORDER
            continue
        contrary = contrary or found.contrary
        compared = compared and found.compared
        decides = decides or found.decides_negation
    if _has_prefixed_opposite(clause, source) or _has_other_particle(clause, source):
        contrary = True
    contrary = contrary or compare_roles(clause, source) is False
    return Relation(contrary, compared, decides)


def _compare_opposites(place: _RelationWord, source: SentenceReading) -> Relation | None:
    """A word compared with the words of its pair in a sentence; None if that has none."""
    opposite = place.word.opposite
    if opposite is None:
        return None
    others = list(_places_of(opposite.name, source))
    near = [other for other in others if shared_keys(other.clause.keys, place.clause.keys)]
    if not others:
        return None
    compared = [
        _compare_places(place, other, source) for other in _best_places(place, near or others)
    ]
    contrary = all(each.contrary for each in compared)
    return Relation(
        contrary,
        not contrary and any(each.compared for each in compared),
        any(each.decides_negation for each in compared),
    )


def _best_places(place: _RelationWord, others: Sequence[_RelationWord]) -> list[_RelationWord]:
    """The words in the clauses that share most with that of a word."""
    shared = [_count_shared(place, other) for other in others]
    most = max(shared)
    return [other for other, count in zip(others, shared, strict=True) if count == most]


def _count_shared(place: _RelationWord, other: _RelationWord) -> int:
    """How many words and measures the clauses of two words share."""
    count = len(shared_keys(place.clause.keys, other.clause.keys))
    for mine in place.clause.measures:
        matches = (compare_measures(mine, each) for each in other.clause.measures)
        count += any(match > MeasureMatch.UNKNOWN for match in matches)
    return count


def _compare_places(
    place: _RelationWord, other: _RelationWord, source: SentenceReading
) -> Relation:
    opposite = place.word.opposite
    assert opposite is not None
    swapped = _are_swapped(place, other, opposite.kind, source.language)
    differs = place.word.sign != other.word.sign
    negated = place.clause.negated != other.clause.negated
    if swapped is None:
        unclear = differs or opposite.kind is OppositeKind.CONVERSE
        return Relation(contrary=False, compared=not unclear, decides_negation=differs)
    contrary = (differs + negated + swapped) % 2 == 1
    return Relation(contrary=contrary, compared=not contrary, decides_negation=differs and negated)


def _places_of(name: str, source: SentenceReading) -> Iterator[_RelationWord]:
    subject = frozenset[str]()
    for clause in source.clauses:
        for index, word in enumerate(clause.words):
            if word.opposite and word.opposite.name == name:
                yield _RelationWord(clause.words, index, clause, subject)
        subject = first_phrase(clause.words, source.language)


def _are_swapped(
    place: _RelationWord, other: _RelationWord, kind: OppositeKind, language: str
) -> bool | None:
    """Whether both sides of a relation are in exchange; None if that is not known."""
    match kind:
        case OppositeKind.PLAIN:
            return False
        case OppositeKind.CONVERSE:
            mine = read_roles(place.words, place.at, language)
            theirs = read_roles(other.words, other.at, language)
            theirs = theirs if theirs.agents else theirs._replace(agents=other.subject)
            return _exchanged(mine, theirs)
        case OppositeKind.COMPARED:
            mine_head = _compared_head(place, language)
            other_head = _compared_head(other, language)
        case OppositeKind.ORDER:
            mine_head = _order_head(place)
            other_head = _order_head(other)
    return _heads_exchanged(place, other, mine_head, other_head)


def _exchanged(mine: Roles, theirs: Roles) -> bool | None:
    """Whether who acts is another who takes part, and the reverse."""
    if shared_keys(mine.agents, theirs.agents):
        return False
    is_other = bool(shared_keys(mine.agents, theirs.others))
    was_other = bool(shared_keys(theirs.agents, mine.others))
    if is_other and (was_other or not theirs.agents):
        return True
    return True if was_other and not mine.agents else None


def _compared_head(place: _RelationWord, language: str) -> frozenset[str]:
    """The keys of what something is compared with."""
    than_words = polarity_words.THAN.get(language, "").split()
    for index in range(place.at + 1, len(place.words)):
        if place.words[index].text in than_words:
            return _keys(place.words[index + 1 :])
    return frozenset()


def _order_head(place: _RelationWord) -> frozenset[str]:
    """The keys of what is before or after something: up to a mark, if the clause begins with it,
    else the next ones.
    """
    behind: list[str] = []
    for word in place.words[place.at + 1 :]:
        if word.is_mark or len(behind) >= _HEAD_WORDS:
            break
        if word.key:
            behind.append(word.key)
    return frozenset(behind)


def _heads_exchanged(
    place: _RelationWord, other: _RelationWord, mine: frozenset[str], theirs: frozenset[str]
) -> bool:
    """Whether what one sentence compares with is what the other one compares."""
    name = place.word.key
    my_rest = _keys(place.words) - mine - {name}
    their_rest = _keys(other.words) - theirs - {name}
    same = len(shared_keys(mine, theirs))
    only_mine = mine - my_rest
    only_theirs = theirs - their_rest
    swapped = len(shared_keys(only_mine, their_rest)) + len(shared_keys(only_theirs, my_rest))
    return swapped > same


def _keys(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.key for word in words if word.key)


def _has_prefixed_opposite(clause: Clause, source: SentenceReading) -> bool:
    """Whether one of them has a word that the other one has with a negating prefix."""
    prefixes = NEGATING_PREFIXES.get(source.language, ())
    mine = {word.text: word.key for word in clause.words if word.key}
    theirs = {word.text: word.key for word in source.words if word.key}
    pairs = [(mine, theirs, source.keys), (theirs, mine, clause.keys)]
    for words, others, other_keys in pairs:
        for text, key in words.items():
            if key in other_keys or len(text) < _SHORTEST_NEGATED:
                continue
            for prefix in prefixes:
                negated = others.get(f"{prefix}{text}")
                if negated and negated not in words.values():
                    return not _differ_in_negation(clause, source, text, f"{prefix}{text}")
    return False


def _differ_in_negation(clause: Clause, source: SentenceReading, one: str, two: str) -> bool:
    """Whether the clauses of two words differ in a negation, so that both say the same."""
    for other in source.clauses:
        if not {one, two}.isdisjoint(other.texts):
            return other.negated != clause.negated
    return False


def _has_other_particle(clause: Clause, source: SentenceReading) -> bool:
    """Whether the same verb has the opposite particle: "moved in", "moved out"."""
    pairs = PARTICLES.get(source.language, ())
    for first, second in pairs:
        for mine, theirs in ((first, second), (second, first)):
            verbs = _verbs_with(mine, clause.words, source.language)
            for other in source.clauses:
                against = _verbs_with(theirs, other.words, source.language)
                same = _verbs_with(mine, other.words, source.language)
                if shared_keys(verbs, against - same) and clause.negated == other.negated:
                    return True
    return False


def _verbs_with(particle: str, words: Sequence[Word], language: str) -> frozenset[str]:
    """The keys of the words right before a particle; in German all in a clause that it ends."""
    bare = [word for word in words if not word.is_mark]
    if language == GERMAN:
        ends = bool(bare) and bare[-1].text == particle
        return frozenset(w.key for w in bare if w.key and not w.is_capital) if ends else frozenset()
    found: set[str] = set()
    for before, word in pairwise(bare):
        if word.text == particle and before.key:
            found.add(before.key)
    return frozenset(found)


def compare_roles(clause: Clause, source: SentenceReading) -> bool | None:
    """Whether who acts in a clause acts in the source, too; None if nothing shows it."""
    if _may_be_exchanged(clause, source):
        return None
    agrees: bool | None = None
    for index, word in enumerate(clause.words):
        if (
            word.sign
            or word.key in polarity_words.SYMMETRIC
            or not _can_be_verb(clause.words, index, source.language)
        ):
            continue
        mine = read_roles(clause.words, index, source.language)
        for other, theirs in _roles_at(word.key, source):
            if shared_keys(mine.agents, theirs.agents):
                agrees = True
                continue
            crossed = shared_keys(mine.others, theirs.agents)
            if not crossed or not shared_keys(mine.agents, theirs.others):
                continue
            if clause.negated == other.negated:
                return False
    return agrees


def _roles_at(key: str, source: SentenceReading) -> Iterator[tuple[Clause, Roles]]:
    """The clauses with a verb, and who acts there. A clause that begins with its verb has the
    subject of the one before.
    """
    before: Sequence[Word] = ()
    for clause in source.clauses:
        at = _index_of(key, clause.words)
        if at is not None and _can_be_verb(clause.words, at, source.language):
            roles = read_roles(clause.words, at, source.language)
            is_first = not any(word.key for word in clause.words[:at])
            is_active = not is_passive(clause.words, source.language)
            if is_first and before and is_active and source.language != GERMAN:
                subject = subject_keys(before, source.language)
                others = (roles.agents | roles.others) - subject
                roles = Roles(subject, others)
            yield clause, roles
        before = clause.words


def _can_be_verb(words: Sequence[Word], index: int, language: str) -> bool:
    """Whether a word can be a verb: it ends its run of content words, and is not alone behind an
    article or a preposition.
    """
    word = words[index]
    if not word.key or word.is_capital:
        return False
    if index + 1 < len(words) and words[index + 1].key and not words[index + 1].is_capital:
        return False
    before = words[index - 1] if index else None
    if before is None or before.key or before.is_mark:
        return True
    is_have = language == FRENCH and before.text == "a"
    is_pronoun = language == SPANISH and before.text in ("le", "les")
    return is_have or is_pronoun or before.text not in polarity_words.BEFORE_NOUNS


def _may_be_exchanged(clause: Clause, source: SentenceReading) -> bool:
    """Whether a clause can say the same with those in exchange who act: it has a word with two
    sides, or another one than the source for an order.
    """
    signs = {word.sign for word in source.words if _is_order(word)}
    for word in clause.words:
        if word.sign and (has_sides(word) or (_is_order(word) and word.sign not in signs)):
            return True
    return False


def has_sides(word: Word) -> bool:
    """Whether a word compares two things, or has an opposite that says the same with those in
    exchange who act.
    """
    kinds = (OppositeKind.COMPARED, OppositeKind.CONVERSE)
    return word.opposite is not None and word.opposite.kind in kinds


def _is_order(word: Word) -> bool:
    return word.opposite is not None and word.opposite.kind is OppositeKind.ORDER


def _index_of(key: str, words: Sequence[Word]) -> int | None:
    for index, word in enumerate(words):
        if word.key and not word.is_capital and are_forms(word.key, key):
            return index
    return None
