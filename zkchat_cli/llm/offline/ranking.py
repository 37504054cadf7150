"""Which passages of the notes answer a question, and how surely: by words and, with a sentence
model, by meaning. Deterministic.

The value of a passage adds up the question's words in it, each weighted by its rarity among the
passages found (words of the headings above count half), its similarity to the question, that of its
heading, and its rank among the search results. The figures were chosen on half of 120 questions
about one vault. Sums use `fsum`, because the order of a set differs from process to process.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline import passages
from zkchat_cli.llm.offline.passages import COLONS, MAX_GROUP, QuotablePassage
from zkchat_cli.llm.offline.question import FILLER_WEIGHT, AnalyzedQuestion
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.sentences import ends_as_sentence

MAX_QUOTES = 5
MAX_CHARACTERS = 1_300
SOURCE_CHARACTERS = 160
"""Of the quotes in an answer and the list of their sources, which fit a screen of 24 rows; a source
often takes two rows.
"""
MAX_SOURCES = 2  # notes cited for the same sentence
# The likeliest passages, which are compared by meaning; each takes about 8 ms
MAX_BY_MEANING = 18
# A further quote must be worth at least this share of the best one
MIN_SHARE = 0.6
# The share of a quote's words that an already selected one may contain
MAX_OVERLAP = 0.6
# Of words of the question in the headings above; those in the passage have 1
ABOVE_WEIGHT = 0.5
WORDS_WEIGHT = 0.6
HEADING_WEIGHT = 0.3
RANK_WEIGHT = 0.2
"""Of the words, the heading's similarity and the first rank among the results; the similarity of
the passage has 1.
"""
MIN_HEADING = 0.3
OPENING_WEIGHT = 1.5
"""From this similarity of its heading on (without a sentence model: share of the question) the
opening of a section is worth more, by the square of the rest: much for a question about just this
heading, little for others, where it often hid the sentence that answers.
"""
# For the quality of questions, lead-ins and fragments
INCOMPLETE_FACTOR = 0.6
UNKNOWN_PENALTY = 0.3
COVERAGE_BONUS = 0.1
"""How much words of the question that no passage has take from the confidence, and the covered
share of the question adds.
"""
# From these on, passages are an answer: with and without a sentence model
MIN_CONFIDENCE = 0.4
MIN_COVERAGE = 0.52
MIN_TITLE = 0.16
"""The share of the characters of a Chinese question that the title of a note must contain to answer
it, without a sentence model.
"""
MIN_SIMILARITY = 0.22
MIN_SIMILARITY_OF_LANGUAGES = 0.17
MIN_COVERED = 0.5
"""Below all of these, nothing is about the question: its mean similarity to the nearest passage and
heading (the second figure for a question that is not in English), and the share of it that a
passage contains. Of 40 questions about the world they deny 25, of 90 about the notes none.
"""
MIN_PASSAGE_SIMILARITY = 0.35
"""Below this, a passage is off the topic of a question if neither it nor the headings above it have
a rare word of the question.
"""
# A word is rare if at most this share of the passages has it, or at most twice as many as the
# question's rarest word
RARE_SHARE = 0.25
# Of a single Chinese character: a paraphrase shares characters more often than pairs of them
CHARACTER_WEIGHT = 0.5
# For the worth of a word in a summary that has it already
REPEATED_FACTOR = 0.1
_KIND_QUALITY = {"prose": 1.0, "item": 0.95, "row": 0.85, "code": 0.75}


class QuoteSource(NamedTuple):
    """A numbered excerpt of a note from a tool. `rank`: its position among the results."""

    source: int
    path: str
    title: str
    heading: str | None
    text: str
    rank: int = 0


class RankedQuote(NamedTuple):
    """A passage, its worth as an answer, and the numbers of all excerpts that contain it."""

    passage: QuotablePassage
    excerpt: QuoteSource
    sources: tuple[int, ...]
    order: tuple[int, int]
    text: str  # as a reader sees it
    words: frozenset[str]
    # The words of the title, the headings and the label above it
    above: frozenset[str] = frozenset()
    value: float = 1.0
    # It is the label of code: quoted with it, it is whole although it ends with a colon
    has_code: bool = False
    # It or a heading above it has a rare word of the question, or its meaning
    is_on_topic: bool = True

    @property
    def is_complete(self) -> bool:
        is_whole = len(self.words) >= 3 or self.passage.kind == "row"
        return (
            is_whole and not self.is_question and (self.has_code or not self.text.endswith(COLONS))
        )

    @property
    def is_question(self) -> bool:
        return self.text.endswith(("?", "？"))

    @property
    def quality(self) -> float:
        quality = _KIND_QUALITY[self.passage.kind] / (1 + max(0, len(self.text) - 240) / 480)
        return quality if self.is_complete else quality * INCOMPLETE_FACTOR

    @property
    def rank_worth(self) -> float:
        return RANK_WEIGHT / math.sqrt(1 + self.order[0])

    @property
    def section(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.excerpt.title, *self.passage.headings[-1:])))


class RankedPassages(NamedTuple):
    """All passages, and those that are about the question, best first. `confidence` is 1 where an
    answer begins; `matches` says whether anything in them is about the question at all, by words or
    meaning.
    """

    all: tuple[RankedQuote, ...]
    on_topic: tuple[RankedQuote, ...]
    confidence: float
    matches: bool

    @property
    def is_answer(self) -> bool:
        return bool(self.on_topic) and self.confidence >= 1


def rank_passages(
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    similarities: Similarities | None = None,
) -> RankedPassages:
    question_language = words.language_of(words.terms(question.text))
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    if question_language not in (words.ENGLISH, *languages):
        languages = (*languages, question_language)
    candidates = _candidates(excerpts, languages)
    labels = {(c.order[0], c.passage.label) for c in candidates if c.passage.kind == "code"}
    candidates = [c._replace(has_code=(c.order[0], c.passage.text) in labels) for c in candidates]
    vocabulary = Counter(word for c in candidates for word in c.words | c.above)
    forms = {
        word: _find_forms(word, vocabulary, languages)
        for word in {*question.weights, *question.subject}
    }
    weights = {
        form: weight
        for word, weight in question.weights.items()
        for form in (*forms[word], *_characters(word))
        # A filler that the notes do not have is not missing
        if weight > FILLER_WEIGHT or form in vocabulary
    }
    subject = {form for word in question.subject for form in forms[word]}
    rarity = {
        word: weight
        * (CHARACTER_WEIGHT if len(word) == 1 else 1.0)
        * math.log(1 + len(candidates) / (vocabulary[word] or 0.5))
        for word, weight in weights.items()
    }
    known = [vocabulary[word] for word in subject if vocabulary[word]]
    rare = {
        word
        for word in subject
        if vocabulary[word] <= max(RARE_SHARE * len(candidates), 2 * min(known, default=0))
    }
    shares = [(_share(c.words, rarity), _share(c.above - c.words, rarity)) for c in candidates]
    lexical = [inside + ABOVE_WEIGHT * above for inside, above in shares]
    coverage = max((inside + above for inside, above in shares if inside), default=0.0)
    by_passage, by_section = (
        _cosines(question.text, candidates, lexical, similarities)
        if similarities and candidates
        else ({}, {})
    )
    ranked: list[RankedQuote] = []
    for i, c in enumerate(candidates):
        similar = by_passage.get(i, 0.0)
        heading = by_section.get(c.section, 0.0)
        matching = heading if by_passage else _share(_stems(c.section[-1], languages), rarity)
        opening = (
            OPENING_WEIGHT * max(0.0, matching - MIN_HEADING) ** 2
            if c.passage.position == 0 and c.passage.kind != "row"
            else 0.0
        )
        by_meaning = similar + HEADING_WEIGHT * heading + opening
        value = (WORDS_WEIGHT * lexical[i] + by_meaning + c.rank_worth) * c.quality
        is_on_topic = similar >= MIN_PASSAGE_SIMILARITY or not rare.isdisjoint(c.words | c.above)
        ranked.append(c._replace(value=value, is_on_topic=is_on_topic))
    best_first = tuple(sorted(ranked, key=lambda q: (-q.value, q.order)))
    on_topic = tuple(quote for quote in best_first if quote.is_on_topic)
    known_share = len(known) / max(1, len(subject))
    if not by_passage:
        characters = {word: rarity[word] for word in rarity if len(word) == 1 and _characters(word)}
        titles = {c.excerpt.title for c in candidates}
        in_titles = [
            {char for word in words.terms(title) for char in _characters(word)} for title in titles
        ]
        title_share = max((_share(chars, characters) for chars in in_titles), default=0.0)
        return RankedPassages(
            best_first, on_topic, max(coverage / MIN_COVERAGE, title_share / MIN_TITLE), bool(known)
        )
    likeness = (max(by_passage.values()) + max(by_section.values())) / 2
    confidence = (
        likeness - UNKNOWN_PENALTY * (1 - known_share) + COVERAGE_BONUS * coverage
    ) / MIN_CONFIDENCE
    least = MIN_SIMILARITY if question_language == words.ENGLISH else MIN_SIMILARITY_OF_LANGUAGES
    return RankedPassages(
        best_first, on_topic, confidence, likeness >= least or coverage >= MIN_COVERED
    )


def _cosines(
    question: str,
    candidates: Sequence[RankedQuote],
    lexical: Sequence[float],
    similarities: Similarities,
) -> tuple[dict[int, float], dict[tuple[str, ...], float]]:
    """How similar the likeliest candidates (by index) and their sections are to the question in
    meaning; empty if the model cannot tell.
    """
    likeliness = [
        (WORDS_WEIGHT * share + c.rank_worth) * c.quality
        for c, share in zip(candidates, lexical, strict=True)
    ]
    compared = sorted(
        sorted(range(len(candidates)), key=likeliness.__getitem__, reverse=True)[:MAX_BY_MEANING]
    )
    sections = list(dict.fromkeys(candidates[i].section for i in compared))
    cosines = (
        similarities(
            question, [*(candidates[i].text for i in compared), *map(" › ".join, sections)]
        )
        or []
    )
    return dict(zip(compared, cosines, strict=False)), dict(
        zip(sections, cosines[len(compared) :], strict=False)
    )


def _find_forms(
    word: str, vocabulary: Mapping[str, int], languages: tuple[str, ...]
) -> tuple[str, ...]:
    """The stems of a question's word in the passages, as the search finds them: its own, or else
    that of a word a single edit away, those of the two words of a compound, or the most frequent
    compound that begins or ends with it.
    """
    own = words.stem(word, languages)
    if own in vocabulary or _characters(word):
        return (own,)
    if near := max(
        vocabulary.keys() & set(words.edits(word)),
        key=lambda each: (vocabulary[each], each),
        default=None,
    ):
        return (near,)
    for pair in words.compound_parts(word):
        if vocabulary.keys() >= (parts := {words.stem(part, languages) for part in pair}):
            return tuple(sorted(parts))
    contained = len(word) >= words.SHORTEST_CONTAINED and not words.COMPOUNDING.isdisjoint(
        languages
    )
    compounds = (
        [each for each in vocabulary if each.startswith(own) or each.endswith(own)]
        if contained
        else []
    )
    return (max(compounds, key=lambda each: (vocabulary[each], each), default=own),)


def select_quotes(
    quotes: Sequence[RankedQuote], limit: int = MAX_QUOTES, first: Sequence[RankedQuote] = ()
) -> list[RankedQuote]:
    """The best quotes that differ and fit a screen, best first, after the `first`. The same words
    in several notes are one quote with several sources.
    """
    selected = list(first)
    for quote in quotes:
        if quote.value < MIN_SHARE * quotes[0].value:
            break
        same = next(
            (
                i
                for i, other in enumerate(selected)
                if words.fold(other.text) == words.fold(quote.text)
            ),
            None,
        )
        if same is not None:
            sources = dict.fromkeys((*selected[same].sources, *quote.sources))
            selected[same] = selected[same]._replace(sources=tuple(sources)[:MAX_SOURCES])
        elif not selected or (
            len(selected) < limit
            and _fit([*selected, quote])
            and all(
                len(quote.words & other.words)
                <= MAX_OVERLAP * min(len(quote.words), len(other.words))
                for other in selected
            )
        ):
            selected.append(quote)
    return selected


def select_sections(ranked: RankedPassages) -> list[list[RankedQuote]]:
    """The best quotes by their sections, the likeliest first, which also has its opening if that is
    a sentence; each section in the order of the note.
    """
    best = [quote for quote in ranked.all if quote.passage.kind != "code"] or ranked.all
    if not best:
        return []
    first = best[0].order[0], best[0].section
    opening = min(
        (quote for quote in best if (quote.order[0], quote.section) == first), key=lambda q: q.order
    )
    if opening.passage.kind != "prose" or opening.is_question or not ends_as_sentence(opening.text):
        opening = best[0]
    sections: dict[tuple[object, ...], list[RankedQuote]] = {}
    for quote in add_code(select_quotes(best, first=[opening]), ranked.all):
        sections.setdefault((quote.order[0], quote.section), []).append(quote)
    return [sorted(quotes, key=lambda q: q.order) for quotes in sections.values()]


def add_code(quotes: Sequence[RankedQuote], passages: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The quotes, each that is the label of code followed by that code if all of it fits a screen
    with them.
    """
    found = list(quotes)
    for label in quotes:
        code = [
            p
            for p in passages
            if p.passage.kind == "code"
            and p.passage.label == label.passage.text
            and p.excerpt == label.excerpt
        ]
        added = sorted((each for each in code if each not in found), key=lambda p: p.order)
        if _fit([*found, *added]):
            at = found.index(label) + 1
            found[at:at] = added
    return found


