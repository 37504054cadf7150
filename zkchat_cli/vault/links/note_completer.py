"""The notes that typed letters may mean."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.vault.links.wikilinks import note_name, strip_suffix

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex

# The notes of so many of the newest chunks are offered before anything is typed
NEWEST_CHUNKS = 500
# Characters of a name that are compared
LONGEST = 200
_NON_WORD = re.compile(r"[\W_]+")

CompletionKind = Literal["name", "alias", "title"]


class Completion(NamedTuple):
    """A matching name, the path of its note, and what a link to the note is written as; `kind` is
    what the name is to the note.
    """

    name: str
    path: str
    link: str
    kind: CompletionKind = "name"


class NoteCompleter:
    """The names of all notes at one moment. A note that shares its name with others is linked by
    its path.
    """

    def __init__(self, index: "NoteIndex") -> None:
        paths = index.note_paths()
        links = _shortest_links(paths)
        newest = index.newest_notes(NEWEST_CHUNKS)
        self._newest = [Completion(note_name(path), path, links[path]) for path in newest]
        self._notes = [Completion(note_name(path), path, links[path]) for path in paths]
        self._all = list(self._notes)
        for named in index.names.aliases_and_titles():
            kind: CompletionKind = "alias" if named.kind == "alias" else "title"
            self._all.append(Completion(named.spelled, named.path, links[named.path], kind))
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._paths = FuzzyMatcher(map(strip_suffix, paths))

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths if a `/` was typed or no name matches; the newest notes for
        nothing typed.
        """
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        if "/" not in typed:
            numbers = self._names.find(typed, limit)
            if numbers:
                return [self._all[number] for number in numbers]
        return [self._notes[number] for number in self._paths.find(typed, limit)]


def _shortest_links(paths: Sequence[str]) -> dict[str, str]:
    """What a link to each note is written as: its name, or its path if others have that name."""
    counts = Counter(fold(note_name(path)) for path in paths)
    links: dict[str, str] = {}
    for path in paths:
        name = note_name(path)
        links[path] = strip_suffix(path) if counts[fold(name)] > 1 else name
    return links


class FuzzyMatcher:
    """Finds texts by some of their letters. Case, diacritics and the characters between words do
    not count. The texts are the lines of one string, which is ten times as fast as a list.
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
            found |= dict.fromkeys(sorted(numbers, key=self._length))
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]

    def _length(self, number: int) -> int:
        return self._starts[number + 1] - self._starts[number]


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", fold(text[:LONGEST]))
