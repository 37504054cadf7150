"""Which passages of the notes answer a question: ranked by relevance, selected for saying something new. Pure and deterministic.

A passage is worth the question's words in it, each by its rarity among the passages found; words of the headings above it count half. A
section whose heading is the question is answered by its beginning. Sums use `fsum` or a fixed order: the order of a set differs by process.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from zkchat_cli.llm.offline.passages import QuotablePassage, quotable_passages
from zkchat_cli.llm.offline.question import AnalyzedQuestion, stems
from zkchat_cli.text.words import STOPWORDS, fold

MAX_QUOTES = 4
MAX_SOURCES = 4
"""Notes cited for the same sentence."""
MIN_SHARE = 0.6
"""A further quote must be worth at least this share of the best one."""
MAX_OVERLAP = 0.6
"""The share of a quote's words that an already selected one may contain."""
ABOVE, NEAR, PHRASE, HEADING, FOCUS = 0.5, 0.15, 0.5, 0.9, 0.15
"""What headings, neighbours, word order, a heading equal to the question, and brevity are worth; all words of the question are worth 1."""
SIMILAR, MIN_COMMON_PREFIX = 0.6, 0.55
"""A word that only begins like the one asked for (recurring, recurrence)."""
MISSING_NAME = 1.3
MISSING_CJK_PAIR = 0.75
"""Two CJK characters that no note has side by side, though one of them is in another word of the question, are rarely a word."""
NEIGHBOURS = 0.5
"""What words of neighbouring passages count for whether the notes answer at all."""
MIN_HEADING_SIMILARITY = 0.55
ON_TOPIC, OFF_TOPIC = 0.3, 0.5
"""The share of the conversation's topic from which a passage belongs to it, and what other passages are worth."""
RANK = 0.04
FIRST_LINES = 20
INCOMPLETE = 0.6
"""The quality of questions, lead-ins and fragments."""
REPEATED = 0.1
"""What a word is still worth in a summary once it was said."""
_KIND_QUALITY = {"prose": 1.0, "item": 0.95, "row": 0.85, "code": 0.75, "links": 0.4}
_PLACE_QUALITY = (1.0, 0.7, 0.55, 0.45)


@dataclass(frozen=True, slots=True)
class QuoteSource:
    """A numbered excerpt of a note from a tool. `rank`: its position among the results."""

    source: int
    path: str
    title: str
    heading: str | None
    text: str
    rank: int = 0
    start_line: int = 1

    @property
    def is_beginning(self) -> bool:
        """Whether the note starts with it, front matter aside."""
        return self.start_line <= FIRST_LINES


Preference = Callable[[QuoteSource, QuotablePassage], float]
"""A factor for a passage, from what the conversation knows about it."""


def no_preference(_excerpt: QuoteSource, _passage: QuotablePassage) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class RankedQuote:
    """A passage, its worth as an answer, and the numbers of all excerpts that contain it."""

    text: str
    sources: tuple[int, ...]
    value: float
    order: tuple[int, int]
    code: bool = False
    words: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True, slots=True)
class _Candidate:
    excerpt: QuoteSource
    passage: QuotablePassage
    position: int
    stems: tuple[str, ...]
    words: frozenset[str]
    above: frozenset[str]

    @property
    def quality(self) -> float:
        text = self.passage.text
        quality = _KIND_QUALITY[self.passage.kind] / (1 + max(0, len(text) - 240) / 480)
        return quality * INCOMPLETE if text.endswith(("?", "？", ":", "：")) or len(self.words) < 3 else quality

    def quote(self, value: float = 1.0) -> RankedQuote:
        words = frozenset(word for word in self.words if word not in STOPWORDS) or self.words
        order = (self.excerpt.rank, self.position)
        return RankedQuote(self.passage.text, (self.excerpt.source,), value, order, self.passage.kind == "code", words)


