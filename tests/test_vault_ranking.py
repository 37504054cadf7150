"""Ranking of chunks."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.query import parse_query
from zkchat_cli.vault.search.ranking import RANKING, Corpus, Ranking, RankingCandidate, neighbour_boost, scores

CORPUS = Corpus(100, 10, 2, {"tea": 10, "green": 10, "the": 90, "rare": 1})


def chunk(body: str = "", **values) -> RankingCandidate:
    """A chunk of average size in a note of its own, unless `values` say otherwise."""
    plain = {"id": 1, "note_id": 1, "title": "", "aliases": "", "tags": "", "anchors": "", "headings": "", "size": 10, "note_size": 20}
    return RankingCandidate(**{**plain, "body": body, **values})


def score(query: str, candidate: RankingCandidate, ranking: Ranking = RANKING) -> float:
    return scores(parse_query(query), [candidate], CORPUS, ranking).get(candidate.id, 0.0)


def best(query: str, *candidates: RankingCandidate, ranking: Ranking = RANKING) -> list[str]:
    """The bodies, best first."""
    found = scores(parse_query(query), [c._replace(id=n, note_id=n) for n, c in enumerate(candidates)], CORPUS, ranking)
    return [candidates[n].body or candidates[n].title for n in found]


def test_a_chunk_without_query_words_is_left_out():
    assert best("tea", chunk("green tea"), chunk("coffee")) == ["green tea"]


def test_a_rare_word_is_worth_more_than_a_common_one():
    assert best("tea rare", chunk("tea"), chunk("rare")) == ["rare", "tea"]
    assert CORPUS.rarity("rare") > CORPUS.rarity("tea") > CORPUS.rarity("the") > 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"title": "tea"}, {"headings": "tea"}),
        ({"aliases": "tea"}, {"headings": "tea"}),
        ({"headings": "tea"}, {"tags": "tea"}),
        ({"tags": "tea"}, {"body": "tea"}),
        ({"anchors": "tea"}, {"body": "tea"}),
    ],
    ids=str,
)
def test_fields_have_weights(better, worse):
    assert score("tea", chunk(**better)) > score("tea", chunk(**worse)) > 0


def test_a_short_name_is_worth_more():
    assert score("tea", chunk(title="tea")) > score("tea", chunk(title="tea of the month in the north"))


def test_a_short_chunk_is_better():
    assert score("tea", chunk("tea", size=5)) > score("tea", chunk("tea", size=50))


def test_adjacent_words_are_better():
    texts = ["tea made of green leaves", "a green tea made of leaves"]
    assert best("green tea", *map(chunk, texts)) == texts[::-1]
    assert score("green tea", chunk(texts[1]), replace(RANKING, adjacency=0)) < score("green tea", chunk(texts[1]))


def test_a_chinese_character_matches_bigrams():
    assert score("书", chunk("书评")) > 0
    assert score("书", chunk("电影")) == 0


@pytest.mark.parametrize(
    ("query", "text", "allowed"),
    [
        ('"green tea"', "some green tea", True),
        ('"green tea"', "tea, green", False),
        ('"green tea"', "green green tea", True),
        ('"tea green"', "tea", False),
        ('tea -"green tea"', "green tea", False),
        ('tea -"green tea"', "tea, green", True),
        ('"书"', "书评", True),
        ('评论 -"书"', "评论 书评", False),
        ('"don’t know"', "I don't know", True),
    ],
)
def test_phrases_are_required_or_excluded(query, text, allowed):
    assert (score(query, chunk(text)) > 0) == allowed


BEST = [(1, 10.0), (2, 4.0), (3, 3.0), (4, 2.0), (5, 2.0), (6, 1.0)]


def test_an_outstanding_hit_boosts_the_notes_it_links_to():
    assert neighbour_boost(BEST, {1: [8, 9]}) == {8: pytest.approx(2.7), 9: pytest.approx(2.7)}


def test_an_average_hit_boosts_nothing():
    assert neighbour_boost([(n, 5.0) for n in range(10)], {0: [77]}) == {}
    assert neighbour_boost(BEST, {6: [77]}) == {}


WORDS = st.lists(st.sampled_from(["green", "tea", "the", "rare", "书评", "don't", "more"]), max_size=12).map(" ".join)
CHUNKS = st.lists(st.builds(lambda body, title, headings: chunk(body, title=title, headings=headings), WORDS, WORDS, WORDS), max_size=6)
QUERIES = st.one_of(WORDS, st.tuples(WORDS, WORDS).map('{0[0]} "{0[1]}"'.format), st.tuples(WORDS, WORDS).map('{0[0]} -"{0[1]}"'.format))


@given(QUERIES, CHUNKS)
def test_scores_are_finite_and_descend(query, candidates):
    found = list(scores(parse_query(query), [c._replace(id=n, note_id=n) for n, c in enumerate(candidates)], CORPUS).values())
    assert all(math.isfinite(value) and value >= 0 for value in found)
    assert found == sorted(found, reverse=True)
