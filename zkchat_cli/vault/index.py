"""The index of one vault: an SQLite file with its notes, chunks, links and words, and every question asked of it.

It is a cache: whatever is wrong with it, it can be made anew from the notes. So a version that does not fit, or damage, is an
`IndexDamaged`, which the vault answers by building another one. `words` is a contentless FTS5 table over texts that `words.terms` has
already folded and cut (CJK bigrams included): its tokenizer has nothing left to decide. A contentless row is deleted by giving its old
values again, so `indexing` and this file agree on `word_columns`; the version covers that, and the Unicode tables it depends on.
"""

import json
import os
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli import words
from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.search import Query
from zkchat_cli.vault.wikilinks import Name

VERSION = 2
"""Raise it whenever the tables, the chunks, the links or `words.terms` change."""

BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    hash BLOB,                           -- of the bytes that were read; NULL when they could not be
    title TEXT NOT NULL,
    aliases TEXT NOT NULL,               -- one a line, as tags and anchors
    tags TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT ''     -- texts of the links in other notes that point here
);
CREATE TABLE names (key TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, spelled TEXT NOT NULL);
CREATE INDEX names_by_key ON names (key);
CREATE INDEX names_by_path ON names (path);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    note_id INTEGER NOT NULL,
    heading TEXT,
    headings TEXT NOT NULL,              -- above and within, one a line
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_by_note ON chunks (note_id);
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
    status TEXT                          -- NULL: a Markdown link that means no note
);
CREATE INDEX links_by_note ON links (note_id);
CREATE INDEX links_by_key ON links (key);
CREATE INDEX links_by_target ON links (target) WHERE target IS NOT NULL;
CREATE TABLE problems (path TEXT PRIMARY KEY, text TEXT NOT NULL, from_scan INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    title, aliases, headings, tags, anchors, body, content='', tokenize="ascii tokenchars ''''"
);
CREATE VIRTUAL TABLE name_pairs USING fts5 (pairs, content='', tokenize="ascii"); -- detail=full: without positions bm25 is 0
"""

WEIGHTS = (8.0, 6.0, 5.0, 2.0, 2.0, 1.0)
"""bm25 weights of title, aliases, headings, tags, anchors, body, chosen by measurement on an English and a Chinese vault.

Between 3 and 10 for the names little changes; more weight for anchors would only flatter queries made from the links themselves."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link between notes as the index holds it. `target` is None where it is broken."""

    source: str
    target: str | None
    raw: str
    line: int
    context_snippet: str
    heading: str | None = None
    status: str = "found"


class Counts(NamedTuple):
    notes: int
    chunks: int
    links: int
    broken_links: int


class WordColumns(NamedTuple):
    """What `words` holds of a chunk, in the order of its columns."""

    title: str
    aliases: str
    headings: str
    tags: str
    anchors: str
    body: str


def word_columns(title: str, aliases: str, headings: str, tags: str, anchors: str, body: str) -> WordColumns:
    return WordColumns(*(" ".join(words.terms(text)) for text in (title, aliases, headings, tags, anchors, body)))


def pairs(name: str) -> list[str]:
    """The pairs of neighbouring characters of a name, its borders included: what "nearest name" and completion search by."""
    plain = "·" + "".join(c if c.isalnum() or not c.isascii() else "·" for c in words.fold(name))[:200] + "·"
    return [plain[i : i + 2] for i in range(len(plain) - 1)]


@contextmanager
def sqlite_errors(file: Path) -> Iterator[None]:
    """SQLite's errors as ours: what only a rebuild helps against is IndexDamaged, what the user can help is a VaultError."""
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
                raise IndexDamaged(f"the index {file} is damaged: {e}", "`zkchat vault index --full` builds it anew.") from e


