"""The names nearest to a misspelt one.

The index has the character pairs of every name and alias; two consecutive pairs are a trigram. A group that is common among a hundred
thousand names says little and costs much, so the search goes by the rarest trigrams and pairs.
"""

import difflib
import json
import math
from collections import defaultdict
from itertools import pairwise

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import note_name

BORDER = "·"
MOST_NAMES = 2_000
"""Names with a group of characters, beyond which it is too common; all groups together may have three times as many."""
ENOUGH_TRIGRAMS = 4
"""Usable trigrams; with fewer, pairs are searched, too."""
MOST_COMPARED_NAMES = 30
LEAST_SIMILARITY, TYPO_SIMILARITY = 0.4, 0.6
"""Of names worth suggesting, and of those that are likelier meant than a note of a similar meaning."""
_LONGEST = 200


def character_pairs(name: str) -> list[str]:
    """The character pairs of a name, without case and diacritics; borders and non-letters are the same mark."""
    plain = f"{BORDER}{_mark_borders(name)}{BORDER}"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


def suggest_names(index: IndexDatabase, name: str, limit: int, least: float = LEAST_SIMILARITY) -> list[tuple[str, str]]:
    """Names at least so similar to `name`, most similar first, with the paths of their notes, each note once."""
    wanted = words.fold(note_name(name.strip()))[:_LONGEST]
    similar = _sharing_rare_groups(index, wanted) if wanted else []
    matcher = difflib.SequenceMatcher(None, b=wanted)
    ranked: list[tuple[float, str, str]] = []
    for near, path in similar:
        matcher.set_seq1(words.fold(near))
        ranked.append((-matcher.ratio(), near, path))
    notes: dict[str, str] = {}
    for negative, near, path in sorted(ranked):
        if negative <= -least:
            notes.setdefault(path, near)
    return [(near, path) for path, near in notes.items()][:limit]


def _sharing_rare_groups(index: IndexDatabase, name: str) -> list[tuple[str, str]]:
    """Names that share the most and rarest groups of characters with `name`, to be compared.

    Rows are fetched unranked and weighted here: FTS5's own ranking takes five times as long.
    """
    twos = character_pairs(name)
    found = {group: _rows_with(index, group) for group in dict.fromkeys(_phrase(*both) for both in pairwise(twos))}
    if sum(0 < len(rows) <= MOST_NAMES for rows in found.values()) < ENOUGH_TRIGRAMS:  # a short name, or a typo in each trigram
        found.update((group, _rows_with(index, group)) for group in dict.fromkeys(map(_phrase, twos)))
    shared: dict[int, float] = defaultdict(float)
    budget = 3 * MOST_NAMES
    for rows in sorted((rows for rows in found.values() if 0 < len(rows) <= MOST_NAMES), key=len):
        budget -= len(rows)
        if budget < 0:
            break
        for row in rows:
            shared[row] += 1 / math.log(len(rows) + 2)
    best = sorted(shared, key=lambda row: (-shared[row], row))[:MOST_COMPARED_NAMES]
    sql = "SELECT spelled, names.path FROM json_each(?) AS wanted CROSS JOIN names ON names.rowid = wanted.value"
    return [(spelled, path) for spelled, path in index.rows(sql, json.dumps(best))] if best else []


def _rows_with(index: IndexDatabase, group: str) -> list[int]:
    return [row for (row,) in index.rows("SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?", group, MOST_NAMES + 1)]


def _phrase(*groups: str) -> str:
    return '"' + " ".join(groups) + '"'


def _mark_borders(name: str) -> str:
    return "".join(c if c.isalnum() or not c.isascii() else BORDER for c in words.fold(name))[:_LONGEST]
