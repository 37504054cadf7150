"""An encoding that looks up tokens in a table of their hashes, which is read in 1 ms."""

import hashlib
import re
import zlib
from bisect import bisect_left
from functools import cache
from itertools import pairwise
from unicodedata import category

from zkchat_cli.errors import TokenizerError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.tokens.encodings import (
    INSTALL_AGAIN,
    MAX_FILE,
    SPLIT_PATTERNS,
    VOCABULARY,
    Encoder,
    load_vocabulary,
)

CHECKSUMS = {"o200k_base": 0xA2F4ECF6}
"""The CRC-32 of each shipped table."""

# Longest text, in characters, that the table counts; for longer ones the vocabulary is faster
MAX_TEXT = 20_000
_MAX_RUN = 1000
"""Longest run without spaces, in bytes, such as Chinese text or the padding of a table.

The time to merge it grows with its square, to 12 ms.
"""
# Most lookups of different tokens; more take longer than loading the vocabulary
_MAX_LOOKUPS = 40_000
# Greater than every rank
_NO_TOKEN = 1 << 32
_CLASSES = {
    r"\p{Lu}\p{Lt}": "A-Z",
    r"\p{Ll}": "a-zſ",
    r"\p{Lm}\p{Lo}": "ª",
    r"\p{L}": "A-Za-zſª",
    r"\p{M}": "\u0300",
    r"\p{N}": r"\d",
    "'s": "'[sſ]",
}
"""The character classes of each pattern, and the characters that remain of them after the
replacement.
"""
_REPLACEMENTS = {
    "Lu": "A",
    "Lt": "A",
    "Ll": "a",
    "Lm": "ª",
    "Lo": "ª",
    "M": "\u0300",
    "N": "0",
    "Z": "\t",
}
"""A Unicode category, or its first letter, and what replaces its characters beyond ASCII.

All other characters become punctuation.
"""


def token_hash(token: bytes) -> int:
    """The hash by which a table finds a token."""
    return int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")


class _ReplacementTable(dict[int, str]):
    """Maps characters to what replaces them, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        found = _replacement(chr(code))
        self[code] = found
        return found


def _replacement(char: str) -> str:
    """The character that represents another one in the pattern: an ASCII character represents
    itself.
    """
    # A long s ends a contraction, like an s
    if char.isascii() or char == "ſ":
        return char
    if char == "\x85":
        return "\t"
    kind = category(char)
    return _REPLACEMENTS.get(kind) or _REPLACEMENTS.get(kind[0], "!")


def _read_table(encoding: str) -> bytes:
    try:
        data = read_file(VOCABULARY / f"{encoding}.table", MAX_FILE)
        if zlib.crc32(data) != CHECKSUMS[encoding]:
            raise ValueError("it is damaged")
    except (OSError, ValueError) as e:
        problem = f"the token table of {encoding} cannot be read: {reason(e)}"
        raise TokenizerError(problem, INSTALL_AGAIN) from e
    return data


class TableEncoder:
    """An encoding by a table while that is faster, then by the vocabulary.

    The table is read in 1 ms. It has the hashes of all tokens in ascending order (8 bytes each,
    little-endian) and their ranks (4 bytes each); `python tests/test_token_counter.py` writes it
    from the vocabulary. A lookup takes 2 µs (20 µs by the tokens themselves, sorted): one question
    needs 4,000, half of them of bytes that are no token, and one of those has the hash of a token
    once in 10^14 lookups.

    Texts are split by `re`, which does not know \\p{L}: a character beyond ASCII is replaced by one
    that has its place in the pattern. Importing `regex` and compiling its pattern would take 25 ms.
    """

    def __init__(self, encoding: str) -> None:
        """Read the table. Raises TokenizerError if it is missing or damaged."""
        self._encoding = encoding
        data = memoryview(_read_table(encoding))
        end = len(data) // 12 * 8
        self._hashes = data[:end].cast("Q")
        self._ranks = data[end:].cast("I")
        pattern = SPLIT_PATTERNS[encoding]
        for name, members in _CLASSES.items():
            pattern = pattern.replace(name, members)
        self._pattern = re.compile(pattern, re.ASCII)
        self._replacements = _ReplacementTable()
        self._rank = cache(self._find_rank)
        self._encode_run = cache(self._merge)
        self._vocabulary: Encoder | None = None

    def load_vocabulary(self) -> Encoder:
        """Load the vocabulary, and use it from now on."""
        self._vocabulary = load_vocabulary(self._encoding)
        return self._vocabulary

    def encode_ordinary(self, text: str) -> list[int]:
        """The tokens of a text; loads the vocabulary for a long one, or after many lookups."""
        if not self._is_table_faster(text):
            return self.load_vocabulary().encode_ordinary(text)
        plain = text if text.isascii() else text.translate(self._replacements)
        runs = [
            text[found.start() : found.end()].encode("utf-8", "replace")
            for found in self._pattern.finditer(plain)
        ]
        if max(map(len, runs), default=0) > _MAX_RUN:
            return self.load_vocabulary().encode_ordinary(text)
        return [token for run in runs for token in self._encode_run(run)]

    def _is_table_faster(self, text: str) -> bool:
        lookups = self._rank.cache_info().currsize
        return self._vocabulary is None and len(text) <= MAX_TEXT and lookups <= _MAX_LOOKUPS

    def _find_rank(self, token: bytes) -> int:
        wanted = token_hash(token)
        i = bisect_left(self._hashes, wanted)
        if i < len(self._hashes) and self._hashes[i] == wanted:
            return self._ranks[i]
        return _NO_TOKEN

    def _merge(self, run: bytes) -> tuple[int, ...]:
        """Byte pair encoding: repeatedly joins the two neighbours that make the most frequent
        token, until none do.
        """
        rank = self._rank
        whole = rank(run)
        if whole != _NO_TOKEN:
            return (whole,)
        parts = [run[i : i + 1] for i in range(len(run))]
        pairs = [rank(one + next_) for one, next_ in pairwise(parts)]
        while pairs:
            lowest = min(pairs)
            if lowest == _NO_TOKEN:
                break
            i = pairs.index(lowest)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
            del pairs[i]
            if i:
                pairs[i - 1] = rank(parts[i - 1] + parts[i])
            if i < len(pairs):
                pairs[i] = rank(parts[i] + parts[i + 1])
        return tuple(map(rank, parts))
