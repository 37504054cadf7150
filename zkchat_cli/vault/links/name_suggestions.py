"""The notes that typed letters, a misspelt name or a broken link may mean.

The index has the character pairs of every name and alias; two consecutive pairs are a trigram. The
search goes by the rarest of them.
"""

import difflib
import json
import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.index.values import LinkRow
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, note_name, strip_suffix

BORDER = "·"
# Names with a group of characters, beyond which it is too common; all groups together may have
# three times as many
MOST_NAMES = 2_000
MOST_COMPARED_NAMES = 30
# Of names worth suggesting, and of those likelier meant than a note of a similar meaning
LEAST_SIMILARITY = 0.4
TYPO_SIMILARITY = 0.6
# Of a name that is meant for certain, and by how much more than of the next one
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
    plain = "".join(c if c.isalnum() or not c.isascii() else BORDER for c in words.fold(name))[
        :LONGEST
    ]
    plain = f"{BORDER}{plain}{BORDER}"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


class SimilarName(NamedTuple):
    """A name as it is spelled, and the path of its note."""

    name: str
    path: str


def suggest_names(
    index: IndexDatabase, name: str, limit: int, least: float = LEAST_SIMILARITY
) -> list[SimilarName]:
    """Names at least so similar to `name`, most similar first, with the paths of their notes, each
    note once.

    Those are compared that share the most and rarest trigrams and pairs. They are weighted here:
    FTS5's ranking takes five times as long.
    """
    wanted = words.fold(note_name(name.strip()))[:LONGEST]
    pairs = character_pairs(wanted) if wanted else []
    sql = "SELECT rowid FROM name_pairs WHERE name_pairs MATCH ? LIMIT ?"
    groups = dict.fromkeys((*map(" ".join, pairwise(pairs)), *pairs))
    found = [[row for (row,) in index.rows(sql, f'"{group}"', MOST_NAMES + 1)] for group in groups]
    shared: dict[int, float] = defaultdict(float)
    budget = 3 * MOST_NAMES
    for rows in sorted(filter(None, found), key=len):
        budget -= len(rows)
        if len(rows) > MOST_NAMES or budget < 0:
            break
        for row in rows:
            shared[row] += 1 / math.log(len(rows) + 2)
    best = sorted(shared, key=lambda row: (-shared[row], row))[:MOST_COMPARED_NAMES]
    sql = (
        "SELECT spelled, names.path FROM json_each(?) AS wanted CROSS JOIN names ON "
        "names.rowid = wanted.value"
    )
    near = index.rows(sql, json.dumps(best))
    ranked = sorted(
        (-difflib.SequenceMatcher(None, words.fold(spelled), wanted).ratio(), spelled, path)
        for spelled, path in near
    )
    notes: dict[str, str] = {}
    for negative, spelled, path in ranked:
        if negative <= -least:
            notes.setdefault(path, spelled)
    return [SimilarName(spelled, path) for path, spelled in notes.items()][:limit]


def certain_target(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a broken target certainly means, if any: its name is very similar, far
    more so than the next one, and its digits are the same, because the notes of two days differ
    only in them.
    """
    wanted = _letters_and_digits(text)
    if not wanted or is_attachment(text):
        return None
    names = {path: _letters_and_digits(path) for path in candidates}
    ratios = {
        path: difflib.SequenceMatcher(None, wanted, name, autojunk=False).ratio()
        for path, name in names.items()
    }
    first, second = sorted((*ratios.values(), 0.0, 0.0), reverse=True)[:2]
    path = max(names, key=ratios.__getitem__, default="")
    is_ahead = first - second >= CERTAIN_LEAD or first == 1 > second
    has_same_digits = [c for c in wanted if c.isdigit()] == [
        c for c in names.get(path, "") if c.isdigit()
    ]
    return path if first >= CERTAIN_SIMILARITY and is_ahead and has_same_digits else None


def is_attachment(text: str) -> bool:
    """Whether a target is written like a file that is not a note, such as a picture or a canvas."""
    return (
        PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES)
        and _EXTENSION.search(text) is not None
    )


def _letters_and_digits(name: str) -> str:
    return "".join(c for c in words.fold(note_name(name)) if c.isalnum())[:LONGEST]


# Chunks whose notes are offered before anything is typed
NEWEST_CHUNKS = 500
_NON_WORD = re.compile(r"[\W_]+")


class Completion(NamedTuple):
    """A matching name, the path of its note, and what a link to the note is written as; `kind` is
    what the name is to the note.
    """

    name: str
    path: str
    link: str
    kind: Literal["name", "alias", "title"] = "name"


class NoteCompleter:
    """The names of all notes at one moment. A note that shares its name with others is linked by
    its path.
    """

    def __init__(self, index: IndexDatabase) -> None:
        paths = index.paths()
        counts = Counter(words.fold(note_name(path)) for path in paths)
        links = {
            path: strip_suffix(path) if counts[words.fold(note_name(path))] > 1 else note_name(path)
            for path in paths
        }
        newest = """SELECT path FROM (SELECT note_id, max(id) AS last FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                        GROUP BY note_id) JOIN notes ON notes.id = note_id ORDER BY last DESC"""
        named = index.rows(
            "SELECT spelled, path, kind FROM names WHERE kind IN ('alias', 'title') ORDER "
            "BY kind, key, path"
        )
        self._newest = [
            Completion(note_name(path), path, links[path])
            for (path,) in index.rows(newest, NEWEST_CHUNKS)
        ]
        self._notes = [Completion(note_name(path), path, links[path]) for path in paths]
        self._all = [
            *self._notes,
            *(Completion(name, path, links[path], kind) for name, path, kind in named),
        ]
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._paths = FuzzyMatcher(map(strip_suffix, paths))

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths if a `/` was typed or no name matches; the newest notes for
        nothing typed.
        """
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        found = (
            [] if "/" in typed else [self._all[number] for number in self._names.find(typed, limit)]
        )
        return found or [self._notes[number] for number in self._paths.find(typed, limit)]


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count. Texts are the lines of one
    string, which is ten times as fast.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        lines = ["\n " + _normalize(text) for text in texts]
        self._text = "".join(lines)
        self._starts = list(accumulate(map(len, lines), initial=0))

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order: first those
        that begin with what is typed, then those with a word that does, those that contain it, and
        others; the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._starts) - 1, max(limit, 0))))
        letters = wanted.replace(" ", "")
        # Never goes back
        in_order = letters[0] + "".join(f"[^{letter}\n]*+{letter}" for letter in letters[1:])
        found: dict[int, None] = {}
        for pattern in (f"\n {wanted}", f" {wanted}", wanted, in_order):
            matches = re.finditer(rf"{pattern}[^\n]*+", self._text)
            numbers = [bisect_right(self._starts, match.start()) - 1 for match in matches]
            found |= dict.fromkeys(
                sorted(numbers, key=lambda number: self._starts[number + 1] - self._starts[number])
            )
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
