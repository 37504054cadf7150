"""Which notes there are: by folder, by tag, by title."""

import difflib
import posixpath
from collections import Counter
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.text import words
from zkchat_cli.text.dates import Period
from zkchat_cli.vault.filesystem import short_path
from zkchat_cli.vault.index.database import IndexDatabase, has_tag, in_period

MOST_NAMED = 5  # notes, folders or tags that an error names


class NoteEntry(NamedTuple):
    """A note in a list."""

    path: str
    title: str
    tags: tuple[str, ...]


def list_notes(index: IndexDatabase, folder: str = "", tag: str = "", period: Period | None = None) -> list[NoteEntry]:
    """The notes below a folder, with a tag or one nested in it, with a date in the period, by path. Raises VaultError for a folder or a tag
    that no note has; the hint names the nearest."""
    prefix = posixpath.normpath(folder.strip().strip("/") or ".") + "/"
    if prefix == "./":
        prefix = ""
    else:
        known: set[str] = set()
        for (path,) in index.rows("SELECT path FROM notes"):
            while path := posixpath.dirname(path):
                known.add(path)
        if prefix[:-1] not in known:
            raise _unknown_name("folder", folder, sorted(known))
    conditions, values = ["substr(path, 1, ?) = ?"], list[object]((len(prefix), prefix))
    if period:
        conditions.append(in_period(period, values))
    if wanted := words.fold(tag.strip().strip("#/")):
        named: list[object] = []
        if not index.rows(f"SELECT 1 FROM notes WHERE {has_tag(wanted, named)} LIMIT 1", *named):
            raise _unknown_name("tag", tag, tags(index))
        conditions.append(has_tag(wanted, values))
    rows = index.rows(f"SELECT path, title, tags FROM notes WHERE {' AND '.join(conditions)} ORDER BY path", *values)
    return [NoteEntry(path, title, tuple(written.split("\n")) if written else ()) for path, title, written in rows]


def _unknown_name(kind: str, name: str, known: list[str]) -> VaultError:
    near = difflib.get_close_matches(name[:200], known, 3, 0.4) or known
    hint = f"There are: {', '.join(near[:MOST_NAMED])}" + (", …" if len(near) > MOST_NAMED else "")
    return VaultError(f"no note has the {kind} {short_path(name)}", hint if near else "No note has any.")


def tags(index: IndexDatabase) -> list[str]:
    """All tags, the most frequent first."""
    counts = Counter(tag for (tags,) in index.rows("SELECT tags FROM notes WHERE tags != ''") for tag in tags.split("\n"))
    return sorted(counts, key=lambda tag: (-counts[tag], tag))
