"""The list of the notes, by folder, tag and date."""

import difflib
import posixpath
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.text import words
from zkchat_cli.text.dates import Period
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.values import NoteEntry, NoteFilter

# Folders or tags that an error names
MOST_NAMED = 5
MOST_SIMILAR = 3
LEAST_SIMILARITY = 0.4
LONGEST_COMPARED = 200


class NoteCatalog:
    """Lists the notes of a vault. `today` says what "last week" means."""

    def __init__(self, index: IndexManager, today: Callable[[], date]) -> None:
        self._index = index
        self._today = today

    def list_notes(
        self, folder: str = "", tag: str = "", since: str = "", until: str = ""
    ) -> list[NoteEntry]:
        """The notes below a folder, with a tag or one nested in it, and a date from `since` through
        `until` ("2024-05-01", "last week"), by path. Raises VaultError for a folder or tag that no
        note has, UsageError for what is no date.
        """
        below = posixpath.normpath(replace_surrogates(folder).strip().strip("/"))
        if below == ".":
            below = ""
        wanted_tag = words.fold(replace_surrogates(tag).strip().strip("#/"))
        wanted = NoteFilter(
            folder=below,
            tags=(wanted_tag,) if wanted_tag else (),
            period=self._read_period(since, until),
        )
        found = self._index.ask(lambda index: index.list_notes(wanted))
        if not found:
            self._refuse_unknown_folder(folder, below)
            self._refuse_unknown_tag(tag, wanted_tag)
        return found

    def tags(self) -> list[str]:
        """All tags without `#`, the most frequent first."""
        counts = self._index.ask(lambda index: index.tag_counts())
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    def _read_period(self, since: str, until: str) -> Period | None:
        """The days from `since` through `until`; None for all. Raises UsageError for what is no
        date.
        """
        from zkchat_cli.vault.search.query import read_date

        if not (since or until):
            return None
        first = date.min
        last = date.max
        if since:
            first = read_date("since", since, self._today()).first
        if until:
            last = read_date("until", until, self._today()).last
        return Period(first, last)

    def _refuse_unknown_folder(self, written: str, folder: str) -> None:
        """Raises VaultError if no note is below the folder."""
        paths = self._index.ask(lambda index: index.note_paths())
        folders = {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
        folders.discard(".")
        if folder and folder not in folders:
            raise _unknown_name("folder", written, sorted(folders))

    def _refuse_unknown_tag(self, written: str, tag: str) -> None:
        """Raises VaultError if no note has the folded tag or one nested in it."""
        known = self.tags()
        if tag and not _has_nested(tag, map(words.fold, known)):
            raise _unknown_name("tag", written, known)


def _has_nested(tag: str, known: Iterable[str]) -> bool:
    return any(f"{each}/".startswith(f"{tag}/") for each in known)


def _unknown_name(kind: str, name: str, known: list[str]) -> VaultError:
    """The error about a folder or tag that no note has, with those that it may mean."""
    compared = name[:LONGEST_COMPARED]
    near = difflib.get_close_matches(compared, known, MOST_SIMILAR, LEAST_SIMILARITY) or known
    hint = "No note has any."
    if near:
        more = ", …" if len(near) > MOST_NAMED else ""
        hint = f"There are: {', '.join(near[:MOST_NAMED])}{more}"
    return VaultError(f"no note has the {kind} {filesystem.short_path(name)}", hint)
