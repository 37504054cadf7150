"""Bringing the index up to date with the files, in one transaction.

Notes come first, then links, then words, because each needs the one before: a link resolves only when all names are known, and the texts
of the links that point to a note are among the words it is found by. Only what a change can reach is done again: links are re-resolved
when a name they are looked up by has come or gone, words are re-written when a note or the anchors pointing to it have changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from zkchat_cli.vault import filesystem, markdown
from zkchat_cli.vault.filesystem import Listing, NoteBytes
from zkchat_cli.vault.index import Index, pairs, word_columns
from zkchat_cli.vault.markdown import ParsedNote
from zkchat_cli.vault.wikilinks import Name, WrittenLink, key, resolve, stem

Progress = Callable[[int, int], None]

MOST_ANCHORS = 40
"""Different link texts that count for one note, the most frequent first: a hub is not about every word that ever led to it."""

LINKS_AT_A_TIME = 20_000
"""Links resolved together: a million of them at once would take half a gigabyte."""


class Changes(NamedTuple):
    added: int = 0
    changed: int = 0
    removed: int = 0


def _digest(note: NoteBytes) -> bytes:
    return blake2b(note.raw, digest_size=16).digest()


def _texts(note: ParsedNote) -> tuple[str, str, str]:
    return note.title, "\n".join(note.aliases), "\n".join(note.tags)


class _Known(NamedTuple):
    id: int
    mtime_ns: int
    size: int
    hash: bytes | None


def is_current(index: Index, listing: Listing) -> bool:
    """Whether the index says what the files say, by their time stamps and sizes alone; nothing is read or written."""
    return _Refresh(index.connection, listing).is_current()


def refresh(index: Index, root: Path, listing: Listing, progress: Progress | None = None) -> Changes:
    """Make the index say what the files say. Notes are read while this runs; one that is gone by then counts as removed."""
    with index.writing() as connection:
        return _Refresh(connection, listing).run(root, progress)


@dataclass(slots=True)
class _Refresh:
    connection: Connection
    listing: Listing
    known: dict[str, _Known] = field(default_factory=dict)
    moved_keys: set[str] = field(default_factory=set)
    """Keys under which a name has come or gone: links looked up by them may point elsewhere now."""
    moved_targets: set[str] = field(default_factory=set)
    """Notes that other links, or links with other texts, point to now."""
    unwritten: set[int] = field(default_factory=set)
    """Notes whose words are not in `words`."""

    def __post_init__(self) -> None:
        rows = self.connection.execute("SELECT path, id, mtime_ns, size, hash FROM notes")
        self.known = {path: _Known(*row) for path, *row in rows}

    def _suspects(self) -> list[str]:
        """Notes that are new, look changed, or could not be read last time."""
        known, suspects = self.known, []
        for path, stamp in self.listing.stamps.items():
            old = known.get(path)
            if old is None or old.hash is None or (old.mtime_ns, old.size) != stamp:
                suspects.append(path)
        return suspects

    def _attachments(self) -> set[str]:
        return {path for (path,) in self.connection.execute("SELECT path FROM names WHERE kind = 'file'")}

    def _scan_problems(self) -> dict[str, str]:
        return dict(self.connection.execute("SELECT path, text FROM problems WHERE from_scan"))

    def is_current(self) -> bool:
        return (
            not self._suspects()
            and self.known.keys() <= self.listing.stamps.keys()
            and self._attachments() == self.listing.attachments
            and self._scan_problems() == self.listing.problems
        )

    def run(self, root: Path, progress: Progress | None) -> Changes:
        suspects = sorted(self._suspects())
        gone = [path for path in self.known if path not in self.listing.stamps]
        added = changed = 0
        for done, path in enumerate(suspects):
            if progress:
                progress(done, len(suspects))
            note = filesystem.read_note(root, path)
            if note is None:
                if path in self.known:
                    gone.append(path)
            elif path not in self.known:
                self._add(path, note)
                added += 1
            else:
                changed += self._change(path, note)
        if progress:
            progress(len(suspects), len(suspects))
        for path in gone:
            self._remove(path)
        self._update_attachments()
        self._update_scan_problems()
        self._resolve_links()
        self._update_anchors()
        self._write_words(self.unwritten)
        return Changes(added, changed, len(gone))

    def _add(self, path: str, note: NoteBytes) -> None:
        text, problem = filesystem.decode(note)
        parsed = markdown.parse(path, text)
        readable = note.raw or not note.problem
        row = self.connection.execute(
            "INSERT INTO notes (path, mtime_ns, size, hash, title, aliases, tags) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (path, *self.listing.stamps[path], _digest(note) if readable else None, *_texts(parsed)),
        ).fetchone()
        note_id: int = row[0]
        self.connection.executemany(
            "INSERT INTO chunks (note_id, heading, headings, start_line, end_line, text) VALUES (?, ?, ?, ?, ?, ?)",
            ((note_id, p.heading, "\n".join(p.headings), p.start_line, p.end_line, p.text) for p in parsed.passages),
        )
        self.connection.executemany(
            "INSERT INTO links (note_id, line, kind, raw, text, heading, alias, embed, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((note_id, k.line, k.kind, k.raw, k.text, k.heading, k.alias, k.embed, key(k.text)) for k in parsed.markup.links),
        )
        self._add_names([Name(path, "note", stem(path)), *(Name(path, "alias", alias) for alias in parsed.aliases)])
        if problem := "; ".join(p for p in (problem, parsed.front_matter.problem) if p):
            self._problem(path, problem, from_scan=False)
        self.unwritten.add(note_id)
        self.moved_targets.add(path)

    def _change(self, path: str, note: NoteBytes) -> bool:
        old = self.known[path]
        unreadable = note.problem is not None and not note.raw
        if unreadable and old.hash is None:
            return False
        if not unreadable and old.hash == _digest(note):
            self.connection.execute("UPDATE notes SET mtime_ns = ?, size = ? WHERE id = ?", (*self.listing.stamps[path], old.id))
            return False
        self._remove(path)
        self._add(path, note)
        return True

    def _remove(self, path: str) -> None:
        note_id = self.known[path].id
        self._erase_words([note_id])
        self.moved_targets.update(
            target for (target,) in self.connection.execute("SELECT target FROM links WHERE note_id = ? AND target IS NOT NULL", (note_id,))
        )
        for table in ("chunks", "links"):
            self.connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        self.connection.execute("DELETE FROM notes WHERE id = ?", (note_id,))
        self.connection.execute("DELETE FROM problems WHERE path = ?", (filesystem.printable(path),))
        self._remove_names(path)

    def _add_names(self, names: Iterable[Name]) -> None:
        for name in names:
            folded = key(name.spelled) if name.kind == "alias" else key(name.path)
            self.moved_keys.add(folded)
            row = self.connection.execute("INSERT INTO names VALUES (?, ?, ?, ?) RETURNING rowid", (folded, *name)).fetchone()
            if name.kind == "note":
                self.connection.execute("INSERT INTO name_pairs (rowid, pairs) VALUES (?, ?)", (row[0], " ".join(pairs(name.spelled))))

    def _remove_names(self, path: str) -> None:
        for rowid, folded, kind, spelled in self.connection.execute(
            "SELECT rowid, key, kind, spelled FROM names WHERE path = ?", (path,)
        ).fetchall():
            self.moved_keys.add(folded)
            if kind == "note":
                self.connection.execute(
                    "INSERT INTO name_pairs (name_pairs, rowid, pairs) VALUES ('delete', ?, ?)", (rowid, " ".join(pairs(spelled)))
                )
        self.connection.execute("DELETE FROM names WHERE path = ?", (path,))

    def _update_attachments(self) -> None:
        known = self._attachments()
        for path in known - self.listing.attachments:
            self._remove_names(path)
        self._add_names(Name(path, "file", path.rpartition("/")[2]) for path in sorted(self.listing.attachments - known))

    def _update_scan_problems(self) -> None:
        if self._scan_problems() != self.listing.problems:
            self.connection.execute("DELETE FROM problems WHERE from_scan")
            for path, text in self.listing.problems.items():
                self._problem(path, text, from_scan=True)

    def _problem(self, path: str, text: str, *, from_scan: bool) -> None:
        self.connection.execute("INSERT OR REPLACE INTO problems VALUES (?, ?, ?)", (filesystem.printable(path), text, from_scan))

    def _resolve_links(self) -> None:
        """Links of new notes, and those looked up by a name that has come or gone, against a table of all names they use."""
        self._stage("moved", ((k,) for k in self.moved_keys))
        self._stage("fresh", ((note_id,) for note_id in self.unwritten))
        pending = self.connection.execute(
            """SELECT rowid FROM links WHERE note_id IN (SELECT value FROM fresh) OR key IN (SELECT value FROM moved)"""
        ).fetchall()
        for first in range(0, len(pending), LINKS_AT_A_TIME):
            self._resolve_some(pending[first : first + LINKS_AT_A_TIME])

    def _resolve_some(self, rowids: list[tuple[int]]) -> None:
        self._stage("pending", rowids)
        links = self.connection.execute(
            """SELECT links.rowid, links.target, links.status, notes.path, links.key,
                      links.raw, links.kind, links.text, links.heading, links.alias, links.embed, links.line
               FROM pending JOIN links ON links.rowid = pending.value JOIN notes ON notes.id = links.note_id"""
        ).fetchall()
        self._stage("wanted", ((k,) for k in {row[4] for row in links}))
        names: dict[str, list[Name]] = defaultdict(list)
        for folded, *name in self.connection.execute("SELECT key, path, kind, spelled FROM wanted JOIN names ON names.key = wanted.value"):
            names[folded].append(Name(*name))
        resolved: list[tuple[str | None, str | None, int]] = []
        for rowid, target, status, source, _, *written in links:
            answer = resolve(WrittenLink(*written), source, lambda k: names.get(k, ()))
            if (answer.target, answer.status) != (target, status):
                resolved.append((answer.target, answer.status, rowid))
                self.moved_targets.update(path for path in (target, answer.target) if path)
        self.connection.executemany("UPDATE links SET target = ?, status = ? WHERE rowid = ?", resolved)

    def _update_anchors(self) -> None:
        """The texts under which other notes link to a note, where links have changed."""
        self._stage("targets", ((path,) for path in self.moved_targets))
        anchors: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for target, alias in self.connection.execute(
            """SELECT links.target, links.alias FROM links JOIN notes ON notes.id = links.note_id
               WHERE links.target IN (SELECT value FROM targets) AND links.alias IS NOT NULL
                 AND notes.path != links.target AND NOT (links.embed AND links.alias GLOB '[0-9]*')"""
        ):
            anchors[target][" ".join(alias.split())[:200]] += 1
        stale: list[tuple[str, int]] = []
        for note_id, path, old in self.connection.execute(
            "SELECT id, path, anchors FROM notes WHERE path IN (SELECT value FROM targets)"
        ).fetchall():
            counted = anchors.get(path, {})
            best = sorted(counted, key=lambda anchor: (-counted[anchor], anchor))[:MOST_ANCHORS]
            if (new := "\n".join(best)) != old:
                stale.append((new, note_id))
        self._erase_words([note_id for _, note_id in stale if note_id not in self.unwritten])
        self.connection.executemany("UPDATE notes SET anchors = ? WHERE id = ?", stale)
        self.unwritten.update(note_id for _, note_id in stale)

    def _erase_words(self, note_ids: Iterable[int]) -> None:
        self.connection.executemany(
            """INSERT INTO words (words, rowid, title, aliases, headings, tags, anchors, body)
               VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)""",
            list(self._words_of(note_ids)),
        )

    def _write_words(self, note_ids: Iterable[int]) -> None:
        self.connection.executemany(
            "INSERT INTO words (rowid, title, aliases, headings, tags, anchors, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._words_of(sorted(note_ids)),
        )

    def _words_of(self, note_ids: Iterable[int]) -> Iterator[tuple[object, ...]]:
        for note_id in note_ids:
            for chunk_id, *texts in self.connection.execute(
                """SELECT chunks.id, title, aliases, headings, tags, anchors, text
                   FROM chunks JOIN notes ON notes.id = chunks.note_id WHERE note_id = ?""",
                (note_id,),
            ).fetchall():
                yield (chunk_id, *word_columns(*texts))

    def _stage(self, table: str, values: Iterable[tuple[object, ...]]) -> None:
        """Put values where a query can join them: they may be more than SQL takes as parameters."""
        self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (value PRIMARY KEY) WITHOUT ROWID")
        self.connection.execute(f"DELETE FROM {table}")
        self.connection.executemany(f"INSERT INTO {table} VALUES (?)", values)
