"""Counting tokens exactly and offline, each text once, and learning how a model counts them.

The vocabularies of `o200k_base` and `cl100k_base` are shipped under the names tiktoken's cache
expects (sha1 of their address), because tiktoken would otherwise download them, without a time-out.
They are read here, in less than half of tiktoken's time. Loading one still takes 0.2 s and 80 MB,
so short texts are counted by a table, and a chat loads the vocabulary on a background thread.
"""

import hashlib
import math
import re
from binascii import a2b_base64
from bisect import bisect_left
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from unicodedata import category

from zkchat_cli.errors import ZkchatError
from zkchat_cli.fileio import read_file

# Pydantic, which `zkchat tokens --help` must not load
if TYPE_CHECKING:
    from zkchat_cli.models.prompts import Calibration

ENCODINGS = ("o200k_base", "cl100k_base")
VOCABULARY = Path(__file__).with_name("vocabulary")
_FILES = dict(
    zip(
        ENCODINGS,
        ("fb374d419588a4632f3f557e76b4b70aebbca790", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"),
        strict=True,
    )
)
_TOKENS = dict(zip(ENCODINGS, (199_998, 100_256), strict=True))
_SPLIT = {
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| "
        r"?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
"""Where a text is split before tokens are looked up, as tiktoken has it."""
_MAX_FILE = 10_000_000
_MAX_CACHED = 10_000  # texts
# Characters of a long text to count at once: a longer run of white space would overflow tiktoken's
# stack
_PIECE = 100_000
# Characters of a text that is counted, and cached, line by line: a summary keeps most of its lines
# from message to message
_LONG = 2000
_NEXT_LINE = re.compile(r"(?<=\n)(?=[^\s/])")
"""Both vocabularies end a token here: only white space or a slash can join the line break before
it.
"""
# The same, or before a space between letters
_SEAM = re.compile(rf"{_NEXT_LINE.pattern}|(?<=[^\W\d_])(?= [^\W\d_])")

# Characters of a text for the table; it is slower than the vocabulary
MAX_TEXT = 20_000
_MAX_RUN = 1000
"""Bytes of a run without spaces, such as Chinese text, or of a table's spaces: the time to merge it
grows with its square, to 12 ms.
"""
# Looking up more different tokens takes longer than loading the vocabulary
_MAX_LOOKUPS = 40_000
_NO_TOKEN = 1 << 32  # greater than all ranks
_CLASSES = {
    r"\p{Lu}\p{Lt}": "A-Z",
    r"\p{Ll}": "a-zſ",
    r"\p{Lm}\p{Lo}": "ª",
    r"\p{L}": "A-Za-zſª",
    r"\p{M}": "\u0300",
    r"\p{N}": r"\d",
    "'s": "'[sſ]",
}
"""The character classes of a pattern, and the characters that are left of them after the
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
"""A category of characters beyond ASCII, or its first letter, and what replaces them; all others
become punctuation.
"""

MESSAGE_OVERHEAD = 4
"""Tokens of each message's role and delimiters (OpenAI's cookbook counts 3 to 4)."""


class Encoder(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


@cache
def open_encoder(encoding: str) -> Encoder:
    """An encoding from the shipped files, with a table if it has one."""
    return (
        TableEncoder(encoding)
        if (VOCABULARY / f"{encoding}.table").is_file()
        else load_vocabulary(encoding)
    )


@cache
def load_vocabulary(encoding: str) -> Encoder:
    """tiktoken's encoding from the shipped files. Raises ZkchatError if they are missing or
    damaged.
    """
    try:
        # A token in base64, and its rank, which is its line
        words = read_file(VOCABULARY / _FILES[encoding], _MAX_FILE).split()
        tokens = dict(zip(map(a2b_base64, words[::2]), range(len(words) // 2), strict=True))
        if len(tokens) != _TOKENS[encoding]:
            raise ValueError("it is not complete")
    except (OSError, ValueError) as e:
        raise ZkchatError(
            f"the vocabulary of {encoding} cannot be read: {e}", "Install zkchat again."
        ) from e
    # 30 ms that `--help` and `--version` do not need
    import tiktoken

    return tiktoken.Encoding(
        encoding, pat_str=_SPLIT[encoding], mergeable_ranks=tokens, special_tokens={}
    )


class TokenCounter:
    """Counts tokens. A model may have another tokenizer: `calibrated` counts with a factor. Stored
    counts are those of `count_raw`.
    """

    def __init__(
        self, encoding: str = ENCODINGS[0], load: Callable[[str], Encoder] = open_encoder
    ) -> None:
        self.encoding = encoding
        self.factor = self.tool_factor = 1.0
        self.estimated = False  # whether the model has another vocabulary
        self._load = load
        self._count = lru_cache(_MAX_CACHED)(self._encode)

    def load_vocabulary(self) -> None:
        """Load what only long texts need, in 0.2 s."""
        if isinstance(encoder := self._load(self.encoding), TableEncoder):
            encoder.load_vocabulary()

    def calibrated(self, calibration: "Calibration", *, exact: bool = False) -> "TokenCounter":
        """A counter for a model that counts so; it shares the vocabulary and the cache."""
        other = copy(self)
        other.factor = calibration.text
        other.tool_factor = calibration.tool_factor
        other.estimated = not exact
        return other

    def count(self, text: str) -> int:
        """Tokens of `text` for the model in use."""
        return self.scale(self.count_raw(text))

    def count_tool(self, description: str) -> int:
        """Tokens of a tool's description for the model in use."""
        return math.ceil(self.count_raw(description) * self.tool_factor)

    def scale(self, raw: int) -> int:
        """The calibrated count for a raw one."""
        return math.ceil(raw * self.factor)

    def count_raw(self, text: str) -> int:
        """Tokens of `text` in the vocabulary, special tokens as the plain text they are (`encode`
        would raise on `<|endoftext|>`).
        """
        if len(text) > _PIECE:
            return sum(map(self._encode, _pieces(text)))
        return sum(map(self._count, _NEXT_LINE.split(text) if len(text) >= _LONG else [text]))

    def _encode(self, text: str) -> int:
        return len(self._load(self.encoding).encode_ordinary(text))


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces with the same tokens in total, unless no token certainly ends in the
    second half of a piece.
    """
    start = 0
    while len(text) - start > _PIECE:
        seam = _SEAM.search(text, start + _PIECE // 2, start + _PIECE)
        end = seam.start() if seam else start + _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def estimate_tokens(text: str) -> int:
    """A third of the UTF-8 bytes, rounded up: rather too many than too few."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 3)


def token_hash(token: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")


class _ReplacementTable(dict[int, str]):
    """Characters and what replaces them, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = category(chr(code))
        # Which ends a contraction, like an s
        kept = code < 128 or char == "ſ"
        self[code] = found = (
            char
            if kept
            else "\t"
            if char == "\x85"
            else _REPLACEMENTS.get(kind) or _REPLACEMENTS.get(kind[0], "!")
        )
        return found


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
        self._encoding = encoding
        data = memoryview(read_file(VOCABULARY / f"{encoding}.table", _MAX_FILE))
        end = len(data) // 12 * 8
        self._hashes = data[:end].cast("Q")
        self._ranks = data[end:].cast("I")
        pattern = _SPLIT[encoding]
        for name, members in _CLASSES.items():
            pattern = pattern.replace(name, members)
        self._pattern = re.compile(pattern, re.ASCII)
        self._replacements = _ReplacementTable()
        self._rank = cache(self._find_rank)
        self._encode_run = cache(self._merge)
        self._vocabulary: Encoder | None = None

    def load_vocabulary(self) -> Encoder:
        self._vocabulary = load_vocabulary(self._encoding)
        return self._vocabulary

    def encode_ordinary(self, text: str) -> list[int]:
        if (
            self._vocabulary is None
            and len(text) <= MAX_TEXT
            and self._rank.cache_info().currsize <= _MAX_LOOKUPS
        ):
            plain = text if text.isascii() else text.translate(self._replacements)
            runs = [
                text[found.start() : found.end()].encode("utf-8", "replace")
                for found in self._pattern.finditer(plain)
            ]
            if max(map(len, runs), default=0) <= _MAX_RUN:
                return [token for run in runs for token in self._encode_run(run)]
        return self.load_vocabulary().encode_ordinary(text)

    def _find_rank(self, token: bytes) -> int:
        wanted = token_hash(token)
        i = bisect_left(self._hashes, wanted)
        return self._ranks[i] if i < len(self._hashes) and self._hashes[i] == wanted else _NO_TOKEN

    def _merge(self, run: bytes) -> tuple[int, ...]:
        """Byte pair encoding: the two neighbours that are the most frequent token become one, until
        none are.
        """
        rank = self._rank
        if (whole := rank(run)) != _NO_TOKEN:
            return (whole,)
        parts = [run[i : i + 1] for i in range(len(run))]
        pairs = [rank(one + next_) for one, next_ in pairwise(parts)]
        while pairs and (lowest := min(pairs)) != _NO_TOKEN:
            i = pairs.index(lowest)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
            del pairs[i]
            if i:
                pairs[i - 1] = rank(parts[i - 1] + parts[i])
            if i < len(pairs):
                pairs[i] = rank(parts[i] + parts[i + 1])
        return tuple(map(rank, parts))
