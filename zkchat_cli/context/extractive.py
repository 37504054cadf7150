"""A summary without a model: the sentences of a conversation that carry most, word for word, under a budget of tokens.

Greedy maximum coverage (Lin & Bilmes, *A Class of Submodular Functions for Document Summarization*, 2011): each sentence is worth the rare
words, numbers and names in it that no chosen sentence has said yet, per token. Deterministic; grouped by date, with speakers.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.words import STOPWORDS, content_terms, sentences, stem, terms

_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'’-]+|\[\[[^\[\]]+\]\]|\d[\d.,:/-]*")
_QUESTION_WEIGHT = 0.5
_WANTED_WEIGHT = 4.0
_SAID_AGAIN, _SAID_OFTEN = 0.1, 3
"""What a word is still worth once it is said; after three times it is worth no less."""
_LENGTH_POWER = 0.85
"""Worth is divided by tokens to this power: below 1, since a long sentence also brings its own context."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    position: int
    message: ZkChatMessage
    text: str
    words: tuple[str, ...]
    tokens: int
    weight: float


def summarize(turns: Sequence[Turn], room: int, counter: TokenCounter, wanted: str = "") -> str | None:
    """The summary in at most `room` tokens, or None when not even one sentence fits. Words of `wanted` weigh more."""
    candidates = _candidates(turns, counter)
    frequency = Counter(word for c in candidates for word in c.words)
    rarity = {word: math.log(1 + len(candidates) / n) for word, n in frequency.items()}
    for word in {stem(t) for t in content_terms(wanted)} & rarity.keys():
        rarity[word] *= _WANTED_WEIGHT
    consulted = _documents(turns)
    if counter.count(consulted) > room // 4:
        consulted = ""
    chosen = _cover(candidates, rarity, room - counter.count(consulted))
    while chosen:
        text = _write(sorted(chosen, key=lambda c: c.position), consulted)
        if counter.count(text) <= room:
            return text
        chosen.pop()
    return None


def _candidates(turns: Iterable[Turn], counter: TokenCounter) -> list[_Candidate]:
    found: list[_Candidate] = []
    for turn in turns:
        for message in turn.messages:
            if message.role == "tool" or turn.failed:
                continue
            for text, words in _sentences(message.content):
                question = message.role == "user" and text.endswith("?")
                weight = _QUESTION_WEIGHT if question else 1.0
                found.append(_Candidate(len(found), message, text, words, counter.count(text) + 6, weight))
    return found


@lru_cache(maxsize=8192)
def _sentences(content: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sentences of a message, each with the words it covers. Sorted: sums over them are the same in every process."""
    found = []
    for sentence in sentences(content):
        names = {name.strip("[]").casefold() for name in _NAME.findall(sentence.text)}
        words = {stem(t) for t in terms(sentence.text) if t not in STOPWORDS} | names
        found.append((sentence.text, tuple(sorted(words))))
    return tuple(found)


def _cover(candidates: Sequence[_Candidate], rarity: dict[str, float], room: int) -> list[_Candidate]:
    """Lazy greedy: a candidate's gain only falls as others are chosen, so only the top of the heap needs another look."""
    worth = dict(rarity)
    said: Counter[str] = Counter()

    def gain(c: _Candidate) -> float:
        return c.weight * sum(map(worth.__getitem__, c.words)) / float(c.tokens**_LENGTH_POWER)

    heap = [(-gain(c), c.position) for c in candidates if c.words]
    heapq.heapify(heap)
    chosen: list[_Candidate] = []
    while heap:
        _, position = heapq.heappop(heap)
        candidate = candidates[position]
        now = gain(candidate)
        if heap and now < -heap[0][0] - 1e-9:
            heapq.heappush(heap, (-now, position))
        elif candidate.tokens <= room:
            chosen.append(candidate)
            room -= candidate.tokens
            for word in candidate.words:
                said[word] += 1
                if said[word] <= _SAID_OFTEN:
                    worth[word] *= _SAID_AGAIN
    return chosen


def _write(chosen: Sequence[_Candidate], consulted: str) -> str:
    lines: list[str] = []
    date = speaker = None
    for candidate in chosen:
        if candidate.message.timestamp[:10] != date:
            date, speaker = candidate.message.timestamp[:10], None
            lines.append(f"{date}:")
        if candidate.message.id != speaker:
            speaker = candidate.message.id
            lines.append(f"- {candidate.message.role}: {candidate.text}")
        else:
            lines[-1] += f" {candidate.text}"
    return "\n".join([*lines, consulted] if consulted else lines)


def _documents(turns: Iterable[Turn]) -> str:
    """The documents that were consulted, their links word for word."""
    links = dict.fromkeys(r.wikilink for turn in turns for m in turn.messages for r in m.references if r.relative_path)
    return f"Documents consulted: {', '.join(links)}" if links else ""
