"""Arithmetic on embedding vectors. Pure.

A vector is stored twice: as 8-bit integers, 384 bytes with the built-in model, and as the signs of
its numbers, 48 bytes. Only the signs are kept in memory; they choose the few hundred windows that
are then compared by their integers. Importing numpy takes 0.1 s and 30 MB, so this module is
imported only by functions that compute.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

K = TypeVar("K")
Vector = NDArray[np.float32]
# The signs of 64 numbers
BYTES_OF_WORD = 8


def pack_signs(vectors: Sequence[Vector]) -> bytes:
    """The signs of each vector, 64 in a number."""
    bits = np.packbits(np.stack(vectors) > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % BYTES_OF_WORD))).tobytes()


def pack_integers(vectors: Sequence[Vector]) -> bytes:
    """The numbers of each vector as integers from -127 to 127. Their scale is lost, which cosines
    do not need.
    """
    rows = np.stack(vectors)
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    return np.rint(rows / np.where(scale > 0, scale, 1)).astype(np.int8).tobytes()


def best_cosines(vector: Vector, chunks: Iterable[tuple[K, bytes]]) -> dict[K, float]:
    """For each chunk (a key, and its windows as packed integers) the cosine of its best window."""
    windows = {
        key: np.frombuffer(packed, np.int8).reshape(-1, len(vector)) for key, packed in chunks
    }
    if not windows:
        return {}
    rows = np.concatenate(list(windows.values())).astype(np.float32)
    cosines = rows @ vector / np.maximum(np.linalg.norm(rows, axis=1), 1)
    starts = np.cumsum([0, *map(len, windows.values())])[:-1]
    return dict(zip(windows, np.maximum.reduceat(cosines, starts).tolist(), strict=True))


class SignTable(NamedTuple):
    """The signs of many windows, a column for each, with the row of the chunk that each belongs to.
    Rows ascend.
    """

    dimensions: int
    rows: NDArray[np.int64]
    bits: NDArray[np.uint64]

    @classmethod
    def empty(cls, dimensions: int) -> "SignTable":
        words = -(-dimensions // (8 * BYTES_OF_WORD))
        return cls(dimensions, np.empty(0, np.int64), np.empty((words, 0), np.uint64))

    def extend(self, chunks: Sequence[tuple[int, bytes]]) -> "SignTable":
        """Another table with these chunks, too: a row, and the packed signs of its windows."""
        numbers, packed = zip(*chunks, strict=True)
        words = len(self.bits)
        bits = np.frombuffer(b"".join(packed), np.uint64).reshape(-1, words).T
        windows = [len(signs) // (BYTES_OF_WORD * words) for signs in packed]
        rows = np.repeat(np.array(numbers, np.int64), windows)
        return SignTable(
            self.dimensions,
            np.concatenate([self.rows, rows]),
            np.concatenate([self.bits, bits], axis=1),
        )

    def nearest(self, vector: Vector, limit: int) -> list[int]:
        """The rows of the `limit` windows that share most signs with the vector, nearest first;
        none for a vector of zeros.
        """
        # Some models answer zeros for unknown words
        if not len(self.rows) or not vector.any():
            return []
        query = np.frombuffer(pack_signs([vector]), np.uint64)
        differing = np.zeros(len(self.rows), np.uint16)
        for stored, bits in zip(self.bits, query, strict=True):
            differing += np.bitwise_count(stored ^ bits)
        nearest = np.argsort(differing, kind="stable")[:limit]
        return list(dict.fromkeys(self.rows[nearest].tolist()))

    def spread_rows(self, count: int) -> list[int]:
        """About `count` rows, evenly spread over all."""
        # They ascend; np.unique imports masked arrays, 20 ms
        rows = self.rows[np.flatnonzero(np.diff(self.rows, prepend=-1))]
        return [int(row) for row in rows[:: max(1, len(rows) // count)]]
