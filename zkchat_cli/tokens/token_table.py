"""Tokens of short texts without loading the vocabulary: its tokens are looked up in a sorted file.

Loading the vocabulary takes 0.2 s and 80 MB; the file, which is only read, takes 1 ms. So one question needs the file alone. It holds the
hashes of all tokens in ascending order (8 bytes each, little-endian) and their ranks (4 bytes each); `python tests/test_token_counter.py`
writes it from the vocabulary. A lookup takes 2 µs (20 µs by the tokens themselves, sorted): one question needs 4,000, half of them of bytes
that are no token, and one of those has the hash of a token once in 10^14 lookups.

Texts are split by `re`, which does not know \\p{L}: a character beyond ASCII is replaced by one that has its place in the pattern.
Importing `regex` and compiling its pattern would take 25 ms.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from zkchat_cli.fileio import read_file

if TYPE_CHECKING:
    from zkchat_cli.tokens.counter import Encoder

MAX_TEXT = 20_000
"""Characters of a text for the table; it is slower than the vocabulary."""
MAX_PIECE = 1000
"""Bytes of a run without spaces, such as Chinese text, or of a table's spaces: the time to merge it grows with its square, to 12 ms."""
MAX_LOOKUPS = 40_000
"""Looking up more different tokens takes longer than loading the vocabulary."""
MAX_FILE = 10_000_000
NO_TOKEN = 1 << 32
"""Greater than all ranks."""
_CLASSES = {
    r"\p{Lu}\p{Lt}": "A-Z",
    r"\p{Ll}": "a-zſ",
    r"\p{Lm}\p{Lo}": "ª",
    r"\p{L}": "A-Za-zſª",
    r"\p{M}": "\u0300",
    r"\p{N}": r"\d",
    "'s": "'[sſ]",
}
"""The character classes of a pattern, and the characters that are left of them after the replacement."""
_REPLACEMENTS = {"Lu": "A", "Lt": "A", "Ll": "a", "Lm": "ª", "Lo": "ª", "M": "\u0300", "N": "0", "Z": "\t"}
"""A category of characters beyond ASCII, or its first letter, and what replaces them; all others become punctuation."""


def token_hash(token: bytes) -> int:
    return int.from_bytes(blake2b(token, digest_size=8).digest(), "little")


class _ReplacementTable(dict[int, str]):
    """Characters and what replaces them, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = category(char)
        kept = code < 128 or char == "ſ"  # which ends a contraction, like an s
        self[code] = found = char if kept else "\t" if char == "\x85" else _REPLACEMENTS.get(kind) or _REPLACEMENTS.get(kind[0], "!")
        return found


class TableEncoder:
    """An encoding by a table while that is faster, then by the vocabulary, which `load` returns."""

    def __init__(self, table: Path, pattern: str, load: "Callable[[], Encoder]") -> None:
        data = memoryview(read_file(table, MAX_FILE))
        end = len(data) // 12 * 8
        self._hashes, self._ranks = data[:end].cast("Q"), data[end:].cast("I")
        for name, members in _CLASSES.items():
            pattern = pattern.replace(name, members)
        self._pattern = re.compile(pattern, re.ASCII)
        self._replacements = _ReplacementTable()
        self._rank = cache(self._find_rank)
        self._encode_piece = cache(self._merge)
        self._load = load
        self._vocabulary: Encoder | None = None

    def load_vocabulary(self) -> "Encoder":
        if self._vocabulary is None:
            self._vocabulary = self._load()
        return self._vocabulary

    def encode_ordinary(self, text: str) -> list[int]:
        if self._vocabulary is None and len(text) <= MAX_TEXT and self._rank.cache_info().currsize <= MAX_LOOKUPS:
            pieces = [piece.encode("utf-8", "replace") for piece in self._split(text)]
            if max(map(len, pieces), default=0) <= MAX_PIECE:
                return [token for piece in pieces for token in self._encode_piece(piece)]
        return self.load_vocabulary().encode_ordinary(text)

    def _split(self, text: str) -> list[str]:
        if text.isascii():
            return self._pattern.findall(text)
        return [text[found.start() : found.end()] for found in self._pattern.finditer(text.translate(self._replacements))]

    def _find_rank(self, token: bytes) -> int:
        """The rank of a token; NO_TOKEN if the vocabulary has no such token."""
        wanted = token_hash(token)
        i = bisect_left(self._hashes, wanted)
        return self._ranks[i] if i < len(self._hashes) and self._hashes[i] == wanted else NO_TOKEN

    def _merge(self, piece: bytes) -> tuple[int, ...]:
        """Byte pair encoding: the two neighbours that are the most frequent token become one, until none are."""
        rank = self._rank
        if (whole := rank(piece)) != NO_TOKEN:
            return (whole,)
        parts = [piece[i : i + 1] for i in range(len(piece))]
        pairs = [rank(one + next_) for one, next_ in pairwise(parts)]
        while pairs and (lowest := min(pairs)) != NO_TOKEN:
            i = pairs.index(lowest)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
            del pairs[i]
            if i:
                pairs[i - 1] = rank(parts[i - 1] + parts[i])
            if i < len(pairs):
                pairs[i] = rank(parts[i] + parts[i + 1])
        return tuple(map(rank, parts))
