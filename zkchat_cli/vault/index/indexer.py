"""Brings the index up to date with the files, in one transaction.

Notes come first, then links, then note names, because each needs the one before: links resolve only
when all names are known, and the aliases of links to a note are among the words it is found by.
Only what a change affects is done again: links are resolved again when a name with their key was
added or removed, a note's names are written again when it or the links to it have changed.

Notes are indexed oldest change first, so that chunk ids ascend with time: search prefers the newest
of equal chunks.

The vocabulary has each word with its stems, and how many chunks and names have it: search finds all
forms of a word by their common stem, so that the words themselves are indexed once, as they are
written. The stemmers are those of the languages that the vault is written in. CJK words have no
forms and are left out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from zkchat_cli.text import words
from zkchat_cli.text.words import fold
from zkchat_cli.vault import filesystem, note_parser
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.database import FTS_TABLES, INDEXES, IndexDatabase
from zkchat_cli.vault.index.values import Progress, chunk_key
from zkchat_cli.vault.links.name_suggestions import character_pairs
from zkchat_cli.vault.links.wikilinks import (
    LinkName,
    WrittenLink,
    bulk_resolver,
    fold_name,
    link_key,
    note_name,
)
from zkchat_cli.vault.note_parser import estimate_size

# Link aliases that count for one note, the most frequent first: a hub is not about every word that
# links to it
MOST_ANCHORS = 40
# Chunks written together: FTS5 is a quarter faster without other statements between its rows
CHUNK_BATCH = 2_000
# Links resolved together: a million of them at once would take half a gigabyte
LINK_BATCH = 20_000
# Chunks that show in which languages a vault is written
SAMPLED_CHUNKS = 500
# Indexed words from here on are CJK
FIRST_CJK = "\u3040"

# [0-9A-Za-z\x80-\U0010ffff], which takes 2 ms to compile
_TERM = re.compile("[^\x00-/:-@\\[-`{-\x7f]+")
"""What the index's tokenizer takes for a word."""


def is_current(index: IndexDatabase, files: VaultFiles) -> bool:
    """Whether the index has all files with their times and sizes; nothing is read or written."""
    sql = "SELECT path, mtime_ns, ctime_ns, size FROM notes WHERE hash IS NOT NULL"
    stamps = {path: (mtime, ctime, size) for path, mtime, ctime, size in index.rows(sql)}
    attachments = {path for (path,) in index.rows("SELECT path FROM names WHERE kind = 'file'")}
    return (
        VaultFiles(
            stamps, attachments, dict(index.rows("SELECT path, text FROM problems WHERE from_scan"))
        )
        == files
    )