class Index:
    """An open index. Not for two threads at once; two processes may have it open."""

    def __init__(self, file: Path, connection: sqlite3.Connection, inode: int) -> None:
        self.file = file
        self.connection = connection
        self._inode = inode
        self._opened = object()

    @classmethod
    def open(cls, file: Path) -> "Index":
        """An existing index; IndexDamaged when it cannot serve, and says why."""
        with sqlite_errors(file):
            index = cls._connect(file, os.O_RDWR)
            try:
                found = index.connection.execute("PRAGMA user_version").fetchone()[0]
                if found != VERSION:
                    age = "an older" if found < VERSION else "a newer"
                    raise IndexDamaged(f"the index was made by {age} version of zkchat", "It is built anew.")
                if index.meta("unicode") != unicodedata.unidata_version:
                    raise IndexDamaged("the index was made with other Unicode tables", "It is built anew.")
            except BaseException:
                index.close()
                raise
            return index

    @classmethod
    def create(cls, file: Path) -> "Index":
        """A new, empty index that nobody else knows yet, fast and without safety; `publish` makes it a durable one."""
        with sqlite_errors(file):
            index = cls._connect(file, os.O_RDWR | os.O_CREAT)
            index.connection.executescript(
                f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = {VERSION}; BEGIN; {_SCHEMA}"
            )
            index.connection.executemany(
                "INSERT INTO meta VALUES (?, ?)", [("unicode", unicodedata.unidata_version), ("version", str(VERSION))]
            )
            index.connection.execute("INSERT INTO words (words, rank) VALUES ('rank', ?)", (f"bm25({', '.join(map(str, WEIGHTS))})",))
            index.connection.execute("COMMIT")
            return index

    @classmethod
    def _connect(cls, file: Path, flags: int) -> "Index":
        try:
            os.close(os.open(file, flags, 0o600))
        except FileNotFoundError as e:
            raise IndexDamaged(f"the index {file} is gone", "It is built anew.") from e
        except OSError as e:
            raise VaultError(f"the index {file} cannot be opened: {e.strerror}", "Check its permissions, or set ZKCHAT_HOME.") from e
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store = MEMORY")
        return cls(file, connection, file.stat().st_ino)

    def publish(self, as_file: Path) -> None:
        """Put this finished index in the place of another. Whoever has the old one open notices by `moved`."""
        with sqlite_errors(self.file):
            self.connection.execute("PRAGMA journal_mode = WAL")
        self.close()
        replaced = None
        try:
            if as_file.exists():
                replaced = _write_locked(as_file)
            for leftover in ("-wal", "-shm"):  # they belong to the old file; a new one must not read them
                Path(f"{as_file}{leftover}").unlink(missing_ok=True)
            self.file.replace(as_file)
        except OSError as e:
            raise VaultError(f"the index {as_file} cannot be replaced: {e.strerror}", "Close other zkchat programs and try again.") from e
        finally:
            if replaced:
                replaced.close()

    def moved(self) -> bool:
        """Whether another process has put a new index in this one's place, or it was deleted."""
        try:
            return self.file.stat().st_ino != self._inode
        except OSError:
            return True

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing."""
        with sqlite_errors(self.file):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
                raise

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with sqlite_errors(self.file):
                return self.connection.execute(sql, values).fetchall()
        except UnicodeEncodeError:  # half a surrogate pair from a command line: no note has it
            return []

    def meta(self, key: str) -> str | None:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def counts(self) -> Counts:
        [row] = self._rows(
            """SELECT (SELECT COUNT(*) FROM notes), (SELECT COUNT(*) FROM chunks),
                      (SELECT COUNT(*) FROM links WHERE status IS NOT NULL), (SELECT COUNT(*) FROM links WHERE status = 'broken')"""
        )
        return Counts(*row)

    def problems(self) -> tuple[str, ...]:
        return tuple(f"{path}: {text}" for path, text in self._rows("SELECT path, text FROM problems ORDER BY path"))

    def paths(self) -> list[str]:
        return [str(path) for (path,) in self._rows("SELECT path FROM notes ORDER BY path")]

    def has_note(self, path: str) -> bool:
        return bool(self._rows("SELECT 1 FROM notes WHERE path = ?", path))

    def has_file(self, path: str) -> bool:
        return bool(self._rows("SELECT 1 FROM names WHERE path = ?", path))

    def names(self, key: str) -> list[Name]:
        return [Name(*row) for row in self._rows("SELECT path, kind, spelled FROM names WHERE key = ?", key)]

    def similar_names(self, name: str, limit: int) -> list[tuple[str, str]]:
        """Names of notes that share the most pairs of characters with `name`, for a closer look; each with its note's path."""
        expression = " OR ".join(f'"{pair}"' for pair in dict.fromkeys(pairs(name)))
        return [
            (str(spelled), str(path))
            for spelled, path in self._rows(
                """SELECT spelled, path FROM (SELECT rowid, rank FROM name_pairs WHERE name_pairs MATCH ? ORDER BY rank LIMIT ?) AS found
                   JOIN names ON names.rowid = found.rowid ORDER BY found.rank, spelled""",
                expression,
                limit,
            )
        ]

    def search(self, query: Query, limit: int, most_of_a_note: int) -> list[ContentChunk]:
        """The best chunks, at most `most_of_a_note` from one; what has no phrase of the query counts only if nothing has."""
        for expression in dict.fromkeys((query.expression, query.loose)):
            if expression:
                found = self._search(expression, limit, most_of_a_note)
                if found:
                    return found
        return []

    def _search(self, expression: str, limit: int, most_of_a_note: int) -> list[ContentChunk]:
        rows = self._rows(
            """SELECT notes.path, notes.title, heading, start_line, end_line, text, -found.rank
               FROM (SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?) AS found
               JOIN chunks ON chunks.id = found.rowid JOIN notes ON notes.id = chunks.note_id
               ORDER BY found.rank, chunks.id""",
            expression,
            limit * 4 + 20,
        )
        taken: dict[object, int] = {}
        best: list[ContentChunk] = []
        for path, title, heading, start, end, text, score in rows:
            taken[path] = taken.get(path, 0) + 1
            if taken[path] <= most_of_a_note:
                best.append(chunk(str(path), str(title), heading, start, end, str(text), score))
                if len(best) == limit:
                    break
        return best

    def stamp(self) -> tuple[object, ...]:
        """Equal as long as nothing has changed in the index, by whomever."""
        return self._opened, self._rows("PRAGMA data_version")[0][0], self.connection.total_changes

    def texts(self, ids: Sequence[int] | None = None) -> Iterator[tuple[int, str, str, str]]:
        """Id, note's title, headings (one a line) and text of these chunks, or of all there are."""
        some = "" if ids is None else "WHERE chunks.id IN (SELECT value FROM json_each(?))"
        with sqlite_errors(self.file):
            yield from self.connection.execute(
                f"SELECT chunks.id, title, headings, text FROM chunks JOIN notes ON notes.id = note_id {some} ORDER BY chunks.id",
                () if ids is None else (json.dumps(ids),),
            )

    def chunks(self, ids: Sequence[int]) -> list[ContentChunk]:
        """These chunks in this order; one that is not there any more is left out."""
        rows = self._rows(
            """SELECT notes.path, title, heading, start_line, end_line, text
               FROM json_each(?) AS wanted JOIN chunks ON chunks.id = wanted.value JOIN notes ON notes.id = note_id ORDER BY wanted.key""",
            json.dumps(ids),
        )
        return [chunk(*row) for row in rows]

    def links_from(self, path: str) -> list[LinkRow]:
        return self._links("notes.path = ?", path)

    def links_to(self, path: str) -> list[LinkRow]:
        return self._links("links.target = ? AND notes.path != links.target", path)

    def broken(self) -> list[LinkRow]:
        return self._links("links.status = 'broken'")

    def _links(self, condition: str, *values: object) -> list[LinkRow]:
        """Rows with the line each link stands on, which its chunk has; a link in front matter is its own context."""
        rows = self._rows(
            f"""SELECT notes.path, links.target, raw, line, links.heading, links.status,
                       (SELECT json_array(start_line, text) FROM chunks
                        WHERE chunks.note_id = links.note_id AND links.line BETWEEN start_line AND end_line LIMIT 1)
                FROM links JOIN notes ON notes.id = links.note_id
                WHERE {condition} AND links.status IS NOT NULL ORDER BY notes.path, line, links.rowid""",
            *values,
        )
        return [_link_row(*row) for row in rows]


