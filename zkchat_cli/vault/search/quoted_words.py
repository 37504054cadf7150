"""Which notes may contain a quotation: those with all of its longest words, else those with most of its rare ones.

The longest words are nearly always rare, and FTS5 intersects them in well under a millisecond, without knowing how frequent each is.
"""

from zkchat_cli.text.words import content_terms, rarest_first, terms
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.search.query import fts_phrase, fts_word

LONGEST_WORDS = 8
FEW_WORDS = 4
"""Of fewer words the text must be found as a phrase, because common words are in too many notes."""
MOST_WORDS = 16
"""Words of a long quotation that are looked up one by one."""
MOST_ROWS = 2_000
"""Chunks that are compared, at 0.8 µs each."""
MOST_CHUNKS = 20
MOST_SIMILAR = 4


def notes_with_longest(index: IndexDatabase, text: str) -> list[str]:
    """The paths of notes that have a chunk with all of the text's longest words, by length and name."""
    longest = sorted(dict.fromkeys(content_terms(text)), key=len, reverse=True)[:LONGEST_WORDS]
    phrase = [fts_phrase(terms(text))] if longest and len(longest) < FEW_WORDS else []
    found = _matching_notes(index, " AND ".join([*map(fts_word, longest), *phrase]), "rowid", MOST_CHUNKS) if longest else []
    return sorted(found, key=lambda path: (len(path), path))


def notes_with_rarest(index: IndexDatabase, text: str) -> list[str]:
    """The paths of the notes that have most of the text's rare words in a chunk, the best first."""
    count = "SELECT COUNT(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)"
    rows = {term: int(index.rows(count, fts_word(term), MOST_ROWS)[0][0]) for term in dict.fromkeys(content_terms(text)[:MOST_WORDS])}
    rare = rarest_first(rows, rows, MOST_ROWS)
    return _matching_notes(index, " OR ".join(map(fts_word, rare)), "bm25(words)", MOST_SIMILAR) if rare else []


def _matching_notes(index: IndexDatabase, expression: str, order: str, limit: int) -> list[str]:
    sql = f"""SELECT path FROM (SELECT rowid AS id, {order} AS place FROM words WHERE words MATCH ? ORDER BY {order} LIMIT ?) AS found
              JOIN chunks USING (id) JOIN notes ON notes.id = note_id ORDER BY place"""
    return list(dict.fromkeys(str(path) for (path,) in index.rows(sql, expression, limit)))
