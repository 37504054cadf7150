"""The file that stores the vectors of chunks.

Vectors cost time and money, so they are in their own file beside the index and outlast it: they
belong to a chunk's text, not to its place. The file has the vectors of one embedder; another one
replaces them.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from zkchat_cli.errors import IndexDamaged, ProviderError
from zkchat_cli.vault.index.sqlite.connection import (
    connect,
    delete_database,
    sqlite_errors,
    transaction,
)

if TYPE_CHECKING:
    from zkchat_cli.vault.search.embedder import Embedder
    from zkchat_cli.vault.search.vector_math import SignTable, Vector

# Chunks that the mean and the spread of cosines are estimated from
SAMPLED_CHUNKS = 512
# How long to wait while another process computes vectors
CLAIM_MILLISECONDS = 100
# Bytes. Vectors of six windows fill little more than half of SQLite's usual page: a window took 757
# bytes.
PAGE_SIZE = 16_384
# Raise it whenever the tables, the windows or the choice of texts change
VERSION = 7

_TABLES = """
CREATE TABLE IF NOT EXISTS embedder (name TEXT NOT NULL, dimensions INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS signatures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- of the chunk, see `chunk_key`
    key INTEGER NOT NULL UNIQUE,
    -- of its windows one after the other; empty if the model does not know the language
    bits BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, windows BLOB NOT NULL)
