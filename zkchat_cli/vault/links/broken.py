"""Broken links, with suggestions."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.index.database import IndexDatabase, LinkRow
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, note_name

CERTAIN_SIMILARITY, CERTAIN_LEAD = 0.85, 0.08
"""How similar a name must be to mean a note for certain, and by how much more than the next one."""
COMPARED_CHARACTERS = 200
"""Characters of a name."""
MOST_SUGGESTED = 1000
"""Broken names that get suggestions, at 3 ms each."""
_EXTENSION = lazy_pattern(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,12}$")


class BrokenLink(NamedTuple):
    """A link to a missing note, with the paths it may mean; `text` is the target as written."""

    row: LinkRow
    text: str
    candidates: tuple[str, ...] = ()

    def with_candidates(self, paths: Iterable[str]) -> "BrokenLink":
        """A link to an attachment never means a note, and no link means the note that it is in."""
        possible = (path for path in paths if path != self.row.source and not (is_attachment(self.text) and path.endswith(NOTE_SUFFIXES)))
        return self._replace(candidates=tuple(possible))


def find_broken_links(index: IndexDatabase) -> list[BrokenLink]:
    """Links to notes and files that do not exist, without candidates."""
    texts: dict[str, str] = dict(index.rows("SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"))
    return [BrokenLink(row, texts[row.raw]) for row in index.broken_links()]


def certain_target(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a broken target certainly means, if any.

    Its name is the same except for case, accents, punctuation and folders, or very similar and far more so than the next one. Its digits
    are the same: the notes of two days differ only in them.
    """
    wanted = _letters_and_digits(text)
    if not wanted or is_attachment(text):
        return None
    names = {path: _letters_and_digits(path) for path in candidates}
    same = [path for path, name in names.items() if name == wanted]
    if same:
        return same[0] if len(same) == 1 else None
    ranked = sorted(((SequenceMatcher(None, wanted, name, autojunk=False).ratio(), path) for path, name in names.items()), reverse=True)
    (first, path), (second, _) = [*ranked, (0.0, ""), (0.0, "")][:2]
    has_same_digits = [c for c in wanted if c.isdigit()] == [c for c in names.get(path, "") if c.isdigit()]
    return path if first >= CERTAIN_SIMILARITY and first - second >= CERTAIN_LEAD and has_same_digits else None


def is_attachment(text: str) -> bool:
    """Whether a target is written like a file that is not a note, such as a picture or a canvas."""
    return PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES) and _EXTENSION.search(text) is not None


def _letters_and_digits(name: str) -> str:
    return "".join(c for c in words.fold(note_name(name)) if c.isalnum())[:COMPARED_CHARACTERS]