def _link_row(source: Any, target: Any, raw: Any, line: Any, heading: Any, status: Any, holder: Any) -> LinkRow:
    context = raw
    if holder:
        start, text = json.loads(holder)
        lines = text.split("\n")
        context = lines[min(line - start, len(lines) - 1)]
    return LinkRow(source, target, raw, line, snippet(context, raw), heading, status)


def snippet(line: str, raw: str, width: int = 200) -> str:
    """The line around `raw`, with list and heading marks and most of a long line left out."""
    at = max(line.find(raw), 0)
    begin = max(0, at - width // 2)
    around = line[begin : max(begin + width, at + len(raw))].strip(" \t#>")
    return ("…" if begin else "") + words.shorten(around, 2 * width) + ("…" if begin + width < len(line) else "")


def chunk(path: str, title: str, heading: str | None, start: int, end: int, text: str, score: float | None = None) -> ContentChunk:
    """A chunk with an id made of its place and its text."""
    return ContentChunk(
        id=blake2b(f"{path}\0{start}\0{text}".encode("utf-8", "replace"), digest_size=6).hexdigest(),
        relative_path=path,
        title=title,
        heading=heading,
        start_line=start,
        end_line=end,
        text=text,
        score=score,
    )


def _write_locked(file: Path) -> sqlite3.Connection | None:
    """A connection that keeps writers out of the index at `file`, its log emptied; None when that index is beyond use."""
    connection = None
    try:
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error:
        if connection:
            connection.close()
        return None
    return connection
