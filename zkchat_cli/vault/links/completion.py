"""Completion of a link being typed: notes by file name, alias, title and path."""

from collections import Counter
from typing import Literal, NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.fuzzy import FuzzyMatcher
from zkchat_cli.vault.links.wikilinks import note_name, strip_suffix

NEWEST_CHUNKS = 500
"""Chunks whose notes are offered before anything is typed."""


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
        file_names = [note_name(path) for path in paths]
        counts = Counter(map(words.fold, file_names))
        links = {path: strip_suffix(path) if counts[words.fold(name)] > 1 else name for path, name in zip(paths, file_names, strict=True)}
        newest = """SELECT path FROM (SELECT note_id, max(id) AS last FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                        GROUP BY note_id) JOIN notes ON notes.id = note_id ORDER BY last DESC"""
        named = index.rows("SELECT spelled, path, kind FROM names WHERE kind IN ('alias', 'title') ORDER BY kind, key, path")
        self._newest = [Completion(note_name(path), path, links[path]) for (path,) in index.rows(newest, NEWEST_CHUNKS)]
        self._notes = [Completion(name, path, links[path]) for name, path in zip(file_names, paths, strict=True)]
        self._all = [*self._notes, *(Completion(name, path, links[path], kind) for name, path, kind in named)]
        self._names = FuzzyMatcher(completion.name for completion in self._all)
        self._paths = FuzzyMatcher(map(strip_suffix, paths))

    def find(self, typed: str, limit: int) -> list[Completion]:
        """The best names first; paths if a `/` was typed or no name matches; the newest notes for nothing typed."""
        if not typed.strip():
            return self._newest[: max(limit, 0)]
        found = [] if "/" in typed else [self._all[number] for number in self._names.find(typed, limit)]
        return found or [self._notes[number] for number in self._paths.find(typed, limit)]
