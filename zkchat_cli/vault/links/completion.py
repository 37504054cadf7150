"""What a link being typed may become: notes by name, alias, title and path, a heading of a note, a file."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.fuzzy import FuzzyMatcher
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, stem

NEWEST = 500
"""Chunks whose notes are kept for when nothing has been typed yet."""


class Completion(NamedTuple):
    """A name that has the letters typed, the note it leads to, and what a link to that note is written as.

    `kind` says whose name it is: the note's own, or an alias or the title in its text.
    """

    name: str
    path: str
    link: str
    kind: Literal["name", "alias", "title"] = "name"


class Completions:
    """The names of all notes at one moment. A note whose name others have too is linked by its path."""

    def __init__(self, notes: Sequence[tuple[str, str]], aliases: Iterable[tuple[str, str]], newest: Sequence[str]) -> None:
        """`notes` are paths with titles, `aliases` come with the path of their note, `newest` are the paths that changed last."""
        self.paths = [path for path, _ in notes]
        stems = [stem(path) for path in self.paths]
        folded = [words.fold(name) for name in stems]
        shared = Counter(folded)
        whole = [_without_suffix(path) for path in self.paths]
        links = {path: long if shared[key] > 1 else name for path, name, key, long in zip(self.paths, stems, folded, whole, strict=True)}
        self._notes = [Completion(name, path, links[path]) for name, path in zip(stems, self.paths, strict=True)]
        self._newest = [Completion(stem(path), path, links[path]) for path in newest if path in links]
        others = [Completion(name, path, links[path], "alias") for name, path in aliases if path in links]
        known = {(words.fold(alias.name), alias.path) for alias in others}
        for (path, title), key in zip(notes, folded, strict=True):
            if (new := words.fold(title)) != key and (new, path) not in known:
                others.append(Completion(title, path, links[path], "title"))
        self._all = [*self._notes, *others]
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._by_path = FuzzyMatcher(whole)

    @classmethod
    def of(cls, index: IndexDatabase) -> "Completions":
        newest = """SELECT path FROM (SELECT note_id, max(id) AS last FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                        GROUP BY note_id) JOIN notes ON notes.id = note_id ORDER BY last DESC"""
        return cls(
            index.rows("SELECT path, title FROM notes ORDER BY path"),
            index.rows("SELECT spelled, path FROM names WHERE kind = 'alias' ORDER BY key, path"),
            [path for (path,) in index.rows(newest, NEWEST)],
        )

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths when a `/` was typed, or no name has the letters. For nothing typed, the newest notes."""
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        found = [] if "/" in typed else [self._all[number] for number in self._names.find(typed, limit)]
        return found or [self._notes[number] for number in self._by_path.find(typed, limit)]


def _without_suffix(path: str) -> str:
    return next((path[: -len(suffix)] for suffix in NOTE_SUFFIXES if path.lower().endswith(suffix)), path)
