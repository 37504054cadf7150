"""The multilingual Universal Sentence Encoder of Google (Yang et al. 2019), in numpy. Pure.

A vector for each piece, and convolutions of its neighbourhoods of two, three and five pieces, are
added up over the text; a small network turns the sum into 512 numbers. That takes 3 ms for 65
pieces on one core, nearly all for products of matrices, so a runtime for graphs would gain nothing.
The vectors of the pieces are stored as bytes, in parts that each have a scale.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DIMENSIONS = 512
# Pieces are dealt out to the parts like cards
PARTS = 17
_CHANNELS = 256
# Pieces in a neighbourhood, and how many of them are on the left
_NEIGHBOURHOODS = ((2, 0), (3, 1), (5, 2))
# Pieces that are computed together: more need more memory, 20 kB each, and are not faster
PIECES_OF_RUN = 512


class UniversalEncoder:
    """Turns texts, as numbers of pieces, into vectors. `table` has a row of bytes for each piece;
    `weights` are all other numbers of the model, by their names in the published file.
    """

    def __init__(self, table: NDArray[np.uint8], weights: Mapping[str, Floats]) -> None:
        self._table = table
        self._weights = weights
        sizes = [size for size, _ in _NEIGHBOURHOODS]
        self._narrow = np.concatenate([weights[f"proj{size}"] for size in sizes], axis=1)
        self._narrow_bias = np.concatenate([weights[f"proj_b{size}"] for size in sizes])
        self._narrow_gain = np.concatenate([weights[f"ln_g{size}"] for size in sizes])
        self._narrow_shift = np.concatenate([weights[f"ln_b{size}"] for size in sizes])
        self._epsilon = float(weights["eps"])

    def encode(self, texts: Sequence[Sequence[int]]) -> Floats:
        """A row of length 1 for each text; each must have a piece."""
        rows: list[Floats] = []
        run: list[Sequence[int]] = []
        pieces = 0
        for text in texts:
            if run and pieces + len(text) > PIECES_OF_RUN:
                rows.append(self._encode_run(run))
                run = []
                pieces = 0
            run.append(text)
            pieces += len(text)
        if run:
            rows.append(self._encode_run(run))
        return np.concatenate(rows) if rows else np.empty((0, DIMENSIONS), np.float32)

    def _encode_run(self, run: Sequence[Sequence[int]]) -> Floats:
        """The rows of texts that are computed together: all their pieces are rows of one matrix."""
        lengths = np.array([len(text) for text in run])
        starts = np.cumsum(lengths) - lengths
        embedded = self._embed(np.concatenate([np.array(text) for text in run]))
        features = self._features(embedded, starts, lengths)
        weights = self._weights
        # The projection is linear, so it may come after the sum
        sums = np.add.reduceat(features, starts, axis=0) @ weights["cnn_W"]
        counts = lengths.astype(np.float32)[:, None]
        sums += counts * weights["cnn_b"]
        sums /= np.sqrt(counts)
        return self._condense(sums)

    def _embed(self, pieces: NDArray[np.int64]) -> Floats:
        part = pieces % PARTS
        rows = self._table[pieces].astype(np.float32)
        rows *= self._weights["scale"][part, None]
        rows += self._weights["lo"][part, None]
        return rows

    def _features(
        self, embedded: Floats, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> Floats:
        """The vectors of the pieces with those of their neighbourhoods."""
        narrow = embedded @ self._narrow + self._narrow_bias
        narrow = self._normalize(narrow, self._narrow_gain, self._narrow_shift)
        features = [embedded]
        for column, (size, left) in enumerate(_NEIGHBOURHOODS):
            neighbours = _neighbours(starts, lengths, np.arange(-left, size - left))
            first = narrow[:, column * _CHANNELS : (column + 1) * _CHANNELS]
            second = self._convolve(first, neighbours, f"1_{size}")
            features.append(self._convolve(second, neighbours, f"2_{size}"))
        weights = self._weights
        return self._normalize(np.concatenate(features, axis=1), weights["ln_g"], weights["ln_b"])

    def _convolve(self, rows: Floats, neighbours: NDArray[np.int64], layer: str) -> Floats:
        """The rows with what their neighbourhoods add."""
        # The last row is what lies outside of a text
        padded = np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)])
        windows = padded[neighbours].reshape(len(rows), -1)
        added = windows @ self._weights[f"w{layer}"] + self._weights[f"b{layer}"]
        convolved: Floats = np.maximum(added, 0) + rows
        return convolved

    def _normalize(self, rows: Floats, gain: Floats, shift: Floats) -> Floats:
        """The rows with mean 0 and variance 1, scaled and shifted."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / rows.shape[1]
        normalized: Floats = centred / np.sqrt(variance + self._epsilon) * gain + shift
        return normalized

    def _condense(self, means: Floats) -> Floats:
        """The network behind the sum: two blocks, each with a shortcut."""
        weights = self._weights
        inner = np.maximum(means @ weights["d0"], 0)
        middle = np.maximum(inner @ weights["d1"] + means @ weights["p1"], 0)
        outer = np.maximum(middle @ weights["d2"], 0)
        rows = np.tanh(outer @ weights["d3"] + middle @ weights["p3"])
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", rows, rows), self._epsilon))
        found: Floats = rows / lengths[:, None]
        return found


def read_table(stored: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """The table of the published file, which has it in parts. Raises KeyError, ValueError."""
    rows = len(stored["q1"])
    table = np.empty((PARTS * rows, DIMENSIONS), np.uint8)
    for part in range(PARTS):
        table[part::PARTS] = stored[f"q{part + 1}"]
    return table


def _neighbours(
    starts: NDArray[np.int64], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each piece the positions of its neighbours; those outside of its text are the position
    behind the last piece.
    """
    count = int(lengths.sum())
    positions = np.arange(count)[:, None] + offsets
    first = np.repeat(starts, lengths)[:, None]
    behind = np.repeat(starts + lengths, lengths)[:, None]
    return np.where((positions >= first) & (positions < behind), positions, count)
