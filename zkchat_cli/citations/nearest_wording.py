"""What a note says that is most like a quotation that it does not have: most of its words that say something, in the same order.

A thousand quotations are compared with thousands of notes, so a note is not split into words: the quotation's telling words are looked up
in it, and only the few lines that have most of them are compared word by word.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER, STOPWORDS, content_terms, fold

LEAST_SHARE = 0.5
"""Share of a quotation's words, by weight, that a wording must have in the same order; else it has little to do with the quotation. Of
quotations with one to three words changed 98 to 100 % have such a wording, of sentences about something else none in 400."""
COMMON = 0.4
"""Weight of a word that says nothing by itself."""
_MOST_TERMS = 24
_MOST_PLACES = 50
_MOST_RUNS = 3
_MOST_WORDS = 400
_SLACK = 20
"""Characters that a wording may be longer than the quotation, and a quarter."""
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
    """The telling words to look up, the longest first."""
    size: int
    """Characters that the wording may have."""


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
    places = sorted((at, term) for term in wanted.terms for at in islice(_find_term(folded, term), _MOST_PLACES))
    found = (_compare(wanted, folded, first, last) for first, last in _densest(places, wanted.size))
    return max(filter(None, found), key=lambda wording: wording.share, default=None)


def _compare(wanted: _QuotedWords, text: str, first: int, last: int) -> NearestWording | None:
    """The wording around these places."""
    room = wanted.size - (last - first)
    start, end = _block_at(text, max(0, first - room), first, last, last + room)
    words = list(islice(_words(text, start, end), _MOST_WORDS))
    compared = SequenceMatcher(None, wanted.words, [word[0] for word in words], autojunk=False)
    blocks = [block for block in compared.get_matching_blocks() if block.size]
    if not blocks:
        return None
    shared = sum(_weight(word) for block in blocks for word in wanted.words[block.a : block.a + block.size])
    begin = max(0, blocks[0].b - blocks[0].a)
    behind = len(wanted.words) - blocks[-1].a - blocks[-1].size
    final = min(len(words), blocks[-1].b + blocks[-1].size + behind) - 1
    return NearestWording(shared / wanted.total, words[begin].start(), words[final].end())


@lru_cache(maxsize=8)
def _read_quotation(quote: str) -> _QuotedWords:
    folded = fold_in_place(quote)
    words = [word[0] for word in islice(_words(folded, 0, len(folded)), _MOST_WORDS)]
    terms = sorted(dict.fromkeys(content_terms(quote)), key=len, reverse=True)[:_MOST_TERMS]
    return _QuotedWords(words, sum(map(_weight, words)) or 1, tuple(terms), len(quote) + len(quote) // 4 + _SLACK)


def _weight(word: str) -> float:
    return COMMON if word in STOPWORDS or (len(word) == 1 and word.isascii() and not word.isdigit()) else 1


def _find_term(text: str, term: str) -> Iterator[int]:
    """Where the term is, as a word of its own unless it is Chinese or Japanese."""
    at = text.find(term)
    is_free = not term.isascii() and CJK_CHARACTER.match(term)
    while at >= 0:
        if is_free or not (text[at - 1 : at].isalnum() or text[at + len(term) : at + len(term) + 1].isalnum()):
            yield at
        at = text.find(term, at + 1)


def _densest(places: Sequence[tuple[int, str]], size: int) -> list[tuple[int, int]]:
    """The first and last places of the runs of so many characters that have most of the different terms, and of these the shortest."""
    runs: list[tuple[int, int, int, int]] = []
    for i, (at, _) in enumerate(places):
        run = places[i : bisect_left(places, (at + size,))]
        runs.append((-len({term for _, term in run}), run[-1][0] - at, at, run[-1][0]))
    chosen: list[tuple[int, int]] = []
    for _, _, first, last in sorted(runs):
        if len(chosen) < _MOST_RUNS and all(last < start or first > stop for start, stop in chosen):
            chosen.append((first, last))
    return chosen


def _block_at(text: str, start: int, first: int, last: int, end: int) -> tuple[int, int]:
    """The range from start to end, without the blocks before the first place and after the last."""
    before = [border.end() for border in BLOCK_BORDER.finditer(text, start, first)]
    after = BLOCK_BORDER.search(text, last, end)
    start = before[-1] if before else start
    while start and start < first and text[start - 1].isalnum() and text[start].isalnum():
        start += 1
    end = after.start() if after else min(end, len(text))
    while end < len(text) and end > last and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end


def _words(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Words, and Chinese and Japanese characters one by one."""
    has_cjk = not text.isascii() and CJK_CHARACTER.search(text, start, end)
    return (_CHARACTER_WORD if has_cjk else _WORD).finditer(text, start, end)
