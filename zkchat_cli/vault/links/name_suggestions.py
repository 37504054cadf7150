"""What a misspelt name or a broken link may mean.

The index has the character pairs of every name and alias; two consecutive pairs are a trigram. A group that is common among a hundred
thousand names says little and costs much, so the search goes by the rarest trigrams and pairs.
"""

import difflib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.index.database import IndexDatabase, LinkRow
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, note_name

BORDER = "·"
MOST_NAMES = 2_000  # Names with a group of characters, beyond which it is too common; all groups together may have three times as many
ENOUGH_TRIGRAMS = 4  # usable trigrams; with fewer, pairs are searched, too
MOST_COMPARED_NAMES = 30
LEAST_SIMILARITY, TYPO_SIMILARITY = 0.4, 0.6
"""Of names worth suggesting, and of those that are likelier meant than a note of a similar meaning."""
CERTAIN_SIMILARITY, CERTAIN_LEAD = 0.85, 0.08
"""How similar a name must be to mean a note for certain, and by how much more than the next one."""
LONGEST = 200  # characters of a name that are compared
_EXTENSION = lazy_pattern(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,12}$")


class BrokenLink(NamedTuple):
    """A link to a missing note, with the paths it may mean; `text` is the target as written."""

    row: LinkRow
    text: str
    candidates: tuple[str, ...] = ()


def character_pairs(name: str) -> list[str]:
    """The character pairs of a name, without case and diacritics; borders and non-letters are the same mark."""
    plain = "".join(c if c.isalnum() or not c.isascii() else BORDER for c in words.fold(name))[:LONGEST]
    plain = f"{BORDER}{plain}{BORDER}"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


def suggest_names(index: IndexDatabase, name: str, limit: int, least: float = LEAST_SIMILARITY) -> list[tuple[str, str]]:
    """Names at least so similar to `name`, most similar first, with the paths of their notes, each note once."""
    wanted = words.fold(note_name(name.strip()))[:LONGEST]
    matcher = difflib.SequenceMatcher(None, b=wanted)
    ranked: list[tuple[float, str, str]] = []
    for near, path in _sharing_rare_groups(index, wanted) if wanted else ():
        matcher.set_seq1(words.fold(near))
        ranked.append((-matcher.ratio(), near, path))
    notes: dict[str, str] = {}
    for negative, near, path in sorted(ranked):
        if negative <= -least:
            notes.setdefault(path, near)
    return [(near, path) for path, near in notes.items()][:limit]


def _sharing_rare_groups(index: IndexDatabase, name: str) -> list[tuple[str, str]]:
    """Names that share the most and rarest groups of characters with `name`, and the paths of their notes. Rows are fetched unranked and
    weighted here: FTS5's own ranking takes five times as long."""

    def rows_with(groups: Iterable[str]) -> list[list[int]]:
        """For each group that is not too common the names that have it."""
        sql = "SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?"
        found = ([row for (row,) in index.rows(sql, f'"{group}"', MOST_NAMES + 1)] for group in dict.fromkeys(groups))
        return [rows for rows in found if 0 < len(rows) <= MOST_NAMES]

    pairs = character_pairs(name)
    found = rows_with(map(" ".join, pairwise(pairs)))
    if len(found) < ENOUGH_TRIGRAMS:  # a short name, or a typo in each trigram
        found += rows_with(pairs)
    shared: dict[int, float] = defaultdict(float)
    budget = 3 * MOST_NAMES
    for rows in sorted(found, key=len):
        budget -= len(rows)
        if budget < 0:
            break
        for row in rows:
            shared[row] += 1 / math.log(len(rows) + 2)
    best = sorted(shared, key=lambda row: (-shared[row], row))[:MOST_COMPARED_NAMES]
    sql = "SELECT spelled, names.path FROM json_each(?) AS wanted CROSS JOIN names ON names.rowid = wanted.value"
    return [(spelled, path) for spelled, path in index.rows(sql, json.dumps(best))] if best else []


def certain_target(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a broken target certainly means, if any. Its name is the same except for case, accents, punctuation and folders,
    or very similar and far more so than the next one. Its digits are the same: the notes of two days differ only in them."""
    wanted = _letters_and_digits(text)
    if not wanted or is_attachment(text):
        return None
    names = {path: _letters_and_digits(path) for path in candidates}
    ratios = {path: difflib.SequenceMatcher(None, wanted, name, autojunk=False).ratio() for path, name in names.items()}
    first, second = sorted((*ratios.values(), 0.0, 0.0), reverse=True)[:2]
    path = max(names, key=ratios.__getitem__, default="")
    is_ahead = first - second >= CERTAIN_LEAD or first == 1 > second
    has_same_digits = [c for c in wanted if c.isdigit()] == [c for c in names.get(path, "") if c.isdigit()]
    return path if first >= CERTAIN_SIMILARITY and is_ahead and has_same_digits else None


def is_attachment(text: str) -> bool:
    """Whether a target is written like a file that is not a note, such as a picture or a canvas."""
    return PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES) and _EXTENSION.search(text) is not None


def _letters_and_digits(name: str) -> str:
    return "".join(c for c in words.fold(note_name(name)) if c.isalnum())[:LONGEST]
