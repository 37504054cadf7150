"""Which pieces of the notes answer a question: ranked by relevance, chosen for saying something new. Pure and deterministic.

A piece is worth the question's words in it, each by its rarity among what was found; words of the headings over it count half. A section
whose heading is the question is answered by how it begins. Sums go through `fsum` or a fixed order: the order of a set differs by process.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from zkchat_cli.llm.offline.question_analysis import AnalyzedQuestion, Intent, stems
from zkchat_cli.llm.offline.quotable import QuotablePassage, quotable_passages
from zkchat_cli.text.words import STOPWORDS, fold

MOST = 4
MOST_SOURCES = 4
"""Notes that are cited for one and the same sentence."""
SECOND_BEST = 0.6
"""A further piece must be worth at least this share of the best one."""
SAME = 0.6
"""Of a piece's words, the share that an already chosen one may hold."""
AROUND, NEAR, PHRASE, HEADING, FOCUS, INTENT = 0.5, 0.15, 0.5, 0.9, 0.15, 0.12
"""What headings, neighbours, word order, a heading that is the question, brevity and the kind of answer are worth, beside a share of 1 for
holding all words of the question."""
AKIN, AKIN_SHARE = 0.6, 0.55
"""A word that only begins like the one asked for (recurring, recurrence)."""
ABSENT_NAME = 1.3
ABSENT_BORDER = 0.75
"""Two CJK characters that stand in no note side by side, but one of them in another word of the question, are rarely a word."""
NEIGHBOURS = 0.5
"""What the words of neighbouring pieces count where it is asked whether the notes say anything at all."""
ABOUT_HEADING = 0.55
ON_TOPIC, OFF_TOPIC = 0.3, 0.5
"""The share of the conversation's topic that makes a piece belong to it, and what one that does not is worth."""
RANK = 0.04
FIRST_LINES = 20
NO_STATEMENT = 0.6
"""The quality of questions, of what leads to something else, and of scraps."""
SAID_AGAIN = 0.1
"""In a summary: what a word is still worth once it is said."""
_KINDS = {"prose": 1.0, "item": 0.95, "row": 0.85, "code": 0.75, "links": 0.4}
_PLACES = (1.0, 0.7, 0.55, 0.45)
_SIGN_WORDS: Mapping[Intent, tuple[str, str]] = {
    "definition": ("is|are|means?|refers? to|defines?|called|stands for|describes?", "是|指|即|とは"),
    "how": (r"use|click|select|choose|add|set|open|run|write|enable|you can|by \w+ing|to \w+", "使用|点击|可以|通过|先"),
    "why": ("because|so that|since|reason|therefore|due to|in order to|as a result|thus", "因为|所以|因此|为了|原因"),
    "when": (r"when|after|before|until|since|once|\d{4}|\d+ (?:days?|weeks?|months?|years?)", r"时候|时|之后|以前|\d+年"),
    "where": ("in|at|under|inside|settings?|folder|file|path|panel|pane|menu|page", "在|位于|里"),
    "which": ("and|are|following|supports?|includes?", ",|、|包括|有"),
    "whether": ("can|cannot|can't|not|only|supports?|possible|works?|allows?|must|does|yes|no", "可以|不能|支持|不"),
}
_SIGNS = {intent: re.compile(rf"\b(?:{english})\b|{other}", re.IGNORECASE) for intent, (english, other) in _SIGN_WORDS.items()}
"""What an answer to such a question often holds."""


@dataclass(frozen=True, slots=True)
class QuoteSource:
    """A numbered piece of a note as a tool found it. `rank`: its place among what was found."""

    source: int
    path: str
    title: str
    heading: str | None
    text: str
    rank: int = 0
    start_line: int = 1

    @property
    def first(self) -> bool:
        """Whether it is how the note begins, front matter aside."""
        return self.start_line <= FIRST_LINES


Favour = Callable[[QuoteSource, QuotablePassage], float]


