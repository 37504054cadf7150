"""Which words a search of messages looks for: those of the query in any form that the index has."""

from collections.abc import Iterable

from zkchat_cli.text.words import content_terms, stem

MOST_TERMS = 32
# Letters; shorter words are looked for as they are
SHORTEST_STEM = 3
# Words of the index that are compared with a word of a query
MOST_FORMS = 1_000
MOST_RANKED = 10_000
"""Messages that a full-text index ranks for one search: SQLite's walks through a million in 30 ms,
but needs a second to rank them. So the rare words of a query choose the messages; its common words
count only where it has no rare ones.
"""


def words_to_find(text: str) -> tuple[str, ...]:
    """The words of a query that count, each once."""
    return tuple(dict.fromkeys(content_terms(text)[:MOST_TERMS]))


def same_beginning(term: str, languages: tuple[str, ...]) -> str | None:
    """The beginning that all forms of a word have; None if it is looked for as it is."""
    own = stem(term, languages)
    # "studi" is the stem of "study"
    prefix = own[:-1] if own.endswith("i") and len(own) > SHORTEST_STEM else own
    if len(prefix) < SHORTEST_STEM or not term.startswith(prefix) or not term.isalpha():
        return None
    return prefix


def forms_to_find(
    term: str, candidates: Iterable[str], languages: tuple[str, ...]
) -> tuple[str, ...]:
    """The word and those of the candidates that have its stem, in order."""
    own = stem(term, languages)
    return tuple(sorted({term, *(other for other in candidates if stem(other, languages) == own)}))
