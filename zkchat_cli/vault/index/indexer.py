"""Bringing the index up to date with the files, in one transaction.

Notes come first, then links, then names, because each needs the one before: a link resolves only when all names are known, and the texts
of the links that point to a note are among the words it is found by. Only what a change can reach is done again: links are re-resolved
when a name they are looked up by has come or gone, a note's names are re-written when it or the anchors pointing to it have changed.

Notes are taken oldest change first, so that the ids of chunks ascend with time: search prefers the newest where words cannot decide.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault import filesystem, note_parser
from zkchat_cli.vault.chunking import BYTES_PER_TOKEN
from zkchat_cli.vault.filesystem import Listing, NoteBytes
from zkchat_cli.vault.index.database import INDEXES, IndexDatabase, Sizes
from zkchat_cli.vault.links.name_suggestions import pairs
from zkchat_cli.vault.links.resolver import BulkLinkResolver, Name
from zkchat_cli.vault.links.wikilinks import WrittenLink, key, stem
from zkchat_cli.vault.note_parser import ParsedNote

Progress = Callable[[int, int], None]

MOST_ANCHORS = 40
"""Different link texts that count for one note, the most frequent first: a hub is not about every word that ever led to it."""

CHUNKS_AT_A_TIME = 2_000
"""Chunks written together: FTS5 is a quarter faster when nothing comes between its rows."""

LINKS_AT_A_TIME = 20_000
"""Links resolved together: a million of them at once would take half a gigabyte."""


class IndexChanges(NamedTuple):
    added: int = 0
    changed: int = 0
    removed: int = 0


def _digest(note: NoteBytes) -> bytes:
    return blake2b(note.raw, digest_size=16).digest()


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _is_anchor(source: str, target: str | None, text: str | None, embed: bool) -> bool:
    """Whether a link's text is a name of its target: not what a note calls itself, nor the width of a picture."""
    return bool(target and text and target != source and not (embed and text[0] in "0123456789"))


def _texts(note: ParsedNote) -> tuple[str, str, str]:
    return note.title, "\n".join(note.aliases), "\n".join(note.tags)


class _Known(NamedTuple):
    id: int
    mtime_ns: int
    ctime_ns: int
    size: int
    hash: bytes | None


def is_current(index: IndexDatabase, listing: Listing) -> bool:
    """Whether the index says what the files say, by their time stamps and sizes alone; nothing is read or written."""
    sql = "SELECT path, mtime_ns, ctime_ns, size FROM notes WHERE hash IS NOT NULL"
    stamps = {path: (mtime, ctime, size) for path, mtime, ctime, size in index.rows(sql)}
    return (
        stamps == listing.stamps
        and {path for (path,) in index.rows("SELECT path FROM names WHERE kind = 'file'")} == listing.attachments
        and dict(index.rows("SELECT path, text FROM problems WHERE from_scan")) == listing.problems
    )


def refresh(index: IndexDatabase, root: Path, listing: Listing, progress: Progress | None = None) -> IndexChanges:
    """Make the index say what the files say. Notes are read while this runs; one that is gone by then counts as removed."""
    with index.writing() as connection:
        return _Refresh(connection, listing).run(root, progress)


