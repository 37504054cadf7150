"""What a model finds near a query, for `note_search`."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.vault.search.fusion import MeaningWeight

# The least cosine of a chunk that has no word of the query: a question that the notes say nothing
# about finds nothing
LEAST_COSINE = 0.15


class SemanticMatch(NamedTuple):
    """A query by meaning: its nearest chunks, and what cosines mean in this vault."""

    # Cosines by the chunks' keys, nearest first
    nearest: Mapping[int, float]
    # The cosines of other chunks, without those that have no vector
    cosines: Callable[[Sequence[int]], Mapping[int, float]]
    # The mean of the cosines of the vault's chunks, and their standard deviation
    mean: float
    spread: float
    # The least cosine of a chunk that has no word of the query
    least: float = LEAST_COSINE
    weight: MeaningWeight = MeaningWeight()
