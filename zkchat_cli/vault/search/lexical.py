"""Search by words, in a time that does not grow with how common the words are, and its fusion with
search by meaning.

FTS5 finds a million matching rows in 30 ms but takes a second to rank them. So it ranks only the
matches of a query's rare words, `MOST_RANKED` rows in all; common words count when the few
candidates are compared (the idea of MaxScore: Turtle and Flood 1995). For a query of common words
the candidates are notes with these names, chunks with all of the words, and the newest chunks: rows
are numbered in the order in which notes changed. Names of notes have their own table, so that a new
link to a note does not mean indexing its text again.

The words of a query are found as the vault has them: in all their forms, without a typo, and
compounds as two words. Notes that may contain a quotation are found by its longest words, which are
nearly always rare: FTS5 intersects them in well under a millisecond.

Where a note has the words of the question, words are the better judge; where none has, meaning
finds what other words say. So meaning is weighted by how badly the words fit: fusing the two by
equal ranks costs .11 MRR where words fit, and finds .64 instead of .77 of the notes in the first
five where they do not.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.text.words import STOPWORDS, rarest_first, stem_words
from zkchat_cli.vault.index.database import IndexDatabase, has_tag, in_period
from zkchat_cli.vault.note_parser import BYTES_PER_TOKEN, estimate_size
from zkchat_cli.vault.search import query as queries
from zkchat_cli.vault.search.query import (
    RankingCandidate,
    SearchQuery,
    WordForms,
    fts_all,
    fts_any,
    fts_phrase,
    fts_word,
    is_cjk,
)
from zkchat_cli.vault.search.semantic import SemanticMatch

# Rows that FTS5 ranks for a query, at 0.8 µs each
MOST_RANKED = 8_000
MOST_NAMES_RANKED = 4_000
POOL_SIZE = 80
MOST_CHUNKS_OF_A_NOTE = 3
# That are candidates by their names: chunks of the first `WHOLE_NAMED_NOTES`, the first chunk of
# the others
NAMED_NOTES = 20
WHOLE_NAMED_NOTES = 8
CHUNKS_OF_NAMED = 8
BOOSTING_NOTES = 10
# A hit boosts the notes it links to by this share of its lead over the hit at `BASELINE_RANK`;
# without a lead, not at all
LINK_BOOST = 0.3
BASELINE_RANK = 5
# The first hits that show how well the words of a query fit
COVERING_HITS = 3
# Unknown words of a query that are looked up with one edit, 1 to 3 ms each
MOST_CORRECTED = 8
MOST_COMPOUNDS = 40
# Of meaning, where one of the best hits has all words of the query: enough to decide between equals
LEAST_WEIGHT = 0.03
# What is added where no word fits
MOST_WEIGHT = 6.0
EXPONENT = 1.5
# A cosine this many standard deviations above the mean counts like the best hit by words
DEVIATIONS = 4
FIRST_BY_WORDS = 40
"""Chunks that are worth computing their vectors before they are answered from. In a vault without
any, on 90 natural questions, that finds .69 instead of .58 of the notes in the first five; of 20
chunks .61, of 80 .70.
"""
# Of a chunk that has no word of the query: a question that the notes say nothing about finds
# nothing
LEAST_COSINE = 0.15

_NO_MATCH = SemanticMatch({}, lambda _keys: {}, 0.0, 0.0)


def fuse(
    by_words: Mapping[int, float], by_meaning: Mapping[int, float], coverage: float
) -> dict[int, float]:
    """The chunks with their fused scores, best first. `by_meaning` are standardized cosines; chunks
    without one keep what words say.
    """
    best = max(by_words.values(), default=0.0) or 1.0
    weight = LEAST_WEIGHT + MOST_WEIGHT * max(0.0, 1 - coverage) ** EXPONENT
    scores = {
        id_: by_words.get(id_, 0.0) / best + weight * by_meaning.get(id_, 0.0) / DEVIATIONS
        for id_ in {**by_words, **by_meaning}
    }
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0])))


class SearchResult(NamedTuple):
    """The chunks that a query finds, best first, and the keys of the best by words that have no
    vectors: they were judged by words alone.
    """

    chunks: list[ContentChunk]
    without_vectors: list[int]


def search(
    index: IndexDatabase, query: SearchQuery, match: SemanticMatch | None, limit: int
) -> SearchResult:
    """The best chunks by words and, with a `match`, by meaning, few from one note, with all
    scores.
    """
    match = match or _NO_MATCH
    by_words, coverage, is_filtered = _find_by_words(index, query, limit)
    near = [key for key, cosine in match.nearest.items() if cosine >= LEAST_COSINE]
    within = "AND note_id IN (SELECT value FROM temp.allowed)" if is_filtered and near else ""
    sql = f"""SELECT id, note_id, key FROM chunks WHERE id IN (SELECT value FROM json_each(?)
                  UNION SELECT id FROM chunks WHERE key IN (SELECT value FROM json_each(?)) {within})"""
    places = {
        id_: (note, key)
        for id_, note, key in index.rows(sql, json.dumps(list(by_words)), json.dumps(near))
    }
    cosines = {
        **match.cosines([key for _, key in places.values() if key not in match.nearest]),
        **match.nearest,
    }
    scored = ((id_, cosines[key]) for id_, (_, key) in places.items() if key in cosines)
    by_meaning = {id_: (cosine - match.mean) / (match.spread or 1.0) for id_, cosine in scored}
    counts: Counter[int] = Counter()
    best: dict[int, dict[str, float | None]] = {}
    for id_, score in fuse(by_words, by_meaning, coverage).items():
        note, key = places[id_]
        counts[note] += 1
        if counts[note] <= MOST_CHUNKS_OF_A_NOTE and len(best) < limit:
            scores = {
                "score": score,
                "score_words": by_words.get(id_),
                "score_meaning": cosines.get(key),
            }
            best[id_] = {
                name: value if value is None else round(value, 4) for name, value in scores.items()
            }
    chunks = [
        chunk.model_copy(update=best[id_])
        for id_, chunk in zip(best, index.chunks(list(best)), strict=True)
    ]
    first = [places[id_][1] for id_ in islice(by_words, FIRST_BY_WORDS)]
    return SearchResult(chunks, [key for key in first if key not in cosines])


def _find_by_words(
    index: IndexDatabase, query: SearchQuery, limit: int
) -> tuple[dict[int, float], float, bool]:
    """The scores of all chunks that were ranked, more than `limit`, best first; the share of the
    query's words, by rarity, in the best of the first three; and whether only the notes in
    `temp.allowed` may be found. Phrases count as single words if nothing has them, and a guessed
    period does not count if no note has such a date.
    """
    in_quotation_marks = {term for phrase in query.phrases for term in phrase}
    for variant in dict.fromkeys(
        (query, query._replace(words=query.terms, phrases=()), query.undated)
    ):
        if variant is not None and not variant.is_empty:
            attempt = _Search(index, variant, in_quotation_marks, max(POOL_SIZE, 2 * limit))
            if found := attempt.run():
                coverage = max(
                    (attempt.ranking.shares.get(id_, 0.0) for id_ in islice(found, COVERING_HITS)),
                    default=0.0,
                )
                return found, coverage, variant.is_filtered
    return {}, 0.0, query.is_filtered and not query.undated


class _Search:
    """One query. Expressions are FTS5's; ids are of chunks."""

    def __init__(
        self, index: IndexDatabase, query: SearchQuery, exact: Collection[str], pool: int
    ) -> None:
        """`exact` are words that have no other forms."""
        self.index = index
        self.pool = pool
        sizes = index.sizes()
        without_forms = [
            term for term in query.words if is_cjk(term) or term in STOPWORDS or term in exact
        ]
        self.known = find_forms(index, [term for term in query.words if term not in without_forms])
        self.note_of: dict[int, int] = {}
        self.query = query._replace(words=(*self.known, *without_forms))
        self.frequency = {term: forms.chunks for term, forms in self.known.items()}
        others = [term for term in self.query.terms if term not in self.known]
        self.frequency |= {
            term: sizes["chunks"] if term in STOPWORDS else _count(index, "words", fts_word(term))
            for term in others
        }
        self.frequency |= {
            c: _count(index, "words", fts_word(c), MOST_RANKED + 1) for c in self.query.characters
        }
        self.ranking = queries.ChunkRanking(self.query, self.known, self.frequency, sizes)
        self.excluded = " OR ".join(fts_phrase(phrase) for phrase in query.without)
        if not query.is_filtered:
            return
        values: list[object] = []
        conditions = (
            [in_period(query.period, values, also_copies=query.undated is None)]
            if query.period
            else []
        )
        for name, value in query.filters:
            condition = has_tag(value, values) if name.endswith("tag") else "instr(fold(path), ?)"
            values += [value] if name.endswith("path") else []
            conditions.append(f"NOT {condition}" if name.startswith("-") else condition)
        index.rows("CREATE TEMP TABLE IF NOT EXISTS allowed (value INTEGER PRIMARY KEY)")
        index.rows("DELETE FROM temp.allowed")
        # the ids of the notes that the filters allow
        index.rows(
            f"INSERT INTO temp.allowed SELECT id FROM notes WHERE {' AND '.join(conditions)}",
            *values,
        )

    def run(self) -> dict[int, float]:
        if not self.query.terms:
            # the first chunk without excluded words of each of the newest notes that the filters
            # allow
            wanted = """id NOT IN (SELECT rowid FROM words WHERE words MATCH :without)
                        AND note_id NOT IN (SELECT rowid FROM note_words WHERE note_words MATCH :without)"""
            dated = (
                "(SELECT MAX(last) FROM dates WHERE dates.note_id = chunks.note_id) DESC, "
                if self.query.period
                else ""
            )
            sql = f"""SELECT MIN(id) AS first FROM temp.allowed CROSS JOIN chunks ON note_id = allowed.value
                      WHERE {wanted if self.excluded else ":without = ''"} GROUP BY note_id ORDER BY {dated}first DESC LIMIT :limit"""
            rows = self.index.rows(sql, without=self.excluded, limit=self.pool)
            return {id_: 1 / place for place, (id_,) in enumerate(rows, 1)}
        found = self._scores([*self._text_candidates(), *self._name_candidates()])
        boosts = self._boosts(found)
        known = set(self.note_of.values())
        found |= self._scores(
            [id_ for note in boosts if note not in known for id_ in self._first_chunks(note)]
        )
        boosted = {id_: score + boosts.get(self.note_of[id_], 0.0) for id_, score in found.items()}
        return dict(sorted(boosted.items(), key=lambda pair: (-pair[1], -pair[0])))

    def _scores(self, ids: Iterable[int]) -> dict[int, float]:
        allowed = (
            "WHERE note_id IN (SELECT value FROM temp.allowed)" if self.query.is_filtered else ""
        )
        sql = f"""SELECT chunks.id, note_id, title, aliases, tags, anchors, headings, text, size / {BYTES_PER_TOKEN}.0
                  FROM json_each(?) AS wanted JOIN chunks ON chunks.id = wanted.value JOIN notes ON notes.id = note_id {allowed}"""
        found = self.index.rows(sql, json.dumps(list(dict.fromkeys(ids))))
        rows = [RankingCandidate._make((*row, estimate_size(row[7]))) for row in found]
        self.note_of |= {row.id: row.note_id for row in rows}
        return self.ranking.score(rows)

    def _text_candidates(self) -> list[int]:
        rare = fts_any(rarest_first(self.query.words, self.frequency, MOST_RANKED), self.known)
        characters = fts_any(
            rarest_first(self.query.characters, self.frequency, MOST_RANKED), self.known
        )
        known = [term for term in self.query.words if self.frequency[term]]
        if self.query.phrases:
            must = " AND ".join(fts_phrase(phrase) for phrase in self.query.phrases)
            return self._collect(
                "words", [f"({must}) AND ({rare})" if rare else "", must], self.pool
            )
        if rare or not known:
            return self._collect("words", [rare, characters], self.pool)
        with_any = fts_any(known, self.known)
        return self._collect(
            "words", [fts_all(known, self.known), f"headings : ({with_any})", with_any], self.pool
        )

    def _name_candidates(self) -> list[int]:
        known = self.known
        index = self.index
        frequency = {
            t: known[t].notes if t in known else _count(index, "note_words", fts_word(t))
            for t in self.query.terms
        }
        rare = rarest_first(self.query.terms, frequency, MOST_NAMES_RANKED)
        named = [term for term in self.query.terms if frequency[term]]
        # many names may have the words of a phrase, and hardly one in this order
        expressions = [" OR ".join(fts_phrase(phrase) for phrase in self.query.phrases)]
        expressions += (
            [fts_any(rare, known)] if rare else [fts_all(named, known), fts_any(named, known)]
        )
        notes = self._collect("note_words", expressions, NAMED_NOTES)
        return [
            id_
            for n, note in enumerate(notes)
            for id_ in self._first_chunks(note, CHUNKS_OF_NAMED if n < WHOLE_NAMED_NOTES else 1)
        ]

    def _first_chunks(self, note: int, limit: int = CHUNKS_OF_NAMED) -> list[int]:
        return [
            id_
            for (id_,) in self.index.rows(
                "SELECT id FROM chunks WHERE note_id = ? ORDER BY id LIMIT ?", note, limit
            )
        ]

    def _collect(self, table: str, expressions: Iterable[str], limit: int) -> list[int]:
        """The rows that match the first expression, then those that match the following ones, until
        there are enough: of each expression the best, or the newest if there are too many to rank.
        """
        columns = (
            (queries.HEADINGS, 1.0)
            if table == "words"
            else (queries.TITLE, queries.ALIASES, queries.TAGS, queries.ANCHORS)
        )
        note = (
            "(SELECT note_id FROM chunks WHERE chunks.id = words.rowid)"
            if table == "words"
            else "note_words.rowid"
        )
        allowed = (
            f"AND {note} IN (SELECT value FROM temp.allowed)" if self.query.is_filtered else ""
        )
        found: dict[int, None] = {}
        for expression in filter(None, expressions):
            if len(found) < limit:
                is_ranked = _count(self.index, table, expression, MOST_RANKED + 1) <= MOST_RANKED
                order = (
                    f"bm25({table}, {', '.join(map(str, columns))})"
                    if is_ranked
                    else f"{table}.rowid DESC"
                )
                sql = (
                    f"SELECT {table}.rowid FROM {table} WHERE {table} MATCH ? {allowed} ORDER "
                    f"BY {order} LIMIT ?"
                )
                wanted = f"({expression}) NOT ({self.excluded})" if self.excluded else expression
                found |= dict.fromkeys(id_ for (id_,) in self.index.rows(sql, wanted, limit))
        return list(found)

    def _boosts(self, scores: dict[int, float]) -> dict[int, float]:
        """The boosts of the notes that the best chunks of the best notes link to, by the lead of
        their hits over a later one.
        """
        chunks: dict[int, int] = {}
        for id_ in scores:
            chunks.setdefault(self.note_of[id_], id_)
        best = list(chunks.values())[:BOOSTING_NOTES]
        baseline = scores[best[min(BASELINE_RANK, len(best) - 1)]] if best else 0.0
        sql = """SELECT DISTINCT notes.id FROM chunks JOIN links USING (note_id) JOIN notes ON notes.path = links.target
                 WHERE chunks.id = ? AND links.line BETWEEN start_line AND end_line AND notes.id != note_id"""
        boosts: dict[int, float] = {}
        for id_ in best:
            boost = LINK_BOOST * (scores[id_] - baseline)
            for (target,) in self.index.rows(sql, id_) if boost > 0 else ():
                boosts.setdefault(target, boost)
        return boosts


