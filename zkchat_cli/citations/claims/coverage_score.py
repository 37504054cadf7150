"""How much of a claim its sources have, as a number that separates supported claims from others.

What is missing weighs more than what is found: a number, a quantity or a name that no source has,
and a run of missing words, which is an added fact. The four weights were chosen on one half of the
articles of WiCE (Kamoi et al., 2023); `tests/bench/support.py` measures them on the other.
"""

from collections.abc import Iterable, Sequence

from zkchat_cli.citations.claims.measure import Measure
from zkchat_cli.citations.claims.measure_comparison import has_measure
from zkchat_cli.citations.claims.name_comparison import names_of
from zkchat_cli.citations.claims.sentence_reader import SentenceReading, ordered_keys

MISSING_NUMBER = 0.4
MISSING_QUANTITY = 0.4
MISSING_NAME = 0.2
MISSING_RUN = 0.1


def coverage_score(
    claim: SentenceReading, sentences: Sequence[frozenset[str]], measures: Sequence[Measure]
) -> float:
    """The share of a claim that the best two sentences have, less what no sentence has; 1 at most.
    `sentences`: the keys of each, with those of quantities.
    """
    ordered = ordered_keys(claim.text, claim.language)
    known = frozenset[str]().union(*sentences)
    numbers = {key for key in ordered if key.isdigit()} - known
    missing = [measure for measure in claim.measures if not has_measure(measure, measures)]
    names = {word.key for word in names_of(claim.words, claim.language) if word.start > 1} - known
    return (
        _share_of_two(frozenset(ordered), sentences)
        - MISSING_NUMBER * len(numbers)
        - MISSING_QUANTITY * len(missing)
        - MISSING_NAME * len(names)
        - MISSING_RUN * _longest_run(key not in known for key in ordered)
    )


def _share_of_two(keys: frozenset[str], sentences: Sequence[frozenset[str]]) -> float:
    """The share of some keys that the best sentence and the one that adds most to it have."""
    if not keys or not sentences:
        return 0
    first = max((keys & each for each in sentences), key=len)
    rest = keys - first
    second = max((len(rest & each) for each in sentences), default=0)
    return (len(first) + second) / len(keys)


def _longest_run(flags: Iterable[bool]) -> int:
    longest = 0
    run = 0
    for is_set in flags:
        run = run + 1 if is_set else 0
        longest = max(longest, run)
    return longest
