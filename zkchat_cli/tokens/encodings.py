"""Encodings, read from the shipped vocabularies: they split a text into tokens.

The vocabularies of `o200k_base` and `cl100k_base` are shipped under the names that tiktoken's cache
expects (sha1 of their address), because tiktoken would otherwise download them, without a time-out.
They are read here, in less than half of tiktoken's time.
"""

import hashlib
from binascii import a2b_base64
from functools import cache
from pathlib import Path
from typing import Protocol

from zkchat_cli.errors import TokenizerError, reason
from zkchat_cli.fileio import read_file

DEFAULT_ENCODING = "o200k_base"
ENCODINGS = (DEFAULT_ENCODING, "cl100k_base")
VOCABULARY = Path(__file__).with_name("vocabulary")
MAX_FILE = 10_000_000
_FILES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
# The digests of the published files
_SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
INSTALL_AGAIN = "Install zkchat again, for example: pip install --force-reinstall zkchat"
SPLIT_PATTERNS = {
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
"""The patterns that split a text before tokens are looked up; they are tiktoken's."""


class Encoder(Protocol):
    """Turns text into the numbers of its tokens."""

    def encode_ordinary(self, text: str) -> list[int]:
        """The tokens of a text. Special tokens count as plain text."""
        ...


def vocabulary_file(encoding: str) -> Path:
    """The shipped file with the tokens of an encoding."""
    return VOCABULARY / _FILES[encoding]


@cache
def load_vocabulary(encoding: str) -> Encoder:
    """tiktoken's encoding from the shipped files. Raises TokenizerError if they are missing or
    damaged.
    """
    try:
        data = read_file(vocabulary_file(encoding), MAX_FILE)
        if hashlib.sha256(data).hexdigest() != _SHA256[encoding]:
            raise ValueError("it is damaged")
    except (OSError, ValueError) as e:
        problem = f"the vocabulary of {encoding} cannot be read: {reason(e)}"
        raise TokenizerError(problem, INSTALL_AGAIN) from e
    # Each line has a token in base64 and its rank, which is also the number of the line
    words = data.split()
    tokens = dict(zip(map(a2b_base64, words[::2]), range(len(words) // 2), strict=True))
    # This import takes 30 ms, and `--help` and `--version` do not need it
    import tiktoken

    return tiktoken.Encoding(
        encoding, pat_str=SPLIT_PATTERNS[encoding], mergeable_ranks=tokens, special_tokens={}
    )
