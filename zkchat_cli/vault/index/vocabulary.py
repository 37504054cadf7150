"""The words of the index: the FTS5 tables, and the vocabulary: each word with its stems, and how many chunks and names have it.

Search finds all forms of a word by their common stem, so that the words themselves are indexed once, as they are written. The stemmers
are those of the languages that the vault is written in. CJK words have no forms and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from zkchat_cli.text import languages, words
from zkchat_cli.text.stopwords import ENGLISH

SAMPLED_CHUNKS = 500  # chunks that show in which languages a vault is written
FIRST_CJK = "\u3040"  # indexed words from here on are CJK

_TERM = re.compile("[^\x00-/:-@\\[-`{-\x7f]+")  # [0-9A-Za-z\x80-\U0010ffff], which takes 2 ms to compile
"""What the index's tokenizer takes for a word."""


def _indexed_terms(index_texts: Sequence[str]) -> set[str]:
    """The different words that the FTS5 tables find in these texts, without CJK."""
    found = {term for text in index_texts for term in _TERM.findall(text.lower())}
    return found if all(map(str.isascii, index_texts)) else {term for term in found if term < FIRST_CJK}


class WordTables:
    """What one refresh changes in the words of chunks and names."""

    def __init__(self, db: Connection, *, is_new: bool) -> None:
        """`is_new`: the vocabulary of a new index is made at the end."""
        self._db = db
        self._is_new = is_new
        self._chunk_terms: Counter[str] = Counter()  # the change in the number of chunks with each word
        self._name_terms: Counter[str] = Counter()
        self._languages: set[str | None] = set()

    def note_language(self, opening: str) -> None:
        """Recognize the language of a new note by its opening; a new index samples its chunks."""
        if not self._is_new:
            self._languages.add(languages.detect_language(opening[:1000]))

    def add_chunks(self, chunks: Iterable[tuple[int, str, str]]) -> None:
        """Add chunks: id, headings and text."""
        rows = [(id_, words.to_index_text(headings), words.to_index_text(text)) for id_, headings, text in chunks]
        self._db.executemany("INSERT INTO words (rowid, headings, body) VALUES (?, ?, ?)", rows)
        for _, *texts in () if self._is_new else rows:
            self._chunk_terms.update(_indexed_terms(texts))

    def delete_chunk(self, id_: int, headings: str, text: str) -> None:
        """Delete a chunk, of which FTS5 needs the old texts."""
        texts = words.to_index_text(headings), words.to_index_text(text)
        self._db.execute("INSERT INTO words (words, rowid, headings, body) VALUES ('delete', ?, ?, ?)", (id_, *texts))
        self._chunk_terms.subtract(_indexed_terms(texts))

    def add_names(self, note_id: int, names: Sequence[str]) -> None:
        """Add the title, aliases, tags and anchors of a note."""
        texts = [*map(words.to_index_text, names)]
        self._db.execute("INSERT INTO note_words (rowid, title, aliases, tags, anchors) VALUES (?, ?, ?, ?, ?)", (note_id, *texts))
        if not self._is_new:
            self._name_terms.update(_indexed_terms(texts))

    def delete_names(self, note_id: int, names: Sequence[str]) -> None:
        texts = [*map(words.to_index_text, names)]
        sql = "INSERT INTO note_words (note_words, rowid, title, aliases, tags, anchors) VALUES ('delete', ?, ?, ?, ?, ?)"
        self._db.execute(sql, (note_id, *texts))
        self._name_terms.subtract(_indexed_terms(texts))

    def update_vocabulary(self) -> None:
        """Count the words that more, or fewer, chunks and names have than before. A new language means a new vocabulary."""
        rows = self._db.execute("SELECT value FROM meta WHERE key = 'languages'").fetchall()
        used = tuple(rows[0][0].split()) if rows else ()
        if self._is_new or (not self._languages <= {*used, None} and _sample_languages(self._db) != used):
            used = self._start_vocabulary()
        chunks, notes = self._chunk_terms, self._name_terms
        changed = [term for term in {**chunks, **notes} if chunks[term] or notes[term]]
        for language in used:
            stemmed = sorted(zip(words.stem_words(changed, language), changed, strict=True))
            counted = [(language, stem, term, chunks[term], notes[term]) for stem, term in stemmed]
            self._db.executemany(
                """INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?)
                   ON CONFLICT DO UPDATE SET chunks = chunks + excluded.chunks, notes = notes + excluded.notes""",
                counted,
            )
            fewer = [row[:3] for row in counted if row[3] < 0 or row[4] < 0]
            self._db.executemany("DELETE FROM vocabulary WHERE (language, stem, term) = (?, ?, ?) AND chunks <= 0 AND notes <= 0", fewer)

    def _start_vocabulary(self) -> tuple[str, ...]:
        """Empty the vocabulary, so that all words of the FTS5 tables are new to it; returns the languages of a sample of chunks."""
        self._db.execute("DELETE FROM vocabulary")
        for table, terms in (("words", self._chunk_terms), ("note_words", self._name_terms)):
            self._db.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
            terms.clear()
            terms.update(dict(self._db.execute("SELECT term, doc FROM temp.terms WHERE term < ?", (FIRST_CJK,))))
            self._db.execute("DROP TABLE temp.terms")
        used = _sample_languages(self._db)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('languages', ?)", (" ".join(used),))
        return used


def _sample_languages(db: Connection) -> tuple[str, ...]:
    [[first, last]] = db.execute("SELECT MIN(id), MAX(id) FROM chunks").fetchall()
    if first is None:
        return (ENGLISH,)
    step = max(1, (last - first + 1) // SAMPLED_CHUNKS)
    wanted = ",".join(map(str, range(first, last + 1, step)))
    return languages.detect_languages(text for (text,) in db.execute(f"SELECT substr(text, 1, 1000) FROM chunks WHERE id IN ({wanted})"))
