"""How well a chunk answers, in numbers that depend on nothing but the texts given."""

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


def test_a_chunk_without_a_word_of_the_query_is_left_out():
    assert best("tea", chunk("green tea"), chunk("coffee")) == ["green tea"]


def test_a_query_of_filters_alone_leaves_all_chunks_in():
    assert best("tag:x", chunk("a"), chunk("b")) == ["a", "b"]
    assert best("tag:x -bad", chunk("good"), chunk("bad")) == ["good"]


def test_more_of_the_words_is_better():
    assert best("green tea", chunk("tea"), chunk("green tea")) == ["green tea", "tea"]


def test_a_rare_word_is_worth_more_than_a_common_one():
    assert best("tea rare", chunk("tea"), chunk("rare")) == ["rare", "tea"]
    assert CORPUS.rarity("rare") > CORPUS.rarity("tea") > CORPUS.rarity("the") > 0


def test_a_word_that_stands_in_more_chunks_than_there_are_still_counts():
    assert Corpus(5, 10, 1, {"tea": 99}).rarity("tea") > 0


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
def test_where_a_word_stands_decides_what_it_is_worth(better, worse):
    assert score("tea", chunk(**better)) > score("tea", chunk(**worse)) > 0


def test_of_two_names_the_shorter_is_worth_more():
    assert score("tea", chunk(title="tea")) > score("tea", chunk(title="tea of the month in the north"))


def test_a_field_without_weight_counts_for_nothing():
    assert score("tea", chunk(anchors="tea"), replace(RANKING, anchors=0)) == 0


def test_of_two_chunks_with_the_word_the_shorter_is_better():
    assert score("tea", chunk("tea", size=5)) > score("tea", chunk("tea", size=50))


def test_of_two_notes_that_say_the_same_the_shorter_is_better():
    assert score("tea", chunk("tea", note_size=10)) > score("tea", chunk("tea", note_size=1000))


def test_words_beside_each_other_as_in_the_query_are_better():
    texts = ["tea made of green leaves", "a green tea made of leaves"]
    assert best("green tea", *map(chunk, texts)) == texts[::-1]
    assert score("green tea", chunk(texts[1]), replace(RANKING, adjacency=0)) < score("green tea", chunk(texts[1]))


def test_a_chinese_character_counts_where_a_pair_begins_with_it():
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
def test_phrases_are_kept(query, text, allowed):
    assert (score(query, chunk(text)) > 0) == allowed


def test_a_phrase_does_not_run_from_one_name_into_the_next():
    assert score('"green tea"', chunk(aliases="dark green\ntea time")) == 0
    assert score('"green tea"', chunk(aliases="green tea\ntea time")) > 0


def test_chunks_of_one_note_share_its_names():
    found = scores(parse_query("tea"), [chunk("a", id=1, note_id=7, title="Tea"), chunk("b", id=2, note_id=7, title="Tea")], CORPUS)
    assert list(found) == [1, 2]


BEST = [(1, 10.0), (2, 4.0), (3, 3.0), (4, 2.0), (5, 2.0), (6, 1.0)]


def test_a_hit_that_stands_out_lends_to_what_it_links_to():
    assert neighbour_boost(BEST, {1: [8, 9]}) == {8: pytest.approx(2.7), 9: pytest.approx(2.7)}


def test_a_note_gets_the_largest_loan_and_not_their_sum():
    assert neighbour_boost(BEST, {2: [8], 1: [8]}) == neighbour_boost(BEST, {1: [8]})


def test_no_note_lends_to_itself():
    assert neighbour_boost(BEST, {1: [1]}) == {}


def test_what_does_not_stand_out_lends_nothing():
    assert neighbour_boost([(n, 5.0) for n in range(10)], {0: [77]}) == {}
    assert neighbour_boost(BEST, {6: [77]}) == {}


def test_all_may_lend_where_nothing_needs_to_stand_out():
    assert neighbour_boost(BEST, {6: [77]}, replace(RANKING, boost_rank=0)) == {77: pytest.approx(0.3)}


def test_without_hits_or_without_weight_there_are_no_loans():
    assert neighbour_boost([], {}) == neighbour_boost(BEST, {1: [8]}, replace(RANKING, link=0)) == {}


WORDS = st.lists(st.sampled_from(["green", "tea", "the", "rare", "书评", "don't", "more"]), max_size=12).map(" ".join)
CHUNKS = st.lists(st.builds(lambda body, title, headings: chunk(body, title=title, headings=headings), WORDS, WORDS, WORDS), max_size=6)
QUERIES = st.one_of(WORDS, st.tuples(WORDS, WORDS).map('{0[0]} "{0[1]}"'.format), st.tuples(WORDS, WORDS).map('{0[0]} -"{0[1]}"'.format))


@given(QUERIES, CHUNKS)
def test_scores_are_finite_and_fall(query, candidates):
    found = list(scores(parse_query(query), [c._replace(id=n, note_id=n) for n, c in enumerate(candidates)], CORPUS).values())
    assert all(math.isfinite(value) and value >= 0 for value in found)
    assert found == sorted(found, reverse=True)


@given(QUERIES, CHUNKS, CHUNKS)
def test_other_candidates_change_no_score(query, some, others):
    """As long as they are few: of many, only the first ones are looked at closely."""
    asked = parse_query(query)
    numbered = [c._replace(id=n, note_id=n) for n, c in enumerate([*some, *others])]
    alone = scores(asked, numbered[: len(some)], CORPUS)
    together = scores(asked, numbered, CORPUS)
    assert {n: value for n, value in together.items() if n < len(some)} == alone


@given(WORDS, CHUNKS)
def test_a_word_of_the_query_more_never_lowers_a_score_of_a_chunk_of_that_size(query, candidates):
    for candidate in candidates:
        if query and (before := score(query, candidate)):
            assert score(query, candidate._replace(body=f"{candidate.body} {query.split()[0]}")) >= before