def rank_passages(
    question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], preference: Preference = no_preference
) -> tuple[list[RankedQuote], float]:
    """The relevant passages, best first, and the share of the question that the best one covers together with its surroundings."""
    candidates = _candidates(excerpts)
    rarity, matches = _weigh_words(question, candidates)
    topic = {word: rarity[word] for word in question.topic}
    without_topic = {word: weight for word, weight in rarity.items() if word not in topic}
    pairs = frozenset(pairwise(question.stems))
    similarity = {name: heading_similarity(question, name) for c in candidates for name in (*c.passage.headings, c.excerpt.title)}
    quotes: list[RankedQuote] = []
    coverage = 0.0
    for i, c in enumerate(candidates):
        own, above = _matched(c.words, matches), _matched(c.above, matches)
        heading = _heading_value(c, similarity)
        if not own and not heading:
            continue
        around = _matched((w for n in candidates[max(0, i - 2) : i + 3] if n.excerpt is c.excerpt for w in n.words), matches)
        inside = _share(own, rarity)
        beyond = _share({w: share - own.get(w, 0.0) for w, share in above.items() if share > own.get(w, 0.0)}, rarity)
        near = _share({w: share for w, share in around.items() if w not in own and w not in above}, rarity)
        on_topic = not topic or _share({**around, **above, **own}, topic) >= ON_TOPIC
        if on_topic or not question.needs_topic:
            coverage = max(coverage, inside + beyond + NEIGHBOURS * near)
        if topic and not question.needs_topic:
            coverage = max(coverage, _share({**above, **own}, without_topic))
        value = inside + ABOVE * beyond + NEAR * near + HEADING * heading + FOCUS * len(own) / max(len(c.words), 4)
        value += PHRASE * len(pairs.intersection(pairwise(c.stems))) / max(len(pairs), 1)
        value *= (1.0 if on_topic else OFF_TOPIC) * c.quality * preference(c.excerpt, c.passage) / (1 + RANK * c.excerpt.rank)
        if value > 0:
            quotes.append(c.quote(value))
    return sorted(quotes, key=lambda q: (-q.value, q.order)), coverage


def missing_words(question: AnalyzedQuestion, excerpts: Sequence[QuoteSource]) -> frozenset[str]:
    """The question's words that no excerpt contains."""
    found = {word for c in _candidates(excerpts) for word in c.words | c.above}
    return frozenset(question.weights.keys() - found)


def select_quotes(quotes: Sequence[RankedQuote], limit: int = MAX_QUOTES) -> list[RankedQuote]:
    """The best quotes that differ. The same words in several notes are one quote with several sources.

    Ordered by worth, but those of one excerpt together, in its order.
    """
    selected: list[RankedQuote] = []
    for quote in quotes:
        if selected and quote.value < MIN_SHARE * selected[0].value:
            break
        same = next((i for i, other in enumerate(selected) if _normalized(other.text) == _normalized(quote.text)), None)
        if same is not None:
            sources = dict.fromkeys((*selected[same].sources, *quote.sources))
            selected[same] = replace(selected[same], sources=tuple(sources)[:MAX_SOURCES])
        elif len(selected) < limit and all(
            len(quote.words & other.words) <= MAX_OVERLAP * min(len(quote.words), len(other.words)) for other in selected
        ):
            selected.append(quote)
    first = {source: i for i, source in reversed(list(enumerate(quote.sources[0] for quote in selected)))}
    return sorted(selected, key=lambda q: (first[q.sources[0]], q.order))


def summarize_excerpts(excerpts: Sequence[QuoteSource], limit: int, preference: Preference = no_preference) -> list[RankedQuote]:
    """A summary in the notes' own words: the passages that cover most of the text, in its order.

    Greedy: a passage is worth the frequent words in it that none before contains, and more at the beginning of a note or section.
    """
    candidates = [c for c in _candidates(excerpts) if c.passage.kind in ("prose", "item")]
    frequency = Counter(word for c in candidates for word in c.words if word not in STOPWORDS)
    worth = {word: math.log(1 + n) for word, n in frequency.items()}
    weights = [
        preference(c.excerpt, c.passage) * c.quality * (1.0 + (c.passage.place == 0)) / max(len(c.stems), 8) ** 0.5 for c in candidates
    ]
    beginning = next((i for i, c in enumerate(candidates) if c.quality > INCOMPLETE and weights[i] > 0), 0)
    selected: set[int] = set()
    for _ in range(min(limit, len(candidates))):
        gains = [weight * math.fsum(worth.get(w, 0.0) for w in c.words) for weight, c in zip(weights, candidates, strict=True)]
        best = max(range(len(candidates)), key=lambda i: gains[i])
        if not selected and gains[beginning] > 0:
            best = beginning
        if gains[best] <= 0:
            break
        selected.add(best)
        text = _normalized(candidates[best].passage.text)
        weights = [0.0 if _normalized(c.passage.text) == text else weight for weight, c in zip(weights, candidates, strict=True)]
        worth |= {word: worth.get(word, 0.0) * REPEATED for word in candidates[best].words}
    return [candidates[i].quote() for i in sorted(selected)]