def evenly(_excerpt: QuoteSource, _piece: QuotablePassage) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class RankedQuote:
    """Words of a note, what they are worth as an answer, and the numbers of all the excerpts they stand in."""

    text: str
    sources: tuple[int, ...]
    path: str
    value: float
    order: tuple[int, int]
    code: bool = False
    words: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True, slots=True)
class _QuoteCandidate:
    excerpt: QuoteSource
    piece: QuotablePassage
    position: int
    terms: tuple[str, ...]
    words: frozenset[str]
    over: frozenset[str]


def ranked(question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], favour: Favour = evenly) -> tuple[list[RankedQuote], float]:
    """Everything that bears on the question, best first, and how much of the question the best piece covers with what is around it.

    `favour` weighs pieces by what the conversation knows of them.
    """
    candidates = _candidates(excerpts)
    rarity, shares = _rarities(question, candidates)
    topic = {word: rarity[word] for word in question.topic}
    pairs = frozenset(pairwise(question.order))
    alike = {name: alikeness(question, name) for c in candidates for name in (*c.piece.headings, c.excerpt.title)}
    quotes: list[RankedQuote] = []
    coverage = 0.0
    for i, c in enumerate(candidates):
        own, around = _held(c.words, shares), _held(c.over, shares)
        heading = _heading_worth(c, alike)
        if not own and not heading:
            continue
        beside = _held((w for n in candidates[max(0, i - 2) : i + 3] if n.excerpt is c.excerpt for w in n.words), shares)
        held = _weigh(own, rarity)
        beyond = _weigh(_more(around, own), rarity)
        near = _weigh({w: s for w, s in beside.items() if w not in own and w not in around}, rarity)
        topical = _weigh({**beside, **around, **own}, topic) if topic else 1.0
        if not question.bound or topical >= ON_TOPIC:
            coverage = max(coverage, held + beyond + NEIGHBOURS * near)
        if topic and not question.bound:  # what is asked in addition may be answered without the topic
            coverage = max(coverage, _weigh({**around, **own}, {w: r for w, r in rarity.items() if w not in topic}))
        value = held + AROUND * beyond + NEAR * near + HEADING * heading
        value += PHRASE * len(pairs.intersection(pairwise(c.terms))) / max(len(pairs), 1)
        value += FOCUS * len(own) / max(len(c.words), 4) + INTENT * _fits(question, c)
        value *= (1.0 if topical >= ON_TOPIC else OFF_TOPIC) * _quality(c) * favour(c.excerpt, c.piece) / (1 + RANK * c.excerpt.rank)
        if value > 0:
            quotes.append(_quote(c, value))
    return sorted(quotes, key=lambda q: (-q.value, q.order)), coverage


def missing(question: AnalyzedQuestion, excerpts: Sequence[QuoteSource]) -> frozenset[str]:
    """The question's words that no excerpt holds."""
    there = {w for c in _candidates(excerpts) for w in c.words | c.over}
    return frozenset(question.weights.keys() - there)


