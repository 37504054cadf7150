"""What a text means, as numbers: the port to whatever computes vectors, and the file that keeps them.

Vectors cost time and money, so they live in a file of their own beside the index and outlast it: a vector belongs to the text it was made
of, not to a place in a note. Moving a note, or building the index anew, computes nothing. It is still a cache: a file that is damaged or of
another version is replaced by an empty one.

numpy is imported only by the functions that compute, which run only when search by meaning is on.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from zkchat_cli.errors import IndexDamaged, ProviderError
from zkchat_cli.vault.index.sidecar_db import SidecarDatabase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Purpose = Literal["query", "document"]

LONGEST_TEXT = 8_000
"""UTF-8 bytes of a text that are embedded. A byte is a token at most, so this is within the 8 191 tokens that OpenAI's models take."""

VERSION = 1

_EMBEDDERS = "CREATE TABLE embedders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
_VECTORS = """CREATE TABLE vectors (
    embedder INTEGER NOT NULL,
    key BLOB NOT NULL,                   -- of the text, see `key`
    vector BLOB NOT NULL,                -- float32, little endian, of length 1
    UNIQUE (embedder, key)
)"""
_BY = "embedder = (SELECT id FROM embedders WHERE name = ?)"

T = TypeVar("T")


class Embedder(Protocol):
    """Something that turns texts into vectors. Making one contacts nothing; the first `embed` does.

    `id` is "provider/model": vectors under different ids are never compared. `batch` is how many texts one call may have.
    """

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int: ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        """One row of numbers for each text, as the model gave them. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Let go of connections; the next `embed` makes new ones."""
        ...


def embedded(title: str, headings: str, text: str) -> str:
    """What is embedded of a chunk: with its note's title and its headings (one a line), which say what the words are about."""
    path = " › ".join(dict.fromkeys(part for part in (title, *headings.split("\n")) if part))
    return cut(f"{path}\n\n{text}")


def cut(text: str) -> str:
    """The beginning of a text, as long as any model takes."""
    return text.encode("utf-8", "replace")[:LONGEST_TEXT].decode("utf-8", "ignore")


def key(text: str) -> bytes:
    """What a vector is kept under: a hash of the text it was made of."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def vectors(embedder: Embedder, texts: Sequence[str], purpose: Purpose) -> "NDArray[np.float32]":
    """The texts' vectors, one a row, each of length 1. Raises ProviderError, also for an answer that no model should give."""
    import numpy as np  # 0.1 s, and 30 MB: only for who searches by meaning

    answer = embedder.embed(texts, purpose=purpose)
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as e:
        raise _bad(embedder, "vectors of different lengths, or of something else than numbers") from e
    if rows.ndim != 2 or len(rows) != len(texts):
        raise _bad(embedder, f"{len(rows) if rows.ndim else 0} vectors for {len(texts)} texts")
    if not rows.shape[1]:
        raise _bad(embedder, "vectors without numbers")
    if not np.isfinite(rows).all():
        raise _bad(embedder, "numbers that are none (NaN or infinite)")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1.0)
    return rows.astype(np.float32)


def _bad(embedder: Embedder, what: str) -> ProviderError:
    return ProviderError("bad_answer", f"{embedder.id} answered with {what}", "Is it an embedding model? See semantic.model.")


class Matrix(NamedTuple):
    """All vectors of a vault, for one product. Row i belongs to the chunks `chunks[i]`: equal texts share a vector."""

    rows: "NDArray[np.float32]"
    chunks: list[list[int]]

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The chunks whose vectors point where `vector` does, nearest first. Raises ProviderError when the two cannot be compared."""
        import numpy as np  # as above

        if not self.chunks:
            return []
        if self.rows.shape[1] != len(vector):
            raise other_model(len(vector), self.rows.shape[1])
        if not vector.any():  # some models know none of a text's words: it points nowhere
            return []
        likeness = self.rows @ vector
        best = np.argpartition(-likeness, limit - 1)[:limit] if limit < len(likeness) else np.arange(len(likeness))
        ordered = best[np.lexsort((best, -likeness[best]))]
        return [chunk for row in ordered for chunk in self.chunks[row]][:limit]


def other_model(found: int, stored: int) -> ProviderError:
    """The model's vectors have another length than those kept under its name."""
    return ProviderError(
        "bad_answer",
        f"the model's vectors have {found} numbers, those in the index {stored}: another model goes by this name now",
        "`zkchat vault index --full` computes them anew.",
    )


