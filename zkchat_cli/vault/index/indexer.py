"""Brings the index up to date with the files: reads and parses the notes that have changed.

Notes are indexed oldest change first, so that chunk ids ascend with time: search prefers the newest
of equal chunks.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text.moment_formats import MomentFormat
from zkchat_cli.vault import filesystem, note_parser
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.values import KnownNote, NoteContent, Progress
from zkchat_cli.vault.links.wikilinks import LinkName, fold_name, note_id, note_name
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.text_decoder import decode

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex


class Changes(NamedTuple):
    """How many notes a refresh has added, read anew because they had changed, and removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0


class _ReadNote(NamedTuple):
    """The bytes of a note and their digest, or why it could not be read."""

    raw: bytes
    digest: bytes | None
    problem: str | None


def refresh(
    index: "NoteIndex",
    root: Path,
    files: VaultFiles,
    progress: Progress | None,
    formats: tuple[MomentFormat, ...] = (),
    *,
    anew: bool,
) -> Changes:
    """Index the files that are new or changed, or `anew` all. `formats` are those of the names of
    daily notes.
    """
    added = 0
    changed = 0
    with index.update(files, anew=anew) as update:
        known = update.known_notes()
        paths = _changed_paths(files, known)
        shared = _shared_names(files.stamps) if paths else frozenset()
        sharing = _newly_sharing(shared, files, known)
        paths = list(dict.fromkeys((*paths, *sharing)))
        for done, path in enumerate(paths):
            if progress:
                progress(done, len(paths))
            note = _read(root, path)
            old = known.get(path)
            if old is None:
                added += 1
            elif old.digest == note.digest and path not in sharing:
                update.restamp_note(path, files.stamps[path])
                continue
            elif old.digest != note.digest:
                changed += 1
            content = _content(path, files.stamps[path], note, formats)
            parsed = replace(content.parsed, shares_name=_name_of(path) in shared)
            update.put_note(content._replace(parsed=parsed))
        if progress:
            progress(len(paths), len(paths))
        gone = [path for path in known if path not in files.stamps]
        for path in gone:
            update.remove_note(path)
    return Changes(added, changed, len(gone))


def _name_of(path: str) -> str:
    """The name of a file, to compare; folding it would take a second for 100,000 files."""
    return path.rpartition("/")[2].lower()


def _shared_names(paths: Iterable[str]) -> frozenset[str]:
    """The folded names that several of these files have; their folders tell them apart."""
    counts = Counter(map(_name_of, paths))
    return frozenset(name for name, count in counts.items() if count > 1)


def _newly_sharing(
    shared: frozenset[str], files: VaultFiles, known: Mapping[str, KnownNote]
) -> dict[str, None]:
    """The known notes that had a name of their own until now."""
    new = shared - _shared_names(known) if shared else shared
    if not new:
        return {}
    return {path: None for path in known if _name_of(path) in new and path in files.stamps}


def _changed_paths(files: VaultFiles, known: Mapping[str, KnownNote]) -> list[str]:
    """The notes that are new, may have changed, or could not be read last time, oldest change
    first.
    """
    stamped: list[tuple[Stamp, str]] = []
    for path, stamp in files.stamps.items():
        old = known.get(path)
        if old is None or not old.digest or old.stamp != stamp:
            stamped.append((stamp, path))
    return [path for _, path in sorted(stamped)]


def _read(root: Path, path: str) -> _ReadNote:
    raw, problem = filesystem.read_note(root, path)
    digest = None if problem else blake2b(raw, digest_size=16).digest()
    return _ReadNote(raw, digest, problem)


def _content(
    path: str, stamp: Stamp, note: _ReadNote, formats: tuple[MomentFormat, ...]
) -> NoteContent:
    """What the index takes in of a note, whether or not it could be read."""
    text, text_problem = decode(note.raw)
    parsed = note_parser.parse_note(path, text, formats)
    problems = (note.problem, text_problem, parsed.front_matter.problem)
    problem = "; ".join(each for each in problems if each)
    return NoteContent(path, stamp, note.digest, parsed, _names(path, parsed), problem)


def _names(path: str, parsed: ParsedNote) -> tuple[LinkName, ...]:
    """The names by which a note is found: its file's, its aliases, its title if that is another
    one, and its ids.
    """
    names = [LinkName(path, "note", note_name(path))]
    names += [LinkName(path, "alias", alias) for alias in parsed.aliases]
    known = {fold_name(name.spelled) for name in names}
    for title in (parsed.title, *parsed.page_names):
        if fold_name(title) not in known:
            known.add(fold_name(title))
            names.append(LinkName(path, "title", title))
    ids = filter(None, (note_id(note_name(path)), *parsed.ids))
    names += [LinkName(path, "id", each) for each in dict.fromkeys(ids)]
    return tuple(names)
