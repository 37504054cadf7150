"""Ranking of chunks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.query import parse_query
from zkchat_cli.vault.search.ranking import Corpus, RankingCandidate, scores

CORPUS = Corpus(100, 10, 2, {"tea": 10, "green": 10, "the": 90, "rare": 1})


def chunk(body: str = "", **values) -> RankingCandidate:
    """A chunk of average size in a note of its own, unless `values` say otherwise."""
    plain = {"id": 1, "note_id": 1, "title": "", "aliases": "", "tags": "", "anchors": "", "headings": "", "size": 10, "note_size": 20}
    return RankingCandidate(**{**plain, "body": body, **values})


def score(query: str, candidate: RankingCandidate) -> float:
    return scores(parse_query(query), [candidate], CORPUS).get(candidate.id, 0.0)


def best(query: str, *candidates: RankingCandidate) -> list[str]:
    """The bodies, best first."""
    found = scores(parse_query(query), [c._replace(id=n, note_id=n) for n, c in enumerate(candidates)], CORPUS)
    return [candidates[n].body or candidates[n].title for n in found]


def test_a_rare_word_is_worth_more_than_a_common_one():
    assert best("tea rare", chunk("tea"), chunk("rare")) == ["rare", "tea"]
    assert CORPUS.rarity("rare") > CORPUS.rarity("tea") > CORPUS.rarity("the") > 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"title": "tea"}, {"headings": "tea"}),
        ({"aliases": "tea"}, {"headings": "tea"}),
        ({"headings": "tea"}, {"body": "tea"}),
        ({"tags": "tea"}, {"body": "tea"}),
        ({"anchors": "tea"}, {"body": "tea"}),
    ],
    ids=str,
)
def test_fields_have_weights(better, worse):
    assert score("tea", chunk(**better)) > score("tea", chunk(**worse)) > 0


WORDS = st.lists(st.sampled_from(["green", "tea", "the", "rare", "书评", "don't", "more"]), max_size=12).map(" ".join)
CHUNKS = st.lists(st.builds(lambda body, title, headings: chunk(body, title=title, headings=headings), WORDS, WORDS, WORDS), max_size=6)
QUERIES = st.one_of(WORDS, st.tuples(WORDS, WORDS).map('{0[0]} "{0[1]}"'.format), st.tuples(WORDS, WORDS).map('{0[0]} -"{0[1]}"'.format))


@given(QUERIES, CHUNKS)
def test_scores_are_finite_and_descend(query, candidates):
    found = list(scores(parse_query(query), [c._replace(id=n, note_id=n) for n, c in enumerate(candidates)], CORPUS).values())
    assert all(math.isfinite(value) and value >= 0 for value in found)
    assert found == sorted(found, reverse=True)
