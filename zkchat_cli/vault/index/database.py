"""The index of one vault: an SQLite file with its notes, chunks, links and words, and the queries
on it.

It is a cache that can be rebuilt from the notes. So another version, or damage, raises
`IndexDamaged`, and the manager rebuilds it. The tables `words` and `note_words` are contentless
FTS5 tables of what `to_index_text` makes of a text (CJK runs as bigrams). A row of them is deleted
by giving its old values again, so the version must be raised when the tokens of a text change; the
Unicode tables are checked, too.

The checksum, in a small file beside the index, finds the damage that SQLite does not notice, such
as lost words. It is written when an index is closed, and deleted before anything is written: while
it is there, other bytes are damage. Comparing takes 40 ms for 10,000 notes; it is done when the
file's time or size has changed, and once a day, because a failing disk changes no times. Where it
is missing, since the index was open or its process was killed, SQLite's own check takes its place:
70 ms for 10,000 notes.
"""

import hashlib
import json
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError, reason
from zkchat_cli.fileio import (
    atomic_write,
    can_lock,
    create_database,
    lock_timeout,
    make_private_folder,
    open_regular,
    read_beginning,
)
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.text.dates import Period
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault.index.values import (
    LinkRow,
    NoteEntry,
    NoteFilter,
    chunk_key,
    make_chunk,
)
from zkchat_cli.vault.links.wikilinks import LinkName

BUSY_SECONDS = 10.0
SUFFIX = ".checksum"
_LONGEST_CHECKSUM = 200
_QUICK_CHECK = "PRAGMA quick_check(1)"
_CHECK_DISK = "Check the disk and its permissions, or set ZKCHAT_HOME."


@contextmanager
def sqlite_errors(file: Path) -> Iterator[None]:
    """Translate SQLite's errors: IndexDamaged if only a rebuild helps, IndexUnwritable or
    VaultError if the user can help.
    """
    try:
        yield
    except sqlite3.Error as e:
        match getattr(e, "sqlite_errorname", "").split("_")[1:2]:
            case ["BUSY" | "LOCKED"] if can_lock(file.parent):
                raise VaultError(
                    f"another zkchat is writing the index {file}", "Try again when it is done."
                ) from e
            case ["BUSY" | "LOCKED"]:
                raise IndexUnwritable(
                    f"the index {file} cannot be written: its file system cannot lock files",
                    _CHECK_DISK,
                ) from e
            case ["PROTOCOL" | "FULL" | "READONLY" | "CANTOPEN" | "IOERR" | "PERM" | "AUTH"]:
                raise IndexUnwritable(
                    f"the index {file} cannot be written: {e}", _CHECK_DISK
                ) from e
            case _:
                raise damage_error(file, str(e)) from e


def damage_error(file: Path, problem: str) -> IndexDamaged:
    return IndexDamaged(
        f"the index {file} is damaged: {problem}", "`zkchat vault index --full` rebuilds it."
    )


