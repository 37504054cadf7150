"""Recall: which earlier turns bear on the new message, though they are folded or dropped. BM25 over the conversation's own words.

Robertson & Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with k1 = 1.2 and b = 0.75.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from zkchat_cli.context.turns import Turn
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.words import content_terms, stem

K1, B = 1.2, 0.75
REMEMBERED = 8192
"""Turns whose words are kept at hand: the same ones are looked through for every message (0.3 s for 1 000 turns without)."""
FRAME = 40
"""Tokens set aside for the tags around recalled turns."""


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """How well each text answers to the question's words; 0 when they share none."""
    counted = [_words(text) for text in texts]
    documents, lengths = [words for words, _ in counted], [length for _, length in counted]
    average = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    scores = [0.0] * len(texts)
    for term in dict.fromkeys(stem(t) for t in content_terms(question)):
        holders = [i for i, d in enumerate(documents) if term in d]
        rarity = math.log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for i in holders:
            frequency = documents[i][term]
            scores[i] += rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths[i] / average))
    return scores


@lru_cache(maxsize=REMEMBERED)
def _words(text: str) -> tuple[Counter[str], int]:
    """How often each stem occurs in a text, and its length in words."""
    words = Counter(stem(term) for term in content_terms(text))
    return words, sum(words.values())


def recall(question: str, turns: Sequence[Turn], room: int, counter: TokenCounter) -> tuple[Turn, ...]:
    """The turns that bear most on `question` and fit into `room` tokens when quoted, in their original order."""
    scores = bm25(question, [turn.text for turn in turns])
    chosen: set[int] = set()
    room -= FRAME
    for i in sorted(range(len(turns)), key=lambda i: -scores[i]):
        if scores[i] <= 0:
            break
        tokens = counter.count(quote(turns[i])) + 1
        if tokens <= room:
            room -= tokens
            chosen.add(i)
    return tuple(turn for i, turn in enumerate(turns) if i in chosen)


def cost(recalled: Sequence[Turn], counter: TokenCounter) -> int:
    """About how many tokens recalled turns take in the prompt."""
    return FRAME + sum(counter.count(quote(turn)) + 1 for turn in recalled) if recalled else 0


def quote(turn: Turn) -> str:
    """A turn as the model is reminded of it: who said what, and when."""
    said = [m for m in turn.messages if m.role in ("user", "assistant") and m.content]
    return "\n".join(f"({m.timestamp[:10]}) {m.role}: {m.content}" for m in said)
