"""The vocabulary of the index: each word of the notes with its stems, and how many chunks and names have it.

Search finds all forms of a word by their common stem, so that the words themselves are indexed once, as they are written. The stemmers
are those of the languages that the vault is written in. CJK words have no forms and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable
from sqlite3 import Connection

from zkchat_cli.text import languages, words

SAMPLED_CHUNKS = 500
"""Chunks that show in which languages a vault is written."""
END = "\u3040"
"""Indexed words from here on are CJK."""

_TERM = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
"""What the index's tokenizer takes for a word."""


def indexed_terms(*index_texts: str) -> set[str]:
    """The different words that the FTS5 tables find in these texts, without CJK."""
    found = {term for text in index_texts for term in _TERM.findall(text.lower())}
    return found if all(map(str.isascii, index_texts)) else {term for term in found if term < END}


def rebuild(db: Connection) -> None:
    """Make the vocabulary from the FTS5 tables, by the languages of a sample of chunks."""
    used = _sample_languages(db)
    db.execute("INSERT OR REPLACE INTO meta VALUES ('languages', ?)", (" ".join(used),))
    counts: dict[str, list[int]] = {}
    for column, table in enumerate(("words", "note_words")):
        db.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
        for term, count in db.execute("SELECT term, doc FROM temp.terms WHERE term < ?", (END,)):
            counts.setdefault(term, [0, 0])[column] = count
        db.execute("DROP TABLE temp.terms")
    db.execute("DELETE FROM vocabulary")
    known = list(counts)
    for language in used:
        rows = ((language, stem, term, *counts[term]) for stem, term in sorted(zip(words.stem_words(known, language), known, strict=True)))
        db.executemany("INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?)", rows)


def update(db: Connection, chunks: Counter[str], notes: Counter[str], new_texts: Iterable[str]) -> None:
    """Count words that more, or fewer, chunks and names have than before. A new language means a new vocabulary."""
    [[names]] = db.execute("SELECT value FROM meta WHERE key = 'languages'").fetchall()
    used = tuple(names.split())
    if not {*map(languages.detect_language, new_texts)} <= {*used, None} and _sample_languages(db) != used:
        rebuild(db)
        return
    changed = [term for term in chunks.keys() | notes.keys() if chunks[term] or notes[term]]
    for language in used:
        stems = words.stem_words(changed, language)
        rows = [(language, stem, term, chunks[term], notes[term]) for stem, term in zip(stems, changed, strict=True)]
        db.executemany(
            """INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET chunks = chunks + excluded.chunks, notes = notes + excluded.notes""",
            rows,
        )
        fewer = [row[:3] for row in rows if min(row[3:]) < 0]
        db.executemany("DELETE FROM vocabulary WHERE (language, stem, term) = (?, ?, ?) AND chunks <= 0 AND notes <= 0", fewer)


def _sample_languages(db: Connection) -> tuple[str, ...]:
    [[first, last]] = db.execute("SELECT MIN(id), MAX(id) FROM chunks").fetchall()
    if first is None:
        return (words.ENGLISH,)
    step = max(1, (last - first + 1) // SAMPLED_CHUNKS)
    wanted = ",".join(map(str, range(first, last + 1, step)))
    return languages.detect_languages(text for (text,) in db.execute(f"SELECT substr(text, 1, 1000) FROM chunks WHERE id IN ({wanted})"))
