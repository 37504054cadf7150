"""Which keys of words are those of the same word."""

from collections.abc import Iterable
from functools import lru_cache

# Letters at the beginning that two forms of a word share, and their share of the longer form
_SHORTEST = 4
_SHARE = 0.8
_GERMAN_PREFIX = "ge"


def shared_keys(keys: Iterable[str], others: frozenset[str]) -> frozenset[str]:
    """The keys that others have, too, perhaps in a form that the stemmer does not know."""
    found: set[str] = set()
    for key in keys:
        if key in others or any(are_forms(key, other) for other in others):
            found.add(key)
    return frozenset(found)


@lru_cache(maxsize=16_384)
def are_forms(first: str, second: str) -> bool:
    """Whether two stems are those of one word: "nachbar" and "nachbarn", "biss" and "gebiss"."""
    if first == second:
        return True
    if min(len(first), len(second)) < _SHORTEST or first[:1] > "\u2fff":
        return False
    if first == f"{_GERMAN_PREFIX}{second}" or second == f"{_GERMAN_PREFIX}{first}":
        return True
    shared = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        shared += 1
    return shared >= _SHORTEST and shared >= _SHARE * max(len(first), len(second))
