"""Quotations that leave out or join what they must not, and true ones in other typography, in nine
languages. `structural_mutations` makes them, and thousands when it is run by itself.
"""

import pytest
from structural_mutations import Sample, is_verified, mutations, read_samples, true_quotations

MUTATIONS = 120
QUOTATIONS = 60
SAMPLES = read_samples()


@pytest.mark.untraced
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.language for sample in SAMPLES])
def test_what_leaves_out_or_joins_too_much_is_never_verified(sample: Sample) -> None:
    tried = list(mutations(sample, MUTATIONS))
    assert len(tried) >= MUTATIONS
    assert [each for each in tried if is_verified(each.note, each.quote)] == []


@pytest.mark.untraced
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.language for sample in SAMPLES])
def test_whole_sentences_are_verified_in_any_dress(sample: Sample) -> None:
    tried = list(true_quotations(sample, QUOTATIONS))
    assert [pair for pair in tried if not is_verified(*pair)] == []
