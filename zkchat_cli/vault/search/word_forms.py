"""The words of a query as a vault has them: in all their forms, without a typo, and compounds as two words."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from zkchat_cli.text.near_words import (
    COMPOUNDING,
    SHORTEST_CONTAINED,
    SHORTEST_CORRECTED,
    SHORTEST_MISSPELLED,
    compound_parts,
    edits,
)
from zkchat_cli.text.words import STOPWORDS, stem_words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.search.query import WordForms

MOST_CORRECTED = 8
"""Unknown words of a query that are looked up with one edit, 1 to 3 ms each."""
MOST_COMPOUNDS = 40


def find_forms(index: IndexDatabase, words: Sequence[str]) -> dict[str, WordForms]:
    """The forms of each word of a query. Words with a common form ("repeat", "repeating") are one, under the first of them.

    A word that is unknown in every form is replaced by the most frequent one a single edit away, or else by the two words of a compound,
    or by the compounds that it is in.
    """
    known = _look_up(index, words)
    found: dict[str, WordForms] = {}
    unknown = [word for word in words if word not in known]
    for word in words:
        instead: dict[str, WordForms] = {}
        if word in unknown[:MOST_CORRECTED]:
            shortest = SHORTEST_MISSPELLED if known else SHORTEST_CORRECTED
            instead = _find_nearest(index, word, shortest) or _find_compound(index, word) or _find_containing(index, word)
        found.update(instead or {word: known.get(word) or WordForms(frozenset({word}), 0, 0, 0)})
    return _merge(found)


def _merge(found: Mapping[str, WordForms]) -> dict[str, WordForms]:
    merged: dict[str, WordForms] = {}
    for word, known in found.items():
        same = next((other for other, that in merged.items() if that.forms & known.forms), word)
        if that := merged.get(same):
            chunks, notes = max(that.chunks, known.chunks), max(that.notes, known.notes)
            known = WordForms(that.forms | known.forms, chunks, notes, that.exact + known.exact)
        merged[same] = known
    return merged


def _look_up(index: IndexDatabase, words: Iterable[str]) -> dict[str, WordForms]:
    """The known words with their forms. A stopword is no form of another word."""
    plain = {word: max(word.split("'"), key=len) for word in words}
    forms: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for language in index.languages() if plain else ():
        by_stem: dict[str, list[str]] = defaultdict(list)
        for word, stem in zip(plain, stem_words(list(plain.values()), language), strict=True):
            by_stem[stem].append(word)
        sql = "SELECT stem, term, chunks, notes FROM vocabulary WHERE language = ? AND stem IN (SELECT value FROM json_each(?))"
        for stem, term, chunks, notes in index.rows(sql, language, json.dumps(list(by_stem))):
            for word in by_stem[stem]:
                if term not in STOPWORDS or term == word:
                    forms[word][term] = chunks, notes
    return {word: _add_up(counts, plain[word]) for word, counts in forms.items()}


def _add_up(counts: Mapping[str, tuple[int, int]], word: str) -> WordForms:
    """The forms with these numbers of chunks and names."""
    return WordForms(frozenset(counts), sum(c for c, _ in counts.values()), sum(n for _, n in counts.values()), counts.get(word, (0,))[0])


def _find_nearest(index: IndexDatabase, word: str, shortest: int) -> dict[str, WordForms]:
    """The most frequent known word a single edit away."""
    near = [forms for edited, forms in _look_up(index, set(edits(word, shortest))).items() if edited in forms.forms]
    return {word: max(near, key=lambda forms: (forms.chunks + forms.notes, *sorted(forms.forms)))} if near else {}


def _find_compound(index: IndexDatabase, word: str) -> dict[str, WordForms]:
    """Two known words that make up this one."""
    pairs = compound_parts(word)
    known = _look_up(index, {part for pair in pairs for part in pair})
    return next(({part: known[part] for part in pair} for pair in pairs if pair[0] in known and pair[1] in known), {})


def _find_containing(index: IndexDatabase, word: str) -> dict[str, WordForms]:
    """In languages that have many compounds: those that begin or end with the word."""
    terms: dict[str, tuple[int, int]] = {}
    for language in COMPOUNDING.intersection(index.languages()) if len(word) >= SHORTEST_CONTAINED else ():
        [part] = stem_words([word], language)
        sql = "SELECT term, chunks, notes FROM vocabulary WHERE language = ? AND (stem LIKE ? OR stem LIKE ?) LIMIT ?"
        terms |= {term: (chunks, notes) for term, chunks, notes in index.rows(sql, language, f"{part}%", f"%{part}", MOST_COMPOUNDS)}
    return {word: _add_up(terms, "")} if terms else {}
