"""What notes there are: by folder, by tag, by title. For whoever wants to look around rather than to search."""

import difflib
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.errors import VaultError
from zkchat_cli.models import LinkResolution
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.filesystem import printable
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import fold_name


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note as a list shows it."""

    path: str
    title: str
    tags: tuple[str, ...]


MOST_NAMED = 5
"""Notes, folders or tags that an error names, where it cannot name all."""


def entries(index: IndexDatabase, folder: str = "", tag: str = "") -> list[NoteEntry]:
    """The notes in a folder and those within it (`""`: all), with a tag or one nested in it (`""`: any), by path.

    `project`, `#project` and `Project` are one tag, which `#project/roof` has too. Raises VaultError for a folder or a tag that no note
    has; the hint names the nearest.
    """
    below = _knuser_folder(index, folder)
    rows = index.rows("SELECT path, title, tags FROM notes WHERE substr(path, 1, ?) = ? ORDER BY path", len(below), below)
    found = [NoteEntry(path, title, tuple(tags.split("\n")) if tags else ()) for path, title, tags in rows]
    wanted = fold_name(tag.strip().strip("#/"))
    if wanted and not any(_has(written, wanted) for written in _tags(index)):
        raise _unknown("tag", tag, sorted({t for written in _tags(index) for t in written}))
    return [entry for entry in found if not wanted or _has(entry.tags, wanted)]


def titled(index: IndexDatabase, title: str) -> list[str]:
    """The notes with that title, whatever its case (of Latin letters), by path."""
    return [str(path) for (path,) in index.rows("SELECT path FROM notes WHERE title = ? COLLATE NOCASE ORDER BY path", title)]


def certain(asked: str, link: LinkResolution, titled: Sequence[str]) -> tuple[str, str | None]:
    """The note that is certainly meant, by link or by title, and the heading the link names. Raises VaultError when there is none."""
    if link.target and link.status == "found":
        return link.target, link.heading
    if not link.target and len(titled) == 1:
        return titled[0], None
    shown = truncate(printable(asked), 80)
    if several := (link.target, *link.candidates) if link.target else tuple(titled):
        raise VaultError(f"{shown} may mean {len(several)} notes", f"Give a path: {', '.join(several[:MOST_NAMED])}")
    near = ", ".join(link.candidates)
    raise VaultError(f"there is no note {shown}", f"Nearest: {near}" if near else "Search finds notes by their words.")


def _knuser_folder(index: IndexDatabase, folder: str) -> str:
    """The folder as the beginning of its notes' paths."""
    bare = posixpath.normpath(folder.strip().strip("/") or ".")
    if bare == ".":
        return ""
    known = {above for (path,) in index.rows("SELECT path FROM notes") for above in _above(path)}
    if bare not in known:
        raise _unknown("folder", folder, sorted(known))
    return bare + "/"


def _unknown(kind: str, asked: str, known: list[str]) -> VaultError:
    near = difflib.get_close_matches(asked[:200], known, 3, 0.4) or known
    hint = f"There are: {', '.join(near[:MOST_NAMED])}" + (", …" if len(near) > MOST_NAMED else "")
    return VaultError(f"no note has the {kind} {truncate(printable(asked), 80)}", hint if near else "No note has any.")


def _tags(index: IndexDatabase) -> list[tuple[str, ...]]:
    return [tuple(written.split("\n")) for (written,) in index.rows("SELECT DISTINCT tags FROM notes WHERE tags != ''")]


def _has(written: Iterable[str], wanted: str) -> bool:
    return any(tag == wanted or tag.startswith(wanted + "/") for tag in map(fold_name, written))


def _above(path: str) -> Iterable[str]:
    """The folders a note stands in, the innermost first."""
    while path := posixpath.dirname(path):
        yield path
