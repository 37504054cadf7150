"""Embedding vectors: the protocol of an embedder, and the file that stores the vectors.

Vectors cost time and money, so they are in their own file beside the index and outlast it: a vector belongs to a text, not to a place in a
note, and nothing is computed again when a note is moved or the index is rebuilt. numpy is imported only by functions that compute, which
run only when search by meaning is on.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from zkchat_cli.errors import IndexDamaged, ProviderError
from zkchat_cli.vault.index.database import connect, delete_database, sqlite_errors, transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Purpose = Literal["query", "document"]

LARGEST_NUMBER = 1e18
"""In a vector: its square is still a number. NaN and infinity are not smaller."""
LONGEST_TEXT = 8_000
"""UTF-8 bytes of a text that are embedded: at most one token each, so within the 8 191 tokens of OpenAI's models."""

_VECTORS = """CREATE TABLE IF NOT EXISTS vectors (
    embedder TEXT NOT NULL,
    key BLOB NOT NULL,                   -- of the text, see `text_key`
    vector BLOB NOT NULL,                -- float32, little endian, of length 1
    PRIMARY KEY (embedder, key)
)"""

T = TypeVar("T")


class Embedder(Protocol):
    """Turns texts into vectors. Contacts its server only in `embed`.

    `id` is "provider/model": vectors of different ids are never compared. `batch` is the number of texts per call.
    """

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int: ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        """One row of numbers per text, as the model returned them. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Close connections; the next `embed` opens new ones."""
        ...


def text_to_embed(title: str, headings: str, text: str) -> str:
    """A chunk's text with its note's title and its headings (one per line), which say what it is about."""
    path = " › ".join(dict.fromkeys(part for part in (title, *headings.split("\n")) if part))
    return truncate_text(f"{path}\n\n{text}")


def truncate_text(text: str) -> str:
    """The beginning of a text, short enough for any model."""
    return text.encode("utf-8", "replace")[:LONGEST_TEXT].decode("utf-8", "ignore")


def text_key(text: str) -> bytes:
    """The key of a text's vector: the text's hash."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


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


class Matrix(NamedTuple):
    """All vectors of a vault. Row i belongs to the chunks `chunks[i]`: equal texts share a vector.

    `missing` is one chunk for each text without a vector, in the vault's order.
    """

    rows: "NDArray[np.float32]"
    chunks: list[list[int]]
    missing: list[int]

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The chunks nearest to `vector` by cosine; none for zeros, which some models return for unknown words."""
        import numpy as np  # as above

        if not vector.any():
            return []
        best = np.argsort(-(self.rows @ vector), kind="stable")[:limit]
        return [chunk for row in best for chunk in self.chunks[row]][:limit]


class VectorStore:
    """The file of vectors. Threads and processes may share it. A damaged file is replaced by an empty one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None
        self._opened = object()
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._connection:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None

    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever any process writes to the file."""
        return self._run(lambda db: (self._opened, db.execute("PRAGMA data_version").fetchone()[0], db.total_changes))

    def keys(self, embedder: str) -> set[bytes]:
        """The keys of all vectors by this embedder."""
        return self._run(lambda db: {key for (key,) in db.execute("SELECT key FROM vectors WHERE embedder = ?", (embedder,))})

    def matrix(self, embedder: str, chunks: Mapping[bytes, list[int]]) -> Matrix:
        """The vectors of these keys, with their chunks."""
        import numpy as np  # as above

        rows = self._run(lambda db: db.execute("SELECT key, vector FROM vectors WHERE embedder = ?", (embedder,)).fetchall())
        vectors = {key: vector for key, vector in rows if key in chunks}
        matrix = np.empty((0, 0), np.float32)
        if vectors:
            matrix = np.frombuffer(b"".join(vectors.values()), dtype="<f4").reshape(len(vectors), -1)
        return Matrix(matrix, [chunks[key] for key in vectors], [ids[0] for key, ids in chunks.items() if key not in vectors])

    def add(self, embedder: str, keys: Sequence[bytes], rows: "NDArray[np.float32]") -> None:
        """Store vectors. If the stored ones have other dimensions, another model has this name now, and they are deleted."""
        vectors = [(embedder, key, row.astype("<f4").tobytes()) for key, row in zip(keys, rows, strict=True)]

        def insert(db: sqlite3.Connection) -> None:
            with transaction(db):
                db.execute("DELETE FROM vectors WHERE embedder = ? AND length(vector) != ?", (embedder, len(vectors[0][2])))
                db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", vectors)

        self._run(insert)

    def prune(self, used: Collection[bytes]) -> None:
        """Delete the vectors of all texts but these, of all embedders."""

        def delete(db: sqlite3.Connection) -> None:
            with transaction(db):
                unused = [(key,) for (key,) in db.execute("SELECT key FROM vectors") if key not in used]
                db.executemany("DELETE FROM vectors WHERE key = ?", unused)

        self._run(delete)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return self._run_once(work)
            except IndexDamaged:
                self.close()
                delete_database(self.file)
                return self._run_once(work)

    def _run_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with sqlite_errors(self.file):
            if self._connection is None:
                self._connection = connect(self.file)
                self._connection.execute(_VECTORS)
                self._opened = object()
            return work(self._connection)