"""

T = TypeVar("T")


class _PackedChunk(NamedTuple):
    """The key of a chunk, and its windows as packed integers."""

    key: int
    windows: bytes


class _Sample(NamedTuple):
    """Chunks that represent all of a table of signs."""

    signs: "SignTable"
    chunks: list[_PackedChunk]


class SqliteVectorStore:
    """A `VectorStore` in a file. Threads and processes may share it. A damaged file, or one of
    another version, is replaced by an empty one. The file is created by the first claim; without it
    there are no vectors.
    """

    def __init__(self, file: Path, embedder: "Embedder") -> None:
        self.file = file
        self._embedder = embedder
        self._connection: sqlite3.Connection | None = None
        self._claimed: sqlite3.Connection | None = None
        self._signs: SignTable | None = None
        self._sample: _Sample | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._connection:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None
            self._signs = None

    def count_windows(self) -> int:
        sql = """
            SELECT COALESCE(SUM(length(bits)) / (8 * ((dimensions + 63) / 64)), 0)
            FROM signatures, embedder
        """
        return self._run(lambda db, _: int(db.execute(sql).fetchone()[0]), 0)

    @property
    def is_empty(self) -> bool:
        return self._load() is None

    def missing_keys(self, keys: Sequence[int]) -> list[int]:
        return self._run(lambda db, _: _missing_keys(db, keys), list(dict.fromkeys(keys)))

    def keys_without_vectors(self, keys: Sequence[int]) -> list[int]:
        sql = """
            SELECT wanted.value FROM json_each(?) AS wanted
            JOIN signatures ON signatures.key = wanted.value WHERE bits = x'' ORDER BY wanted.key
        """
        wanted = json.dumps(list(dict.fromkeys(keys)))
        return self._run(lambda db, _: [key for (key,) in db.execute(sql, (wanted,))], [])

    @property
    def share_without_vectors(self) -> float:
        sql = "SELECT COALESCE(AVG(bits = x''), 0) FROM signatures"
        return self._run(lambda db, _: float(db.execute(sql).fetchone()[0]), 0.0)

    def nearest(self, vector: "Vector", limit: int) -> dict[int, float]:
        from zkchat_cli.vault.search.vector_math import best_cosines  # imports numpy

        signs = self._load()
        if signs is None:
            return {}
        if len(vector) != signs.dimensions:
            self._run(lambda db, _: db.execute("DELETE FROM embedder"), None)
            problem = (
                f"the stored vectors have {signs.dimensions} dimensions, this model's have "
                f"{len(vector)}"
            )
            hint = "`zkchat vault index --semantic` computes them again."
            raise ProviderError("bad_answer", problem, hint)
        rows = signs.nearest(vector, limit)
        cosines = best_cosines(vector, self._packed("id", rows))
        best_first = sorted(cosines, key=lambda id_: cosines[id_], reverse=True)
        return {id_: cosines[id_] for id_ in best_first}

    def cosines(self, vector: "Vector", keys: Collection[int]) -> dict[int, float]:
        from zkchat_cli.vault.search.vector_math import best_cosines  # imports numpy

        return best_cosines(vector, self._packed("key", keys))

    def sample_cosines(self, vector: "Vector") -> list[float]:
        from zkchat_cli.vault.search.vector_math import best_cosines  # imports numpy

        with self._lock:
            signs = self._load()
            if signs is not None and (self._sample is None or self._sample.signs is not signs):
                rows = signs.spread_rows(SAMPLED_CHUNKS)
                self._sample = _Sample(signs, self._packed("id", rows))
            chunks = self._sample.chunks if self._sample else []
            return list(best_cosines(vector, chunks).values())

    def _packed(self, column: Literal["key", "id"], values: Collection[int]) -> list[_PackedChunk]:
        """The chunks with these keys, or rows, that have vectors."""
        sql = f"""
            SELECT key, windows FROM signatures JOIN vectors USING (id)
            WHERE {column} IN (SELECT value FROM json_each(?))
        """
        wanted = json.dumps(list(values))

        def read(db: sqlite3.Connection, _: int) -> list[_PackedChunk]:
            return [_PackedChunk(*row) for row in db.execute(sql, (wanted,))]

        return self._run(read, [])

    @contextmanager
    def claim(self, keys: Sequence[int]) -> Iterator[list[int] | None]:
        # Closing rolls back what was not committed
        with self._errors(), closing(connect(self.file, PAGE_SIZE)) as connection:
            _prepare(connection, self.file)
            connection.execute(f"PRAGMA busy_timeout = {CLAIM_MILLISECONDS}")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as e:
                if not e.sqlite_errorname.startswith("SQLITE_BUSY"):
                    raise
                yield None
                return
            if _stored_dimensions(connection, self._embedder.id) is None:
                _replace_embedder(connection, self._embedder.id, dimensions=0)
            self._claimed = connection
            yield _missing_keys(connection, keys)
            connection.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Translate SQLite's errors; a damaged file is deleted."""
        try:
            with sqlite_errors(self.file):
                yield
        except IndexDamaged:
            self.close()
            delete_database(self.file)
            raise

    def add(self, key: int, vectors: "Sequence[Vector]") -> None:
        from zkchat_cli.vault.search.vector_math import pack_integers, pack_signs  # imports numpy

        assert self._claimed
        if vectors:
            dimensions = len(vectors[0])
            if _stored_dimensions(self._claimed, self._embedder.id) != dimensions:
                _replace_embedder(self._claimed, self._embedder.id, dimensions)
        bits = pack_signs(vectors) if vectors else b""
        sql = "INSERT INTO signatures (key, bits) VALUES (?, ?)"
        added = self._claimed.execute(sql, (key, bits)).lastrowid
        if vectors:
            sql = "INSERT INTO vectors VALUES (?, ?)"
            self._claimed.execute(sql, (added, pack_integers(vectors)))

    def prune(self, used: Collection[int]) -> None:
        def delete(db: sqlite3.Connection, _: int) -> None:
            stored = db.execute("SELECT id, key FROM signatures")
            unused = [(id_,) for id_, key in stored if key not in used]
            if unused:
                with transaction(db):
                    for table in ("vectors", "signatures"):
                        db.executemany(f"DELETE FROM {table} WHERE id = ?", unused)

        self._run(delete, None)

    def _load(self) -> "SignTable | None":
        """The signs of all windows; those that were added since the last call are read. None
        without any.
        """

        def load(db: sqlite3.Connection, dimensions: int) -> "SignTable | None":
            if not dimensions:
                return None
            from zkchat_cli.vault.search.vector_math import SignTable  # imports numpy

            if self._signs is None or self._signs.dimensions != dimensions:
                self._signs = SignTable.empty(dimensions)
            last_row = int(self._signs.rows[-1]) if len(self._signs.rows) else 0
            sql = "SELECT id, bits FROM signatures WHERE id > ? AND bits != x'' ORDER BY id"
            added = db.execute(sql, (last_row,)).fetchall()
            if added:
                self._signs = self._signs.extend(added)
            return self._signs

        return self._run(load, None)

    def _run(self, work: Callable[[sqlite3.Connection, int], T], nothing: T) -> T:
        """Work with the open file and the dimensions of its vectors, or answer `nothing` without a
        file of this embedder.
        """
        with self._lock:
            if not os.path.exists(self.file):  # noqa: PTH110
                self.close()
                return nothing
            with suppress(IndexDamaged), self._errors():
                if self._connection is None:
                    self._connection = connect(self.file, PAGE_SIZE)
                    _prepare(self._connection, self.file)
                dimensions = _stored_dimensions(self._connection, self._embedder.id)
                return nothing if dimensions is None else work(self._connection, dimensions)
            return nothing


def _prepare(connection: sqlite3.Connection, file: Path) -> None:
    """Create the tables in a new file. Raises IndexDamaged for a file of another version."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        problem = f"{file} was made by another version of zkchat"
        raise IndexDamaged(problem, "`zkchat vault index --semantic` makes it again.")
    if version == 0:
        connection.executescript(f"{_TABLES}; PRAGMA user_version = {VERSION}")


def _stored_dimensions(connection: sqlite3.Connection, name: str) -> int | None:
    """The dimensions of the embedder's vectors, 0 before the first one; None if the vectors are of
    another embedder.
    """
    sql = "SELECT dimensions FROM embedder WHERE name = ?"
    rows = connection.execute(sql, (name,)).fetchall()
    for (dimensions,) in rows:
        return int(dimensions)
    return None


def _replace_embedder(connection: sqlite3.Connection, name: str, dimensions: int) -> None:
    """Delete all vectors: those of this embedder follow."""
    for table in ("embedder", "vectors", "signatures"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO embedder VALUES (?, ?)", (name, dimensions))


def _missing_keys(connection: sqlite3.Connection, keys: Sequence[int]) -> list[int]:
    sql = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM signatures)"
    wanted = json.dumps(list(dict.fromkeys(keys)))
    return [key for (key,) in connection.execute(sql, (wanted,))]
