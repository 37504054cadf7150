"""Completion of a link being typed: notes by file name, alias, title and path."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.fuzzy import FuzzyMatcher
from zkchat_cli.vault.links.wikilinks import stem, strip_suffix

NEWEST = 500
"""Chunks whose notes are offered before anything is typed."""


class Completion(NamedTuple):
    """A matching name, the path of its note, and what a link to the note is written as; `kind` is what the name is to the note."""

    name: str
    path: str
    link: str
    kind: Literal["name", "alias", "title"] = "name"


class NoteCompleter:
    """The names of all notes at one moment. A note that shares its name with others is linked by its path."""

    def __init__(self, notes: Sequence[tuple[str, str]], aliases: Iterable[tuple[str, str]], newest: Sequence[str]) -> None:
        """`notes` are paths with titles, `aliases` names with paths, `newest` the paths changed last."""
        paths = [path for path, _ in notes]
        stems = [stem(path) for path in paths]
        folded = [words.fold(name) for name in stems]
        counts = Counter(folded)
        whole = [strip_suffix(path) for path in paths]
        links = {path: long if counts[key] > 1 else name for path, name, key, long in zip(paths, stems, folded, whole, strict=True)}
        self._notes = [Completion(name, path, links[path]) for name, path in zip(stems, paths, strict=True)]
        self._newest = [Completion(stem(path), path, links[path]) for path in newest if path in links]
        others = [Completion(name, path, links[path], "alias") for name, path in aliases if path in links]
        known = {(words.fold(alias.name), alias.path) for alias in others}
        for (path, title), key in zip(notes, folded, strict=True):
            if (new := words.fold(title)) != key and (new, path) not in known:
                others.append(Completion(title, path, links[path], "title"))
        self._all = [*self._notes, *others]
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._paths = FuzzyMatcher(whole)

    @classmethod
    def of(cls, index: IndexDatabase) -> "NoteCompleter":
        newest = """SELECT path FROM (SELECT note_id, max(id) AS last FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                        GROUP BY note_id) JOIN notes ON notes.id = note_id ORDER BY last DESC"""
        return cls(
            index.rows("SELECT path, title FROM notes ORDER BY path"),
            index.rows("SELECT spelled, path FROM names WHERE kind = 'alias' ORDER BY key, path"),
            [path for (path,) in index.rows(newest, NEWEST)],
        )

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths if a `/` was typed or no name matches; the newest notes for nothing typed."""
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        found = [] if "/" in typed else [self._all[number] for number in self._names.find(typed, limit)]
        return found or [self._notes[number] for number in self._paths.find(typed, limit)]
