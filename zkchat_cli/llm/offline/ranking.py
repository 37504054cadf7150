"""Which passages of the notes answer a question: ranked by relevance, selected for saying something new. Pure and deterministic.

A passage is worth the question's words in it, each by its rarity among the passages found; words of the headings above it count half. Sums
use `fsum`: the order of a set differs by process.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from zkchat_cli.llm.offline.passages import QuotablePassage, quotable_passages
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.text.words import STOPWORDS, fold, stem, terms

MAX_QUOTES = 4
MAX_SOURCES = 4
"""Notes cited for the same sentence."""
MIN_SHARE = 0.6
"""A further quote must be worth at least this share of the best one."""
MAX_OVERLAP = 0.6
"""The share of a quote's words that an already selected one may contain."""
ABOVE, NEAR, FOCUS = 0.5, 0.15, 0.15
"""What headings, neighbours and brevity are worth; all words of the question are worth 1."""
NEIGHBOURS = 0.5
"""What words of neighbouring passages count for whether the notes answer at all."""
RANK = 0.04
"""A passage loses so much for each excerpt that the search found before its own."""
INCOMPLETE = 0.6
"""The quality of questions, lead-ins and fragments."""
REPEATED = 0.1
"""What a word is still worth in a summary once it was said."""
_KIND_QUALITY = {"prose": 1.0, "item": 0.95, "row": 0.85, "code": 0.75}


@dataclass(frozen=True, slots=True)
class QuoteSource:
    """A numbered excerpt of a note from a tool. `rank`: its position among the results."""

    source: int
    path: str
    title: str
    heading: str | None
    text: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class RankedQuote:
    """A passage, its worth as an answer, and the numbers of all excerpts that contain it."""

    passage: QuotablePassage
    sources: tuple[int, ...]
    order: tuple[int, int]
    words: frozenset[str]
    above: frozenset[str] = frozenset()
    """The words of the title and the headings above it."""
    value: float = 1.0

    @property
    def text(self) -> str:
        return self.passage.text

    @property
    def is_complete(self) -> bool:
        return not self.text.endswith(("?", "？", ":", "：")) and len(self.words) >= 3

    @property
    def quality(self) -> float:
        quality = _KIND_QUALITY[self.passage.kind] / (1 + max(0, len(self.text) - 240) / 480)
        return quality if self.is_complete else quality * INCOMPLETE


def rank_passages(question: AnalyzedQuestion, excerpts: Iterable[QuoteSource]) -> tuple[list[RankedQuote], float]:
    """The relevant passages, best first, and the share of the question that the best one covers together with its surroundings."""
    candidates = _candidates(excerpts)
    frequency = Counter(word for c in candidates for word in (c.words | c.above) & question.weights.keys())
    rarity = {word: weight * math.log(1 + len(candidates) / (frequency[word] or 0.5)) for word, weight in question.weights.items()}
    ranked: list[RankedQuote] = []
    coverage = 0.0
    for i, c in enumerate(candidates):
        if c.words.isdisjoint(rarity):
            continue
        around = {word for n in candidates[max(0, i - 2) : i + 3] if n.sources == c.sources for word in n.words}
        inside, above, near = (_share(words, rarity) for words in (c.words, c.above - c.words, around - c.words - c.above))
        coverage = max(coverage, inside + above + NEIGHBOURS * near)
        focus = FOCUS * len(c.words & rarity.keys()) / max(len(c.words), 4)
        value = (inside + ABOVE * above + NEAR * near + focus) * c.quality / (1 + RANK * c.order[0])
        ranked.append(replace(c, value=value))
    return sorted(ranked, key=lambda q: (-q.value, q.order)), coverage


def select_quotes(quotes: Sequence[RankedQuote], limit: int = MAX_QUOTES) -> list[RankedQuote]:
    """The best quotes that differ. The same words in several notes are one quote with several sources.

    Ordered by worth, but those of one excerpt together, in its order.
    """
    selected: list[RankedQuote] = []
    for quote in quotes:
        if selected and quote.value < MIN_SHARE * selected[0].value:
            break
        same = next((i for i, other in enumerate(selected) if fold(other.text) == fold(quote.text)), None)
        if same is not None:
            sources = dict.fromkeys((*selected[same].sources, *quote.sources))
            selected[same] = replace(selected[same], sources=tuple(sources)[:MAX_SOURCES])
        elif len(selected) < limit and all(
            len(quote.words & other.words) <= MAX_OVERLAP * min(len(quote.words), len(other.words)) for other in selected
        ):
            selected.append(quote)
    first = {source: i for i, source in reversed(list(enumerate(quote.sources[0] for quote in selected)))}
    return sorted(selected, key=lambda q: (first[q.sources[0]], q.order))


def summarize_excerpts(excerpts: Iterable[QuoteSource], limit: int) -> list[RankedQuote]:
    """A summary in the notes' own words: the passages that cover most of the text, in its order.

    Greedy: a passage is worth the frequent words in it that none before contains, and more at the beginning of a note or section.
    """
    candidates = [c for c in _candidates(excerpts) if c.passage.kind in ("prose", "item")]
    frequency = Counter(word for c in candidates for word in c.words)
    worth = {word: math.log(1 + n) for word, n in frequency.items()}
    weights = {c: c.quality * (1.0 + (c.passage.place == 0)) / max(len(c.words), 8) ** 0.5 for c in candidates}
    selected: list[RankedQuote] = []
    while weights and len(selected) < limit:
        gains = {c: weight * math.fsum(worth[word] for word in c.words) for c, weight in weights.items()}
        best = max(gains, key=lambda c: gains[c])
        if not selected:
            best = next((c for c in candidates if c.is_complete), best)
        selected.append(best)
        weights = {c: weight for c, weight in weights.items() if fold(c.text) != fold(best.text)}
        worth |= {word: worth[word] * REPEATED for word in best.words}
    return sorted(selected, key=candidates.index)


def first_statements(excerpts: Iterable[QuoteSource], limit: int = MAX_QUOTES) -> list[RankedQuote]:
    """The first complete sentences of the excerpts."""
    return [c for c in _candidates(excerpts) if c.passage.kind in ("prose", "item") and c.is_complete][:limit]


def _candidates(excerpts: Iterable[QuoteSource]) -> list[RankedQuote]:
    found = []
    for excerpt in excerpts:
        above: dict[tuple[str, ...], frozenset[str]] = {}
        for position, passage in enumerate(quotable_passages(excerpt.text, excerpt.heading)):
            if passage.headings not in above:
                above[passage.headings] = _stems(" ".join((excerpt.title, *passage.headings)))
            order = (excerpt.rank, position)
            found.append(RankedQuote(passage, (excerpt.source,), order, _stems(passage.text), above[passage.headings]))
    return found


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(term) for term in terms(text) if term not in STOPWORDS)


def _share(words: Iterable[str], rarity: Mapping[str, float]) -> float:
    """The share of the whole question that these words of it are."""
    return math.fsum(rarity.get(word, 0.0) for word in words) / (math.fsum(rarity.values()) or 1.0)
