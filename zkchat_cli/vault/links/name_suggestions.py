"""The notes that a misspelt name or a broken link may mean.

The index has the character pairs of every name and alias; two consecutive pairs are a trigram. The
search goes by the rarest of them.
"""

import difflib
import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.index.values import LinkRow
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, note_name

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex

BORDER = "·"
# Names with a group of characters, beyond which it is too common; all groups together may have
# three times as many
MOST_NAMES = 2_000
MOST_COMPARED_NAMES = 30
# The least similarity of names worth suggesting, and of those likelier meant than a note of a
# similar meaning
LEAST_SIMILARITY = 0.4
TYPO_SIMILARITY = 0.6
# The least similarity of a name that is meant for certain, and its lead over the next one
CERTAIN_SIMILARITY = 0.85
CERTAIN_LEAD = 0.08
# Characters of a name that are compared
LONGEST = 200
_EXTENSION = lazy_pattern(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,12}$")


class BrokenLink(NamedTuple):
    """A link to a missing note, with the paths it may mean; `text` is the target as written."""

    row: LinkRow
    text: str
    candidates: tuple[str, ...] = ()


def character_pairs(name: str) -> list[str]:
    """The character pairs of a name, without case and diacritics; borders and non-letters are the
    same mark.
    """
    marked = [c if c.isalnum() or not c.isascii() else BORDER for c in fold(name)]
    plain = f"{BORDER}{''.join(marked)[:LONGEST]}{BORDER}"
    return [first + second for first, second in pairwise(plain)]


class SimilarName(NamedTuple):
    """A name as it is spelled, and the path of its note."""

    name: str
    path: str


class _Similarity(NamedTuple):
    """How similar a name is; sorted, the most similar is last."""

    ratio: float
    spelled: str
    path: str


def suggest_names(
    index: "NoteIndex", name: str, limit: int, least: float = LEAST_SIMILARITY
) -> list[SimilarName]:
    """Names at least so similar to `name`, most similar first, with the paths of their notes, each
    note once.
    """
    wanted = fold(note_name(name.strip()))[:LONGEST]
    near = index.names.with_ids(_names_sharing_pairs(index, wanted))
    similar: list[_Similarity] = []
    for known in near:
        ratio = difflib.SequenceMatcher(None, fold(known.spelled), wanted).ratio()
        if ratio >= least:
            similar.append(_Similarity(ratio, known.spelled, known.path))
    similar.sort(key=lambda each: (-each.ratio, each.spelled, each.path))
    notes: dict[str, str] = {}
    for each in similar:
        notes.setdefault(each.path, each.spelled)
    return [SimilarName(spelled, path) for path, spelled in notes.items()][:limit]


def _names_sharing_pairs(index: "NoteIndex", wanted: str) -> list[int]:
    """The numbers of the names that share the most and rarest trigrams and pairs with a folded
    name. They are weighted here: FTS5's ranking takes five times as long.
    """
    pairs = character_pairs(wanted) if wanted else []
    groups = dict.fromkeys((*map(" ".join, pairwise(pairs)), *pairs))
    found = [index.names.with_pairs(group, MOST_NAMES + 1) for group in groups]
    shared: dict[int, float] = defaultdict(float)
    budget = 3 * MOST_NAMES
    for ids in sorted(filter(None, found), key=len):
        budget -= len(ids)
        if len(ids) > MOST_NAMES or budget < 0:
            break
        for id_ in ids:
            shared[id_] += 1 / math.log(len(ids) + 2)
    return sorted(shared, key=lambda id_: (-shared[id_], id_))[:MOST_COMPARED_NAMES]


def certain_target(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a broken target certainly means, if any: its name is very similar, far
    more so than the next one, and its digits are the same, because the notes of two days differ
    only in them.
    """
    wanted = _letters_and_digits(text)
    if not wanted or is_attachment(text) or not candidates:
        return None
    ratios: dict[str, float] = {}
    for path in candidates:
        matcher = difflib.SequenceMatcher(None, wanted, _letters_and_digits(path), autojunk=False)
        ratios[path] = matcher.ratio()
    best = max(ratios, key=ratios.__getitem__)
    first = ratios.pop(best)
    second = max(ratios.values(), default=0.0)
    is_ahead = first - second >= CERTAIN_LEAD or first == 1 > second
    if first < CERTAIN_SIMILARITY or not is_ahead:
        return None
    return best if _digits(wanted) == _digits(_letters_and_digits(best)) else None


def is_attachment(text: str) -> bool:
    """Whether a target is written like a file that is not a note, such as a picture or a canvas."""
    return (
        PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES)
        and _EXTENSION.search(text) is not None
    )


def _digits(text: str) -> list[str]:
    return [character for character in text if character.isdigit()]


def _letters_and_digits(name: str) -> str:
    return "".join(c for c in fold(note_name(name)) if c.isalnum())[:LONGEST]
