"""Where an excerpt contains the words of a quotation, for highlighting; `quotes` verified the quotation before, more strictly."""

import re
from collections.abc import Iterable

from zkchat_cli.text.patterns import lazy_pattern

MAX_WORDS = 300
"""Words of a part of a quotation; searching for more could take seconds, and nobody reads so long a mark."""
OMISSION = lazy_pattern(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")
"""An ellipsis in a quotation."""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN_WORDS = r"[\W_]*"
_ENDING = re.compile(r"[\W_]*\Z")


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in their order, with those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def quote_ranges(text: str, quote: str) -> list[tuple[int, int]]:
    """The character ranges of a quotation in `text`, one per part between ellipses; empty if the text does not contain it.

    Only words are compared, in any case: emphasis, list markers and typography between them do not matter.
    """
    found: list[tuple[int, int]] = []
    at = 0
    for part in OMISSION.split(quote):
        words = _WORD.findall(part)
        if not words:
            continue
        place = re.compile(_BETWEEN_WORDS.join(words), re.IGNORECASE).search(text, at) if len(words) <= MAX_WORDS else None
        if place is None:
            return []
        at = place.end()
        ending = _ENDING.search(part.rstrip())
        at += len(ending[0]) if ending and text.startswith(ending[0], at) else 0
        found.append((place.start(), at))
    return found
