"""Completion of a link being typed: notes by file name, alias, title and path, matched fuzzily."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import note_name, strip_suffix

NEWEST_CHUNKS = 500  # chunks whose notes are offered before anything is typed
LONGEST = 200  # characters of a text, and of what is typed, that count
_NON_WORD = re.compile(r"[\W_]+")


class Completion(NamedTuple):
    """A matching name, the path of its note, and what a link to the note is written as; `kind` is what the name is to the note."""

    name: str
    path: str
    link: str
    kind: Literal["name", "alias", "title"] = "name"


class NoteCompleter:
    """The names of all notes at one moment. A note that shares its name with others is linked by its path."""

    def __init__(self, index: IndexDatabase) -> None:
        paths = index.paths()
        counts = Counter(words.fold(note_name(path)) for path in paths)
        links = {path: strip_suffix(path) if counts[words.fold(note_name(path))] > 1 else note_name(path) for path in paths}
        newest = """SELECT path FROM (SELECT note_id, max(id) AS last FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                        GROUP BY note_id) JOIN notes ON notes.id = note_id ORDER BY last DESC"""
        named = index.rows("SELECT spelled, path, kind FROM names WHERE kind IN ('alias', 'title') ORDER BY kind, key, path")
        self._newest = [Completion(note_name(path), path, links[path]) for (path,) in index.rows(newest, NEWEST_CHUNKS)]
        self._notes = [Completion(note_name(path), path, links[path]) for path in paths]
        self._all = [*self._notes, *(Completion(name, path, links[path], kind) for name, path, kind in named)]
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._paths = FuzzyMatcher(map(strip_suffix, paths))

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths if a `/` was typed or no name matches; the newest notes for nothing typed."""
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        found = [] if "/" in typed else [self._all[number] for number in self._names.find(typed, limit)]
        return found or [self._notes[number] for number in self._paths.find(typed, limit)]


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count. The texts are searched as the lines of one string: to search them one
    by one takes ten times as long."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = ["\n " + _normalize(text) for text in texts]
        self._text, self._starts = "".join(lines), list(accumulate(map(len, lines), initial=0))

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, those that contain it, and those with its letters
        anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._starts) - 1, max(limit, 0))))
        letters = wanted.replace(" ", "")
        in_order = letters[0] + "".join(f"[^{letter}\n]*+{letter}" for letter in letters[1:])  # never goes back
        found: dict[int, None] = {}
        for pattern in (f"\n {wanted}", f" {wanted}", wanted, in_order):
            matches = re.finditer(rf"{pattern}[^\n]*+", self._text)
            numbers = [bisect_right(self._starts, match.start()) - 1 for match in matches]
            found |= dict.fromkeys(sorted(numbers, key=lambda number: self._starts[number + 1] - self._starts[number]))
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
