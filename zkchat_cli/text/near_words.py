"""What a word that a text does not have may mean there: another one a single edit away, or the words of a compound. Pure."""

import string
from collections.abc import Iterator

SHORTEST_CORRECTED = 4
SHORTEST_MISSPELLED = 6
"""Letters of a word that may have a typo beside known words. Most shorter words are one edit from another, such as "chart" from "chat"."""
LONGEST_CORRECTED = 30
SHORTEST_PART = 4
"""Letters of each word in a compound."""
SHORTEST_CONTAINED = 5
"""Letters of a word that is looked for in compounds."""
COMPOUNDING = frozenset(("german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian"))
"""Languages that write compounds as one word: "Rückenschmerzen" is about "Schmerzen"."""
_LINKING_LETTERS = ("", "s", "n", "es", "en")


def edits(word: str, shortest: int = SHORTEST_MISSPELLED) -> Iterator[str]:
    """The words that differ by one letter, but not the first, or by two neighbouring letters in exchange; none for what is too long to
    be a word."""
    if len(word) > LONGEST_CORRECTED:
        return
    if len(word) >= SHORTEST_CORRECTED:
        yield from (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))
    if len(word) >= shortest and word.isalpha():
        letters = string.ascii_lowercase if word.isascii() else sorted({*word, *map(chr, range(0x430, 0x450))})
        for i in range(1, len(word) + 1):
            yield word[:i] + word[i + 1 :]
            yield from (word[:i] + letter + word[j:] for letter in letters for j in (i, i + 1))


def compound_parts(word: str) -> list[tuple[str, str]]:
    """The pairs of words that may make up this one, the longest first part before others: "aufgabenliste", "timezone"."""
    ends = range(len(word) - SHORTEST_PART, SHORTEST_PART - 1, -1)
    pairs = [(word[: i - len(link)], word[i:]) for i in ends for link in _LINKING_LETTERS if word[:i].endswith(link)]
    return [(first, last) for first, last in pairs if len(first) >= SHORTEST_PART]