def refresh(
    index: IndexDatabase, root: Path, files: VaultFiles, progress: Progress | None, *, anew: bool
) -> tuple[int, int, int]:
    """Index the files that are new or changed, or `anew` all. Returns the numbers of notes added,
    changed and removed.
    """
    with index.transaction():
        if anew:
            index.create_tables()
        update = _IndexUpdate(index, files)
        changes = update.run(root, progress or (lambda _done, _total: None))
        if anew:
            # One segment in each, so that no later refresh has to merge everything
            for table in FTS_TABLES:
                index.rows(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
        update.update_vocabulary()
    if anew:
        index.rows("PRAGMA wal_checkpoint (TRUNCATE)")
    return changes


class _IndexUpdate:
    def __init__(self, index: IndexDatabase, files: VaultFiles) -> None:
        self.index = index
        self.files = files
        self.execute = index.connection.execute
        self.executemany = index.connection.executemany
        self.among = "" if files.only is None else "AND path IN (SELECT value FROM listed)"
        self._stage("listed", ((path,) for path in files.only or ()))
        rows = self.execute(
            f"SELECT path, id, mtime_ns, ctime_ns, size, hash FROM notes WHERE TRUE {self.among}"
        )
        self.known: dict[str, tuple[int, Stamp, bytes | None]] = {
            path: (id_, tuple(stamp), hash_) for path, id_, *stamp, hash_ in rows
        }
        [[last]] = self.execute("SELECT MAX(id) FROM chunks").fetchall()
        self.next_chunk = (last or 0) + 1
        # It has no SQL indexes yet, either
        self.is_new = not self.execute("SELECT 1 FROM names LIMIT 1").fetchall()
        self.chunk_terms = Counter[str]()
        self.name_terms = Counter[str]()
        """The changes in the numbers of chunks and names with each word. Those of a new index are
        counted at the end.
        """
        # Of new notes; a new index samples its chunks
        self.languages: set[str | None] = set()
        # Keys of names that were added or removed: links with these keys may have other targets now
        self.changed_keys: set[str] = set()
        # Notes with a link that is new, deleted or resolved again
        self.changed_targets: set[str | None] = set()
        # Notes whose links must be resolved or whose names must be written to `note_words`
        self.pending_notes: set[int] = set()
        self.chunk_rows: list[tuple[int, int, str | None, str, int, int, str, int]] = []
        self.growth = Counter[str]()  # the changes of the `SIZES`

    def run(self, root: Path, progress: Progress) -> tuple[int, int, int]:
        # notes that are new, may have changed, or could not be read last time, oldest change first
        listed = ((stamp, path, self.known.get(path)) for path, stamp in self.files.stamps.items())
        candidates = sorted(
            (stamp, path) for stamp, path, old in listed if not old or not old[2] or old[1] != stamp
        )
        gone = [path for path in self.known if path not in self.files.stamps]
        added = changed = 0
        for done, (stamp, path) in enumerate(candidates):
            progress(done, len(candidates))
            old = self.known.get(path)
            raw, problem = filesystem.read_note(root, path)
            digest = None if problem else blake2b(raw, digest_size=16).digest()
            if old is None:
                self._insert_content(None, path, raw, digest, problem)
                added += 1
            elif old[2] == digest:
                self.execute(
                    "UPDATE notes SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE id = ?",
                    (*stamp, old[0]),
                )
            else:
                self._delete_content(path, old[0])
                self._insert_content(old[0], path, raw, digest, problem)
                changed += 1
        progress(len(candidates), len(candidates))
        self._write_chunks()
        for statement in INDEXES:
            self.execute(statement)
        for path in gone:
            self._delete_content(path, self.known[path][0])
            self.execute("DELETE FROM notes WHERE id = ?", (self.known[path][0],))
            self._set_names(path, [])
        self._update_attachments_and_problems()
        self._resolve_links()
        self._update_anchors()
        self._write_note_words()
        self.growth["notes"] = added - len(gone)
        self.executemany(
            "UPDATE meta SET value = value + ? WHERE key = ?",
            [(number, name) for name, number in self.growth.items()],
        )
        return added, changed, len(gone)

    def _insert_content(
        self, note_id: int | None, path: str, raw: bytes, digest: bytes | None, unread: str | None
    ) -> None:
        """Insert everything that can be known without other notes; for `note_id` None as a new
        note.
        """
        text, problem = filesystem.decode(raw)
        parsed = note_parser.parse_note(path, text)
        columns = "mtime_ns, ctime_ns, size, hash, title, aliases, tags"
        row = (
            *self.files.stamps[path],
            digest,
            parsed.title,
            "\n".join(parsed.aliases),
            "\n".join(parsed.tags),
        )
        # Not RETURNING: SQLite opens a savepoint for it, which flushes FTS5's buffer, 0.3 ms each
        # time
        if note_id is None:
            note_id = self.execute(
                f"INSERT INTO notes ({columns}, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, path)
            ).lastrowid
            assert note_id
        else:
            self.execute(
                f"UPDATE notes SET ({columns}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
                (*row, note_id),
            )
        links = (
            (note_id, k.line, k.kind, k.raw, k.text, k.alias, k.embed, link_key(k.text))
            for k in parsed.markup.links
        )
        self.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", links)
        self.executemany(
            "INSERT INTO tags VALUES (?, ?)", {(fold(tag), note_id) for tag in parsed.tags}
        )
        dates = {
            (note_id, period.first.isoformat(), period.last.isoformat()) for period in parsed.dates
        }
        self.executemany("INSERT INTO dates VALUES (?, ?, ?)", dates)
        if not self.is_new:
            self.languages.add(words.detect_language(parsed.chunks[0].text[:1000]))
        for p in parsed.chunks:
            headings = "\n".join(p.headings)
            row_key = chunk_key(parsed.title, headings, p.text)
            self.chunk_rows.append(
                (
                    self.next_chunk,
                    note_id,
                    p.heading,
                    headings,
                    p.start_line,
                    p.end_line,
                    p.text,
                    row_key,
                )
            )
            self.next_chunk += 1
            self.growth["tokens"] += estimate_size(p.text)
        self.growth["chunks"] += len(parsed.chunks)
        if len(self.chunk_rows) >= CHUNK_BATCH:
            self._write_chunks()
        names = [
            LinkName(path, "note", note_name(path)),
            *(LinkName(path, "alias", alias) for alias in parsed.aliases),
        ]
        if fold_name(parsed.title) not in {fold_name(name.spelled) for name in names}:
            names.append(LinkName(path, "title", parsed.title))
        self._set_names(path, names)
        if problem := "; ".join(filter(None, (unread, problem, parsed.front_matter.problem))):
            self.execute(
                "INSERT OR REPLACE INTO problems VALUES (?, ?, FALSE)",
                (filesystem.printable(path), problem),
            )
        self.pending_notes.add(note_id)

    def _write_chunks(self) -> None:
        self.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self.chunk_rows)
        self._change_words(
            "words",
            [(id_, headings, text) for id_, _, _, headings, _, _, text, _ in self.chunk_rows],
        )
        self.chunk_rows = []

    def _delete_content(self, path: str, note_id: int) -> None:
        """Delete what `_insert_content` and `_write_note_words` have inserted, except the note's
        row and names.
        """
        [names] = self.execute(
            "SELECT title, aliases, tags, anchors FROM notes WHERE id = ?", (note_id,)
        ).fetchall()
        self._change_words("note_words", [(note_id, *names)], delete=True)
        chunks = self.execute(
            "SELECT id, headings, text FROM chunks WHERE note_id = ?", (note_id,)
        ).fetchall()
        self._change_words("words", chunks, delete=True)
        self.growth["chunks"] -= len(chunks)
        self.growth["tokens"] -= sum(estimate_size(text) for *_, text in chunks)
        for target, status in self.execute(
            "SELECT target, status FROM links WHERE note_id = ?", (note_id,)
        ):
            self.growth["links"] -= status is not None
            self.growth["broken_links"] -= status == "broken"
            self.changed_targets.add(target)
        self.executemany(
            "DELETE FROM tags WHERE tag = ? AND note_id = ?",
            [(fold(tag), note_id) for tag in names[2].split("\n")],
        )
        for table in ("chunks", "links", "dates"):
            self.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        self.execute("DELETE FROM problems WHERE path = ?", (filesystem.printable(path),))

    def _set_names(self, path: str, names: Iterable[LinkName]) -> None:
        wanted = {
            (
                link_key(name.spelled) if name.kind in ("alias", "title") else link_key(name.path),
                *name,
            )
            for name in names
        }
        sql = "SELECT key, path, kind, spelled, rowid FROM names WHERE path = ?"
        known = (
            {} if self.is_new else {tuple(row): rowid for *row, rowid in self.execute(sql, (path,))}
        )
        for row in sorted(known.keys() - wanted):
            self.execute("DELETE FROM names WHERE rowid = ?", (known[row],))
            if row[2] != "file":
                delete = "INSERT INTO name_pairs (name_pairs, rowid, pairs) VALUES ('delete', ?, ?)"
                self.execute(delete, (known[row], " ".join(character_pairs(row[3]))))
        for row in sorted(wanted - known.keys()):
            rowid = self.execute("INSERT INTO names VALUES (?, ?, ?, ?)", row).lastrowid
            if row[2] != "file":
                self.execute(
                    "INSERT INTO name_pairs (rowid, pairs) VALUES (?, ?)",
                    (rowid, " ".join(character_pairs(row[3]))),
                )
        self.changed_keys |= {row[0] for row in known.keys() ^ wanted}

    def _update_attachments_and_problems(self) -> None:
        """What a scan finds besides notes."""
        known = {
            path
            for (path,) in self.execute(f"SELECT path FROM names WHERE kind = 'file' {self.among}")
        }
        for path in sorted(known ^ self.files.attachments):
            self._set_names(
                path,
                [LinkName(path, "file", path.rpartition("/")[2])]
                if path in self.files.attachments
                else [],
            )
        self.execute(f"DELETE FROM problems WHERE from_scan {self.among}")
        self.executemany(
            "INSERT OR REPLACE INTO problems VALUES (?, ?, TRUE)", self.files.problems.items()
        )

    def _resolve_links(self) -> None:
        """Resolve the links of new notes, and those with the key of a name that was added or
        removed.
        """
        self._stage("changed", ((k,) for k in self.changed_keys))
        self._stage("pending_notes", ((note_id,) for note_id in self.pending_notes))
        sql = (
            "SELECT rowid FROM links WHERE note_id IN (SELECT value FROM pending_notes) OR key "
            "IN (SELECT value FROM changed)"
        )
        rowids = self.execute(sql).fetchall()
        for first in range(0, len(rowids), LINK_BATCH):
            self._stage("pending", rowids[first : first + LINK_BATCH])
            sql = """SELECT links.rowid, links.target, links.status, notes.path, links.key, links.kind, links.text
                     FROM pending CROSS JOIN links ON links.rowid = pending.value CROSS JOIN notes ON notes.id = links.note_id"""
            links = self.execute(sql).fetchall()
            self._stage("wanted", ((k,) for k in {row[4] for row in links}))
            names: dict[str, list[LinkName]] = defaultdict(list)
            # CROSS JOIN: otherwise SQLite, which does not know the sizes, scans all names
            for key, *name in self.execute(
                "SELECT key, path, kind, spelled FROM wanted CROSS JOIN names ON names.key "
                "= wanted.value"
            ):
                names[key].append(LinkName(*name))
            resolve = bulk_resolver(names.__getitem__)
            resolved: list[tuple[str | None, str | None, int]] = []
            for rowid, target, status, source, _, kind, text in links:
                answer = resolve(WrittenLink("", kind, text), source)
                if (answer.target, answer.status) != (target, status):
                    resolved.append((answer.target, answer.status, rowid))
                    self.growth["links"] += (answer.status is not None) - (status is not None)
                    self.growth["broken_links"] += (answer.status == "broken") - (
                        status == "broken"
                    )
                    self.changed_targets |= {target, answer.target}
            self.executemany("UPDATE links SET target = ?, status = ? WHERE rowid = ?", resolved)

    def _update_anchors(self) -> None:
        """Update the link aliases of the notes whose incoming links have changed."""
        self._stage("targets", ((path,) for path in self.changed_targets if path))
        anchors: dict[str, Counter[str]] = defaultdict(Counter)
        sql = """SELECT links.target, links.alias, links.embed FROM links JOIN notes ON notes.id = links.note_id
                 WHERE links.target IN (SELECT value FROM targets) AND links.alias != '' AND notes.path != links.target"""
        for target, alias, embed in self.execute(sql):
            if not (embed and alias[0] in "0123456789"):  # the width of a picture
                anchors[target][" ".join(alias.split())[:200]] += 1
        sql = (
            "SELECT id, path, title, aliases, tags, anchors FROM notes WHERE path IN (SELECT "
            "value FROM targets)"
        )
        for note_id, path, *names, old in self.execute(sql).fetchall():
            counted = anchors[path]
            new = "\n".join(
                sorted(counted, key=lambda anchor: (-counted[anchor], anchor))[:MOST_ANCHORS]
            )
            if new != old:
                if note_id not in self.pending_notes:
                    self._change_words("note_words", [(note_id, *names, old)], delete=True)
                    self.pending_notes.add(note_id)
                self.execute("UPDATE notes SET anchors = ? WHERE id = ?", (new, note_id))

    def _write_note_words(self) -> None:
        self._stage("pending_notes", ((note_id,) for note_id in self.pending_notes))
        named = self.execute(
            "SELECT id, title, aliases, tags, anchors FROM notes WHERE id IN (SELECT value "
            "FROM pending_notes)"
        )
        self._change_words("note_words", named.fetchall())

    def _change_words(
        self,
        table: Literal["words", "note_words"],
        rows: list[tuple[Any, ...]],
        *,
        delete: bool = False,
    ) -> None:
        """Index the texts of chunks, or the names of notes, or delete what was indexed: for that
        FTS5 needs the old texts. A row has an id, and the texts.
        """
        columns, counts = (
            ("headings, body", self.chunk_terms)
            if table == "words"
            else ("title, aliases, tags, anchors", self.name_terms)
        )
        indexed = [
            ("delete" if delete else None, rowid, *map(words.to_index_text, texts))
            for rowid, *texts in rows
        ]
        values = ", ".join("?" * (columns.count(",") + 3))
        self.executemany(
            f"INSERT INTO {table} ({table}, rowid, {columns}) VALUES ({values})", indexed
        )
        for _, _, *texts in () if self.is_new else indexed:
            terms = {
                term for text in texts for term in _TERM.findall(text.lower()) if term < FIRST_CJK
            }
            (counts.subtract if delete else counts.update)(terms)

    def update_vocabulary(self) -> None:
        """Count the words that more, or fewer, chunks and names have than before. A new language
        means a new vocabulary.
        """
        used = self.index.languages()
        if self.is_new or (
            not self.languages <= {*used, None} and self._sample_languages() != used
        ):
            # the vocabulary is made anew: all words of the FTS5 tables are new to it
            self.execute("DELETE FROM vocabulary")
            for table, terms in (("words", self.chunk_terms), ("note_words", self.name_terms)):
                self.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
                terms.clear()
                terms.update(
                    dict(
                        self.execute(
                            "SELECT term, doc FROM temp.terms WHERE term < ?", (FIRST_CJK,)
                        )
                    )
                )
                self.execute("DROP TABLE temp.terms")
            used = self._sample_languages()
            self.execute("INSERT OR REPLACE INTO meta VALUES ('languages', ?)", (" ".join(used),))
        chunks = self.chunk_terms
        notes = self.name_terms
        changed = [term for term in {**chunks, **notes} if chunks[term] or notes[term]]
        for language in used:
            stemmed = sorted(zip(words.stem_words(changed, language), changed, strict=True))
            counted = [(language, stem, term, chunks[term], notes[term]) for stem, term in stemmed]
            sql = """INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?)
                     ON CONFLICT DO UPDATE SET chunks = chunks + excluded.chunks, notes = notes + excluded.notes"""
            self.executemany(sql, counted)
            fewer = [row[:3] for row in counted if row[3] < 0 or row[4] < 0]
            self.executemany(
                "DELETE FROM vocabulary WHERE (language, stem, term) = (?, ?, ?) AND "
                "chunks <= 0 AND notes <= 0",
                fewer,
            )

    def _sample_languages(self) -> tuple[str, ...]:
        [[first, last]] = self.execute("SELECT MIN(id), MAX(id) FROM chunks").fetchall()
        wanted = ",".join(
            map(str, range(first, last + 1, max(1, (last - first + 1) // SAMPLED_CHUNKS)))
        )
        return words.detect_languages(
            text
            for (text,) in self.execute(
                f"SELECT substr(text, 1, 1000) FROM chunks WHERE id IN ({wanted})"
            )
        )

    def _stage(self, table: str, values: Iterable[tuple[object, ...]]) -> None:
        """Put values into a temporary table for a join: there may be more than SQL allows as
        parameters.
        """
        self.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (value PRIMARY KEY) WITHOUT ROWID")
        self.execute(f"DELETE FROM {table}")
        self.executemany(f"INSERT INTO {table} VALUES (?)", values)