def _fit(quotes: Sequence[RankedQuote]) -> bool:
    sources = {source for quote in quotes for source in quote.sources}
    return (
        sum(len(quote.text) for quote in quotes) + SOURCE_CHARACTERS * len(sources)
        <= MAX_CHARACTERS
    )


def summarize_excerpts(excerpts: Sequence[QuoteSource], limit: int) -> list[RankedQuote]:
    """A summary in the notes' own words: the passages that cover most of the text, in its order.
    Greedy: a passage is worth the frequent words in it that none before contains, and more at the
    beginning of a note or section.
    """
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    candidates = [
        c
        for c in _candidates(excerpts, languages, max_group=0)
        if c.passage.kind in ("prose", "item")
    ]
    frequency = Counter(word for c in candidates for word in c.words)
    worth = {word: math.log(1 + n) for word, n in frequency.items()}
    weights = {
        c: c.quality * (1.0 + (c.passage.position == 0)) / max(len(c.words), 8) ** 0.5
        for c in candidates
    }
    selected: list[RankedQuote] = []
    while weights and len(selected) < limit:
        gains = {
            c: weight * math.fsum(worth[word] for word in c.words) for c, weight in weights.items()
        }
        best = max(gains, key=lambda c: gains[c])
        if not selected:
            best = next((c for c in candidates if c.is_complete), best)
        selected.append(best)
        weights = {
            c: weight
            for c, weight in weights.items()
            if words.fold(c.text) != words.fold(best.text)
        }
        worth |= {word: worth[word] * REPEATED_FACTOR for word in best.words}
    return sorted(selected, key=candidates.index)


