"""Where sentences end, in languages with and without spaces between words."""

import re

_END = re.compile(r"""(?<=[.!?…])["'”’)\]*_]*\s+(?=["'“‘(\[*_`]*[^\Wa-z_]|["'“‘(\[]*[A-Z])|(?<=[。！？])["”’）」]*""")
_LONGEST_ABBREVIATION = 10
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|approx|fig)|\b[A-Z])\.$", re.IGNORECASE)


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, word for word; pieces without a letter or digit are left out."""
    pieces: list[str] = []
    begin = 0
    for end in _END.finditer(paragraph):
        tail = paragraph[max(begin, end.start() - _LONGEST_ABBREVIATION) : end.end()].rstrip()
        if tail and not _ABBREVIATION.search(tail):
            pieces.append(paragraph[begin : end.end()].strip())
            begin = end.end()
    pieces.append(paragraph[begin:].strip())
    return [piece for piece in pieces if any(c.isalnum() for c in piece)]
