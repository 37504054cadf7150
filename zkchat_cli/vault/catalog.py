"""The list of the notes, by folder, tag, date, subject, property and link."""

import difflib
import posixpath
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period, find_period
from zkchat_cli.text.note_titles import kinds_named_by
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.values import NoteEntry, NoteFilter

# Folders or tags that an error names
MOST_NAMED = 5
MOST_SIMILAR = 3
LEAST_SIMILARITY = 0.4
LONGEST_COMPARED = 200
# A word, or several in quotation marks, that notes must not have
_EXCLUDED = lazy_pattern(r'(?<!\S)-(?:"([^"]+)"|(\w\S*))')
# "title:machine" or "title:meeting|sitzung": the title names the kind of the note
_TITLED = lazy_pattern(r"(?<!\S)title:(\S+)")


class NoteSelection(NamedTuple):
    """The wanted notes: below a folder, with a tag or one nested in it, and a date from `since`
    through `until` ("2024-05-01", "last week"). Empty fields allow all, several tags only notes
    that have them all. As in a search, "-" before
    a folder, a tag, a property or a word excludes the notes that have it; "-" alone as a tag
    excludes all with any tag.
    """

    folder: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    # Words that a part of the note, or its names, must have, in any form: "roof -tiles". With
    # "title:machine", only notes with titles such as "Machine - nas"
    about: str = ""
    # "status: open", or only the name of a property; "status: open | lent" allows either,
    # and "type: book; -status: read" wants both
    property: str = ""
    # The path of a note that they link to
    links_to: str = ""
    # The latest date first, instead of by path; of those about something, the named ones first
    newest: bool = False
    # The path of a note that they do not link to; empty for notes that link to no note at all
    lacks_links_to: str | None = None
    # The earliest date first
    oldest: bool = False
    # The path of a note that links to them; empty for notes that no other note links to
    linked_from: str | None = None


