"""Which keys of words are those of the same word."""

from collections.abc import Iterable
from functools import lru_cache

# Letters at the beginning that two forms of a word share, and their share of the longer form
_SHORTEST = 4
_SHARE = 0.8
_GERMAN_PREFIX = "ge"


def shared_keys(keys: Iterable[str], others: frozenset[str]) -> frozenset[str]:
    """The keys that others have, too, perhaps in a form that the stemmer does not know."""
    wanted = frozenset(keys)
    found = wanted & others
    missing = wanted - found
    if not missing:
        return found
    forms = _by_beginning(others)
    alike = [key for key in missing if _has_form(key, forms)]
    return found.union(alike) if alike else found


def _has_form(key: str, forms: dict[str, list[str]]) -> bool:
    if len(key) < _SHORTEST or key[0] > "\u2fff":
        return False
    candidates = forms.get(key[:_SHORTEST])
    if candidates and any(are_forms(key, other) for other in candidates):
        return True
    # "gebiss" is a form of "biss"
    bare = forms.get(key[2 : 2 + _SHORTEST]) if key.startswith(_GERMAN_PREFIX) else None
    return bare is not None and key[2:] in bare


@lru_cache(maxsize=2048)
def _by_beginning(keys: frozenset[str]) -> dict[str, list[str]]:
    """Keys by their first letters, and those behind "ge"."""
    found: dict[str, list[str]] = {}
    for key in keys:
        if len(key) >= _SHORTEST:
            found.setdefault(key[:_SHORTEST], []).append(key)
            if key.startswith(_GERMAN_PREFIX):
                found.setdefault(key[2 : 2 + _SHORTEST], []).append(key)
    return found


def are_forms(first: str, second: str) -> bool:
    """Whether two stems are those of one word: "nachbar" and "nachbarn", "biss" and "gebiss"."""
    if first == second:
        return True
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    if len(shorter) < _SHORTEST or longer[0] > "\u2fff":
        return False
    if longer.startswith(_GERMAN_PREFIX) and longer[2:] == shorter:
        return True
    shared = max(_SHORTEST, -(-len(longer) * 4 // 5))
    return longer[:shared] == shorter[:shared] and len(shorter) >= shared
