"""The words by which messages are found, in the table `message_index`. They are the words of the
index in SQLite, so a search finds the same.
"""

import re
from collections import Counter
from hashlib import sha256
from typing import NamedTuple

from zkchat_cli.text.words import replace_surrogates, to_index_text

# Characters of a message that are indexed, as in SQLite
MOST_INDEXED = 200_000
# The tokens of FTS5's tokenizer `ascii`: every character that is not ASCII belongs to a word
_TOKEN = re.compile(r"[0-9A-Za-z\x80-\U0010ffff]+")
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
# Bytes; a tsvector takes up to 2046
_LONGEST_WORD = 500
# A tsvector has no larger position
_MOST_OCCURRENCES = 16_383
# Bytes of the words of one message; a tsvector takes up to 1 MB
_MOST_BYTES = 700_000


class IndexedWords(NamedTuple):
    """The words of a message."""

    # As a `tsvector`; None for a message without a text, which is not in the index
    vector: str | None
    length: int


def indexed_words(text: str) -> IndexedWords:
    """What the index has of a message with this text."""
    if not text:
        return IndexedWords(None, 0)
    words = tokens(to_index_text(replace_surrogates(text[:MOST_INDEXED])))
    return IndexedWords(_to_tsvector(Counter(words)), len(words))


def tokens(text: str) -> list[str]:
    """The words of a text as the index has them; a very long one is replaced by its hash."""
    lower = text.lower() if text.isascii() else text.translate(_ASCII_LOWER)
    return [
        word if len(word) < _LONGEST_WORD // 4 else _shorten(word) for word in _TOKEN.findall(lower)
    ]


def _shorten(word: str) -> str:
    encoded = word.encode("utf-8", "replace")
    return word if len(encoded) <= _LONGEST_WORD else sha256(encoded).hexdigest()


def _to_tsvector(counts: Counter[str]) -> str:
    """Words with the numbers of their occurrences in place of positions. Words have no quotes."""
    size = 0
    parts: list[str] = []
    for word, count in counts.items():
        size += len(word.encode()) + 8
        if size > _MOST_BYTES:
            break
        parts.append(f"'{word}':{min(count, _MOST_OCCURRENCES)}")
    return " ".join(parts)