def _weigh(held: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    """The share of the whole question that these words of it are."""
    return math.fsum(rarity.get(w, 0.0) * share for w, share in held.items()) / (math.fsum(rarity.values()) or 1.0)


def _more(held: Mapping[str, float], than: Mapping[str, float]) -> dict[str, float]:
    """What is held better than there."""
    return {w: share - than.get(w, 0.0) for w, share in held.items() if share > than.get(w, 0.0)}


def chosen(quotes: Sequence[RankedQuote], most: int = MOST, least: float = SECOND_BEST) -> list[RankedQuote]:
    """The best quotes that say something the chosen ones have not. The same words in several notes are one quote with several sources.

    In the order of their worth, but those of one excerpt together, as they stand there.
    """
    taken: list[RankedQuote] = []
    for quote in quotes:
        if taken and quote.value < least * taken[0].value:
            break
        again = next((i for i, other in enumerate(taken) if _flat(other.text) == _flat(quote.text)), None)
        if again is not None:
            sources = (*taken[again].sources, *(s for s in quote.sources if s not in taken[again].sources))
            taken[again] = replace(taken[again], sources=sources[:MOST_SOURCES])
        elif len(taken) < most and all(len(quote.words & other.words) <= SAME * min(len(quote.words), len(other.words)) for other in taken):
            taken.append(quote)
    first = {source: i for i, source in reversed(list(enumerate(q.sources[0] for q in taken)))}
    return sorted(taken, key=lambda q: (first[q.sources[0]], q.order))


def extracted(excerpts: Sequence[QuoteSource], most: int, favour: Favour = evenly) -> list[RankedQuote]:
    """A summary in the notes' own words: the pieces that cover most of what is said, in the order of the text.

    Greedy: a piece is worth the frequent words in it that none before has said, and more where a note or a section begins.
    """
    candidates = [c for c in _candidates(excerpts) if c.piece.kind in ("prose", "item")]
    frequency = Counter(w for c in candidates for w in c.words if w not in STOPWORDS)
    worth = {word: math.log(1 + n) for word, n in frequency.items()}
    liked = [favour(c.excerpt, c.piece) * _quality(c) * (1.0 + (c.piece.place == 0)) / max(len(c.terms), 8) ** 0.5 for c in candidates]
    taken: set[int] = set()
    begins = next((i for i, c in enumerate(candidates) if _quality(c) > NO_STATEMENT and liked[i] > 0), 0)
    for _ in range(min(most, len(candidates))):
        gains = [weight * math.fsum(worth.get(w, 0.0) for w in c.words) for weight, c in zip(liked, candidates, strict=True)]
        if not taken and gains[begins] > 0:
            gains[begins] = math.inf
        best = max(range(len(candidates)), key=lambda i: gains[i])
        if gains[best] <= 0:
            break
        taken.add(best)
        said = _flat(candidates[best].piece.text)
        liked = [0.0 if _flat(c.piece.text) == said else weight for weight, c in zip(liked, candidates, strict=True)]
        worth.update({w: worth.get(w, 0.0) * SAID_AGAIN for w in candidates[best].words})
    return [_quote(candidates[i], 1.0) for i in sorted(taken)]


def opening(excerpts: Sequence[QuoteSource], most: int = MOST) -> list[RankedQuote]:
    """How the excerpts begin, where they say something."""
    said = (c for c in _candidates(excerpts) if c.piece.kind in ("prose", "item") and _quality(c) > NO_STATEMENT)
    return [_quote(c, 1.0) for c in islice(said, most)]


def _candidates(excerpts: Iterable[QuoteSource]) -> list[_QuoteCandidate]:
    return [
        _QuoteCandidate(excerpt, piece, position, words, frozenset(words), over)
        for excerpt in excerpts
        for position, (piece, words, over) in enumerate(_read(excerpt.text, excerpt.title, excerpt.heading))
    ]


@lru_cache(maxsize=128)
def _read(text: str, title: str, heading: str | None) -> tuple[tuple[QuotablePassage, tuple[str, ...], frozenset[str]], ...]:
    """The pieces with their words and those of what stands over them. Kept at hand: a turn looks at its excerpts more than once."""
    over: dict[tuple[str, ...], frozenset[str]] = {}
    found = []
    for piece in quotable_passages(text, heading):
        if piece.headings not in over:
            over[piece.headings] = frozenset(stems(" ".join((title, *piece.headings))))
        found.append((piece, tuple(stems(piece.text)), over[piece.headings]))
    return tuple(found)


def _quote(c: _QuoteCandidate, value: float) -> RankedQuote:
    content = frozenset(w for w in c.words if w not in STOPWORDS) or c.words
    return RankedQuote(
        c.piece.text, (c.excerpt.source,), c.excerpt.path, value, (c.excerpt.rank, c.position), c.piece.kind == "code", content
    )


def _rarities(question: AnalyzedQuestion, candidates: Sequence[_QuoteCandidate]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """What each word of the question is worth, and for each word of the notes, which of them it stands for and how well."""
    beginnings: dict[str, list[str]] = {}
    for word in question.weights:
        if len(word) > 3 and word.isalpha():
            beginnings.setdefault(word[:4], []).append(word)
    shares: dict[str, dict[str, float]] = {}
    for word in dict.fromkeys(w for c in candidates for w in (*c.terms, *c.over)):
        if word in question.weights:
            shares[word] = {word: 1.0}
        elif akin := [w for w in beginnings.get(word[:4], ()) if word.isascii() and _akin(w, word)]:
            shares[word] = {akin[0]: AKIN}
    frequency = Counter(
        w for c in candidates for w in {w for own in (c.words, c.over) for word in own & shares.keys() for w in shares[word]}
    )
    n = len(candidates)
    characters = {character for word in shares for character in word if not word.isascii()}
    rarity = {}
    for word, weight in question.weights.items():
        rarity[word] = weight * math.log(1 + n / (frequency[word] or 0.5))
        if not frequency[word]:
            crosses = not characters.isdisjoint(word)
            rarity[word] *= ABSENT_BORDER if crosses else ABSENT_NAME if word in question.names else 1.0
    return rarity, shares


def _akin(one: str, other: str) -> bool:
    """Whether two words begin alike for so long that they may be forms of one: recurring and recurrence, not in and inside."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return common >= 5 and common >= AKIN_SHARE * max(len(one), len(other))


def _held(words: Iterable[str], shares: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The words of the question that are among `words`, with how well."""
    held: dict[str, float] = {}
    for word in words:
        for asked, share in shares.get(word, {}).items():
            held[asked] = max(share, held.get(asked, 0.0))
    return held


def alikeness(question: AnalyzedQuestion, name: str) -> float:
    """How far a heading is the question itself: 0 up to about half of their words, 1 for the same words."""
    heading = stems(name)
    everything = _dice(set(question.order), set(heading))
    content = _dice({w for w, weight in question.weights.items() if weight >= 1}, {w for w in heading if w not in STOPWORDS})
    return max(0.0, max(everything, 0.95 * content) - ABOUT_HEADING) / (1 - ABOUT_HEADING)


def _dice(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _heading_worth(c: _QuoteCandidate, alike: Mapping[str, float]) -> float:
    place = _PLACES[min(c.piece.place, len(_PLACES) - 1)]
    headings = c.piece.headings
    inner = alike[headings[-1]] if headings else 0.0
    outer = max((alike[h] for h in headings[:-1]), default=0.0)
    title = alike[c.excerpt.title] if c.excerpt.first and len(headings) < 2 else 0.0
    return place * max(inner, 0.6 * outer, 0.8 * title)


def _fits(question: AnalyzedQuestion, c: _QuoteCandidate) -> float:
    if question.intent == "any":
        return 0.0
    signs = 1.0 if _SIGNS[question.intent].search(c.piece.text) else 0.0
    if question.intent == "definition":
        subject = [w for w in question.order if question.weights.get(w, 0.0) >= 1 and w not in STOPWORDS]
        about = bool(subject) and subject[-1] in c.terms[: len(subject) + 4]
        return signs * about + (0.7 if c.piece.place == 0 and set(subject) <= c.over else 0.0)
    if question.intent == "which" and c.piece.kind in ("item", "row"):
        return 1.0
    return 1.0 if question.intent == "how" and c.piece.kind == "code" else signs


def _quality(c: _QuoteCandidate) -> float:
    text = c.piece.text
    quality = _KINDS[c.piece.kind] / (1 + max(0, len(text) - 240) / 480)
    if text.endswith(("?", "？", ":", "：")) or len(c.words) < 3:
        quality *= NO_STATEMENT
    return quality


def _flat(text: str) -> str:
    return " ".join(fold(text).split())
