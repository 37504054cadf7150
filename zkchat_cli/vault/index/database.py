"""The index of one vault: an SQLite file with its notes, chunks, links and words, and the queries on it.

It is a cache that can be rebuilt from the notes. So another version, or damage, raises `IndexDamaged`, and the manager rebuilds it. `words`
and `note_words` are contentless FTS5 tables of texts that `words` has tokenized (CJK runs as bigrams). A row of them is deleted by giving
its old values again, so the version must be raised when the tokens of a text change; the Unicode tables are checked, too.
"""

import json
import os
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.index.file_lock import opening, replacing
from zkchat_cli.vault.links.resolver import Name

VERSION = 5
"""Raise it whenever the tables, the chunks, the links or `words.indexed` change."""

BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    hash BLOB,                           -- of the bytes read; NULL if they could not be read
    title TEXT NOT NULL,
    aliases TEXT NOT NULL,               -- one per line, like tags and anchors
    tags TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT ''     -- aliases of the links to this note
);
CREATE TABLE names (key TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, spelled TEXT NOT NULL);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    note_id INTEGER NOT NULL,
    heading TEXT,
    headings TEXT NOT NULL,              -- above and within, one per line
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE links (
    note_id INTEGER NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    raw TEXT NOT NULL,
    text TEXT NOT NULL,
    heading TEXT,
    alias TEXT,
    embed INTEGER NOT NULL,
    key TEXT NOT NULL,
    target TEXT,
    status TEXT                          -- NULL: a Markdown link to no note
);
CREATE TABLE problems (path TEXT PRIMARY KEY, text TEXT NOT NULL, from_scan INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tags (tag TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (tag, note_id)) WITHOUT ROWID; -- folded
CREATE VIRTUAL TABLE words USING fts5 (headings, body, content='', tokenize='ascii');                      -- a row per chunk
CREATE VIRTUAL TABLE note_words USING fts5 (title, aliases, tags, anchors, content='', tokenize='ascii');  -- a row per note
CREATE VIRTUAL TABLE name_pairs USING fts5 (pairs, content='', tokenize="ascii"); -- detail=full: without positions bm25 is 0
"""

INDEXES = (
    "CREATE INDEX IF NOT EXISTS names_by_key ON names (key)",
    "CREATE INDEX IF NOT EXISTS names_by_path ON names (path)",
    "CREATE INDEX IF NOT EXISTS chunks_by_note ON chunks (note_id, start_line)",
    "CREATE INDEX IF NOT EXISTS links_by_note ON links (note_id)",
    "CREATE INDEX IF NOT EXISTS links_by_key ON links (key)",
    "CREATE INDEX IF NOT EXISTS links_by_target ON links (target) WHERE target IS NOT NULL",
)
"""Created after the notes are inserted: sorting half a million rows once is faster than keeping them sorted."""

_FTS = ("words", "note_words", "name_pairs")
_HASH_BYTES = 16 << 20
"""FTS5's write buffer: with the default of 1 MB a build takes twice as long."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link in a note; `target` is None if it is broken."""

    source: str
    target: str | None
    raw: str
    line: int
    context_snippet: str
    heading: str | None = None
    status: str = "found"


class Sizes(NamedTuple):
    """Stored totals, because counting a million rows takes longer than a search. `tokens` are estimated, of all chunks."""

    notes: int = 0
    chunks: int = 0
    links: int = 0
    broken_links: int = 0
    tokens: float = 0.0


@contextmanager
def sqlite_errors(file: Path) -> Iterator[None]:
    """Translate SQLite's errors: IndexDamaged if only a rebuild helps, VaultError if the user can help."""
    try:
        yield
    except sqlite3.Error as e:
        match getattr(e, "sqlite_errorname", "").split("_")[1:2]:
            case ["BUSY" | "LOCKED"]:
                raise VaultError(f"another zkchat is writing the index {file}", "Try again when it is done.") from e
            case ["FULL"]:
                raise VaultError(f"the disk is full: the index {file} cannot be written", "Free some space and try again.") from e
            case ["READONLY" | "CANTOPEN" | "IOERR" | "PERM" | "AUTH"]:
                raise VaultError(f"the index {file} cannot be used: {e}", "Check the folder's permissions, or set ZKCHAT_HOME.") from e
            case _:
                raise IndexDamaged(f"the index {file} is damaged: {e}", "`zkchat vault index --full` rebuilds it.") from e


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def is_replaced(file: Path, inode: int) -> bool:
    """Whether another process has replaced or deleted the file."""
    try:
        return file.stat().st_ino != inode
    except OSError:
        return True


def delete_database(file: Path) -> None:
    """Delete the file and SQLite's files beside it, as far as possible."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{file}{suffix}").unlink()


class IndexDatabase:
    """An open index, for one thread at a time; processes may share the file."""

    def __init__(self, file: Path, connection: sqlite3.Connection, inode: int) -> None:
        self.file = file
        self.connection = connection
        self._inode = inode
        self._opened = object()
        self._written = 0

    @classmethod
    def open(cls, file: Path) -> "IndexDatabase":
        """Raises IndexDamaged for an index that must be rebuilt."""
        with sqlite_errors(file), opening(file):
            index = cls._connect(file, os.O_RDWR)
            try:
                found = index.connection.execute("PRAGMA user_version").fetchone()[0]
                if found != VERSION:
                    age = "an older" if found < VERSION else "a newer"
                    raise IndexDamaged(f"the index was made by {age} version of zkchat", "It is rebuilt.")
                if index.meta("unicode") != unicodedata.unidata_version:
                    raise IndexDamaged("the index was made with other Unicode tables", "It is rebuilt.")
            except BaseException:
                index.close()
                raise
            return index

    @classmethod
    def create(cls, file: Path) -> "IndexDatabase":
        """A new index, fast and without protection against crashes; `publish` makes it durable."""
        with sqlite_errors(file):
            index = cls._connect(file, os.O_RDWR | os.O_CREAT)
            index.connection.executescript(
                f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = {VERSION}; BEGIN; {_SCHEMA}"
            )
            index.connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [("unicode", unicodedata.unidata_version), ("version", str(VERSION)), *((name, "0") for name in Sizes._fields)],
            )
            for table in _FTS:
                index.connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", (_HASH_BYTES,))
            index.connection.execute("COMMIT")
            return index

    @classmethod
    def _connect(cls, file: Path, flags: int) -> "IndexDatabase":
        try:
            os.close(os.open(file, flags, 0o600))
        except FileNotFoundError as e:
            raise IndexDamaged(f"the index {file} is gone", "It is rebuilt.") from e
        except OSError as e:
            raise VaultError(f"the index {file} cannot be opened: {e.strerror}", "Check its permissions, or set ZKCHAT_HOME.") from e
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA synchronous = NORMAL")  # a refresh lost in a power cut is repeated by the next one
        connection.create_function("fold", 1, words.fold, deterministic=True)
        return cls(file, connection, file.stat().st_ino)

    def publish(self, as_file: Path) -> None:
        """Replace the index at `as_file` by this finished one; whoever has the old one open notices by `is_replaced`."""
        with sqlite_errors(self.file):
            for table in _FTS:  # one segment each, so that no later refresh has to merge everything
                self.connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
            self.connection.execute("PRAGMA journal_mode = WAL")
        self.close()
        replaced = None
        try:
            if as_file.exists():
                replaced = _write_locked(as_file)
            with replacing(as_file):
                for leftover in ("-wal", "-shm"):  # they belong to the old file
                    Path(f"{as_file}{leftover}").unlink(missing_ok=True)
                self.file.replace(as_file)
        except OSError as e:
            raise VaultError(f"the index {as_file} cannot be replaced: {e.strerror}", "Close other zkchat programs and try again.") from e
        finally:
            if replaced:
                replaced.close()

    def is_replaced(self) -> bool:
        return is_replaced(self.file, self._inode)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with sqlite_errors(self.file), transaction(self.connection):
            self._written += 1
            yield self.connection

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The result of an SQL query; for the vault package only."""
        try:
            with sqlite_errors(self.file):
                return self.connection.execute(sql, values).fetchall()
        except UnicodeEncodeError:  # a lone surrogate from a command line: no note has it
            return []

    def meta(self, key: str) -> str | None:
        rows = self.rows("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def problems(self) -> tuple[str, ...]:
        return tuple(f"{path}: {text}" for path, text in self.rows("SELECT path, text FROM problems ORDER BY path"))

    def paths(self) -> list[str]:
        return [str(path) for (path,) in self.rows("SELECT path FROM notes ORDER BY path")]

    def has_file(self, path: str) -> bool:
        return bool(self.rows("SELECT 1 FROM names WHERE path = ?", path))

    def has_folder(self, path: str) -> bool:
        return bool(self.rows("SELECT 1 FROM names WHERE path > ? AND path < ? LIMIT 1", f"{path}/", f"{path}0"))

    def names(self, key: str) -> list[Name]:
        return [Name(*row) for row in self.rows("SELECT path, kind, spelled FROM names WHERE key = ?", key)]

    def sizes(self) -> Sizes:
        found = dict(self.rows("SELECT key, value FROM meta"))
        notes, chunks, links, broken_links = (int(found[name]) for name in Sizes._fields[:-1])
        return Sizes(notes, chunks, links, broken_links, float(found["tokens"]))

    def allow(self, tags: Iterable[str], paths: Iterable[str], no_tags: Iterable[str] = (), no_paths: Iterable[str] = ()) -> None:
        """Put into `temp.allowed` the ids of the notes that have all of these tags (or tags nested in them) and all of these texts in
        their paths, and none of the excluded. Tags and texts are folded."""
        conditions: list[str] = []
        values: list[str] = []
        folded = "CASE length(path) WHEN length(CAST(path AS BLOB)) THEN lower(path) ELSE fold(path) END"
        for negation, some_tags, some_paths in (("", tags, paths), ("NOT ", no_tags, no_paths)):
            for tag in some_tags:
                conditions.append(f"id {negation}IN (SELECT note_id FROM tags WHERE tag = ? OR tag BETWEEN ? AND ?)")
                values += [tag, f"{tag}/", f"{tag}/\U0010ffff"]
            for path in some_paths:
                conditions.append(f"{negation}instr({folded}, ?)")
                values.append(path)
        self.rows("CREATE TEMP TABLE IF NOT EXISTS allowed (value INTEGER PRIMARY KEY)")
        self.rows("DELETE FROM temp.allowed")
        self.rows(f"INSERT INTO temp.allowed SELECT id FROM notes WHERE {' AND '.join(conditions)}", *values)

    def chunk_ids(self, note_id: int) -> list[int]:
        return [id_ for (id_,) in self.rows("SELECT id FROM chunks WHERE note_id = ? ORDER BY id", note_id)]

    def notes_linked_from(self, note_id: int, first_line: int, last_line: int) -> list[int]:
        sql = """SELECT DISTINCT notes.id FROM links JOIN notes ON notes.path = links.target
                 WHERE links.note_id = ? AND links.line BETWEEN ? AND ?"""
        return [id_ for (id_,) in self.rows(sql, note_id, first_line, last_line)]

    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever any process writes to the index."""
        return self._opened, self.rows("PRAGMA data_version")[0][0], self._written

    def texts(self, ids: Sequence[int] | None = None) -> Iterator[tuple[int, str, str, str]]:
        """Id, note's title, headings (one per line) and text of these chunks, or of all."""
        some = "" if ids is None else "WHERE chunks.id IN (SELECT value FROM json_each(?))"
        with sqlite_errors(self.file):
            yield from self.connection.execute(
                f"SELECT chunks.id, title, headings, text FROM chunks JOIN notes ON notes.id = note_id {some} ORDER BY chunks.id",
                () if ids is None else (json.dumps(ids),),
            )

    def chunks(self, ids: Sequence[int]) -> list[ContentChunk]:
        """These chunks in this order, without deleted ones."""
        sql = """SELECT notes.path, title, heading, start_line, end_line, text
                 FROM json_each(?) AS wanted JOIN chunks ON chunks.id = wanted.value JOIN notes ON notes.id = note_id ORDER BY wanted.key"""
        return [make_chunk(*row) for row in self.rows(sql, json.dumps(ids))]

    def links_from(self, path: str) -> list[LinkRow]:
        return self.link_rows("notes.path = ?", path)

    def links_to(self, path: str) -> list[LinkRow]:
        return self.link_rows("links.target = ? AND notes.path != links.target", path)

    def broken(self) -> list[LinkRow]:
        return self.link_rows("links.status = 'broken'")

    def link_rows(self, condition: str, *values: object) -> list[LinkRow]:
        """Links with the line around them, taken from their chunk; a link in front matter has no other context."""
        rows = self.rows(
            f"""SELECT notes.path, links.target, raw, line, links.heading, links.status, chunks.start_line, chunks.end_line, chunks.text
                FROM links JOIN notes ON notes.id = links.note_id LEFT JOIN chunks ON chunks.id =
                    (SELECT MIN(id) FROM chunks AS here WHERE here.note_id = links.note_id AND start_line =
                        (SELECT MAX(start_line) FROM chunks AS above WHERE above.note_id = links.note_id AND start_line <= line))
                WHERE {condition} AND links.status IS NOT NULL ORDER BY notes.path, line, links.rowid""",
            *values,
        )
        return [_link_row(*row) for row in rows]


def _link_row(source: Any, target: Any, raw: Any, line: Any, heading: Any, status: Any, start: Any, end: Any, text: Any) -> LinkRow:
    context = text.split("\n")[line - start] if text is not None and line <= end else raw
    return LinkRow(source, target, raw, line, snippet(context, raw), heading, status)


def snippet(line: str, raw: str, width: int = 200) -> str:
    """The line around `raw`, shortened and without list and heading marks."""
    at = max(line.find(raw), 0)
    begin = max(0, at - width // 2)
    around = line[begin : max(begin + width, at + len(raw))].strip(" \t#>")
    return ("…" if begin else "") + truncate(around, 2 * width) + ("…" if begin + width < len(line) else "")


def make_chunk(path: str, title: str, heading: str | None, start: int, end: int, text: str, score: float | None = None) -> ContentChunk:
    """A chunk with an id made from its place and its text."""
    id_ = blake2b(f"{path}\0{start}\0{text}".encode("utf-8", "replace"), digest_size=6).hexdigest()
    return ContentChunk(id=id_, relative_path=path, title=title, heading=heading, start_line=start, end_line=end, text=text, score=score)


def _write_locked(file: Path) -> sqlite3.Connection | None:
    """A connection that locks out writers of the index at `file`, with an empty log; None if that index is unusable."""
    connection = None
    try:
        with opening(file):
            connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
            connection.execute("PRAGMA user_version")  # opens the log, too
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error:
        if connection:
            connection.close()
        return None
    return connection