def _candidates(
    excerpts: Iterable[QuoteSource], languages: tuple[str, ...], max_group: int = MAX_GROUP
) -> list[RankedQuote]:
    found = []
    for excerpt in excerpts:
        above: dict[tuple[str, ...], frozenset[str]] = {}
        chunk = passages.quotable_chunk(excerpt.text)
        for position, passage in enumerate(
            passages.quotable_passages(excerpt.text, excerpt.heading, max_group=max_group)
        ):
            if passage.headings not in above:
                above[passage.headings] = _stems(
                    " ".join((excerpt.title, *passage.headings)), languages
                )
            above_passage = above[passage.headings] | _stems(passage.label, languages)
            if (text := passages.render_passage(passage, chunk)) is not None:
                order = (excerpt.rank, position)
                stems = _stems(text, languages)
                found.append(
                    RankedQuote(
                        passage, excerpt, (excerpt.source,), order, text, stems, above_passage
                    )
                )
    return found


def have_any_word(excerpts: Sequence[QuoteSource], wanted: Iterable[str]) -> bool:
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    stems = _stems(
        " ".join(f"{each.title} {each.heading or ''} {each.text}" for each in excerpts), languages
    )
    return any(words.stem(word, languages) in stems for word in wanted)


def _stems(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The words of a text as they are compared: stems, and Chinese characters in pairs and
    alone.
    """
    return frozenset(
        form
        for word in words.content_terms(text)
        for form in (words.stem(word, languages), *_characters(word))
    )


def _characters(word: str) -> str:
    """Of a Chinese word."""
    return word if words.find_cjk(word[:1]) else ""


def _share(found: Iterable[str], rarity: Mapping[str, float]) -> float:
    """The share of the whole question that these words of it are."""
    return math.fsum(rarity.get(word, 0.0) for word in found) / (math.fsum(rarity.values()) or 1.0)
