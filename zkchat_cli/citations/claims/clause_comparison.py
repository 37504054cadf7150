"""Compares a clause of a claim with a sentence of a source: quantities, opposites, negations,
names, and which words the source has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from zkchat_cli.citations.claims import polarity_words
from zkchat_cli.citations.claims.measure import Measure
from zkchat_cli.citations.claims.measure_comparison import (
    MeasureMatch,
    has_competitor,
    has_measure,
    is_reversed,
    match_measure,
)
from zkchat_cli.citations.claims.name_comparison import (
    has_name_of_other,
    has_other_name,
    names_keys,
    names_of,
)
from zkchat_cli.citations.claims.relation_comparison import (
    Relation,
    compare_relations,
    compare_roles,
    has_sides,
)
from zkchat_cli.citations.claims.sentence_reader import Clause, SentenceReading
from zkchat_cli.citations.claims.word_keys import shared_keys

# Share of a clause, without what differs, that a sentence says if it is about the same
_ABOUT_SAME = 0.75
# Share of the words of a supported clause that are in one sentence
_MOSTLY = 0.6
_FEW_KEYS = 2
# Words of a part that a negation elsewhere may be about
_MOST_MISSING = 2


class Comparison(NamedTuple):
    """What a sentence says about a clause: something contrary, or all that the clause says
    (`complete`), or neither. It is `certain` if no other sentence can say the reverse: another
    number or name is there.
    """

    contrary: bool
    complete: bool
    certain: bool = False


@dataclass(frozen=True)
class ClauseComparison:
    """A clause of a claim and a sentence that is about the same.

    `subject`: the keys of what a pronoun of the sentence means; `known`: those of all sources;
    `elsewhere`: the quantities of the other sentences that are about the same.
    """

    claim: SentenceReading
    clause: Clause
    source: SentenceReading
    subject: frozenset[str]
    known: frozenset[str]
    elsewhere: Sequence[Measure]

    def compare(self) -> Comparison:
        """The result, the cheapest contradictions first."""
        if not self._can_decide:
            return Comparison(contrary=False, complete=False)
        matches = self._matches
        relation = compare_relations(self.clause, self.source)
        if not self.source.is_question:
            if self._has_other_measure(matches) or self._has_other_name:
                return Comparison(contrary=True, complete=False, certain=True)
            if self._is_contrary(relation):
                return Comparison(contrary=True, complete=False)
        measured = all(match is MeasureMatch.SAME for match in matches) and self._are_together
        complete = measured and relation.compared and self._has_all_words
        return Comparison(contrary=False, complete=complete and self._adds_nothing)

    @cached_property
    def _signed_keys(self) -> frozenset[str]:
        """The keys of its words that have an opposite."""
        return frozenset(word.key for word in self.clause.words if word.sign and word.key)

    @property
    def _can_decide(self) -> bool:
        """Whether the sentence has enough of the clause to say it or the contrary."""
        names = frozenset(names_keys(self.clause, self.source.language))
        return self._has_all_words or self._is_about_same(self._signed_keys | names)

    def _is_contrary(self, relation: Relation) -> bool:
        """Whether the source says the opposite, or less."""
        if relation.contrary and self._is_about_same(self._signed_keys):
            return True
        if not relation.decides_negation and self._differs_in_negation():
            return True
        return self._overstates and self._is_about_same()

    def _has_other_measure(self, matches: Sequence[MeasureMatch]) -> bool:
        """Whether the source has another quantity in the place of one of the clause."""
        is_crossed = is_reversed(self.clause.measures, self.source.measures)
        if MeasureMatch.CONTRARY not in matches and not is_crossed:
            return False
        return self._has_names and self._is_about_same()

    @cached_property
    def _said_keys(self) -> frozenset[str]:
        """The keys of the sentence, and of what a pronoun in it means."""
        return self.source.keys | self.subject

    @cached_property
    def _aligned(self) -> list[Clause]:
        """The clauses of the source that have most of this one."""
        scores = [self._score(other) for other in self.source.clauses]
        most = max(scores)
        pairs = zip(self.source.clauses, scores, strict=True)
        return [other for other, score in pairs if score == most]

    def _score(self, other: Clause) -> int:
        return len(shared_keys(self.clause.keys, other.keys)) + len(self._same_measures(other))

    def _same_measures(self, other: Clause | SentenceReading) -> list[Measure]:
        """The quantities of the clause that another one, or the sentence, has, too."""
        return [each for each in self.clause.measures if has_measure(each, other.measures)]

    def _is_about_same(self, contested: frozenset[str] = frozenset()) -> bool:
        """Whether the source has nearly all of the clause besides some keys; of the claim, if the
        clause has hardly a word.
        """
        keys = self.clause.keys
        if len(keys) < _FEW_KEYS:
            keys = self.claim.keys
        rest = keys - contested
        same = len(self._same_measures(self.source))
        shared = len(shared_keys(rest, self._said_keys)) + same
        whole = len(rest) + same
        return shared >= max(_ABOUT_SAME * whole, min(_FEW_KEYS, len(keys)) - len(contested), 1)

    @cached_property
    def _has_names(self) -> bool:
        """Whether the sentence has all names of the clause."""
        names = {word.key for word in names_of(self.clause.words, self.source.language)}
        return shared_keys(names, self._said_keys) == names

    @property
    def _matches(self) -> list[MeasureMatch]:
        """What the source says about each quantity. Those that it has may belong to others, unless
        one of them is computed from its quantities.
        """
        matches = [self._match(measure) for measure in self.clause.measures]
        if any(match is not MeasureMatch.SAME for match in matches):
            return matches
        near = self._near
        others = [self._belongs_to_other(measure, near) for measure in self.clause.measures]
        return [MeasureMatch.CONTRARY] * len(matches) if any(others) else matches

    @property
    def _near(self) -> list[Measure]:
        """The quantities of the clauses that have most of this one."""
        return [each for other in self._aligned for each in other.measures]

    def _match(self, measure: Measure) -> MeasureMatch:
        """What the source says about a quantity. One that other sentences have is not contrary."""
        near = self._near
        whole = self.source.measures
        if self._is_about_change:
            measure = measure._replace(changed=True)
        found = match_measure(measure, self.claim.measures, near, whole)
        if found is MeasureMatch.CONTRARY and has_measure(measure, self.elsewhere):
            return MeasureMatch.WEAK
        return found

    def _belongs_to_other(self, measure: Measure, near: Sequence[Measure]) -> bool:
        """Whether the part that says all but this quantity has another one in its place, and
        another part has this one.
        """
        if has_measure(measure, near) or not has_measure(measure, self.source.measures):
            return False
        [first, *more] = self._aligned
        if more or shared_keys(self.clause.keys, first.keys) != self.clause.keys:
            return False
        return has_competitor(measure, self.clause.measures, near)

    @property
    def _are_together(self) -> bool:
        """Whether one part of the source has all of the quantities that the source has."""
        there = len(self._same_measures(self.source))
        return any(len(self._same_measures(other)) >= there for other in self._aligned)

    @property
    def _is_about_change(self) -> bool:
        """Whether the clause says that something rose or fell."""
        opposites = (word.opposite for word in self.clause.words)
        return any(each is not None and each.name == "change" for each in opposites)

    def _differs_in_negation(self) -> bool:
        """Whether the source negates what the clause says, or the reverse."""
        if self._is_in_negated_part():
            return True
        if not self._is_about_same() or self._is_in_part_alike():
            return False
        compared = [self.clause, *self._aligned]
        if any(not each.texts.isdisjoint(polarity_words.NEGATED_OTHERWISE) for each in compared):
            return False
        return all(other.negated != self.clause.negated for other in self._aligned)

    def _is_in_part_alike(self) -> bool:
        """Whether what the nearest part does not say is in another negated part: "they run on gas,
        not electricity" for "they do not run on electricity".
        """
        clause = self.clause
        if not clause.negated:
            return False
        missing = clause.keys - shared_keys(clause.keys, _keys_of(self._aligned))
        nearest = self._measures_of(self._aligned)
        for other in self.source.clauses:
            new = [each for each in self._same_measures(other) if each not in nearest]
            if other.negated and (new or shared_keys(missing, other.keys)):
                return True
        return False

    def _is_in_negated_part(self) -> bool:
        """Whether a part of the clause is only in what the source negates: "the neighbour, not the
        postman".
        """
        clause = self.clause
        alike = [other for other in self.source.clauses if not other.negated]
        negated = [other for other in self.source.clauses if other.negated]
        if clause.negated or not alike or not negated:
            return False
        said = shared_keys(clause.keys, self.source.keys)
        missing = said - shared_keys(said, _keys_of(alike))
        affirmed = self._measures_of(alike)
        denied = [each for each in self._measures_of(negated) if each not in affirmed]
        found = len(missing) + len(denied)
        size = len(clause.keys) + len(clause.measures)
        is_small = 0 < found <= _MOST_MISSING and 2 * found <= size
        covered = len(said) + len(affirmed) + len(denied)
        return is_small and size > found and covered >= _ABOUT_SAME * size

    def _measures_of(self, clauses: Iterable[Clause]) -> list[Measure]:
        """The quantities of the clause that some clauses of the source have."""
        return [mine for other in clauses for mine in self._same_measures(other)]

    @property
    def _overstates(self) -> bool:
        """Whether the clause says "all" where the source says "most" or "some"."""
        partly = polarity_words.MOST | polarity_words.SOME
        texts = self.clause.texts
        if texts.isdisjoint(polarity_words.ALL) or not texts.isdisjoint(partly):
            return False
        return all(
            not other.texts.isdisjoint(partly) and other.texts.isdisjoint(polarity_words.ALL)
            for other in self._aligned
        )

    @cached_property
    def _has_name_of_other(self) -> bool:
        return has_name_of_other(self.clause, self.source)

    @property
    def _has_other_name(self) -> bool:
        if self._has_name_of_other:
            return self._is_about_same(frozenset(names_keys(self.clause, self.source.language)))
        return has_other_name(self.clause, self.source, self._said_keys, self.claim.keys)

    @property
    def _has_all_words(self) -> bool:
        """Whether the sources have all words of the clause, and this sentence its names and most of
        its words.
        """
        keys = self.clause.keys
        if shared_keys(keys, self.known) != keys or not self._has_names:
            return False
        return len(shared_keys(keys, self._said_keys)) >= _MOSTLY * len(keys)

    @property
    def _adds_nothing(self) -> bool:
        """Whether the clause is no surer than the source, no more general, and has its names in the
        same order.
        """
        texts = frozenset[str]().union(*(other.texts for other in self._aligned))
        mine = self.clause.texts
        hedged = texts & polarity_words.HEDGED
        restricted = texts & polarity_words.RESTRICTING
        if (hedged and not mine & polarity_words.HEDGED) or not restricted <= mine:
            return False
        quantity = polarity_words.ALL | polarity_words.MOST | polarity_words.SOME
        if self._has_name_of_other or not mine & quantity <= texts:
            return False
        return self._has_names_in_order()

    def _has_names_in_order(self) -> bool:
        """Whether two names are in the order of the source, unless it is known who does what."""
        names = names_keys(self.clause, self.source.language)
        order = [word.key for word in self.source.words if word.key in names]
        mine = [key for key in names if key in order]
        if len(mine) < _FEW_KEYS or mine == order[: len(mine)]:
            return True
        if any(word.sign and has_sides(word) for word in self.clause.words):
            return True
        return compare_roles(self.clause, self.source) is True


def _keys_of(clauses: Sequence[Clause]) -> frozenset[str]:
    return frozenset[str]().union(*(clause.keys for clause in clauses))