def _count(index: IndexDatabase, table: str, expression: str, most: int = -1) -> int:
    """How many rows match, counted up to `most`."""
    sql = f"SELECT COUNT(*) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    return sum(int(count) for (count,) in index.rows(sql, expression, most))


def find_forms(index: IndexDatabase, wanted: Sequence[str]) -> dict[str, WordForms]:
    """The forms of each word of a query. Words with a common form ("repeat", "repeating") are one,
    under the first of them.

    A word that is unknown in every form is replaced by the most frequent one a single edit away, or
    else by the two words of a compound, or by the compounds that it is in.
    """
    known = _look_up(index, wanted)
    shortest = words.SHORTEST_MISSPELLED if known else words.SHORTEST_CORRECTED
    unknown = [word for word in wanted if word not in known][:MOST_CORRECTED]
    found: dict[str, WordForms] = {}
    for word in wanted:
        instead = _replacement(index, word, shortest) if word in unknown else {}
        found.update(instead or {word: known.get(word) or WordForms(frozenset({word}), 0, 0, 0)})
    merged: dict[str, WordForms] = {}
    for word, this in found.items():
        same = next((other for other, that in merged.items() if that.forms & this.forms), word)
        if that := merged.get(same):
            chunks = max(that.chunks, this.chunks)
            notes = max(that.notes, this.notes)
            this = WordForms(that.forms | this.forms, chunks, notes, that.exact + this.exact)
        merged[same] = this
    return merged


