"""Writes what changes with words: the FTS5 tables, and the vocabulary.

The vocabulary has each word with its stems, and how many chunks and names have it: search finds all
forms of a word by their common stem, so that the words themselves are indexed once, as they are
written. The stemmers are those of the languages that the vault is written in. CJK words have no
forms and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.sqlite.vocabulary import SqliteVocabulary
from zkchat_cli.vault.index.sqlite.words import WordTable

# Chunks that show in which languages a vault is written, and the characters of each
SAMPLED_CHUNKS = 500
SAMPLED_CHARACTERS = 1000
# Indexed words from here on are CJK
FIRST_CJK = "\u3040"

# [0-9A-Za-z\x80-\U0010ffff], which takes 2 ms to compile
_TERM = re.compile("[^\x00-/:-@\\[-`{-\x7f]+")
"""What the index's tokenizer takes for a word."""

_COLUMNS: dict[WordTable, Sequence[str]] = {
    "words": ("headings", "body"),
    "note_words": ("title", "aliases", "tags", "anchors"),
}


class IndexedTexts(NamedTuple):
    """The number of a chunk or note, and the texts that it is found by."""

    id: int
    texts: tuple[str, ...]


class _StemmedTerm(NamedTuple):
    stem: str
    term: str


class WordTables:
    """Writes the words of chunks and names of notes, and counts them for the vocabulary. The words
    of a `new` index are counted at the end.
    """

    def __init__(self, database: IndexDatabase, *, is_new: bool) -> None:
        self._database = database
        self._is_new = is_new
        # The languages of new notes; None for one that is not known
        self._languages: set[str | None] = set()
        # The changes in the numbers of chunks and names with each word
        self._counts: dict[WordTable, Counter[str]] = {
            "words": Counter(),
            "note_words": Counter(),
        }

    def add(self, table: WordTable, rows: Iterable[IndexedTexts]) -> None:
        """Index the texts of chunks, or the names of notes."""
        self._write(table, rows, None)

    def delete(self, table: WordTable, rows: Iterable[IndexedTexts]) -> None:
        """Delete what was indexed: FTS5 needs the old texts."""
        self._write(table, rows, "delete")

    def note_language(self, text: str) -> None:
        """Take in the language that a new note begins with."""
        if not self._is_new:
            self._languages.add(words.detect_language(text[:SAMPLED_CHARACTERS]))

    def update_vocabulary(self) -> None:
        """Count the words that more, or fewer, chunks and names have than before. A new language
        means a new vocabulary.
        """
        languages = SqliteVocabulary(self._database).languages()
        if self._is_new or self._needs_other(languages):
            self._recount()
            languages = self._sample_languages()
            sql = "INSERT OR REPLACE INTO meta VALUES ('languages', ?)"
            self._database.connection.execute(sql, (" ".join(languages),))
        chunks = self._counts["words"]
        notes = self._counts["note_words"]
        changed = [term for term in {**chunks, **notes} if chunks[term] or notes[term]]
        for language in languages:
            stems = words.stem_words(changed, language)
            self._add_counts(language, map(_StemmedTerm, stems, changed))

    def _write(self, table: WordTable, rows: Iterable[IndexedTexts], command: str | None) -> None:
        columns = _COLUMNS[table]
        indexed = [IndexedTexts(id_, tuple(map(words.to_index_text, texts))) for id_, texts in rows]
        values = ", ".join("?" * (len(columns) + 2))
        sql = f"INSERT INTO {table} ({table}, rowid, {', '.join(columns)}) VALUES ({values})"
        written = [(command, row.id, *row.texts) for row in indexed]
        self._database.connection.executemany(sql, written)
        if self._is_new:
            return
        counts = self._counts[table]
        for row in indexed:
            terms = _terms(row.texts)
            if command:
                counts.subtract(terms)
            else:
                counts.update(terms)

    def _needs_other(self, languages: Sequence[str]) -> bool:
        """Whether the vault is written in other languages than these now."""
        if self._languages <= {*languages, None}:
            return False
        return self._sample_languages() != languages

    def _recount(self) -> None:
        """Empty the vocabulary: all words of the FTS5 tables are new to it."""
        execute = self._database.connection.execute
        execute("DELETE FROM vocabulary")
        for table, counts in self._counts.items():
            execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
            found = execute("SELECT term, doc FROM temp.terms WHERE term < ?", (FIRST_CJK,))
            counts.clear()
            counts.update(dict(found.fetchall()))
            execute("DROP TABLE temp.terms")

    def _add_counts(self, language: str, stemmed: Iterable[_StemmedTerm]) -> None:
        """Add the counts of the changed words to the vocabulary of a language."""
        rows: list[tuple[str, str, str, int, int]] = []
        fewer: list[tuple[str, str, str]] = []
        for stem, term in sorted(stemmed):
            chunks = self._counts["words"][term]
            notes = self._counts["note_words"][term]
            rows.append((language, stem, term, chunks, notes))
            if chunks < 0 or notes < 0:
                fewer.append((language, stem, term))
        add = """
            INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE
            SET chunks = chunks + excluded.chunks, notes = notes + excluded.notes
        """
        delete = """
            DELETE FROM vocabulary
            WHERE (language, stem, term) = (?, ?, ?) AND chunks <= 0 AND notes <= 0
        """
        self._database.connection.executemany(add, rows)
        self._database.connection.executemany(delete, fewer)

    def _sample_languages(self) -> tuple[str, ...]:
        """The languages that some chunks, evenly spread, are written in."""
        [[first, last]] = self._database.rows("SELECT MIN(id), MAX(id) FROM chunks")
        # A part of a vault may have no notes
        if first is None:
            return ()
        step = max(1, (last - first + 1) // SAMPLED_CHUNKS)
        wanted = ",".join(map(str, range(first, last + 1, step)))
        sql = f"SELECT substr(text, 1, {SAMPLED_CHARACTERS}) FROM chunks WHERE id IN ({wanted})"
        return words.detect_languages(text for (text,) in self._database.rows(sql))


def _terms(index_texts: Iterable[str]) -> set[str]:
    """The words of indexed texts, without CJK."""
    found: set[str] = set()
    for text in index_texts:
        found.update(_TERM.findall(text.lower()))
    return {term for term in found if term < FIRST_CJK}
