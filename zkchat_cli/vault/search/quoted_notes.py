"""The notes that may contain a quotation.

They are found by its longest words, which are nearly always rare: an index intersects them in well
under a millisecond.
"""

from zkchat_cli.text import words
from zkchat_cli.text.literals import is_literal
from zkchat_cli.text.words import rarest_first
from zkchat_cli.vault.index.port import NoteIndex
from zkchat_cli.vault.index.word_match import Phrase, WordMatch

LONGEST_WORDS = 8
# A quotation of fewer words must be found as a phrase, because common words are in too many notes
FEW_WORDS = 4
# Words of a long quotation that are looked up one by one
MOST_QUOTED_WORDS = 16
# Chunks that are compared with a quotation, at 0.8 µs each
MOST_QUOTED_ROWS = 2_000
MOST_QUOTED_CHUNKS = 20
MOST_SIMILAR = 4


def notes_with_longest(index: NoteIndex, text: str) -> list[str]:
    """The paths of notes that have a chunk with all of the text's longest words, by length and
    name.
    """
    terms = dict.fromkeys(_quoted_words(text))
    longest = sorted(terms, key=len, reverse=True)[:LONGEST_WORDS]
    if not longest:
        return []
    phrases: list[Phrase] = [(term,) for term in longest]
    if len(longest) < FEW_WORDS:
        phrases.append(tuple(words.terms(text)))
    match = WordMatch(tuple((phrase,) for phrase in phrases))
    found = index.words.notes_with_chunk(match, MOST_QUOTED_CHUNKS, ranked=False)
    return sorted(found, key=lambda path: (len(path), path))


def notes_with_rarest(index: NoteIndex, text: str) -> list[str]:
    """The paths of the notes that have most of the text's rare words in a chunk, the best first."""
    rows: dict[str, int] = {}
    for term in _quoted_words(text)[:MOST_QUOTED_WORDS]:
        if term not in rows:
            rows[term] = index.words.count_chunks(WordMatch((((term,),),)), MOST_QUOTED_ROWS)
    rare = rarest_first(rows, rows, MOST_QUOTED_ROWS)
    if not rare:
        return []
    match = WordMatch((tuple((term,) for term in rare),))
    return index.words.notes_with_chunk(match, MOST_SIMILAR, ranked=True)


def _quoted_words(text: str) -> list[str]:
    """The words of a quotation without its literals: a quotation without marks of Markdown may have
    others than the note.
    """
    return [term for term in words.content_terms(text) if not is_literal(term)]
