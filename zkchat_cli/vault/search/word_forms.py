"""The words of a query as the vault has them: in all their forms, without a typo, and compounds as
two words.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text import compounds, words
from zkchat_cli.text.words import STOPWORDS, stem_words
from zkchat_cli.vault.index.values import WordCount

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import Vocabulary

# Unknown words of a query that are looked up with one edit, 1 to 3 ms each
MOST_CORRECTED = 8
# Letters of a word with a slip of the finger, or of a compound; a longer one has too many variants
LONGEST_REPLACED = 80
MOST_COMPOUNDS = 40


class WordForms(NamedTuple):
    """The forms of a query's word in a vault, how many chunks and names of notes have them, and how
    many chunks the word as written.
    """

    forms: frozenset[str]
    chunks: int
    notes: int
    exact: int


def _unknown(word: str) -> WordForms:
    return WordForms(frozenset({word}), chunks=0, notes=0, exact=0)


def find_forms(vocabulary: "Vocabulary", wanted: Sequence[str]) -> dict[str, WordForms]:
    """The forms of each word of a query. Words with a common form ("repeat", "repeating") are one,
    under the first of them.

    A word that is unknown in every form is replaced by the most frequent one a single edit away, or
    else by the two words of a compound, or by the compounds that it is in.
    """
    known = _look_up(vocabulary, wanted)
    shortest = words.SHORTEST_MISSPELLED if known else words.SHORTEST_CORRECTED
    unknown = [word for word in wanted if word not in known]
    corrected = set(unknown[:MOST_CORRECTED])
    found: dict[str, WordForms] = {}
    for word in wanted:
        if word in known:
            found[word] = known[word]
            continue
        replacement = _replacement(vocabulary, word, shortest) if word in corrected else {}
        found.update(replacement or {word: _unknown(word)})
    return _merge_common(found)


def known_words(vocabulary: "Vocabulary", wanted: Iterable[str]) -> frozenset[str]:
    """Those of the words that the notes have in some form, as they are spelled."""
    return frozenset(_look_up(vocabulary, wanted))


def _merge_common(found: Mapping[str, WordForms]) -> dict[str, WordForms]:
    """Words with a common form as one, under the first of them."""
    merged: dict[str, WordForms] = {}
    for word, forms in found.items():
        first = word
        for other, known in merged.items():
            if known.forms & forms.forms:
                first = other
                break
        merged[first] = _union(merged[first], forms) if first in merged else forms
    return merged


def _union(first: WordForms, second: WordForms) -> WordForms:
    chunks = max(first.chunks, second.chunks)
    notes = max(first.notes, second.notes)
    return WordForms(first.forms | second.forms, chunks, notes, first.exact + second.exact)


def _replacement(vocabulary: "Vocabulary", word: str, shortest: int) -> dict[str, WordForms]:
    """What an unknown word may mean, by the words to search instead."""
    if len(word) > LONGEST_REPLACED:
        return {}
    edits = set(words.edits(word, shortest))
    near = [forms for edited, forms in _look_up(vocabulary, edits).items() if edited in forms.forms]
    if near:
        return {word: max(near, key=_frequency)}
    compound = _compound(vocabulary, word)
    if compound:
        return compound
    containing = _compounds_with(vocabulary, word)
    return {word: _add_up(containing, "")} if containing else {}


def _frequency(forms: WordForms) -> tuple[object, ...]:
    """What is larger for more frequent words; of equally frequent ones, the last in order."""
    return (forms.chunks + forms.notes, *sorted(forms.forms))


def _compound(vocabulary: "Vocabulary", word: str) -> dict[str, WordForms]:
    """The two known words that a compound consists of; empty if it is none."""
    pairs = compounds.compound_parts(word)
    known = _look_up(vocabulary, {part for pair in pairs for part in pair})
    for first, second in pairs:
        if first in known and second in known:
            return {first: known[first], second: known[second]}
    return {}


def _compounds_with(vocabulary: "Vocabulary", word: str) -> dict[str, WordCount]:
    """The compounds that begin or end with a word, in the languages that have many."""
    found: dict[str, WordCount] = {}
    if len(word) < compounds.SHORTEST_CONTAINED:
        return found
    for language in compounds.COMPOUNDING.intersection(vocabulary.languages()):
        [part] = stem_words([word], language)
        for count in vocabulary.with_part(language, part, MOST_COMPOUNDS):
            found[count.term] = count
    return found


def _look_up(vocabulary: "Vocabulary", wanted: Iterable[str]) -> dict[str, WordForms]:
    """The known words with their forms. A stopword is no form of another word."""
    # The longest part of "note's" and "l'index"
    plain = {word: max(word.split("'"), key=len) for word in wanted}
    if not plain:
        return {}
    forms: dict[str, dict[str, WordCount]] = defaultdict(dict)
    for language in vocabulary.languages():
        by_stem: dict[str, list[str]] = defaultdict(list)
        for word, stem in zip(plain, stem_words(list(plain.values()), language), strict=True):
            by_stem[stem].append(word)
        for count in vocabulary.with_stems(language, list(by_stem)):
            for word in by_stem[count.stem]:
                if count.term not in STOPWORDS or count.term == word:
                    forms[word][count.term] = count
    return {word: _add_up(counts, plain[word]) for word, counts in forms.items()}


def _add_up(counts: Mapping[str, WordCount], word: str) -> WordForms:
    """The forms together, and how many chunks have the `word` as written."""
    chunks = sum(count.chunks for count in counts.values())
    notes = sum(count.notes for count in counts.values())
    exact = counts[word].chunks if word in counts else 0
    return WordForms(frozenset(counts), chunks, notes, exact)
