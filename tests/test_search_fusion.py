"""Fusion of search by words and by meaning."""

import pytest

from zkchat_cli.vault.search.fusion import fuse


@pytest.mark.parametrize(
    ("by_words", "by_meaning", "coverage", "first"),
    [
        ({1: 9.0, 2: 6.0}, {2: 2.0}, 1.0, 1),  # a hit with all words wins over meaning
        ({1: 9.0, 2: 6.0}, {2: 2.0}, 0.3, 2),  # with few of them it does not
        ({}, {3: 1.0, 4: 2.0}, 0.0, 4),
        ({1: 9.0, 2: 8.9}, {1: -1.0, 2: 1.0}, 1.0, 2),  # near equal words
        ({1: 9.0}, {}, 0.0, 1),
    ],
)
def test_words_count_as_far_as_they_fit(by_words: dict[int, float], by_meaning: dict[int, float], coverage: float, first: int) -> None:
    assert next(iter(fuse(by_words, by_meaning, coverage))) == first
