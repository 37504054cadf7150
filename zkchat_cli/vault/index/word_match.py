"""What words to look for in the index, as a value: no text is an operator in it."""

from typing import NamedTuple

from zkchat_cli.text import words

Phrase = tuple[str, ...]
"""Words that follow each other. A single CJK character matches all words that begin with it,
because CJK runs are indexed as pairs of characters.
"""


class WordMatch(NamedTuple):
    """Something matches that has, of each group, any phrase."""

    groups: tuple[tuple[Phrase, ...], ...]
    # In the headings of a chunk, not in its text
    only_headings: bool = False


def is_cjk(term: str) -> bool:
    """Whether it is CJK text, a bigram or a single character."""
    return not term.isascii() and bool(words.CJK_CHARACTER.match(term))


def is_part(term: str) -> bool:
    """Whether it is a single CJK character, which may be anywhere in a word."""
    return len(term) == 1 and is_cjk(term)