def connect(file: Path, page_size: int = 4096) -> sqlite3.Connection:
    """A connection to the file, which is created if needed, with pages of this size, readable for
    its owner only. Raises VaultError. Threads may share it. Processes may share the file: readers
    see the last commit, and a killed writer leaves no trace.
    """
    try:
        make_private_folder(file.parent)
        create_database(file)
    except OSError as e:
        raise IndexUnwritable(
            f"the index {file} cannot be written: {reason(e)}", _CHECK_DISK
        ) from e
    with sqlite_errors(file):
        connection = sqlite3.connect(
            file,
            timeout=lock_timeout(file, BUSY_SECONDS),
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # Before the first page is written
            connection.execute(f"PRAGMA page_size = {page_size}")
            # Another process is setting it, which counts for the file
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            # What is lost in a power cut is computed again
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    # Commits, or rolls back after any exception
    with db:
        db.execute("BEGIN IMMEDIATE")
        yield


def delete_database(file: Path) -> None:
    """Delete a damaged file, its checksum and SQLite's files beside it, as far as possible."""
    for suffix in (SUFFIX, "", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{file}{suffix}").unlink()


def forget_checksum(file: Path) -> None:
    """Call it in a write transaction, before anything is written."""
    # Where there is none, or in a folder that cannot be written, as SQLite says
    with suppress(OSError):
        Path(f"{file}{SUFFIX}").unlink()


def write_checksum(file: Path) -> None:
    """Write the checksum of an index that is closed; none if another process is writing to it, or
    the disk is full.
    """
    checksum = Path(f"{file}{SUFFIX}")
    if checksum.exists() or not file.exists():
        return
    with (
        suppress(sqlite3.Error, OSError),
        # Closed last: it drops the locks that this process has on the file
        open_regular(file) as reader,
        closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
        # Nobody writes from here on, and an empty log cannot change the file
        connection.execute("BEGIN IMMEDIATE")
        log = Path(f"{file}-wal")
        if not (log.exists() and log.stat().st_size) and connection.execute(
            _QUICK_CHECK
        ).fetchone() == ("ok",):
            atomic_write(
                checksum,
                f"{_file_state(file)} {hashlib.file_digest(reader, 'sha1').hexdigest()}",
                private=True,
            )


def is_intact(file: Path) -> bool:
    """Whether the file is as it was written, as far as that is known."""
    checksum = Path(f"{file}{SUFFIX}")
    try:
        if not checksum.exists() and file.is_file():
            with closing(sqlite3.connect(file, timeout=0)) as connection:
                return bool(connection.execute(_QUICK_CHECK).fetchone() == ("ok",))
        noted = read_beginning(checksum, _LONGEST_CHECKSUM)
        state, _, digest = noted.decode().rpartition(" ")
        if state == _file_state(file):
            return True
        with open_regular(file) as reader:
            is_same = digest == hashlib.file_digest(reader, "sha1").hexdigest()
        if is_same:
            # It is written again with the new state
            forget_checksum(file)
        # Another process has deleted it meanwhile, to write
        return is_same or read_beginning(checksum, _LONGEST_CHECKSUM) != noted
    except (OSError, ValueError, sqlite3.Error) as e:
        # What SQLite cannot read at all is reported where it is opened
        return not getattr(e, "sqlite_errorname", "").startswith("SQLITE_CORRUPT")


def _file_state(file: Path) -> str:
    found = file.stat()
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {date.today()}"


# Raise it whenever the tables, the chunks, the links or `to_index_text` change
VERSION = 14

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    hash BLOB,                           -- of the bytes read; NULL if they could not be read
    title TEXT NOT NULL,
    aliases TEXT NOT NULL, tags TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT ''     -- aliases of the links to this note; all three have one per line
);
CREATE TABLE names (key TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, spelled TEXT NOT NULL);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL,
    heading TEXT, headings TEXT NOT NULL, -- all above and within, one per line
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    key INTEGER NOT NULL                 -- of its vectors, see `chunk_key`
);
CREATE TABLE links (
    note_id INTEGER NOT NULL, line INTEGER NOT NULL,
    kind TEXT NOT NULL, raw TEXT NOT NULL, text TEXT NOT NULL, alias TEXT, embed INTEGER NOT NULL,
    key TEXT NOT NULL, target TEXT,
    status TEXT                          -- NULL: a Markdown link to no note
);
CREATE TABLE problems (path TEXT PRIMARY KEY, text TEXT NOT NULL, from_scan INTEGER NOT NULL) WITHOUT ROWID;
-- folded
CREATE TABLE tags (tag TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (tag, note_id)) WITHOUT ROWID;
-- how many chunks and names of notes have a word, once for each language of the vault
CREATE TABLE vocabulary (
    language TEXT NOT NULL, stem TEXT NOT NULL, term TEXT NOT NULL, chunks INTEGER NOT NULL, notes INTEGER NOT NULL,
    PRIMARY KEY (language, stem, term)
) WITHOUT ROWID;
-- of front matter or, if it has none, of the name of a daily, weekly or monthly note; as ISO days
CREATE TABLE dates (note_id INTEGER NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL);
-- a row per chunk
CREATE VIRTUAL TABLE words USING fts5 (headings, body, content='', tokenize='ascii');
-- a row per note
CREATE VIRTUAL TABLE note_words USING fts5 (title, aliases, tags, anchors, content='', tokenize='ascii');
-- a row per name; detail=full, because without positions bm25 is 0
CREATE VIRTUAL TABLE name_pairs USING fts5 (pairs, content='', tokenize="ascii");
"""

INDEXES = (
    "CREATE INDEX IF NOT EXISTS names_by_key ON names (key)",
    "CREATE INDEX IF NOT EXISTS names_by_path ON names (path)",
    "CREATE INDEX IF NOT EXISTS chunks_by_note ON chunks (note_id, start_line)",
    "CREATE INDEX IF NOT EXISTS chunks_by_key ON chunks (key)",
    "CREATE INDEX IF NOT EXISTS links_by_note ON links (note_id)",
    "CREATE INDEX IF NOT EXISTS dates_by_note ON dates (note_id)",
    "CREATE INDEX IF NOT EXISTS links_by_key ON links (key)",
    "CREATE INDEX IF NOT EXISTS links_by_target ON links (target) WHERE target IS NOT NULL",
)
"""Created after the notes are inserted: sorting half a million rows once is faster than keeping
them sorted.
"""

SIZES = ("notes", "chunks", "links", "broken_links", "tokens")
"""Stored totals, because counting a million rows takes longer than a search. `tokens` are
estimated, of all chunks.
"""
# Characters of the line around a link
MAX_SNIPPET = 200
# Notes that a person may write in one minute
MOST_WRITTEN = 20
FTS_TABLES = ("words", "note_words", "name_pairs")
# FTS5's write buffer: with the default of 1 MB a build takes twice as long
_HASH_BYTES = 16 << 20


class IndexDatabase:
    """An open index, for one thread at a time; processes may share the file."""

    def __init__(self, file: Path, *, in_memory: bool = False) -> None:
        """Raises IndexDamaged if the file is no database. `in_memory`: an empty index that is gone
        when it is closed.
        """
        self.file = file
        memory = (
            sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            if in_memory
            else None
        )
        self.connection = memory or connect(file)
        self.connection.execute("PRAGMA temp_store = MEMORY")
        self.connection.create_function("fold", 1, words.fold, deterministic=True)
        self._written = 0

    @property
    def version(self) -> int:
        return int(self.rows("PRAGMA user_version")[0][0])

    @property
    def is_usable(self) -> bool:
        """Whether the tables are there, and of this version of zkchat and of Python's Unicode
        tables.
        """
        return self.version == VERSION and self.meta("unicode") == unicodedata.unidata_version

    def create_tables(self) -> None:
        """Empty tables instead of the old ones; call it in a transaction."""
        tables = (
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY sql NOT LIKE 'CREATE "
            "VIRTUAL%'"
        )
        # The virtual ones first, which drop those behind them
        for (table,) in self.rows(tables):
            self.rows(f'DROP TABLE IF EXISTS "{table}"')
        for statement in _SCHEMA.split(";\n"):
            self.rows(statement)
        self.rows(f"PRAGMA user_version = {VERSION}")
        meta = {"unicode": unicodedata.unidata_version, **dict.fromkeys(SIZES, "0")}
        self.connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        for table in FTS_TABLES:
            self.rows(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", _HASH_BYTES)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with sqlite_errors(self.file), transaction(self.connection):
            self._written += 1
            forget_checksum(self.file)
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All queries inside see one state of the index, whatever other processes write
        meanwhile.
        """
        if self.connection.in_transaction:  # a question within another one
            yield
            return
        with self.connection:
            self.rows("BEGIN")
            yield

    def rows(self, sql: str, *values: object, **named: object) -> list[tuple[Any, ...]]:
        """The result of an SQL query, with its values or the named ones; for the vault package
        only.
        """
        try:
            with sqlite_errors(self.file):
                return self.connection.execute(sql, named or values).fetchall()
        except UnicodeEncodeError:
            # A lone surrogate from a command line: no note has it
            return []

    def meta(self, key: str) -> str | None:
        rows = self.rows("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def paths(self) -> list[str]:
        return [str(path) for (path,) in self.rows("SELECT path FROM notes ORDER BY path")]

    def has_file(self, path: str) -> bool:
        return bool(self.rows("SELECT 1 FROM names WHERE path = ?", path))

    def names(self, key: str) -> list[LinkName]:
        return [
            LinkName(*row)
            for row in self.rows("SELECT path, kind, spelled FROM names WHERE key = ?", key)
        ]

    def sizes(self) -> dict[str, int]:
        found = dict(self.rows("SELECT key, value FROM meta"))
        return {name: int(found[name]) for name in SIZES}

    def languages(self) -> tuple[str, ...]:
        """The languages that the notes are written in, each with its stems in the vocabulary."""
        return tuple((self.meta("languages") or "").split())

    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever any process writes to the index."""
        return self, self.rows("PRAGMA data_version")[0][0], self._written

    def chunk_keys(self) -> list[int]:
        """The keys of all chunks; first those of the newest and of the most linked notes,
        alternately.
        """
        sql = """WITH linked AS (SELECT target, COUNT(DISTINCT note_id) AS notes FROM links WHERE target IS NOT NULL GROUP BY target),
                     ranked AS (SELECT id, ROW_NUMBER() OVER (ORDER BY mtime_ns DESC) AS newest,
                                       IIF(linked.notes, ROW_NUMBER() OVER (ORDER BY linked.notes DESC), NULL) AS most_linked
                                FROM notes LEFT JOIN linked ON target = path)
                 SELECT key FROM chunks JOIN ranked ON ranked.id = note_id ORDER BY MIN(newest, COALESCE(most_linked, newest)), chunks.id"""
        return [key for (key,) in self.rows(sql)]

    def texts_by_key(self, keys: Sequence[int]) -> dict[int, tuple[str, str, str]]:
        """Note's title, headings (one per line) and text of the chunks with these keys."""
        sql = """SELECT key, title, headings, text FROM chunks JOIN notes ON notes.id = note_id
                 WHERE key IN (SELECT value FROM json_each(?))"""
        return {
            key: (title, headings, text)
            for key, title, headings, text in self.rows(sql, json.dumps(keys))
        }

    def chunks(self, ids: Sequence[int]) -> list[ContentChunk]:
        """These chunks in this order, without deleted ones. Raises IndexDamaged for a chunk that is
        not what was stored, so that nobody is shown other words than the note's.
        """
        sql = """SELECT notes.path, title, heading, start_line, end_line, text, headings, chunks.key
                 FROM json_each(?) AS wanted JOIN chunks ON chunks.id = wanted.value JOIN notes ON notes.id = note_id ORDER BY wanted.key"""
        found = []
        for path, title, heading, start, end, text, headings, key in self.rows(
            sql, json.dumps(ids)
        ):
            if chunk_key(title, headings, text) != key:
                raise damage_error(self.file, f"a part of {path} is not as it was stored")
            found.append(make_chunk(path, title, heading, start, end, text))
        return found

    def check_integrity(self) -> None:
        """Raises IndexDamaged for any damage that SQLite can find: it reads the whole file."""
        [(result,)] = self.rows("PRAGMA integrity_check(1)")
        if result != "ok":
            raise damage_error(self.file, result)

    def list_notes(self, wanted: NoteFilter) -> list[NoteEntry]:
        """The notes that the filter allows, by path."""
        values: list[object] = []
        condition = filter_condition(wanted, values)
        sql = f"SELECT path, title, tags FROM notes WHERE {condition} ORDER BY path"
        found: list[NoteEntry] = []
        for path, title, tags in self.rows(sql, *values):
            found.append(NoteEntry(path, title, tuple(tags.split("\n")) if tags else ()))
        return found

    def tag_counts(self) -> Counter[str]:
        """How many notes have each tag, as they spell it."""
        counts: Counter[str] = Counter()
        for (tags,) in self.rows("SELECT tags FROM notes WHERE tags != ''"):
            counts.update(tags.split("\n"))
        return counts

    def broken_links(self) -> list[tuple[LinkRow, str]]:
        """All broken links with their targets as written, by source and line."""
        sql = "SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"
        texts = dict(self.rows(sql))
        return [(row, texts[row.raw]) for row in self.link_rows("links.status = 'broken'")]

    def links_from(self, path: str) -> list[LinkRow]:
        return self.link_rows("notes.path = ?", path)

    def links_to(self, path: str) -> list[LinkRow]:
        return self.link_rows("links.target = ? AND notes.path != links.target", path)

    def link_rows(self, condition: str, *values: object) -> list[LinkRow]:
        """Links with the line around them, taken from their chunk; a link in front matter has no
        other context.
        """
        sql = f"""SELECT notes.path, links.target, raw, line, (SELECT chunks.id FROM chunks WHERE chunks.note_id = links.note_id
                      AND start_line <= line ORDER BY start_line DESC, chunks.id LIMIT 1)
                  FROM links JOIN notes ON notes.id = links.note_id
                  WHERE {condition} AND links.status IS NOT NULL ORDER BY notes.path, line, links.rowid"""
        rows = self.rows(sql, *values)
        ids = list(dict.fromkeys(id_ for *_, id_ in rows if id_))
        chunks = dict(zip(ids, self.chunks(ids), strict=True))
        found: list[LinkRow] = []
        for source, target, raw, line, id_ in rows:
            context = raw
            if (chunk := chunks.get(id_)) and line <= chunk.end_line:
                context = next(iter(chunk.text.split("\n")[line - chunk.start_line :]), raw).strip(
                    " \t#>"
                )
            found.append(
                LinkRow(
                    source,
                    target,
                    raw,
                    line,
                    truncate_around(context, max(context.find(raw), 0), MAX_SNIPPET),
                )
            )
        return found


def filter_condition(wanted: NoteFilter, values: list[object]) -> str:
    """The condition on `notes` of a filter. Adds its `values`."""
    conditions = ["TRUE"]
    if wanted.folder:
        prefix = f"{wanted.folder}/"
        values += [len(prefix), prefix]
        conditions.append("substr(path, 1, ?) = ?")
    if wanted.period:
        conditions.append(in_period(wanted.period, values, also_copies=wanted.also_copies))
    conditions += [has_tag(tag, values) for tag in wanted.tags]
    conditions += [f"NOT {has_tag(tag, values)}" for tag in wanted.without_tags]
    for part in wanted.path_parts:
        conditions.append("instr(fold(path), ?)")
        values.append(part)
    for part in wanted.without_path_parts:
        conditions.append("NOT instr(fold(path), ?)")
        values.append(part)
    return " AND ".join(conditions)


def in_period(period: Period, values: list[object], *, also_copies: bool = True) -> str:
    """A condition on `notes`: one of the note's dates, or the day it was changed if it has none, is
    in the period. Adds its `values`. Without `also_copies`, that day does not count for notes that
    were written with many others in one minute: they were copied.
    """
    end = period.last if period.last == date.max else period.last + timedelta(days=1)
    values += [
        period.last.isoformat(),
        period.first.isoformat(),
        _nanoseconds(period.first),
        _nanoseconds(end),
    ]
    dated = "SELECT note_id FROM dates"
    minute = "mtime_ns / 60000000000"
    own = (
        (
            f"AND {minute} NOT IN (SELECT {minute} FROM notes GROUP BY 1 HAVING COUNT(*) > "
            f"{MOST_WRITTEN})"
        )
        if not also_copies
        else ""
    )
    return (
        f"(id IN ({dated} WHERE first <= ? AND last >= ?) OR (id NOT IN ({dated}) AND mtime_ns "
        f">= ? AND mtime_ns < ? {own}))"
    )


def has_tag(tag: str, values: list[object]) -> str:
    """A condition on `notes`: a tag of the note is this folded one, or nested in it. Adds its
    `values`.
    """
    values += [tag, f"{tag}/", f"{tag}/\U0010ffff"]
    return "id IN (SELECT note_id FROM tags WHERE tag = ? OR tag BETWEEN ? AND ?)"


def _nanoseconds(day: date) -> int:
    """The beginning of a day in local time, as file systems count it; years out of their range are
    moved into it.
    """
    return (
        int(
            datetime(min(max(day.year, 1971), 2200), day.month, 1).timestamp()
            + 86_400 * (day.day - 1)
        )
        * 10**9
    )
