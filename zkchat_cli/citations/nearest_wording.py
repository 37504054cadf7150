"""What a note says that is most like a quotation that it does not have: most of its words that say something, in the same order.

A thousand quotations are compared with thousands of notes, so only the paragraphs with most of a quotation's telling words are compared
with it word by word.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER, STOPWORDS, content_terms, fold

LEAST_SHARE = 0.5
"""Share of a quotation's words, by weight, that a wording must have in the same order; else it has little to do with the quotation. Of
quotations with one to three words changed 98 to 100 % have such a wording, of sentences about something else none in 400."""
COMMON = 0.4
"""Weight of a word that says nothing by itself."""
_MOST_TERMS = 24
_MOST_BLOCKS = 3
_MOST_WORDS = 1000
_SLACK = 4
"""Words that a wording may have more than the quotation, on each side of their longest common run."""
_WORD = lazy_pattern(r"[^\W_]+(?:[.,'’:/-][^\W_]+)*|[%°€$]")
_CHARACTER_WORD = lazy_pattern(rf"{CJK_CHARACTER.pattern}|(?:(?!{CJK_CHARACTER.pattern})[^\W_])+")
BLOCK_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+#|]|\d{1,9}[.)]))")


class NearestWording(NamedTuple):
    """Where in a text it is, and the share of the quotation's words that it has."""

    share: float
    start: int
    end: int


class _QuotedWords(NamedTuple):
    words: list[str]
    total: float
    """The weight of all words."""
    terms: tuple[str, ...]
    """The longest telling words."""


def fold_in_place(text: str) -> str:
    """The text without case and diacritics, with every character where it was."""
    lowered = text.lower()
    if text.isascii() or len(lowered) != len(text):
        return lowered
    folded = {c: fold(c) for c in set(lowered) if not c.isascii()}
    return lowered.translate({ord(c): bare for c, bare in folded.items() if len(bare) == 1})


def find_nearest(quote: str, folded: str) -> NearestWording | None:
    """The wording in a text from `fold_in_place` that is most like the quotation; None if none has its telling words."""
    wanted = _read_quotation(quote)
    if 3 * sum(term in folded for term in wanted.terms) < len(wanted.terms):
        return None
    borders = [0, *(border.end() for border in BLOCK_BORDER.finditer(folded)), len(folded)]
    blocks = [(-sum(folded.find(term, start, end) >= 0 for term in wanted.terms), end - start, start) for start, end in pairwise(borders)]
    found = (_compare(wanted, folded, start, start + size) for count, size, start in sorted(blocks)[:_MOST_BLOCKS] if count)
    return max(filter(None, found), key=lambda wording: wording.share, default=None)


def _compare(wanted: _QuotedWords, text: str, start: int, end: int) -> NearestWording | None:
    """The wording in this block."""
    words = list(islice(_words(text, start, end), _MOST_WORDS))
    compared = SequenceMatcher(None, wanted.words, [word[0] for word in words], autojunk=False)
    longest = compared.find_longest_match()
    near = max(0, longest.b - longest.a - _SLACK)
    words = words[near : near + len(wanted.words) + 2 * _SLACK]
    compared.set_seq2([word[0] for word in words])
    blocks = [block for block in compared.get_matching_blocks() if block.size]
    if not blocks:
        return None
    weight = sum(_weight(word) for block in blocks for word in wanted.words[block.a : block.a + block.size])
    begin = max(0, blocks[0].b - blocks[0].a)
    behind = len(wanted.words) - blocks[-1].a - blocks[-1].size
    final = min(len(words), blocks[-1].b + blocks[-1].size + behind) - 1
    return NearestWording(weight / wanted.total, words[begin].start(), words[final].end())


@lru_cache(maxsize=8)
def _read_quotation(quote: str) -> _QuotedWords:
    folded = fold_in_place(quote)
    words = [word[0] for word in islice(_words(folded, 0, len(folded)), _MOST_WORDS)]
    terms = sorted(dict.fromkeys(content_terms(quote)), key=len, reverse=True)[:_MOST_TERMS]
    return _QuotedWords(words, sum(map(_weight, words)) or 1, tuple(terms))


def _weight(word: str) -> float:
    return COMMON if word in STOPWORDS or (len(word) == 1 and word.isascii() and not word.isdigit()) else 1


def _words(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Words, and Chinese and Japanese characters one by one."""
    has_cjk = not text.isascii() and CJK_CHARACTER.search(text, start, end)
    return (_CHARACTER_WORD if has_cjk else _WORD).finditer(text, start, end)
