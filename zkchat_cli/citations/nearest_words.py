"""The wording of a note that is most like a quotation that no note has: most of its words that say
something, in the same order.

A thousand quotations are compared with thousands of notes, so only the paragraphs with most of its
telling words are compared with it word by word.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.literals import is_literal
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER, STOPWORDS, content_terms

BLOCK_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+#|]|\d{1,9}[.)]))")
LEAST_SHARE = 0.5
"""Share of a quotation's words, by weight, that a wording must have in the same order; else it has
little to do with the quotation.
"""
# Weight of a word that says nothing by itself
COMMON = 0.4
_MOST_TERMS = 24
_MOST_BLOCKS = 3
_MOST_WORDS = 1000
# Words that a wording may have more than the quotation, on each side of their longest common run
_SLACK = 4
_JOINED_WORD = lazy_pattern(r"[^\W_]+(?:[.,'’:/-][^\W_]+)*|[%°€$]")
_CHARACTER_WORD = lazy_pattern(rf"{CJK_CHARACTER.pattern}|(?:(?!{CJK_CHARACTER.pattern})[^\W_])+")


class Wording(NamedTuple):
    """A part of a text that is like a quotation: the share of the quotation's words that it has in
    order, by weight, where it begins and ends, and the share of the words that say something.
    """

    share: float
    start: int
    end: int
    telling: float

    def is_near(self, least_telling: float) -> bool:
        """Whether it is rather a quotation with errors than alike by chance."""
        return self.share >= LEAST_SHARE and self.telling >= least_telling


class _Block(NamedTuple):
    """A block of a text with some of the wanted terms. Sorted, those with most terms come first,
    and of these the shortest.
    """

    minus_terms: int
    size: int
    start: int


def fold_in_place(text: str) -> str:
    """The text without case and diacritics, with every character where it was."""
    lowered = text.lower()
    if text.isascii() or len(lowered) != len(text):
        return lowered
    folded = {c: fold(c) for c in set(lowered) if not c.isascii()}
    return lowered.translate({ord(c): bare for c, bare in folded.items() if len(bare) == 1})


def find_nearest(quote: str, folded: str) -> Wording | None:
    """The wording in a text from `fold_in_place` that is most like the quotation. None if the text
    has none of its telling words.
    """
    wanted, terms = _read_quotation(quote)
    if 3 * sum(term in folded for term in terms) < len(terms):
        return None
    borders = [0, *(border.end() for border in BLOCK_BORDER.finditer(folded)), len(folded)]
    blocks: list[_Block] = []
    for start, end in pairwise(borders):
        count = sum(folded.find(term, start, end) >= 0 for term in terms)
        if count:
            blocks.append(_Block(-count, end - start, start))
    found = [
        _compare(wanted, folded, block.start, block.start + block.size)
        for block in sorted(blocks)[:_MOST_BLOCKS]
    ]
    return max(filter(None, found), key=lambda wording: wording.share, default=None)


def _compare(wanted: Sequence[str], text: str, start: int, end: int) -> Wording | None:
    """The wording in this block."""
    words = list(islice(_words(text, start, end), _MOST_WORDS))
    compared = SequenceMatcher(None, wanted, [word[0] for word in words], autojunk=False)
    longest = compared.find_longest_match()
    near = max(0, longest.b - longest.a - _SLACK)
    words = words[near : near + len(wanted) + 2 * _SLACK]
    compared.set_seq2([word[0] for word in words])
    blocks = [block for block in compared.get_matching_blocks() if block.size]
    if not blocks:
        return None
    weights = [COMMON if _says_nothing(word) else 1 for word in wanted]
    weight = sum(sum(weights[block.a : block.a + block.size]) for block in blocks)
    begin = max(0, blocks[0].b - blocks[0].a)
    last = blocks[-1]
    behind = len(wanted) - last.a - last.size
    final = min(len(words), last.b + last.size + behind) - 1
    return Wording(
        weight / (sum(weights) or 1),
        words[begin].start(),
        words[final].end(),
        _telling_share(weights, blocks),
    )


def _telling_share(weights: Sequence[float], blocks: Sequence[Match]) -> float:
    """The share of the words that say something that are in one of the common runs."""
    matched = [weights[index] for block in blocks for index in range(block.a, block.a + block.size)]
    return matched.count(1) / (weights.count(1) or 1)


def _says_nothing(word: str) -> bool:
    return word in STOPWORDS or (len(word) == 1 and word.isascii() and not word.isdigit())


class _QuotedWords(NamedTuple):
    """The words of a quotation, and the longest telling ones."""

    words: list[str]
    terms: list[str]


@lru_cache(maxsize=8)
def _read_quotation(quote: str) -> _QuotedWords:
    folded = fold_in_place(quote)
    words = [word[0] for word in islice(_words(folded, 0, len(folded)), _MOST_WORDS)]
    terms = [term for term in content_terms(quote) if not is_literal(term)]
    longest_first = sorted(dict.fromkeys(terms), key=len, reverse=True)
    return _QuotedWords(words, longest_first[:_MOST_TERMS])


def _words(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Words, and Chinese and Japanese characters one by one."""
    has_cjk = not text.isascii() and CJK_CHARACTER.search(text, start, end)
    return (_CHARACTER_WORD if has_cjk else _JOINED_WORD).finditer(text, start, end)
