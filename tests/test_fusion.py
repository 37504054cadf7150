"""Reciprocal rank fusion: rankings made one by places alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.rank_fusion import fuse

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True), max_size=4)


def order(*rankings: str, k: int = 60) -> str:
    return "".join(item for item, _ in fuse(rankings, k))


def test_one_ranking_stays_as_it_is() -> None:
    assert order("abc") == "abc"


def test_what_both_rank_high_comes_before_what_only_one_does() -> None:
    assert order("abc", "dbe")[0] == "b"


def test_a_score_is_the_sum_of_reciprocal_ranks() -> None:
    assert dict(fuse(["ab", "ba", "b"])) == {"a": pytest.approx(1 / 61 + 1 / 62), "b": pytest.approx(1 / 62 + 1 / 61 + 1 / 61)}


def test_equal_sums_keep_the_order_of_first_mention() -> None:
    assert order("ab", "cd") == "acbd"


def test_what_is_named_twice_counts_once_at_its_better_place() -> None:
    assert fuse(["aab"]) == fuse(["ab"])


def test_a_small_k_lets_first_places_count_for_more() -> None:
    assert order("abcx", "dxef", k=60)[0] == "x"
    assert order("abcx", "dxef", k=0)[0] == "a"


@pytest.mark.parametrize("rankings", [[], [""], ["", ""]])
def test_nothing_ranked_is_nothing_fused(rankings: list[str]) -> None:
    assert fuse(rankings) == []


def test_an_empty_ranking_changes_nothing() -> None:
    assert fuse(["abc", ""]) == fuse(["abc"])


@given(RANKINGS)
def test_everything_ranked_is_there_once_and_scores_fall(rankings: list[list[int]]) -> None:
    fused = fuse(rankings)
    assert sorted(item for item, _ in fused) == sorted({item for ranking in rankings for item in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(0, 20), unique=True), st.integers(1, 4))
def test_rankings_that_agree_are_agreed_with(ranking: list[int], times: int) -> None:
    assert [item for item, _ in fuse([ranking] * times)] == ranking


@given(RANKINGS, st.integers(0, 20))
def test_a_first_place_more_never_lowers_an_item(rankings: list[list[int]], item: int) -> None:
    def place(fused: list[tuple[int, float]]) -> int:
        return next((i for i, (found, _) in enumerate(fused) if found == item), 99)

    assert place(fuse([*rankings, [item]])) <= place(fuse(rankings))