class NoteCatalog:
    """Lists the notes of a vault. `today` says what "last week" means."""

    def __init__(self, root: Path, index: IndexManager, today: Callable[[], date]) -> None:
        self._root = root
        self._index = index
        self._today = today

    def list_notes(self, wanted: NoteSelection) -> list[NoteEntry]:
        """The wanted notes, by path; those about something, by how they are: first those that are
        named so. Raises VaultError for a folder or tag that no note has, UsageError for what is no
        date, and for a property that is compared with what is no number.
        """
        # Deferred: few lists need it, and the prompt comes first
        from zkchat_cli.vault.note_properties import check_comparison, has_property

        found = self._filter(wanted.folder, wanted.tag, wanted.since, wanted.until)
        if wanted.links_to:
            sources = self._sources_of_links(wanted.links_to)
            found = [note for note in found if note.path in sources]
        if wanted.lacks_links_to is not None:
            sources = self._linking_notes(wanted.lacks_links_to, found)
            found = [note for note in found if note.path not in sources]
        if wanted.linked_from is not None:
            found = self._linked_notes(wanted.linked_from, found)
        if wanted.about:
            found = self._with_words(wanted.about, found)
        for each in filter(None, map(str.strip, wanted.property.split(";"))):
            is_wanted = not each.startswith("-")
            name = each.removeprefix("-").strip()
            check_comparison(name)
            found = [
                note for note in found if has_property(self._root, note.path, name) == is_wanted
            ]
        if wanted.newest or wanted.oldest:
            found.sort(key=lambda note: (note.day, note.changed), reverse=not wanted.oldest)
        return found

    def _linking_notes(self, target: str, notes: Sequence[NoteEntry]) -> set[str]:
        """The paths of the notes that link to this one; without it, to any other note."""
        if target:
            return self._sources_of_links(target)
        paths = [note.path for note in notes]
        edges = self._index.ask(lambda index: index.links.edges(paths, "out"))
        return {edge.here for edge in edges}

    def _linked_notes(self, source: str, notes: Sequence[NoteEntry]) -> list[NoteEntry]:
        """Those of the notes that this one links to; without it, those that no other links to."""
        if source:
            linked = self._index.ask(lambda index: index.links.edges([source], "out"))
            targets = {edge.there for edge in linked}
            return [note for note in notes if note.path in targets]
        paths = [note.path for note in notes]
        edges = self._index.ask(lambda index: index.links.edges(paths, "in"))
        targets = {edge.here for edge in edges}
        return [note for note in notes if note.path not in targets]

    def _with_words(self, written: str, notes: Sequence[NoteEntry]) -> list[NoteEntry]:
        """Those of the notes that are about something, and not about what has a minus."""
        excluded = [quoted or word for quoted, word in _EXCLUDED.findall(written)]
        kinds = {fold(kind) for each in _TITLED.findall(written) for kind in each.split("|")}
        wanted = _TITLED.sub(" ", _EXCLUDED.sub(" ", written)).strip()
        found = self._about(wanted, notes) if wanted else list(notes)
        if kinds:
            found = [note for note in found if not kinds.isdisjoint(_kinds_of(note))]
        for each in excluded:
            others = {note.path for note in self._about(each, found)}
            found = [note for note in found if note.path not in others]
        return found

    def _sources_of_links(self, target: str) -> set[str]:
        """The paths of the notes that link to this one."""
        rows = self._index.ask(lambda index: index.links.links_to(target))
        return {row.source for row in rows}

    def _about(self, about: str, notes: Sequence[NoteEntry]) -> list[NoteEntry]:
        """Those of the notes that are about something, the best first."""
        # Deferred: few lists need it, and the prompt comes first
        from zkchat_cli.vault.note_subjects import find_notes_about

        by_path = {note.path: note for note in notes}
        found = self._index.ask(lambda index: find_notes_about(index, about))
        return [by_path[path] for path in found if path in by_path]

    def _filter(self, folder: str, tag: str, since: str, until: str) -> list[NoteEntry]:
        """The notes by what the index knows of them."""
        is_outside = folder.startswith("-")
        folder = folder.removeprefix("-")
        below = posixpath.normpath(replace_surrogates(folder).strip().strip("/"))
        below = "" if below == "." else self._folder_as_written(below)
        written = replace_surrogates(tag).split()
        wanted = [fold(each.strip("#/")) for each in written if not each.startswith("-")]
        excluded = [fold(each.lstrip("-").strip("#/")) for each in written if each.startswith("-")]
        allowed = NoteFilter(
            folder="" if is_outside else below,
            tags=tuple(filter(None, wanted)),
            without_tags=tuple(filter(None, excluded)),
            period=self.read_period(since, until),
            also_copies=False,
        )
        found = self._index.ask(lambda index: index.list_notes(allowed))
        if "" in excluded:
            found = [note for note in found if not note.tags]
        if is_outside:
            self._refuse_unknown_folder(folder, below)
            found = [note for note in found if not note.path.startswith(f"{below}/")]
        if not found:
            self._refuse_unknown_folder(folder, below)
            for each in wanted:
                self._refuse_unknown_tag(each, each)
        return found

    def tags(self) -> list[str]:
        """All tags without `#`, the most frequent first."""
        counts = self._index.ask(lambda index: index.tag_counts())
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    def read_period(self, since: str, until: str) -> Period | None:
        """The days from `since` through `until`; None for all. Raises UsageError for what is no
        date.
        """
        if not (since or until):
            return None
        first = date.min
        last = date.max
        if since:
            first = self._read_days("since", since).first
        if until:
            last = self._read_days("until", until).last
        return Period(first, last)

    def due_period(self, since: str, until: str) -> Period | None:
        """The days from `since` through `until` for what is due: "next week", "by Friday"; None for
        all. Raises UsageError for what is no date.
        """
        # Deferred: few lists need it, and the prompt comes first
        from zkchat_cli.text.due_dates import find_due_period

        today = self._today()
        first = find_due_period(since, today) if since else None
        last = find_due_period(until, today) if until else None
        if (since and first is None) or (until and last is None):
            return self.read_period(since, until)
        if not (first or last):
            return None
        return Period(first.first if first else date.min, last.last if last else date.max)

    def _read_days(self, name: str, written: str) -> Period:
        """The days of a date, or of a whole phrase such as "before March"."""
        from zkchat_cli.vault.search.query import read_date

        phrase = find_period(written, self._today())
        if phrase is not None and not phrase.rest:
            return phrase.period
        return read_date(name, written, self._today())

    def _folder_as_written(self, folder: str) -> str:
        """The folder that is called so, or nearly: `daily` may be `Daily`."""
        folders = self._folders() if folder else set()
        alike = [each for each in sorted(folders) if fold(each) == fold(folder)]
        return folder if folder in folders or not alike else alike[0]

    def _folders(self) -> set[str]:
        """All folders with notes in or below them."""
        paths = self._index.ask(lambda index: index.note_paths())
        folders = {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
        return folders - {"."}

    def _refuse_unknown_folder(self, written: str, folder: str) -> None:
        """Raises VaultError if no note is below the folder."""
        folders = self._folders()
        if folder and folder not in folders:
            raise _unknown_name("folder", written, sorted(folders))

    def _refuse_unknown_tag(self, written: str, tag: str) -> None:
        """Raises VaultError if no note has the folded tag or one nested in it."""
        known = self.tags()
        if tag and not _has_nested(tag, map(fold, known)):
            raise _unknown_name("tag", written, known)


def _kinds_of(note: NoteEntry) -> frozenset[str]:
    """The kinds that the title and the name of a note say."""
    return kinds_named_by(note.title) | kinds_named_by(PurePosixPath(note.path).stem)


def _has_nested(tag: str, known: Iterable[str]) -> bool:
    return any(f"{each}/".startswith(f"{tag}/") for each in known)


def _unknown_name(kind: str, name: str, known: list[str]) -> VaultError:
    """The error about a folder or tag that no note has, with those that it may mean."""
    compared = name[:LONGEST_COMPARED]
    near = difflib.get_close_matches(compared, known, MOST_SIMILAR, LEAST_SIMILARITY)
    hint = "No note has any."
    if known:
        label = "Nearest" if near else "There are"
        listed = near or known
        more = ", …" if len(listed) > MOST_NAMED else ""
        hint = f"{label}: {', '.join(listed[:MOST_NAMED])}{more}"
    return VaultError(f"no note has the {kind} {filesystem.short_path(name)}", hint)