def _replacement(index: IndexDatabase, word: str, shortest: int) -> dict[str, WordForms]:
    """What an unknown word may mean. Only languages with many compounds are searched for those that
    begin or end with it.
    """
    near = [
        forms
        for edited, forms in _look_up(index, set(words.edits(word, shortest))).items()
        if edited in forms.forms
    ]
    if near:
        return {
            word: max(near, key=lambda forms: (forms.chunks + forms.notes, *sorted(forms.forms)))
        }
    pairs = words.compound_parts(word)
    known = _look_up(index, {part for pair in pairs for part in pair})
    if compound := next((pair for pair in pairs if pair[0] in known and pair[1] in known), None):
        return {part: known[part] for part in compound}
    found: dict[str, tuple[int, int]] = {}
    for language in (
        words.COMPOUNDING.intersection(index.languages())
        if len(word) >= words.SHORTEST_CONTAINED
        else ()
    ):
        [part] = stem_words([word], language)
        sql = (
            "SELECT term, chunks, notes FROM vocabulary WHERE language = ? AND (stem LIKE ? OR "
            "stem LIKE ?) LIMIT ?"
        )
        found |= {
            term: (chunks, notes)
            for term, chunks, notes in index.rows(
                sql, language, f"{part}%", f"%{part}", MOST_COMPOUNDS
            )
        }
    return {word: _add_up(found, "")} if found else {}


def _look_up(index: IndexDatabase, wanted: Iterable[str]) -> dict[str, WordForms]:
    """The known words with their forms. A stopword is no form of another word."""
    plain = {word: max(word.split("'"), key=len) for word in wanted}
    forms: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for language in index.languages() if plain else ():
        by_stem: dict[str, list[str]] = defaultdict(list)
        for word, stem in zip(plain, stem_words(list(plain.values()), language), strict=True):
            by_stem[stem].append(word)
        sql = (
            "SELECT stem, term, chunks, notes FROM vocabulary WHERE language = ? AND stem IN "
            "(SELECT value FROM json_each(?))"
        )
        for stem, term, chunks, notes in index.rows(sql, language, json.dumps(list(by_stem))):
            for word in by_stem[stem]:
                if term not in STOPWORDS or term == word:
                    forms[word][term] = chunks, notes
    return {word: _add_up(counts, plain[word]) for word, counts in forms.items()}


def _add_up(counts: Mapping[str, tuple[int, int]], word: str) -> WordForms:
    return WordForms(
        frozenset(counts),
        sum(c for c, _ in counts.values()),
        sum(n for _, n in counts.values()),
        counts.get(word, (0,))[0],
    )
