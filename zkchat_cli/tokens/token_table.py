"""Tokens of short texts without loading the vocabulary: its tokens are looked up in a sorted file.

Loading the vocabulary takes 0.2 s and 80 MB; the file, which is only read, takes 3 ms. So one question needs the file alone. It holds the
number of tokens of each length (128 of 4 bytes, little-endian), their ranks (4 bytes each) and the tokens, by length and then by bytes;
`python tests/test_token_counter.py` writes it from the vocabulary.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.fileio import read_file

if TYPE_CHECKING:
    from zkchat_cli.tokens.counter import Encoder

MAX_LENGTH = 128
"""Bytes of the longest token."""
MAX_TEXT = 20_000
"""Characters of a text for the table; it is slower than the vocabulary."""
MAX_PIECE = 200
"""Bytes of a run without spaces, such as Chinese text: the time to merge it grows with its square."""
MAX_LOOKUPS = 40_000
"""Looking up more different tokens takes longer than loading the vocabulary."""
MAX_FILE = 10_000_000


class TokenTable:
    """The ranks of tokens, by a file."""

    def __init__(self, file: Path) -> None:
        self._data = read_file(file, MAX_FILE)
        counts = struct.unpack_from(f"<{MAX_LENGTH}I", self._data)
        ends = list(accumulate(counts))
        sizes = accumulate(count * length for length, count in enumerate(counts, 1))
        tokens = 4 * MAX_LENGTH + 4 * ends[-1]
        self._sections = {
            length: (count, end - count, tokens + size - count * length)
            for length, (count, end, size) in enumerate(zip(counts, ends, sizes, strict=True), 1)
        }
        """The number of tokens of a length, the place of the first one's rank, and that of its bytes."""

    def rank(self, token: bytes) -> int | None:
        """None if the vocabulary has no such token."""
        length, data = len(token), self._data
        count, first, start = self._sections.get(length, (0, 0, 0))
        i = bisect_left(range(count), token, key=lambda i: data[start + i * length : start + (i + 1) * length])
        if i == count or data[start + i * length : start + (i + 1) * length] != token:
            return None
        place = 4 * MAX_LENGTH + 4 * (first + i)
        return int.from_bytes(data[place : place + 4], "little")


class TableEncoder:
    """An encoding by a table, as long as it is the faster way, then by the vocabulary."""

    def __init__(self, table: TokenTable, pattern: str, load: "Callable[[], Encoder]") -> None:
        import regex  # type: ignore[import-untyped, unused-ignore]  # knows \p{L}; 10 ms that `--help` does not need

        self._find_pieces = regex.compile(pattern).findall
        self._rank = cache(table.rank)
        self._encode_piece = cache(self._merge)
        self._load = load
        self._vocabulary: Encoder | None = None

    def load_vocabulary(self) -> "Encoder":
        """Raises OSError or ValueError if it is missing or damaged."""
        if self._vocabulary is None:
            self._vocabulary = self._load()
        return self._vocabulary

    def encode_ordinary(self, text: str) -> list[int]:
        if self._vocabulary is None and len(text) <= MAX_TEXT and self._rank.cache_info().currsize <= MAX_LOOKUPS:
            pieces = [piece.encode("utf-8", "replace") for piece in self._find_pieces(text)]
            if max(map(len, pieces), default=0) <= MAX_PIECE:
                return [token for piece in pieces for token in self._encode_piece(piece)]
        return self.load_vocabulary().encode_ordinary(text)

    def _merge(self, piece: bytes) -> Iterable[int]:
        """Byte pair encoding: the two neighbours that are the most frequent token become one, until none are."""
        if (rank := self._rank(piece)) is not None:
            return (rank,)
        parts = [piece[i : i + 1] for i in range(len(piece))]
        while True:
            ranks = [(rank, i) for i, (one, next_) in enumerate(pairwise(parts)) if (rank := self._rank(one + next_)) is not None]
            if not ranks:
                return tuple(rank for part in parts if (rank := self._rank(part)) is not None)
            _, i = min(ranks)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
