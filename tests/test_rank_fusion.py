"""Reciprocal rank fusion of several rankings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.related import fuse

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefghij"), unique=True), max_size=4)


def order(*rankings: str, k: int = 60) -> str:
    return "".join(item for item, _ in fuse(rankings, k))


@pytest.mark.parametrize(
    ("rankings", "k", "fused"),
    [(["abc"], 60, "abc"), (["ab", "cd"], 60, "acbd"), (["aab"], 60, "ab"), (["abcx", "dxef"], 60, "x"), (["abcx", "dxef"], 0, "a")],
)
def test_rankings_are_fused(rankings: list[str], k: int, fused: str) -> None:
    assert order(*rankings, k=k).startswith(fused)


@given(RANKINGS)
def test_each_item_occurs_once_and_scores_descend(rankings: list[list[str]]) -> None:
    found = fuse(rankings)
    assert sorted(item for item, _ in found) == sorted({item for ranking in rankings for item in ranking})
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
