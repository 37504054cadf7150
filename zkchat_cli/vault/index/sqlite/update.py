"""A change of the index in SQLite, in one transaction.

Notes come first, then links, then note names, because each needs the one before: links resolve only
when all names are known, and the aliases of links to a note are among the words it is found by.
Only what a change affects is done again: links are resolved again when a name with their key was
added or removed, a note's names are written again when it or the links to it have changed.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.date_forms import DateReading
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.sqlite import link_targets, schema
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.sqlite.link_targets import stage_each
from zkchat_cli.vault.index.sqlite.word_tables import IndexedTexts, WordTables
from zkchat_cli.vault.index.values import KnownNote, NoteContent, chunk_key
from zkchat_cli.vault.links.name_suggestions import character_pairs
from zkchat_cli.vault.links.wikilinks import OTHER_NAMES, LinkName, link_key
from zkchat_cli.vault.note_chunks import estimate_size

# Chunks written together: FTS5 is a quarter faster without other statements between its rows
CHUNK_BATCH = 2_000
# What 05/01/2024 means where no date of the vault tells
DAY_FIRST = "day"
_NOTE_COLUMNS = "mtime_ns, ctime_ns, size, hash, title, aliases, tags"
# Attachments have their own kind, and are not suggested for a misspelt name
_ATTACHMENT: Literal["file"] = "file"
# Kinds of names that are never suggested for a misspelt one
_WITHOUT_PAIRS = (_ATTACHMENT, "id")


class _ChunkRow(NamedTuple):
    id: int
    note_id: int
    heading: str | None
    headings: str
    start_line: int
    end_line: int
    text: str
    key: int
    fence: str | None


class _NameRow(NamedTuple):
    key: str
    path: str
    kind: str
    spelled: str


class SqliteIndexUpdate:
    """An `IndexUpdate`; `settle` and then `count_words` are called at its end."""

    def __init__(self, database: IndexDatabase, files: VaultFiles) -> None:
        self._database = database
        self._execute = database.connection.execute
        self._executemany = database.connection.executemany
        self._files = files
        # The SQL condition for the paths that were scanned
        self._among = ""
        if files.only is not None:
            self._among = "AND path IN (SELECT value FROM listed)"
        stage_each(database, "listed", files.only or ())
        self._note_ids: dict[str, int] = {}
        self._known = self._read_known()
        [[last]] = database.rows("SELECT MAX(id) FROM chunks")
        self._next_chunk = (last or 0) + 1
        # A new index has no SQL indexes yet, either
        self._is_new = not database.rows("SELECT 1 FROM names LIMIT 1")
        self._words = WordTables(database, is_new=self._is_new)
        # Keys of names that were added or removed: links with these keys may have other targets now
        self._changed_keys: set[str] = set()
        # Files with a link to them that is new, deleted or resolved again
        self._changed_targets: set[str | None] = set()
        # Notes with links to resolve, or with names to write to `note_words`
        self._pending_notes: set[int] = set()
        self._chunk_rows: list[_ChunkRow] = []
        # The changes of the `IndexSizes`
        self._growth = Counter[str]()

    def _read_known(self) -> dict[str, KnownNote]:
        known: dict[str, KnownNote] = {}
        sql = "SELECT path, id, mtime_ns, ctime_ns, size, hash FROM notes WHERE TRUE"
        for path, id_, mtime, ctime, size, digest in self._execute(f"{sql} {self._among}"):
            self._note_ids[path] = id_
            known[path] = KnownNote((mtime, ctime, size), digest)
        return known

    def known_notes(self) -> Mapping[str, KnownNote]:
        return self._known

    def restamp_note(self, path: str, stamp: Stamp) -> None:
        sql = "UPDATE notes SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE id = ?"
        self._execute(sql, (*stamp, self._note_ids[path]))

    def put_note(self, content: NoteContent) -> None:
        known_id = self._note_ids.get(content.path)
        if known_id is not None:
            self._delete_content(content.path, known_id)
        note_id = self._write_note(content, known_id)
        self._write_links_and_dates(note_id, content)
        self._collect_chunks(note_id, content)
        self._set_names(content.path, content.names)
        if content.problem:
            sql = "INSERT OR REPLACE INTO problems VALUES (?, ?, FALSE)"
            self._execute(sql, (filesystem.printable(content.path), content.problem))
        self._pending_notes.add(note_id)

    def remove_note(self, path: str) -> None:
        note_id = self._note_ids[path]
        self._delete_content(path, note_id)
        self._execute("DELETE FROM notes WHERE id = ?", (note_id,))
        self._set_names(path, ())
        self._growth["notes"] -= 1

    def settle(self) -> None:
        """Write what needs all notes: links, the names of notes, and the sizes."""
        self._write_chunks()
        schema.create_indexes(self._database)
        self._update_attachments_and_problems()
        self._resolve_links()
        self._choose_day_order()
        self._update_anchors()
        self._write_note_words()
        sql = "UPDATE meta SET value = value + ? WHERE key = ?"
        self._executemany(sql, [(number, name) for name, number in self._growth.items()])

    def _choose_day_order(self) -> None:
        """Decide what 05/01/2024 means by the notes with dates such as 25/01/2024."""
        sql = """
            SELECT written FROM dates WHERE certain AND written != ''
            GROUP BY written ORDER BY COUNT(DISTINCT note_id) DESC, written LIMIT 1
        """
        found = [order for (order,) in self._execute(sql)]
        order = found[0] if found else DAY_FIRST
        self._execute("UPDATE meta SET value = ? WHERE key = 'day_order'", (order,))

    def count_words(self) -> None:
        """Bring the vocabulary up to date with the words."""
        self._words.update_vocabulary()

    def _write_note(self, content: NoteContent, known_id: int | None) -> int:
        """Write the row of a note, a new one without `known_id`; its number."""
        parsed = content.parsed
        aliases = "\n".join(parsed.other_names)
        tags = "\n".join(parsed.tags)
        row = (*content.stamp, content.digest, parsed.title, aliases, tags)
        if known_id is not None:
            sql = f"UPDATE notes SET ({_NOTE_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?"
            self._execute(sql, (*row, known_id))
            return known_id
        # Not RETURNING: SQLite opens a savepoint for it, which flushes FTS5's buffer, 0.3 ms each
        # time
        sql = f"INSERT INTO notes ({_NOTE_COLUMNS}, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        note_id = self._execute(sql, (*row, content.path)).lastrowid
        assert note_id
        self._note_ids[content.path] = note_id
        self._growth["notes"] += 1
        return note_id

    def _write_links_and_dates(self, note_id: int, content: NoteContent) -> None:
        parsed = content.parsed
        links: list[tuple[object, ...]] = []
        for link in parsed.markup.links:
            written = (link.kind, link.raw, link.text, link.alias, link.embed)
            links.append((note_id, link.line, *written, link_key(link.text)))
        self._executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", links)
        tags = {(fold(tag), note_id) for tag in parsed.tags}
        self._executemany("INSERT INTO tags VALUES (?, ?)", tags)
        self._write_dates(note_id, None, parsed.dates)

    def _write_dates(
        self, note_id: int, chunk_id: int | None, dates: Sequence[DateReading]
    ) -> None:
        rows = [
            (note_id, chunk_id, *map(str, each.period), each.order, each.is_certain)
            for each in dates
        ]
        self._executemany("INSERT INTO dates VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _collect_chunks(self, note_id: int, content: NoteContent) -> None:
        """Collect the chunks of a note, and write all if there are enough."""
        parsed = content.parsed
        self._words.note_language(parsed.chunks[0].text)
        for chunk in parsed.chunks:
            headings = "\n".join(chunk.headings)
            row = _ChunkRow(
                id=self._next_chunk,
                note_id=note_id,
                heading=chunk.heading,
                headings=headings,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                text=chunk.text,
                key=chunk_key(parsed.title, headings, chunk.text),
                fence=chunk.fence,
            )
            self._chunk_rows.append(row)
            if chunk.dated:
                self._write_dates(note_id, row.id, parsed.section_dates[chunk.dated])
            self._next_chunk += 1
            self._growth["tokens"] += estimate_size(chunk.text)
        self._growth["chunks"] += len(parsed.chunks)
        if len(self._chunk_rows) >= CHUNK_BATCH:
            self._write_chunks()

    def _write_chunks(self) -> None:
        """Write the chunks that were collected, and their words."""
        rows = self._chunk_rows
        self._executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        texts = [IndexedTexts(row.id, (row.headings, row.text)) for row in rows]
        self._words.add("words", texts)
        self._chunk_rows = []

    def _delete_content(self, path: str, note_id: int) -> None:
        """Delete what `put_note` and `_write_note_words` have inserted, except the note's row and
        names.
        """
        sql = "SELECT title, aliases, tags, anchors FROM notes WHERE id = ?"
        [names] = self._database.rows(sql, note_id)
        _, _, tags, _ = names
        self._words.delete("note_words", [IndexedTexts(note_id, names)])
        self._delete_chunks(note_id)
        links = "SELECT target, status FROM links WHERE note_id = ?"
        for target, status in self._execute(links, (note_id,)):
            self._growth["links"] -= status is not None
            self._growth["broken_links"] -= status == "broken"
            self._changed_targets.add(target)
        self._executemany(
            "DELETE FROM tags WHERE tag = ? AND note_id = ?",
            [(fold(tag), note_id) for tag in tags.split("\n")],
        )
        for table in ("links", "dates"):
            self._execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        self._execute("DELETE FROM problems WHERE path = ?", (filesystem.printable(path),))

    def _delete_chunks(self, note_id: int) -> None:
        sql = "SELECT id, headings, text FROM chunks WHERE note_id = ?"
        deleted: list[IndexedTexts] = []
        for id_, headings, text in self._database.rows(sql, note_id):
            deleted.append(IndexedTexts(id_, (headings, text)))
            self._growth["tokens"] -= estimate_size(text)
        self._words.delete("words", deleted)
        self._growth["chunks"] -= len(deleted)
        self._execute("DELETE FROM chunks WHERE note_id = ?", (note_id,))

    def _set_names(self, path: str, names: Collection[LinkName]) -> None:
        """Let a file have these names instead of its old ones."""
        wanted = {_NameRow(_name_key(name), *name) for name in names}
        known = {} if self._is_new else self._names_of(path)
        for row in sorted(known.keys() - wanted):
            self._execute("DELETE FROM names WHERE rowid = ?", (known[row],))
            if row.kind not in _WITHOUT_PAIRS:
                sql = "INSERT INTO name_pairs (name_pairs, rowid, pairs) VALUES ('delete', ?, ?)"
                self._execute(sql, (known[row], _pairs(row.spelled)))
        for row in sorted(wanted - known.keys()):
            rowid = self._execute("INSERT INTO names VALUES (?, ?, ?, ?)", row).lastrowid
            if row.kind not in _WITHOUT_PAIRS:
                sql = "INSERT INTO name_pairs (rowid, pairs) VALUES (?, ?)"
                self._execute(sql, (rowid, _pairs(row.spelled)))
        self._changed_keys.update(row.key for row in known.keys() ^ wanted)

    def _names_of(self, path: str) -> dict[_NameRow, int]:
        """The names of a file with their numbers."""
        sql = "SELECT key, path, kind, spelled, rowid FROM names WHERE path = ?"
        return {_NameRow(*row): rowid for *row, rowid in self._execute(sql, (path,))}

    def _update_attachments_and_problems(self) -> None:
        """Write what a scan finds besides notes."""
        sql = f"SELECT path FROM names WHERE kind = '{_ATTACHMENT}' {self._among}"
        known = {path for (path,) in self._execute(sql)}
        for path in sorted(known - self._files.attachments):
            self._set_names(path, ())
        for path in sorted(self._files.attachments - known):
            file_name = path.rpartition("/")[2]
            self._set_names(path, [LinkName(path, _ATTACHMENT, file_name)])
        self._execute(f"DELETE FROM problems WHERE from_scan {self._among}")
        problems = self._files.problems.items()
        self._executemany("INSERT OR REPLACE INTO problems VALUES (?, ?, TRUE)", problems)

    def _resolve_links(self) -> None:
        changes = link_targets.resolve_links(
            self._database, self._changed_keys, self._pending_notes
        )
        self._growth["links"] += changes.links
        self._growth["broken_links"] += changes.broken_links
        self._changed_targets |= changes.targets

    def _update_anchors(self) -> None:
        """Update the link aliases of the notes with other incoming links than before."""
        for changed in link_targets.update_anchors(self._database, self._changed_targets):
            if changed.note_id not in self._pending_notes:
                old = IndexedTexts(changed.note_id, (*changed.names, changed.old))
                self._words.delete("note_words", [old])
                self._pending_notes.add(changed.note_id)

    def _write_note_words(self) -> None:
        """Index the names of the notes that are new or have other names than before."""
        stage_each(self._database, "pending_notes", self._pending_notes)
        sql = """
            SELECT id, title, aliases, tags, anchors FROM notes
            WHERE id IN (SELECT value FROM pending_notes)
        """
        named = [IndexedTexts(id_, tuple(names)) for id_, *names in self._database.rows(sql)]
        self._words.add("note_words", named)


def _name_key(name: LinkName) -> str:
    """What links that use this name are looked up by."""
    return link_key(name.spelled if name.kind in OTHER_NAMES else name.path)


def _pairs(name: str) -> str:
    return " ".join(character_pairs(name))
