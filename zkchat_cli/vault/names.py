"""Names of notes, as people half remember or half type them: the nearest to a misspelt one, the completions of a beginning.

Both go through pairs of neighbouring characters, which the index holds of every name and alias: two pairs that follow each other are three
characters, and any run of pairs is a substring. What is common among a hundred thousand names tells little and costs much, so nearest
names are looked for by the rarest threes and pairs.
"""

import difflib
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli import words
from zkchat_cli.vault.index import Index
from zkchat_cli.vault.wikilinks import fold_name, stem

BORDER = "·"
MOST_NAMES = 2_000
"""Names that a group of characters may stand in and still be worth looking for, and all such groups of a name together thrice that."""
ENOUGH = 4
"""Groups of three characters that do; with fewer, pairs are looked for, too."""
CLOSER_LOOK = 30
LEAST_LIKENESS = 0.4
_LONGEST = 200


class Completion(NamedTuple):
    """A name that begins with or contains what was typed, and the note it leads to; `is_alias`: by an alias in its front matter."""

    name: str
    path: str
    is_alias: bool = False


def pairs(name: str) -> list[str]:
    """The pairs of neighbouring characters of a name, without case and diacritics; its borders and whatever is no letter are one mark."""
    plain = f"{BORDER}{_plain(name)}{BORDER}"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


def nearest(index: Index, name: str, limit: int) -> list[tuple[str, str]]:
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


def complete(index: Index, typed: str, limit: int) -> list[Completion]:
    """Names and aliases that begin with what is typed, then those with a word that does, then those that contain it; with a `/`, paths.

    Nothing typed yet is completed with the notes that changed last.
    """
    found: dict[Completion, None] = {}
    for completion in _completions(index, typed[:_LONGEST], limit):
        found.setdefault(completion)
        if len(found) == limit:
            break
    return list(found)


def _completions(index: Index, typed: str, limit: int) -> Iterator[Completion]:
    wanted = fold_name(typed)
    if not wanted.strip():
        newest = "SELECT id AS chunk, note_id FROM chunks ORDER BY id DESC LIMIT ?"
        sql = f"SELECT path FROM ({newest}) JOIN notes ON id = note_id ORDER BY chunk DESC"
        yield from (Completion(stem(path), path) for (path,) in index.rows(sql, 8 * limit))
        return
    if "/" in wanted:
        sql = "SELECT path FROM notes WHERE path LIKE ? ESCAPE '!' ORDER BY LENGTH(path), path LIMIT ?"
        yield from (Completion(stem(path), path) for (path,) in index.rows(sql, f"%{_for_like(typed)}%", limit))
        return
    sql = "SELECT spelled, path, kind FROM names WHERE key >= ? AND key < ? AND kind != 'file' ORDER BY key, LENGTH(path), path LIMIT ?"
    yield from _named(index.rows(sql, wanted, wanted + "\U0010ffff", limit))
    groups = pairs(typed)
    anywhere = _phrase(*groups[1:-1]) if len(groups) > 2 else f"{_phrase(groups[1][0])} *"
    for expression in (_phrase(*groups[:-1]), anywhere):  # with its left border first
        sql = """SELECT spelled, path, kind FROM (SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?) AS found
                     JOIN names ON names.rowid = found.rowid ORDER BY LENGTH(spelled), spelled, path"""
        yield from _named(index.rows(sql, expression, 4 * limit))


def _named(rows: list[tuple[str, str, str]]) -> Iterator[Completion]:
    return (Completion(spelled, path, kind == "alias") for spelled, path, kind in rows)


def _sharing_rare_groups(index: Index, name: str) -> list[tuple[str, str]]:
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


def _rows_with(index: Index, group: str) -> list[int]:
    return [row for (row,) in index.rows("SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?", group, MOST_NAMES + 1)]


def _phrase(*groups: str) -> str:
    return '"' + " ".join(groups) + '"'


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or not c.isascii() else BORDER for c in words.fold(name))[:_LONGEST]


def _for_like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
