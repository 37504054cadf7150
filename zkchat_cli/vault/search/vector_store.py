"""Embedding vectors: the protocol of an embedder, and the file that stores the vectors.

Vectors cost time and money, so they are in their own file beside the index and outlast it: a vector belongs to a text, not to a place in a
note, and nothing is computed again when a note is moved or the index is rebuilt. numpy is imported only by functions that compute, which
run only when search by meaning is on.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from zkchat_cli.errors import IndexDamaged, ProviderError
from zkchat_cli.vault.index.sidecar_db import SidecarDatabase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Purpose = Literal["query", "document"]

LONGEST_TEXT = 8_000
"""UTF-8 bytes of a text that are embedded: at most one token each, so within the 8 191 tokens of OpenAI's models."""

VERSION = 1

_EMBEDDERS = "CREATE TABLE embedders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
_VECTORS = """CREATE TABLE vectors (
    embedder INTEGER NOT NULL,
    key BLOB NOT NULL,                   -- of the text, see `key`
    vector BLOB NOT NULL,                -- float32, little endian, of length 1
    UNIQUE (embedder, key)
)"""
_BY = "embedder = (SELECT id FROM embedders WHERE name = ?)"


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
        rows = np.asarray(answer, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as e:
        raise _invalid(embedder, "vectors of different lengths, or not of numbers") from e
    if rows.ndim != 2 or len(rows) != len(texts):
        raise _invalid(embedder, f"{len(rows) if rows.ndim else 0} vectors for {len(texts)} texts")
    if not rows.shape[1]:
        raise _invalid(embedder, "vectors without numbers")
    if not np.isfinite(rows).all():
        raise _invalid(embedder, "NaN or infinite numbers")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1.0)
    return rows.astype(np.float32)


def _invalid(embedder: Embedder, what: str) -> ProviderError:
    return ProviderError("bad_answer", f"{embedder.id} answered with {what}", "Is it an embedding model? See semantic.model.")


class Matrix(NamedTuple):
    """All vectors of a vault. Row i belongs to the chunks `chunks[i]`: equal texts share a vector."""

    rows: "NDArray[np.float32]"
    chunks: list[list[int]]

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The chunks nearest to `vector` by cosine. Raises ProviderError for another number of dimensions."""
        import numpy as np  # as above

        if not self.chunks:
            return []
        if self.rows.shape[1] != len(vector):
            raise _other_model(len(vector), self.rows.shape[1])
        if not vector.any():  # some models return zeros for unknown words
            return []
        similarity = self.rows @ vector
        best = np.argpartition(-similarity, limit - 1)[:limit] if limit < len(similarity) else np.arange(len(similarity))
        ordered = best[np.lexsort((best, -similarity[best]))]
        return [chunk for row in ordered for chunk in self.chunks[row]][:limit]


def _other_model(found: int, stored: int) -> ProviderError:
    return ProviderError(
        "bad_answer",
        f"the model's vectors have {found} numbers, those in the index {stored}: another model goes by this name now",
        "`zkchat vault index --full` computes them again.",
    )


class VectorStore(SidecarDatabase):
    """The file of vectors. Threads and processes may share it; the first vector creates it."""

    what = "vectors"
    version = VERSION
    schema = (_EMBEDDERS, _VECTORS)

    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever any process writes to the file."""

        def read(db: sqlite3.Connection) -> tuple[object, ...]:
            return self._opened, db.execute("PRAGMA data_version").fetchone()[0], db.total_changes

        return self._query(read, ())

    def keys(self, embedder: str, among: Sequence[bytes] | None = None) -> set[bytes]:
        """The keys with a vector by this embedder, of all or `among` these."""
        some = "" if among is None else f" AND key IN ({', '.join('?' * len(among))})"
        sql = f"SELECT key FROM vectors WHERE {_BY}{some}"
        return self._query(lambda db: {key for (key,) in db.execute(sql, (embedder, *(among or ())))}, set())

    def matrix(self, embedder: str, chunks: Mapping[bytes, list[int]]) -> Matrix:
        """The vectors of these keys, with their chunks; keys without a vector are left out."""
        import numpy as np  # as above

        def load(db: sqlite3.Connection) -> Matrix:
            rows = np.empty((0, 0), dtype=np.float32)
            found: list[list[int]] = []
            for key, blob in db.execute(f"SELECT key, vector FROM vectors WHERE {_BY}", (embedder,)):
                if (ids := chunks.get(key)) is not None:
                    if not found:
                        rows = np.empty((len(chunks), len(blob) // 4), dtype=np.float32)
                    try:
                        rows[len(found)] = np.frombuffer(blob, dtype="<f4")
                    except ValueError as e:
                        raise IndexDamaged(f"{self.file} holds vectors of different lengths", "They are computed again.") from e
                    found.append(ids)
            return Matrix(rows[: len(found)], found)

        return self._query(load, Matrix(np.empty((0, 0), dtype=np.float32), []))

    def vector(self, embedder: str, key: bytes) -> bytes | None:

        def read(db: sqlite3.Connection) -> bytes | None:
            row = db.execute(f"SELECT vector FROM vectors WHERE {_BY} AND key = ?", (embedder, key)).fetchone()
            return bytes(row[0]) if row else None

        return self._query(read, None)

    def add(self, embedder: str, keys: Sequence[bytes], rows: "NDArray[np.float32]") -> None:
        """Store vectors in one transaction. Raises ProviderError for another number of dimensions than the stored ones have."""

        def insert(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (embedder,))
            [number] = db.execute("SELECT id FROM embedders WHERE name = ?", (embedder,)).fetchone()
            stored = db.execute("SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", (number,)).fetchone()
            if stored and stored[0] != 4 * rows.shape[1]:
                raise _other_model(rows.shape[1], stored[0] // 4)
            blobs = (row.astype("<f4").tobytes() for row in rows)
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", ((number, k, b) for k, b in zip(keys, blobs, strict=True)))

        self._write(insert)

    def prune(self, keys: Iterable[bytes]) -> None:
        """Delete the vectors of all texts but these, of all embedders."""

        def delete(db: sqlite3.Connection) -> None:
            db.execute("CREATE TEMP TABLE IF NOT EXISTS used (key BLOB PRIMARY KEY) WITHOUT ROWID")
            db.execute("DELETE FROM used")
            db.executemany("INSERT OR IGNORE INTO used VALUES (?)", ((key,) for key in keys))
            db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)")

        if self.file.exists():
            self._write(delete)

    def forget(self, embedder: str) -> None:
        """Delete all vectors of an embedder."""
        self._write(lambda db: db.execute(f"DELETE FROM vectors WHERE {_BY}", (embedder,)))
