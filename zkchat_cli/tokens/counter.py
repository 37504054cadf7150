"""Counting tokens exactly and offline, each text once.

The vocabularies of `o200k_base` and `cl100k_base` are shipped under the names tiktoken's cache expects (sha1 of their address), because
tiktoken would otherwise download them, without a time-out. They are read here, in less than half of tiktoken's time. Loading one still
takes about 0.2 s, so short texts are counted by a table, and a chat loads the vocabulary on a background thread.
"""

import hashlib
import math
import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.fileio import read_file
from zkchat_cli.tokens.token_table import TableEncoder

if TYPE_CHECKING:  # pydantic, which `zkchat tokens --help` must not load
    from zkchat_cli.models import Calibration

ENCODINGS = ("o200k_base", "cl100k_base")
VOCABULARY = Path(__file__).with_name("vocabulary")
_FILES = dict(zip(ENCODINGS, ("fb374d419588a4632f3f557e76b4b70aebbca790", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"), strict=True))
_TOKENS = dict(zip(ENCODINGS, (199_998, 100_256), strict=True))
_SPLIT = {
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
"""Where a text is split before tokens are looked up, as tiktoken has it."""
_MAX_SIZE = 10_000_000
_MAX_CACHED = 10_000
_SHORT = 300
"""Characters of a text that is cached itself: hashing it would take longer than all else, and 10,000 of them take 4 MB."""
_PIECE = 100_000
"""Characters of a long text to count at once: a longer run of white space would overflow tiktoken's stack."""
_COUNTED_BY_LINE = range(2000, _PIECE)
"""Texts of so many characters are counted, and cached, line by line: a summary keeps most of its lines from message to message."""
_NEXT_LINE = re.compile(r"(?<=\n)(?=[^\s/])")
"""Both vocabularies end a token here: only white space or a slash can join the line break before it."""
_SEAM = re.compile(rf"{_NEXT_LINE.pattern}|(?<=[^\W\d_])(?= [^\W\d_])")
"""The same, or before a space between letters."""


class Encoder(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


@cache
def open_encoder(encoding: str) -> Encoder:
    """An encoding from the shipped files, with a table if it has one. Raises UsageError for one that is not shipped."""
    if encoding not in ENCODINGS:
        raise UsageError(f"{encoding} is not an encoding zkchat ships", f"Choose {' or '.join(ENCODINGS)}.")
    table = VOCABULARY / f"{encoding}.table"
    return TableEncoder(table, _SPLIT[encoding], partial(load_vocabulary, encoding)) if table.is_file() else load_vocabulary(encoding)


@cache
def load_vocabulary(encoding: str) -> Encoder:
    """tiktoken's encoding from the shipped files. Raises ZkchatError if they are missing or damaged."""
    try:
        words = read_file(VOCABULARY / _FILES[encoding], _MAX_SIZE).split()  # a token in base64, and its rank, which is its line
        tokens = dict(zip(map(a2b_base64, words[::2]), range(len(words) // 2), strict=True))
        if len(tokens) != _TOKENS[encoding]:
            raise ValueError("it is not complete")
    except (OSError, ValueError) as e:
        raise ZkchatError(f"the vocabulary of {encoding} cannot be read: {e}", "Install zkchat again.") from e
    import tiktoken  # 30 ms that `--help` and `--version` do not need

    return tiktoken.Encoding(encoding, pat_str=_SPLIT[encoding], mergeable_ranks=tokens, special_tokens={})


class TokenCounter:
    """Counts tokens; `load` returns the vocabulary.

    A model may have another tokenizer: `calibrated` counts with a factor. Stored counts are those of `count_raw`.
    """

    def __init__(self, encoding: str = ENCODINGS[0], load: Callable[[str], Encoder] = open_encoder) -> None:
        self.encoding = encoding
        self.factor = self.tool_factor = 1.0
        self.estimated = False
        """Whether the model has another vocabulary."""
        self._load = load
        self._counts: dict[str | bytes, int] = {}
        """Of short texts, and of the hashes of longer ones."""

    def load_vocabulary(self) -> None:
        """Load what only long texts need, in 0.2 s."""
        if isinstance(encoder := self._load(self.encoding), TableEncoder):
            encoder.load_vocabulary()

    def calibrated(self, calibration: "Calibration", *, exact: bool = False) -> "TokenCounter":
        """A counter for a model that counts so; it shares the vocabulary and the cache."""
        other = copy(self)
        other.factor, other.tool_factor, other.estimated = calibration.text, calibration.tool_factor, not exact
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
        """Tokens of `text` in the vocabulary, special tokens as the plain text they are (`encode` would raise on `<|endoftext|>`)."""
        if not text:
            return 0
        key = text if len(text) <= _SHORT else hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(key)
        if known is None:
            if len(text) in _COUNTED_BY_LINE and len(lines := _NEXT_LINE.split(text)) > 1:
                known = sum(map(self.count_raw, lines))
            else:
                known = sum(len(self._load(self.encoding).encode_ordinary(piece)) for piece in _pieces(text))
            if len(self._counts) >= _MAX_CACHED:
                self._counts.clear()
            self._counts[key] = known
        return known


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces with the same tokens in total, unless no token certainly ends in the second half of a piece."""
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