@dataclass(slots=True)
class _Refresh:
    connection: Connection
    listing: Listing
    known: dict[str, _Known] = field(default_factory=dict)
    next_chunk: int = 1
    is_new: bool = False
    """A new index has no names, nor yet the means to find them fast."""
    moved_keys: set[str] = field(default_factory=set)
    """Keys under which a name has come or gone: links looked up by them may point elsewhere now."""
    moved_targets: set[str] = field(default_factory=set)
    """Notes that links of other notes point to now, or no longer."""
    anchors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How much more often (less often: negative) the notes read in this run link to another note under a text than they did before."""
    fresh: set[int] = field(default_factory=set)
    """Notes that have been read in this run, whose links are not resolved and whose names are not in `note_words`."""
    chunk_rows: list[tuple[object, ...]] = field(default_factory=list)
    word_rows: list[tuple[object, ...]] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    """By how much the index has grown, by the names of `Sizes`; `tokens` in bytes."""

    def __post_init__(self) -> None:
        sql = "SELECT path, id, mtime_ns, ctime_ns, size, hash FROM notes"
        if self.listing.only is not None:
            self._stage("listed", ((path,) for path in self.listing.only))
            sql += " WHERE path IN (SELECT value FROM listed)"
        self.known = {path: _Known(*row) for path, *row in self.connection.execute(sql)}
        [[last]] = self.connection.execute("SELECT MAX(id) FROM chunks").fetchall()
        self.next_chunk = (last or 0) + 1
        self.is_new = not self.connection.execute("SELECT 1 FROM names LIMIT 1").fetchall()

    def run(self, root: Path, progress: Progress | None) -> IndexChanges:
        suspects = self._suspects()
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
        self._write_chunks()
        for index in INDEXES:
            self.connection.execute(index)
        for path in gone:
            self._remove(path)
        self._update_attachments()
        self._update_scan_problems()
        self._resolve_links()
        self._update_anchors()
        self._write_names()
        self.more["notes"] = added - len(gone)
        self._update_sizes()
        return IndexChanges(added, changed, len(gone))

    def _suspects(self) -> list[str]:
        """Notes that are new, look changed, or could not be read last time; those that changed last come last."""
        known, suspects = self.known, []
        for path, stamp in self.listing.stamps.items():
            old = known.get(path)
            if old is None or old.hash is None or (old.mtime_ns, old.ctime_ns, old.size) != stamp:
                suspects.append((stamp[0], path))
        return [path for _, path in sorted(suspects)]

    def _add(self, path: str, note: NoteBytes) -> None:
        # Not RETURNING: SQLite opens a savepoint for it, at which FTS5 writes out all that it has gathered, 0.3 ms each time.
        sql = "INSERT INTO notes (path, mtime_ns, ctime_ns, size, title, aliases, tags) VALUES (?, 0, 0, 0, '', '', '')"
        inserted = self.connection.execute(sql, (path,))
        assert inserted.lastrowid
        self._fill(inserted.lastrowid, path, note)

    def _change(self, path: str, note: NoteBytes) -> bool:
        old = self.known[path]
        unreadable = note.problem is not None and not note.raw
        if unreadable and old.hash is None:
            return False
        if not unreadable and old.hash == _digest(note):
            self.connection.execute(
                "UPDATE notes SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE id = ?", (*self.listing.stamps[path], old.id)
            )
            return False
        self._empty(path, old.id)
        self._fill(old.id, path, note)
        return True

    def _remove(self, path: str) -> None:
        note_id = self.known[path].id
        self._empty(path, note_id)
        self.connection.execute("DELETE FROM notes WHERE id = ?", (note_id,))
        self._set_names(path, [])

    def _fill(self, note_id: int, path: str, note: NoteBytes) -> None:
        """Everything that the note says, except what it takes other notes to know."""
        text, problem = filesystem.decode(note)
        parsed = note_parser.parse_note(path, text)
        readable = note.raw or not note.problem
        self.connection.execute(
            "UPDATE notes SET mtime_ns = ?, ctime_ns = ?, size = ?, hash = ?, title = ?, aliases = ?, tags = ? WHERE id = ?",
            (*self.listing.stamps[path], _digest(note) if readable else None, *_texts(parsed), note_id),
        )
        self.connection.executemany(
            "INSERT INTO links (note_id, line, kind, raw, text, heading, alias, embed, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(note_id, k.line, k.kind, k.raw, k.text, k.heading, k.alias, k.embed, key(k.text)) for k in parsed.markup.links],
        )
        tags = {(words.fold(tag), note_id) for tag in parsed.tags}
        self.connection.executemany("INSERT INTO tags VALUES (?, ?)", tags)
        self._gather_chunks(note_id, parsed)
        self._set_names(path, [Name(path, "note", stem(path)), *(Name(path, "alias", alias) for alias in parsed.aliases)])
        if problem := "; ".join(p for p in (problem, parsed.front_matter.problem) if p):
            self._problem(path, problem, from_scan=False)
        self.fresh.add(note_id)

    def _gather_chunks(self, note_id: int, parsed: ParsedNote) -> None:
        for p in parsed.chunks:
            headings = "\n".join(p.headings)
            self.chunk_rows.append((self.next_chunk, note_id, p.heading, headings, p.start_line, p.end_line, p.text))
            self.word_rows.append((self.next_chunk, words.to_index_text(headings), words.to_index_text(p.text)))
            self.next_chunk += 1
            self.more["chunks"] += 1
            self.more["tokens"] += _bytes(p.text)
        if len(self.chunk_rows) >= CHUNKS_AT_A_TIME:
            self._write_chunks()

    def _write_chunks(self) -> None:
        self.connection.executemany(
            "INSERT INTO chunks (id, note_id, heading, headings, start_line, end_line, text) VALUES (?, ?, ?, ?, ?, ?, ?)", self.chunk_rows
        )
        self.connection.executemany("INSERT INTO words (rowid, headings, body) VALUES (?, ?, ?)", self.word_rows)
        self.chunk_rows, self.word_rows = [], []

    def _empty(self, path: str, note_id: int) -> None:
        """Take out everything that `_fill` and `_write_names` put in, but the note's row and its names."""
        [names] = self.connection.execute("SELECT title, aliases, tags, anchors FROM notes WHERE id = ?", (note_id,)).fetchall()
        self._erase_name_words(note_id, names)
        chunks = self.connection.execute("SELECT id, headings, text FROM chunks WHERE note_id = ?", (note_id,)).fetchall()
        self.connection.executemany(
            "INSERT INTO words (words, rowid, headings, body) VALUES ('delete', ?, ?, ?)",
            [(id_, words.to_index_text(headings), words.to_index_text(text)) for id_, headings, text in chunks],
        )
        self.more["chunks"] -= len(chunks)
        self.more["tokens"] -= sum(_bytes(text) for *_, text in chunks)
        links = self.connection.execute("SELECT target, alias, embed, status FROM links WHERE note_id = ?", (note_id,))
        for target, alias, embed, status in links:
            self._count_link(status, -1)
            if _is_anchor(path, target, alias, embed):
                self.anchors[target, alias] -= 1
        tags = [(words.fold(tag), note_id) for tag in names[2].split("\n")]
        self.connection.executemany("DELETE FROM tags WHERE tag = ? AND note_id = ?", tags)
        for table in ("chunks", "links"):
            self.connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        self.connection.execute("DELETE FROM problems WHERE path = ?", (filesystem.printable(path),))

    def _set_names(self, path: str, names: Iterable[Name]) -> None:
        """Have these names, and no others, lead to `path`."""
        wanted = dict.fromkeys((key(name.spelled) if name.kind == "alias" else key(name.path), *name) for name in names)
        sql = "SELECT rowid, key, path, kind, spelled FROM names WHERE path = ?"
        for rowid, *row in () if self.is_new else self.connection.execute(sql, (path,)).fetchall():
            if tuple(row) in wanted:
                del wanted[tuple(row)]
                continue
            folded, _, kind, spelled = row
            self.moved_keys.add(folded)
            self.connection.execute("DELETE FROM names WHERE rowid = ?", (rowid,))
            if kind != "file":
                self.connection.execute(
                    "INSERT INTO name_pairs (name_pairs, rowid, pairs) VALUES ('delete', ?, ?)", (rowid, " ".join(pairs(spelled)))
                )
        for row in wanted:
            self.moved_keys.add(row[0])
            rowid = self.connection.execute("INSERT INTO names VALUES (?, ?, ?, ?)", row).lastrowid
            if row[2] != "file":
                self.connection.execute("INSERT INTO name_pairs (rowid, pairs) VALUES (?, ?)", (rowid, " ".join(pairs(row[3]))))

    def _update_attachments(self) -> None:
        sql = "SELECT path FROM names WHERE kind = 'file'"
        if self.listing.only is not None:
            sql += " AND path IN (SELECT value FROM listed)"
        known = {path for (path,) in self.connection.execute(sql)}
        for path in sorted(known ^ self.listing.attachments):
            self._set_names(path, [Name(path, "file", path.rpartition("/")[2])] if path in self.listing.attachments else [])

    def _update_scan_problems(self) -> None:
        if self.listing.only is None:
            self.connection.execute("DELETE FROM problems WHERE from_scan")
        else:
            listed = ((filesystem.printable(path),) for path in self.listing.only)
            self.connection.executemany("DELETE FROM problems WHERE from_scan AND path = ?", listed)
        for path, text in self.listing.problems.items():
            self._problem(path, text, from_scan=True)

    def _problem(self, path: str, text: str, *, from_scan: bool) -> None:
        self.connection.execute("INSERT OR REPLACE INTO problems VALUES (?, ?, ?)", (filesystem.printable(path), text, from_scan))

    def _resolve_links(self) -> None:
        """Links of new notes, and those looked up by a name that has come or gone, against a table of all names they use."""
        self._stage("moved", ((k,) for k in self.moved_keys))
        self._stage("fresh", ((note_id,) for note_id in self.fresh))
        pending = self.connection.execute(
            """SELECT rowid FROM links WHERE note_id IN (SELECT value FROM fresh) OR key IN (SELECT value FROM moved)"""
        ).fetchall()
        for first in range(0, len(pending), LINKS_AT_A_TIME):
            self._resolve_some(pending[first : first + LINKS_AT_A_TIME])

    def _resolve_some(self, rowids: list[tuple[int]]) -> None:
        self._stage("pending", rowids)
        links = self.connection.execute(
            """SELECT links.rowid, links.target, links.status, notes.path, links.key,
                      notes.id, links.raw, links.kind, links.text, links.heading, links.alias, links.embed, links.line
               FROM pending CROSS JOIN links ON links.rowid = pending.value CROSS JOIN notes ON notes.id = links.note_id"""
        ).fetchall()
        self._stage("wanted", ((k,) for k in {row[4] for row in links}))
        names: dict[str, list[Name]] = defaultdict(list)
        # CROSS JOIN: else SQLite, which knows nothing of their sizes, goes through all names for the few that are wanted
        found = self.connection.execute("SELECT key, path, kind, spelled FROM wanted CROSS JOIN names ON names.key = wanted.value")
        for folded, *name in found:
            names[folded].append(Name(*name))
        namesakes = BulkLinkResolver(names)
        resolved: list[tuple[str | None, str | None, int]] = []
        for rowid, target, status, source, _, note_id, *written in links:
            link = WrittenLink(*written)
            answer = namesakes.resolve(link, source)
            if (answer.target, answer.status) != (target, status):
                resolved.append((answer.target, answer.status, rowid))
                self._count_link(status, -1)
                self._count_link(answer.status, 1)
                if note_id not in self.fresh:
                    self.moved_targets.update(path for path in (target, answer.target) if path)
            if note_id in self.fresh and answer.target and link.alias and _is_anchor(source, answer.target, link.alias, link.embed):
                self.anchors[answer.target, link.alias] += 1
        self.connection.executemany("UPDATE links SET target = ?, status = ? WHERE rowid = ?", resolved)

    def _update_anchors(self) -> None:
        """The texts under which other notes link to a note, where links have changed."""
        targets = self.moved_targets | {target for (target, _), more in self.anchors.items() if more}
        self._stage("targets", ((path,) for path in targets))
        anchors: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for link in self.connection.execute(
            """SELECT notes.path, links.target, links.alias, links.embed FROM links JOIN notes ON notes.id = links.note_id
               WHERE links.target IN (SELECT value FROM targets) AND links.alias IS NOT NULL"""
        ):
            if _is_anchor(*link):
                _, target, alias, _ = link
                anchors[target][" ".join(alias.split())[:200]] += 1
        for note_id, path, *names, old in self.connection.execute(
            "SELECT id, path, title, aliases, tags, anchors FROM notes WHERE path IN (SELECT value FROM targets)"
        ).fetchall():
            counted = anchors.get(path, {})
            new = "\n".join(sorted(counted, key=lambda anchor: (-counted[anchor], anchor))[:MOST_ANCHORS])
            if new != old:
                if note_id not in self.fresh:
                    self._erase_name_words(note_id, (*names, old))
                    self.fresh.add(note_id)
                self.connection.execute("UPDATE notes SET anchors = ? WHERE id = ?", (new, note_id))

    def _erase_name_words(self, note_id: int, names: Sequence[str]) -> None:
        self.connection.execute(
            "INSERT INTO note_words (note_words, rowid, title, aliases, tags, anchors) VALUES ('delete', ?, ?, ?, ?, ?)",
            (note_id, *map(words.to_index_text, names)),
        )

    def _write_names(self) -> None:
        self._stage("fresh", ((note_id,) for note_id in self.fresh))
        named = self.connection.execute("SELECT id, title, aliases, tags, anchors FROM notes WHERE id IN (SELECT value FROM fresh)")
        self.connection.executemany(
            "INSERT INTO note_words (rowid, title, aliases, tags, anchors) VALUES (?, ?, ?, ?, ?)",
            [(note_id, *map(words.to_index_text, names)) for note_id, *names in named],
        )

    def _count_link(self, status: str | None, more: int) -> None:
        self.more["links"] += more if status else 0
        self.more["broken_links"] += more if status == "broken" else 0

    def _update_sizes(self) -> None:
        for name in Sizes._fields:
            more = self.more[name] / BYTES_PER_TOKEN if name == "tokens" else self.more[name]
            self.connection.execute("UPDATE meta SET value = value + ? WHERE key = ?", (more, name))

    def _stage(self, table: str, values: Iterable[tuple[object, ...]]) -> None:
        """Put values where a query can join them: they may be more than SQL takes as parameters."""
        self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (value PRIMARY KEY) WITHOUT ROWID")
        self.connection.execute(f"DELETE FROM {table}")
        self.connection.executemany(f"INSERT INTO {table} VALUES (?)", values)
