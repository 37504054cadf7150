"""Words that are written as one, in languages that do so."""

# Letters of each word in a compound
SHORTEST_PART = 4
# Letters of a word that is looked for in compounds
SHORTEST_CONTAINED = 5
COMPOUNDING = frozenset(
    ("german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian")
)
"""Languages that write compounds as one word: "Rückenschmerzen" is about "Schmerzen"."""
_LINKING_LETTERS = ("", "s", "n", "es", "en")


def compound_parts(word: str) -> list[tuple[str, str]]:
    """The pairs of words that may make up this one, the longest first part before others:
    "aufgabenliste", "timezone".
    """
    pairs: list[tuple[str, str]] = []
    for end in range(len(word) - SHORTEST_PART, SHORTEST_PART - 1, -1):
        for letters in _LINKING_LETTERS:
            first = word[:end].removesuffix(letters)
            is_linked = word[:end].endswith(letters)
            if is_linked and len(first) >= SHORTEST_PART:
                pairs.append((first, word[end:]))
    return pairs
