"""The names nearest to a misspelt one.

They are found by pairs of neighbouring characters, which the index holds of every name and alias: two pairs that follow each other are
three characters. What is common among a hundred thousand names tells little and costs much, so nearest names are looked for by the rarest
threes and pairs. What a name half typed may become is another question: see completing.py.
"""

import difflib
import json
import math
from collections import defaultdict
from itertools import pairwise

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import stem

BORDER = "·"
MOST_NAMES = 2_000
"""Names that a group of characters may stand in and still be worth looking for, and all such groups of a name together thrice that."""
ENOUGH = 4
"""Groups of three characters that do; with fewer, pairs are looked for, too."""
CLOSER_LOOK = 30
LEAST_LIKENESS = 0.4
_LONGEST = 200


def pairs(name: str) -> list[str]:
    """The pairs of neighbouring characters of a name, without case and diacritics; its borders and whatever is no letter are one mark."""
    plain = f"{BORDER}{_plain(name)}{BORDER}"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


def suggest_names(index: IndexDatabase, name: str, limit: int) -> list[tuple[str, str]]:
    """Names like `name`, the likest first, with the paths of their notes, each note once; none that are not like it at all."""
    wanted = words.fold(stem(name.strip()))[:_LONGEST]
    similar = _sharing_rare_groups(index, wanted) if wanted else []
    matcher = difflib.SequenceMatcher(None, b=wanted)
    likeness: list[tuple[float, str, str]] = []
    for near, path in similar:
        matcher.set_seq1(words.fold(near))
        likeness.append((-matcher.ratio(), near, path))
    notes: dict[str, str] = {}
    for unlikeness, near, path in sorted(likeness):
        if unlikeness <= -LEAST_LIKENESS:
            notes.setdefault(path, near)
    return [(near, path) for path, near in notes.items()][:limit]


def _sharing_rare_groups(index: IndexDatabase, name: str) -> list[tuple[str, str]]:
    """Names that share most of the rarest groups of characters with `name`, for a closer look.

    Rows are fetched unranked and counted here, each group by its rarity: FTS5's own ranking takes five times as long.
    """
    twos = pairs(name)
    found = {group: _rows_with(index, group) for group in dict.fromkeys(_phrase(*both) for both in pairwise(twos))}
    if sum(0 < len(rows) <= MOST_NAMES for rows in found.values()) < ENOUGH:  # a short name, or one with a slip in each three
        found.update((group, _rows_with(index, group)) for group in dict.fromkeys(map(_phrase, twos)))
    shared: dict[int, float] = defaultdict(float)
    room = 3 * MOST_NAMES
    for rows in sorted((rows for rows in found.values() if 0 < len(rows) <= MOST_NAMES), key=len):
        room -= len(rows)
        if room < 0:
            break
        for row in rows:
            shared[row] += 1 / math.log(len(rows) + 2)
    best = sorted(shared, key=lambda row: (-shared[row], row))[:CLOSER_LOOK]
    sql = "SELECT spelled, names.path FROM json_each(?) AS wanted CROSS JOIN names ON names.rowid = wanted.value"
    return [(spelled, path) for spelled, path in index.rows(sql, json.dumps(best))] if best else []


def _rows_with(index: IndexDatabase, group: str) -> list[int]:
    return [row for (row,) in index.rows("SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?", group, MOST_NAMES + 1)]


def _phrase(*groups: str) -> str:
    return '"' + " ".join(groups) + '"'


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or not c.isascii() else BORDER for c in words.fold(name))[:_LONGEST]
