"""BM25, as the paper defines it, for one text and for many at once."""

import math
from itertools import pairwise

import numpy as np
import pytest

from zkchat_cli.text.bm25 import Bm25, rarity

AVERAGE = 100.0


def test_a_text_of_average_length_scores_as_in_the_paper() -> None:
    bm25 = Bm25(k1=1.2, b=0.75)
    idf = math.log(1 + (10 - 2 + 0.5) / (2 + 0.5))
    expected = idf * 3 * (1.2 + 1) / (3 + 1.2)
    norm = bm25.norm(AVERAGE, AVERAGE)
    assert bm25.word_score(rarity(2, 10), 3.0, norm) == pytest.approx(expected)


def test_a_word_in_every_text_still_counts_a_little() -> None:
    assert 0 < rarity(10, 10) < rarity(9, 10) < rarity(1, 10)


def test_repetition_adds_less_each_time() -> None:
    scores = [Bm25().word_score(1.0, float(count), 1.2) for count in range(4)]
    gains = [after - before for before, after in pairwise(scores)]
    assert gains == sorted(gains, reverse=True)
    assert scores[-1] < Bm25().k1 + 1


def test_a_longer_text_scores_less_unless_length_is_ignored() -> None:
    short = Bm25().norm(50.0, AVERAGE)
    long = Bm25().norm(200.0, AVERAGE)
    assert Bm25().word_score(1.0, 1.0, long) < Bm25().word_score(1.0, 1.0, short)
    assert Bm25(b=0.0).norm(50.0, AVERAGE) == Bm25(b=0.0).norm(200.0, AVERAGE)


def test_the_scores_of_the_words_add_up() -> None:
    bm25 = Bm25()
    rarities = {"attic": 2.0, "roof": 0.5, "window": 1.0}
    counts = {"attic": 1.0, "roof": 3.0, "window": 0.0}
    assert bm25.score(counts, rarities, 1.2) == pytest.approx(
        bm25.word_score(2.0, 1.0, 1.2) + bm25.word_score(0.5, 3.0, 1.2)
    )


def test_arrays_of_texts_score_as_each_text_alone() -> None:
    bm25 = Bm25(k1=0.9, b=0.4)
    lengths = [40.0, 100.0, 310.0]
    counts = [1.0, 2.0, 5.0]
    together = bm25.word_score(1.5, np.array(counts), bm25.norm(np.array(lengths), AVERAGE))
    alone = [
        bm25.word_score(1.5, count, bm25.norm(length, AVERAGE))
        for count, length in zip(counts, lengths, strict=True)
    ]
    assert together.tolist() == alone