class VectorStore(SidecarDatabase):
    """The file of vectors. Several threads and processes may use it; it is made by the first vector that is added."""

    what = "vectors"
    version = VERSION
    schema = (_EMBEDDERS, _VECTORS)

    def stamp(self) -> tuple[object, ...]:
        """Equal as long as nothing has changed in the file, by whomever."""

        def look(db: sqlite3.Connection) -> tuple[object, ...]:
            return self._opened, db.execute("PRAGMA data_version").fetchone()[0], db.total_changes

        return self._ask(look, ())

    def keys(self, embedder: str, among: Sequence[bytes] | None = None) -> set[bytes]:
        """The keys that have a vector by this embedder, all or those `among` a batch."""
        some = "" if among is None else f" AND key IN ({', '.join('?' * len(among))})"
        sql = f"SELECT key FROM vectors WHERE {_BY}{some}"
        return self._ask(lambda db: {key for (key,) in db.execute(sql, (embedder, *(among or ())))}, set())

    def matrix(self, embedder: str, chunks: Mapping[bytes, list[int]]) -> Matrix:
        """The vectors of these keys' chunks; keys without one are left out."""
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
                        raise IndexDamaged(f"{self.file} holds vectors of different lengths", "They are computed anew.") from e
                    found.append(ids)
            return Matrix(rows[: len(found)], found)

        return self._ask(load, Matrix(np.empty((0, 0), dtype=np.float32), []))

    def vector(self, embedder: str, key: bytes) -> bytes | None:
        """The vector of one text."""

        def look(db: sqlite3.Connection) -> bytes | None:
            row = db.execute(f"SELECT vector FROM vectors WHERE {_BY} AND key = ?", (embedder, key)).fetchone()
            return bytes(row[0]) if row else None

        return self._ask(look, None)

    def add(self, embedder: str, keys: Sequence[bytes], rows: "NDArray[np.float32]") -> None:
        """Keep these vectors, in one transaction. Raises ProviderError when they are of another length than those that are there."""

        def insert(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (embedder,))
            [number] = db.execute("SELECT id FROM embedders WHERE name = ?", (embedder,)).fetchone()
            there = db.execute("SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", (number,)).fetchone()
            if there and there[0] != 4 * rows.shape[1]:
                raise other_model(rows.shape[1], there[0] // 4)
            blobs = (row.astype("<f4").tobytes() for row in rows)
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", ((number, k, b) for k, b in zip(keys, blobs, strict=True)))

        self._write(insert)

    def prune(self, keys: Iterable[bytes]) -> None:
        """Drop the vectors of all texts but these, whoever computed them."""

        def delete(db: sqlite3.Connection) -> None:
            db.execute("CREATE TEMP TABLE IF NOT EXISTS used (key BLOB PRIMARY KEY) WITHOUT ROWID")
            db.execute("DELETE FROM used")
            db.executemany("INSERT OR IGNORE INTO used VALUES (?)", ((key,) for key in keys))
            db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)")

        if self.file.exists():
            self._write(delete)

    def forget(self, embedder: str) -> None:
        """Drop all vectors of an embedder."""
        self._write(lambda db: db.execute(f"DELETE FROM vectors WHERE {_BY}", (embedder,)))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in pieces of `size`."""
    return (items[first : first + size] for first in range(0, len(items), size))
