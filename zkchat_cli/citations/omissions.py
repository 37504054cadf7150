"""The ellipses of a quotation, and where the parts between them are in a text that is shown."""

import re
from collections.abc import Iterable

from zkchat_cli.text.patterns import lazy_pattern

# Words of a part of a quotation; searching for more could take seconds, and nobody reads so long a
# mark
MAX_WORDS = 300
# An ellipsis in a quotation
OMISSION = lazy_pattern(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")


def quote_ranges(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    """The character ranges of the quotations that `text` contains, one per part between ellipses;
    those that overlap or touch are one. Only words are compared, in any case: emphasis, list
    markers and typography between them do not matter.
    """
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(found for quote in quotes for found in _find_parts(text, quote)):
        if merged:
            last_begin, last_end = merged[-1]
            if begin <= last_end:
                begin = last_begin
                end = max(end, last_end)
                merged.pop()
        merged.append((begin, end))
    return merged


def _find_parts(text: str, quote: str) -> list[tuple[int, int]]:
    """Where the parts of a quotation are, in order; nowhere if one is missing."""
    found: list[tuple[int, int]] = []
    at = 0
    for part in OMISSION.split(quote):
        words = re.findall(r"[^\W_]+", part)
        if not words:
            continue
        if len(words) > MAX_WORDS:
            return []
        place = re.compile(r"[\W_]*".join(words), re.IGNORECASE).search(text, at)
        if place is None:
            return []
        at = place.end()
        ending = re.search(r"[\W_]*\Z", part.rstrip())
        if ending and text.startswith(ending[0], at):
            at += len(ending[0])
        found.append((place.start(), at))
    return found