def first_statements(excerpts: Sequence[QuoteSource], limit: int = MAX_QUOTES) -> list[RankedQuote]:
    """The first complete sentences of the excerpts."""
    statements = (c for c in _candidates(excerpts) if c.passage.kind in ("prose", "item") and c.quality > INCOMPLETE)
    return [c.quote() for c in islice(statements, limit)]


def heading_similarity(question: AnalyzedQuestion, heading: str) -> float:
    """From 0, for up to about half of the words in common, to 1 for the same words."""
    words = stems(heading)
    all_words = _dice(set(question.stems), set(words))
    content = _dice({w for w, weight in question.weights.items() if weight >= 1}, {w for w in words if w not in STOPWORDS})
    return max(0.0, max(all_words, 0.95 * content) - MIN_HEADING_SIMILARITY) / (1 - MIN_HEADING_SIMILARITY)


def _dice(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _heading_value(c: _Candidate, similarity: Mapping[str, float]) -> float:
    headings = c.passage.headings
    inner = similarity[headings[-1]] if headings else 0.0
    outer = max((similarity[heading] for heading in headings[:-1]), default=0.0)
    title = similarity[c.excerpt.title] if c.excerpt.is_beginning and len(headings) < 2 else 0.0
    return _PLACE_QUALITY[min(c.passage.place, len(_PLACE_QUALITY) - 1)] * max(inner, 0.6 * outer, 0.8 * title)


def _candidates(excerpts: Iterable[QuoteSource]) -> list[_Candidate]:
    return [
        _Candidate(excerpt, passage, position, words, frozenset(words), above)
        for excerpt in excerpts
        for position, (passage, words, above) in enumerate(_stemmed_passages(excerpt.text, excerpt.title, excerpt.heading))
    ]


@lru_cache(maxsize=128)
def _stemmed_passages(text: str, title: str, heading: str | None) -> tuple[tuple[QuotablePassage, tuple[str, ...], frozenset[str]], ...]:
    """The passages with their stems and those of the headings above. Cached: a turn ranks its excerpts more than once."""
    above: dict[tuple[str, ...], frozenset[str]] = {}
    found = []
    for passage in quotable_passages(text, heading):
        if passage.headings not in above:
            above[passage.headings] = frozenset(stems(" ".join((title, *passage.headings))))
        found.append((passage, tuple(stems(passage.text)), above[passage.headings]))
    return tuple(found)


def _weigh_words(question: AnalyzedQuestion, candidates: Sequence[_Candidate]) -> tuple[dict[str, float], dict[str, tuple[str, float]]]:
    """The worth of each word of the question; and for words of the notes, the word of the question that they match, and how well."""
    by_prefix: dict[str, list[str]] = {}
    for word in question.weights:
        if len(word) > 3 and word.isalpha():
            by_prefix.setdefault(word[:4], []).append(word)
    matches: dict[str, tuple[str, float]] = {}
    for word in dict.fromkeys(w for c in candidates for w in (*c.stems, *c.above)):
        if word in question.weights:
            matches[word] = (word, 1.0)
        elif similar := [w for w in by_prefix.get(word[:4], ()) if word.isascii() and _is_similar(w, word)]:
            matches[word] = (similar[0], SIMILAR)
    frequency = Counter(w for c in candidates for w in {matches[word][0] for own in (c.words, c.above) for word in own & matches.keys()})
    cjk_characters = {character for word in matches for character in word if not word.isascii()}
    rarity = {}
    for word, weight in question.weights.items():
        rarity[word] = weight * math.log(1 + len(candidates) / (frequency[word] or 0.5))
        if not frequency[word]:
            rarity[word] *= MISSING_CJK_PAIR if not cjk_characters.isdisjoint(word) else MISSING_NAME if word in question.names else 1.0
    return rarity, matches


def _is_similar(one: str, other: str) -> bool:
    """Whether two words may be forms of one: recurring and recurrence, not in and inside."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return common >= 5 and common >= MIN_COMMON_PREFIX * max(len(one), len(other))


def _matched(words: Iterable[str], matches: Mapping[str, tuple[str, float]]) -> dict[str, float]:
    """The question's words that these words match, and how well."""
    matched: dict[str, float] = {}
    for word in words:
        if word in matches:
            asked, share = matches[word]
            matched[asked] = max(share, matched.get(asked, 0.0))
    return matched


def _share(words: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    """The share of the whole question that these words of it are."""
    return math.fsum(rarity.get(word, 0.0) * share for word, share in words.items()) / (math.fsum(rarity.values()) or 1.0)


def _normalized(text: str) -> str:
    return " ".join(fold(text).split())
