"""Embedding vectors: the protocol of an embedder, and the file that stores the vectors of a vault's windows.

Vectors cost time and money, so they are in their own file beside the index and outlast it: they belong to a chunk's text, not to its place.
Each window is stored twice: as 8-bit integers, 384 bytes with the built-in model, and as the signs of its numbers, 48 bytes. Only the signs
are kept in memory; they choose the few hundred windows that are then compared by their integers. numpy is imported only by functions that
compute.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from zkchat_cli.errors import IndexDamaged, ProviderError
from zkchat_cli.vault.index.database import connect, delete_database, sqlite_errors, transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Purpose = Literal["query", "document"]

LARGEST_NUMBER = 1e18
"""In a vector: its square is still a number. NaN and infinity are not smaller."""
SAMPLE = 512
"""Chunks that the mean and the spread of cosines are estimated from."""
MOST_AT_ONCE = 30_000
"""Values of one SQL statement."""
CLAIM_MILLISECONDS = 100
"""How long to wait while another process computes vectors."""
VERSION = 2
"""Raise it whenever the tables or the windows change."""

_TABLES = """
CREATE TABLE embedders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE signatures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder INTEGER NOT NULL,
    key BLOB NOT NULL,                   -- of the chunk, see `chunk_key`
    bits BLOB NOT NULL,                  -- of its windows one after the other; empty if the model does not know the language
    UNIQUE (embedder, key)
);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, windows BLOB NOT NULL)
"""

T = TypeVar("T")


class Embedder(Protocol):
    """Turns texts into vectors. Contacts its server, or loads its model, only in `embed`.

    `id` is "provider/model": vectors of different ids are never compared. `batch` is the number of texts per call. `languages` are
    those that the model was trained on, as `detect_language` names them; None for all.
    """

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int: ...

    @property
    def languages(self) -> Collection[str] | None: ...

    def load(self) -> None:
        """Load a model that runs in this program; contacts no server. Raises ProviderError."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        """One row of numbers per text, as the model returned them. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Close connections; the next `embed` opens new ones."""
        ...


def compute_vectors(embedder: Embedder, texts: Sequence[str], purpose: Purpose) -> "NDArray[np.float32]":
    """The texts' vectors, one per row, normalized. Raises ProviderError, also for an invalid answer."""
    import numpy as np  # 0.1 s and 30 MB, only for semantic search

    answer = embedder.embed(texts, purpose=purpose)
    try:
        found = np.asarray(answer)
        rows = found.astype(np.float64) if found.dtype.kind in "fiu" else np.empty(0)  # texts and null would be converted
    except (ValueError, TypeError, OverflowError):
        rows = np.empty(0)
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.size or not (np.abs(rows) <= LARGEST_NUMBER).all():
        problem = f"{embedder.id} answered without a vector for each of {len(texts)} texts"
        raise ProviderError("bad_answer", problem, "Is it an embedding model? See semantic.model.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def signatures(rows: "NDArray[np.float32]") -> "NDArray[np.uint64]":
    """The signs of each row, 64 in a number."""
    import numpy as np  # as above

    bits = np.packbits(rows > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)


class StoredChunk(NamedTuple):
    """A chunk's windows as stored: one row of integers per window."""

    key: bytes
    windows: "NDArray[np.int8]"


class StoreSizes(NamedTuple):
    """How many chunks have been embedded or passed over, and the number of their windows."""

    chunks: int = 0
    windows: int = 0


class _EmbedderRow(NamedTuple):
    id: int = 0
    dimensions: int = 0


class _Signatures:
    """The signs of all windows in memory, a column for each, with the row that each belongs to."""

    def __init__(self, owner: tuple[object, _EmbedderRow]) -> None:
        import numpy as np  # as above

        self.owner = owner
        self.rows = np.empty(0, np.int64)
        self.bits = np.empty((-(-owner[1].dimensions // 64), 0), np.uint64)
        self.sample: list[StoredChunk] = []
        self.sampled = 0

    def append(self, found: list[tuple[int, bytes]]) -> None:
        import numpy as np  # as above

        words = len(self.bits)
        bits = np.frombuffer(b"".join(bits for _, bits in found), np.uint64).reshape(-1, words).T
        rows = np.repeat(np.array([row for row, _ in found], np.int64), [len(bits) // (8 * words) for _, bits in found])
        self.bits, self.rows = np.concatenate([self.bits, bits], axis=1), np.concatenate([self.rows, rows])


class VectorClaim:
    """The only writer of the file for a while. `missing` are the keys to compute vectors for."""

    def __init__(self, connection: sqlite3.Connection, embedder: str, keys: Sequence[bytes]) -> None:
        self._connection, self._embedder = connection, embedder
        row = _embedder_row(connection, embedder)
        some = ",".join("?" * len(keys))
        sql = f"SELECT key FROM signatures WHERE embedder = ? AND key IN ({some})"
        stored = {key for (key,) in connection.execute(sql, (row.id, *keys))}
        self.missing = [key for key in keys if key not in stored]

    def add(self, key: bytes, rows: "NDArray[np.float32] | None") -> None:
        """Store the vectors of a chunk's windows; None if the model does not know their language.

        Stored vectors with other dimensions are deleted.
        """
        import numpy as np  # as above

        row = _embedder_row(self._connection, self._embedder)
        if rows is not None and row.dimensions not in (0, rows.shape[1]):
            _forget(self._connection, row)
            row = _EmbedderRow()
        if not row.id:
            self._connection.execute("INSERT INTO embedders (name, dimensions) VALUES (?, 0)", (self._embedder,))
            row = _embedder_row(self._connection, self._embedder)
        if rows is not None and not row.dimensions:
            self._connection.execute("UPDATE embedders SET dimensions = ? WHERE id = ?", (rows.shape[1], row.id))
        bits = b"" if rows is None else signatures(rows).tobytes()
        added = self._connection.execute("INSERT INTO signatures (embedder, key, bits) VALUES (?, ?, ?)", (row.id, key, bits)).lastrowid
        if rows is not None:
            scale = np.abs(rows).max(axis=1, keepdims=True) / 127
            integers = np.rint(rows / np.where(scale > 0, scale, 1)).astype(np.int8)
            self._connection.execute("INSERT INTO vectors VALUES (?, ?)", (added, integers.tobytes()))


class VectorStore:
    """The file of vectors, for one embedder. Threads and processes may share it. A damaged file is replaced by an empty one.

    The file is created by the first claim; without it there are no vectors.
    """

    def __init__(self, file: Path, embedder: Callable[[], str]) -> None:
        self.file = file
        self._embedder = embedder
        self._connection: sqlite3.Connection | None = None
        self._opened = object()
        self._signatures: _Signatures | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._connection:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection, self._signatures = None, None

    def sizes(self) -> StoreSizes:
        sql = """SELECT COUNT(signatures.id), COALESCE(SUM(length(bits)) / (8 * ((dimensions + 63) / 64)), 0)
                 FROM embedders JOIN signatures ON embedder = embedders.id WHERE name = ?"""
        return self._run(lambda db: StoreSizes(*db.execute(sql, (self._embedder(),)).fetchone()), StoreSizes())

    @property
    def is_empty(self) -> bool:
        return self._load() is None

    def missing(self, keys: Collection[bytes]) -> list[bytes]:
        """Those of the keys that nothing is stored for, in order."""
        stored = set(self._rows("SELECT key FROM signatures WHERE embedder = ?", lambda row: (row.id,)))
        return [key for key in dict.fromkeys(keys) if (key,) not in stored]

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The rows of the chunks with the windows that share most signs with the vector, nearest first.

        Raises ProviderError if the vector has other dimensions than the stored ones: another model has this name now. They are deleted.
        """
        import numpy as np  # as above

        memory = self._load()
        if memory is None or not len(memory.rows):
            return []
        if len(vector) != memory.owner[1].dimensions:
            self._run(lambda db: _forget(db, memory.owner[1]), None)
            problem = f"the stored vectors have {memory.owner[1].dimensions} dimensions, this model's have {len(vector)}"
            raise ProviderError("bad_answer", problem, "`zkchat vault index --semantic` computes them again.")
        if not vector.any():  # some models answer this for unknown words
            return []
        [query] = signatures(vector[None])
        differing = np.zeros(len(memory.rows), np.uint16)
        for stored, bits in zip(memory.bits, query, strict=True):
            differing += np.bitwise_count(stored ^ bits)
        within = np.cumsum(np.bincount(differing))  # how many differ in at most so many signs
        best = np.flatnonzero(differing <= np.searchsorted(within, min(limit, len(differing))))
        return list(dict.fromkeys(memory.rows[best[np.argsort(differing[best], kind="stable")[:limit]]].tolist()))

    def chunks(self, rows: Sequence[int] = (), keys: Sequence[bytes] = ()) -> list[StoredChunk]:
        """The windows of these rows, and of the chunks with these keys."""
        import numpy as np  # as above

        found: dict[bytes, StoredChunk] = {}
        for condition, values in (("+embedder = ? AND signatures.id", rows), ("embedder = ? AND key", keys)):
            for start in range(0, len(values), MOST_AT_ONCE):
                some = values[start : start + MOST_AT_ONCE]
                sql = f"""SELECT key, windows, dimensions FROM signatures JOIN vectors USING (id) JOIN embedders ON embedders.id = +embedder
                          WHERE {condition} IN ({",".join("?" * len(some))})"""
                for key, windows, dimensions in self._rows(sql, lambda row: (row.id, *some)):  # noqa: B023 - called at once
                    found[key] = StoredChunk(key, np.frombuffer(windows, np.int8).reshape(-1, dimensions))
        return list(found.values())

    def sample(self) -> list[StoredChunk]:
        """Chunks that represent all, chosen again when there are twice as many."""
        import numpy as np  # as above

        with self._lock:
            memory = self._load()
            if memory is None:
                return []
            if len(memory.rows) > 2 * memory.sampled:
                rows = np.unique(memory.rows)
                memory.sample = self.chunks(rows[:: max(1, len(rows) // SAMPLE)].tolist())
                memory.sampled = len(memory.rows)
            return memory.sample

    @contextmanager
    def claim(self, keys: Sequence[bytes]) -> Iterator[VectorClaim | None]:
        """Reserve the writing of vectors, so that two processes never compute the same; None while another process has it.

        What was added is stored at the end. A killed process releases the claim. Raises VaultError, and IndexDamaged for a damaged file.
        """
        connection = connect(self.file)
        try:
            with sqlite_errors(self.file):
                _prepare(connection)
                connection.execute(f"PRAGMA busy_timeout = {CLAIM_MILLISECONDS}")
                if not _begin(connection):
                    yield None
                    return
                yield VectorClaim(connection, self._embedder(), keys)
                connection.execute("COMMIT")
        finally:
            connection.close()  # rolls back what was not committed

    def prune(self, used: Collection[bytes]) -> None:
        """Delete the vectors of all chunks but these, of all embedders."""

        def delete(db: sqlite3.Connection) -> None:
            unused = [(id_,) for id_, key in db.execute("SELECT id, key FROM signatures") if key not in used]
            if unused:
                with transaction(db):
                    for table in ("vectors", "signatures"):
                        db.executemany(f"DELETE FROM {table} WHERE id = ?", unused)

        self._run(delete, None)

    def discard(self) -> None:
        """Delete the file, which is damaged."""
        self.close()
        delete_database(self.file)

    def _load(self) -> _Signatures | None:
        """All signatures; those that were added since the last call are read. None without any."""
        with self._lock:
            row = self._run(lambda db: _embedder_row(db, self._embedder()), _EmbedderRow())
            if not row.dimensions:
                return None
            if self._signatures is None or self._signatures.owner != (self._opened, row):
                self._signatures = _Signatures((self._opened, row))
            last = int(self._signatures.rows[-1]) if len(self._signatures.rows) else 0
            sql = "SELECT id, bits FROM signatures WHERE id > ? AND +embedder = ? AND bits != x'' ORDER BY id"
            if added := self._rows(sql, lambda _: (last, row.id)):
                self._signatures.append(added)
            return self._signatures

    def _rows(self, sql: str, values: Callable[[_EmbedderRow], tuple[object, ...]]) -> list[tuple[Any, ...]]:
        return self._run(lambda db: db.execute(sql, values(_embedder_row(db, self._embedder()))).fetchall(), [])

    def _run(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Work with the open file, or answer `nothing` without a file."""
        with self._lock:
            if self._connection is None and not self.file.exists():
                return nothing
            try:
                with sqlite_errors(self.file):
                    if self._connection is None:
                        self._connection = connect(self.file)
                        self._opened = object()
                        _prepare(self._connection)
                    return work(self._connection)
            except IndexDamaged:
                self.discard()
                return nothing


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the tables, in a new file or instead of those of another version."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
        return
    with transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:  # another process may have been faster
            for (table,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall():
                connection.execute(f'DROP TABLE "{table}"')
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")


def _forget(connection: sqlite3.Connection, row: _EmbedderRow) -> None:
    """Delete all vectors of an embedder."""
    connection.execute("DELETE FROM vectors WHERE id IN (SELECT id FROM signatures WHERE embedder = ?)", (row.id,))
    connection.execute("DELETE FROM signatures WHERE embedder = ?", (row.id,))
    connection.execute("DELETE FROM embedders WHERE id = ?", (row.id,))


def _begin(connection: sqlite3.Connection) -> bool:
    """Begin to write, unless another process does."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as e:
        if e.sqlite_errorname.startswith("SQLITE_BUSY"):
            return False
        raise
    return True


def _embedder_row(connection: sqlite3.Connection, name: str) -> _EmbedderRow:
    found = connection.execute("SELECT id, dimensions FROM embedders WHERE name = ?", (name,)).fetchone()
    return _EmbedderRow(*found) if found else _EmbedderRow()
