"""Where an excerpt contains the words of a quotation, for highlighting; `quotes` verified the quotation before, more strictly."""

import re

from zkchat_cli.text.patterns import lazy_pattern

MAX_WORDS = 300
"""Words of a part of a quotation; searching for more could take seconds, and nobody reads so long a mark."""
OMISSION = lazy_pattern(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")
"""An ellipsis in a quotation."""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN_WORDS = r"[\W_]*"
_ENDING = re.compile(r"[\W_]*\Z")


def quote_ranges(text: str, quote: str) -> list[tuple[int, int]]:
    """The character ranges of a quotation in `text`, one per part between ellipses; empty if the text does not contain it.

    Only words are compared, in any case: emphasis, list markers and typography between them do not matter.
    """
    found: list[tuple[int, int]] = []
    at = 0
    parts = [part for part in OMISSION.split(quote) if _WORD.search(part)]
    for part in parts:
        place = _find_words(text, part, at, first=len(parts) > 1)
        if place is None:
            return []
        ending = _ENDING.search(part.rstrip())
        at = place[1] + (len(ending[0]) if ending and text.startswith(ending[0], place[1]) else 0)
        found.append((place[0], at))
    return found


def _find_words(text: str, part: str, at: int, *, first: bool) -> tuple[int, int] | None:
    """The range of the words of `part` in `text`, from `at` on: of the `first` occurrence, else preferably of one that is word for word.

    Where another part follows, a later occurrence could be behind that one.
    """
    places = list(_WORD.finditer(part))
    written = part[places[0].start() : places[-1].end()]
    if not first and (start := text.find(written, at)) >= 0:  # as most quotations stand there; a pattern takes 0.5 ms to compile
        return start, start + len(written)
    words = [place[0] for place in places]
    found = re.compile(_BETWEEN_WORDS.join(words), re.IGNORECASE).search(text, at) if len(words) <= MAX_WORDS else None
    return found.span() if found else None
