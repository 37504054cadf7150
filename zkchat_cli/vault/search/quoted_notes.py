"""The notes that may contain a quotation.

They are found by its longest words, which are nearly always rare: FTS5 intersects them in well
under a millisecond.
"""

from zkchat_cli.text import words
from zkchat_cli.text.words import rarest_first
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.search.lexical import _count
from zkchat_cli.vault.search.query import fts_phrase, fts_word

LONGEST_WORDS = 8
# Of fewer words of a quotation, it must be found as a phrase, because common words are in too many
# notes
FEW_WORDS = 4
# Words of a long quotation that are looked up one by one
MOST_QUOTED_WORDS = 16
# Chunks that are compared with a quotation, at 0.8 µs each
MOST_QUOTED_ROWS = 2_000
MOST_QUOTED_CHUNKS = 20
MOST_SIMILAR = 4


def notes_with_longest(index: IndexDatabase, text: str) -> list[str]:
    """The paths of notes that have a chunk with all of the text's longest words, by length and
    name.
    """
    longest = sorted(dict.fromkeys(words.content_terms(text)), key=len, reverse=True)[
        :LONGEST_WORDS
    ]
    phrase = [fts_phrase(words.terms(text))] if longest and len(longest) < FEW_WORDS else []
    found = (
        _matching_notes(
            index, " AND ".join([*map(fts_word, longest), *phrase]), "rowid", MOST_QUOTED_CHUNKS
        )
        if longest
        else []
    )
    return sorted(found, key=lambda path: (len(path), path))


def notes_with_rarest(index: IndexDatabase, text: str) -> list[str]:
    """The paths of the notes that have most of the text's rare words in a chunk, the best first."""
    looked_up = dict.fromkeys(words.content_terms(text)[:MOST_QUOTED_WORDS])
    rows = {term: _count(index, "words", fts_word(term), MOST_QUOTED_ROWS) for term in looked_up}
    rare = rarest_first(rows, rows, MOST_QUOTED_ROWS)
    return (
        _matching_notes(index, " OR ".join(map(fts_word, rare)), "bm25(words)", MOST_SIMILAR)
        if rare
        else []
    )


def _matching_notes(index: IndexDatabase, expression: str, order: str, limit: int) -> list[str]:
    sql = f"""SELECT path FROM (SELECT rowid AS id, {order} AS place FROM words WHERE words MATCH ? ORDER BY {order} LIMIT ?) AS found
              JOIN chunks USING (id) JOIN notes ON notes.id = note_id ORDER BY place"""
    return list(dict.fromkeys(str(path) for (path,) in index.rows(sql, expression, limit)))
