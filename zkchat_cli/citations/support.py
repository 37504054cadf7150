"""Whether a note says what a sentence that cites it says, as far as words, quantities, names,
opposites, roles and negations show. No model is asked.

A ✓ says that the quoted words are there; this is the other question. "supports" means that all of
that was compared and found, "does_not_support" that the source says something contrary or is about
something else; in doubt the answer is "unclear".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest

from zkchat_cli.citations.claims.clause_comparison import ClauseComparison, Comparison
from zkchat_cli.citations.claims.coverage_score import coverage_score
from zkchat_cli.citations.claims.measure import Measure
from zkchat_cli.citations.claims.measure_comparison import MeasureMatch, compare_measures
from zkchat_cli.citations.claims.polarity_words import OBJECT_PRONOUNS, PRONOUNS
from zkchat_cli.citations.claims.roles import first_phrase
from zkchat_cli.citations.claims.sentence_reader import (
    Clause,
    SentenceReading,
    text_keys,
    word_key,
)
from zkchat_cli.citations.claims.word_keys import shared_keys
from zkchat_cli.citations.nearest_words import BLOCK_BORDER
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models.citations import Support
from zkchat_cli.models.notes import ContentChunk, Similarities
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.languages import CHINESE, CLEAR_LEAD
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import split_sentences
from zkchat_cli.text.word_lists import PORTUGUESE, SPANISH
from zkchat_cli.text.words import (
    STOPWORDS,
    count_stopwords,
    find_cjk,
    language_of,
    terms,
    written_words,
)
from zkchat_cli.vault.search.windows import split_windows

# Share of a sentence's words in the whole note up to which it has hardly a word in common
HARDLY = 0.3
# Share of a clause that a sentence about the same has
ABOUT_SAME = 0.5
# Share of a clause from which on a sentence is read, which may have other forms of its words
MAY_BE_SAME = 0.3
# Share of a whole claim that such a sentence has
SHARED_WITH_CLAIM = 0.2
# Share of its words in the whole note below which no part of a claim is compared
MOSTLY_UNKNOWN = 0.45
# Score below which a sentence with unknown numbers is supported in 3 of 100 cases
UNLIKELY = -0.8
_FEW_NUMBERS = 2
# What a contradiction takes from the score of a sentence
CONTRARY = 0.2
# Cosine with every part of a note below which a sentence is about something else: right in 94 of
# 100 cases
DISTANT = 0.3
_FEW_WORDS = 4
# Languages that need no pronoun before a verb
_BARE_VERBS = frozenset((SPANISH, PORTUGUESE, "italian"))
_MOST_SIMILAR = 4
_MOST_RIVALS = 3
_SHORTEST = 12
# Characters of a source that show its language, and the different stopwords that English has there
_SAMPLE_LENGTH = 2000
_MIN_STOPWORDS = 3
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_AROUND_NAME = " .:,–-"
_NEGATION = lazy_pattern(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|nicht|nie|kein\w*|ohne)\b"
    r"|n['’]t\b|[不没沒未]",
)


@dataclass(frozen=True)
class Evidence:
    """What a chunk says, for comparison with sentences; computed once, and only what is needed."""

    chunk: ContentChunk

    @cached_property
    def language(self) -> str:
        """The language that most of its words are in."""
        sample = self.chunk.text[:_SAMPLE_LENGTH]
        return CHINESE if find_cjk(sample) else language_of(terms(sample))

    @cached_property
    def name_keys(self) -> frozenset[str]:
        """The keys of its note's name and heading."""
        names = f"{self.chunk.relative_path} {self.chunk.title} {self.chunk.heading or ''}"
        return text_keys(names, self.language)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all its words, and of its names."""
        return self.name_keys.union(*(sentence.all_keys for sentence in self.sentences))

    @cached_property
    def measures(self) -> list[Measure]:
        """All its quantities."""
        return [each for one in self.sentences for each in one.reading.measures]

    @cached_property
    def sentences(self) -> "list[_SourceSentence]":
        """The sentences of the paragraphs, list items, rows and headings."""
        found: list[_SourceSentence] = []
        for block in BLOCK_BORDER.split(self.chunk.text):
            text = " ".join(block.split())
            if len(text) >= _SHORTEST or find_cjk(text):
                found += self._read_block(text)
        return found

    def _read_block(self, text: str) -> "Iterator[_SourceSentence]":
        """The sentences of a block, each with those that a pronoun in it can refer to."""
        before: tuple[_SourceSentence, ...] = ()
        for written in split_sentences(text):
            sentence = _SourceSentence(written, self.language, before)
            yield sentence
            before = (*before[:1], sentence)


@dataclass(frozen=True)
class _SourceSentence:
    """A sentence of a source, as it is written, and the first one of its block and the one before
    it.
    """

    text: str
    language: str
    before: "tuple[_SourceSentence, ...]"

    @cached_property
    def all_keys(self) -> frozenset[str]:
        """The keys of its words, also of those in quantities."""
        return text_keys(self.text, self.language)

    @cached_property
    def reading(self) -> SentenceReading:
        return SentenceReading(to_plain_text(self.text), self.language)

    @cached_property
    def subject(self) -> frozenset[str]:
        """What a pronoun means, or a subject that is not written: that of the sentence before."""
        words = written_words(fold(self.text))
        if not self.before or not words:
            return frozenset()
        is_bare = self.language in _BARE_VERBS and bool(word_key(words[0], self.language)[0])
        if words[0] in PRONOUNS or is_bare or not OBJECT_PRONOUNS.isdisjoint(words):
            return frozenset[str]().union(*(each.topic for each in self.before))
        return frozenset()

    @cached_property
    def topic(self) -> frozenset[str]:
        """Its subject, as far as it is written."""
        return first_phrase(self.reading.words, self.language)


@dataclass(frozen=True)
class _JudgedSentence:
    """What a sentence of an answer says, compared with its sources."""

    plain: str
    sources: Sequence[Evidence]

    @cached_property
    def language(self) -> str:
        """The language of the sources, in which the sentence is read."""
        return self.sources[0].language

    @cached_property
    def reading(self) -> SentenceReading:
        return SentenceReading(self.plain, self.language)

    @cached_property
    def known(self) -> frozenset[str]:
        """The keys of all words of the sources, with the phrases of the similar sentences."""
        readings = (each.reading.keys for each in self.similar)
        return frozenset[str]().union(*(source.keys for source in self.sources), *readings)

    @cached_property
    def all_keys(self) -> frozenset[str]:
        """The keys of its words, also of those in quantities."""
        return text_keys(self.plain, self.language)

    @cached_property
    def shared(self) -> float:
        """The share of its words, also of those in quantities, that the sources have."""
        found: set[str] = set()
        for source in self.sources:
            found |= shared_keys(self.all_keys, source.keys)
        return len(found) / len(self.all_keys)

    @cached_property
    def similar(self) -> list[_SourceSentence]:
        """The sentences of the sources that share most words with the claim, if these can be about
        the same as one of its clauses.
        """
        keys = self.reading.keys
        parts = [clause.keys or keys for clause in self.reading.clauses]
        least = SHARED_WITH_CLAIM * len(keys)
        every = [each for source in self.sources for each in source.sentences]
        counted: list[tuple[int, int]] = []
        for index, each in enumerate(every):
            shared = keys & each.all_keys
            if len(shared) >= least and any(_may_be_same(part, shared) for part in parts):
                counted.append((len(shared), -index))
        return [every[-index] for _, index in nlargest(_MOST_SIMILAR, counted)]

    @cached_property
    def score(self) -> float:
        """How much of it the sources have."""
        keys = [each.all_keys for source in self.sources for each in source.sentences]
        names = [source.name_keys for source in self.sources]
        measures = [each for source in self.sources for each in source.measures]
        return coverage_score(self.reading, [*keys, *names], measures)

    @property
    def invents_numbers(self) -> bool:
        """Whether it has so many numbers and names that no source has that it is hardly ever
        supported.
        """
        numbers = {key for key in self.all_keys if key.isdigit()}
        for source in self.sources:
            numbers -= source.keys
        return len(numbers) >= _FEW_NUMBERS and self.score < UNLIKELY

    def judged(self) -> Support:
        """The verdict by all its clauses: the worst one."""
        if not self.reading.keys:
            return "unclear"
        comparisons = [self._compare(clause) for clause in self.reading.clauses]
        if any(each is not None and each.contrary for each in comparisons):
            return "does_not_support"
        is_whole = all(each is not None and each.complete for each in comparisons)
        return "supports" if is_whole else "unclear"

    def _compare(self, clause: Clause) -> Comparison | None:
        """What the sentences say that are nearest to a clause; None if none is about the same. It
        is contrary only if all of them are.
        """
        keys = clause.keys or self.reading.keys
        nearest = self._nearest(clause, keys)
        compared: list[Comparison] = []
        for source in nearest:
            others = (other for other in self.similar if other is not source)
            measures = [each for other in others for each in other.reading.measures]
            compared.append(self._comparison(clause, source, measures))
        if not compared:
            return None
        complete = any(each.complete for each in compared)
        is_certain = any(each.certain for each in compared)
        return Comparison(is_certain or all(each.contrary for each in compared), complete)

    def _nearest(self, clause: Clause, keys: frozenset[str]) -> list[_SourceSentence]:
        """The sentences that share most of a clause, if this is enough of it."""
        near = [each for each in self.similar if _may_be_same(keys, each.all_keys)]
        scores = [_count_shared(clause, keys, each) for each in near]
        most = max(scores, default=0)
        if most < ABOUT_SAME * len(keys):
            return []
        pairs = zip(near, scores, strict=True)
        return [each for each, score in pairs if score == most][:_MOST_RIVALS]

    def _comparison(
        self, clause: Clause, source: _SourceSentence, measures: Sequence[Measure]
    ) -> Comparison:
        subject = source.subject
        comparison = ClauseComparison(
            self.reading, clause, source.reading, subject, self.known, measures
        )
        return comparison.compare()


def _may_be_same(keys: frozenset[str], others: frozenset[str]) -> bool:
    return len(keys & others) >= MAY_BE_SAME * len(keys)


def _count_shared(clause: Clause, keys: frozenset[str], source: _SourceSentence) -> float:
    """How many of the keys and quantities of a clause a sentence has. What only a pronoun means
    counts half.
    """
    own = len(shared_keys(keys, source.reading.keys))
    shared = (own + len(shared_keys(keys, source.reading.keys | source.subject))) / 2
    for measure in clause.measures:
        matches = [compare_measures(measure, each) for each in source.reading.measures]
        shared += max(matches, default=MeasureMatch.UNKNOWN) > MeasureMatch.UNKNOWN
    return shared


def judge_support(sentence: str, sources: Sequence[Evidence]) -> Support:
    """Whether the sources together support a sentence of an answer, which is without citation
    marks.
    """
    plain = to_plain_text(sentence)
    is_question = plain.rstrip().endswith(("?", "？"))
    if not sources or is_question or _is_dated_name(plain, sources):
        return "unclear"
    statement = _JudgedSentence(plain, sources)
    if not statement.all_keys:
        return "unclear"
    if statement.shared <= HARDLY and _is_about_other(statement):
        return "does_not_support"
    if not _is_in_language(plain, statement.language):
        return "unclear"
    verdict = statement.judged() if statement.shared >= MOSTLY_UNKNOWN else "unclear"
    invents = verdict == "unclear" and statement.invents_numbers
    return "does_not_support" if invents else verdict


@lru_cache(maxsize=256)
def _is_in_language(plain: str, language: str) -> bool:
    """Whether a sentence can be in a language: in a short one, few words tell."""
    counts = count_stopwords(terms(plain))
    if language not in counts:
        return bool(find_cjk(plain))
    return counts[language] + CLEAR_LEAD >= max(counts.values())


def score_support(sentence: str, sources: Sequence[Evidence]) -> float:
    """How likely sources support a sentence, for comparison with other sentences; 1 at most."""
    statement = _JudgedSentence(to_plain_text(sentence), sources)
    is_contrary = judge_support(sentence, sources) == "does_not_support"
    return statement.score - CONTRARY * is_contrary


def _is_dated_name(plain: str, sources: Iterable[Evidence]) -> bool:
    """Whether this is only the name of a source with a day, as in a list of the newest notes. The
    day is that of the note's file, so that no text has it.
    """
    name = _DAY.sub("", plain).strip(_AROUND_NAME).casefold()
    return any(name == source.chunk.title.casefold() for source in sources)


def _is_about_other(statement: _JudgedSentence) -> bool:
    """Whether a statement that shares hardly a word with its sources is about something else."""
    reading = statement.reading
    if len(reading.keys) < _FEW_WORDS:
        return False
    names = frozenset(word.key for word in reading.words if word.key and word.is_capital)
    if names and shared_keys(names, statement.known):
        return False
    return _same_language(statement.plain, statement.sources)


def judge_by_meaning(sentence: str, passages: Iterable[str], similarities: Similarities) -> Support:
    """The verdict on a sentence for which that by words is "unclear". It embeds each passage, which
    takes time.
    """
    texts: list[str] = []
    for passage in passages:
        texts += split_windows(to_plain_text(passage))
    near = similarities(to_plain_text(sentence), texts) if texts else None
    return "does_not_support" if near and max(near) < DISTANT else "unclear"


def worst_support(judged: Iterable[Support]) -> Support | None:
    """The least favourable of some verdicts; None if there are none."""
    return min(judged, key=("does_not_support", "unclear", "supports").index, default=None)


def is_negated(text: str) -> bool:
    """Whether a sentence has an odd number of negations."""
    return len(_NEGATION.findall(text.lower())) % 2 == 1


def _same_language(sentence: str, sources: Iterable[Evidence]) -> bool:
    """Whether a sentence and a source are both in English or in Chinese or Japanese; others are not
    known to be comparable.
    """
    texts = [source.chunk.text for source in sources]
    if find_cjk(sentence):
        return any(map(find_cjk, texts))
    if STOPWORDS.isdisjoint(terms(sentence)):
        return False
    return any(map(_is_english, texts))


def _is_english(text: str) -> bool:
    """Whether the beginning of a text has some English stopwords."""
    found = STOPWORDS.intersection(terms(text[:_SAMPLE_LENGTH]))
    return len(found) >= _MIN_STOPWORDS
