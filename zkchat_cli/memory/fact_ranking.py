"""Smart memory: which of the facts that somebody asked to remember, and of the notes that are often cited, bear on a message.

Pure: ranking and choice over values. Ranked by BM25 over stemmed words (as recall ranks turns; Robertson and Zaragoza 2009), times
how recent a thing is: a fact counts half once it is old, never nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from zkchat_cli.memory.conversation_excerpts import wikilink_to
from zkchat_cli.memory.project import MemoryItem, MemoryKind
from zkchat_cli.models import Fact, MostCitedNote
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_terms, stem
from zkchat_cli.tokens.counter import TokenCounter

K1, B = 1.2, 0.75
HALF_LIFE = 90.0
"""Days after which the part of a score that recency has is halved."""
OF_BEST = 0.25
"""The least share of the best score that still bears on a message."""
MAX_ITEMS = 8
LONGEST_FACT = 2_000

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKER = re.compile(r"\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?")


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """Something that may be brought back: a fact by its key, or a document by its path. `told` is the line that the model gets of it."""

    kind: MemoryKind
    key: str
    content: str
    prompt_line: str
    date: str
    relative_path: str | None = None
    last_accessed: str | None = None


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """How far a thing bears on a message, and by which of its words."""

    item: StoredMemory
    score: float
    shared_words: tuple[str, ...]

    @property
    def reason(self) -> str:
        return f"shares {', '.join(self.shared_words)} with the message"


def clean_fact(text: str) -> str:
    """A fact as it is kept: one line, without control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def parse_facts(text: str) -> list[str]:
    """The facts of a file: each list item and each paragraph is one. Headings, rules and code say nothing by themselves."""
    found: list[list[str]] = []
    fenced = apart = False
    for line in text.split("\n"):
        stripped = line.strip()
        fence = stripped.startswith(("```", "~~~"))
        fenced ^= fence
        marker = _MARKER.match(line)
        if fence or fenced or not any(c.isalnum() for c in stripped) or stripped.startswith("#"):
            apart = True
        elif marker or apart or not found:
            found.append([line[marker.end() :] if marker else stripped])
            apart = False
        else:
            found[-1].append(stripped)
    return [fact for each in found if (fact := clean_fact(" ".join(each)))]


def recall_fact(fact: Fact) -> StoredMemory:
    told = f"- {fact.content} ({fact.key}; {fact.created_at[:10]}; {describe_source(fact)})"
    return StoredMemory("fact", fact.key, fact.content, told, fact.created_at, None, fact.last_accessed)


def describe_source(fact: Fact) -> str:
    """Who asked to remember it, and where: "told by the user in “The roof”"."""
    who = {"user": "told by the user", "model": "noted by the assistant"}.get(fact.source, f"imported from {truncate(fact.source, 80)}")
    return f"{who} in “{truncate(fact.title, 60)}”" if fact.title else who


def recall_cited_note(cited: MostCitedNote, summary: str | None) -> StoredMemory:
    often = f"cited in {cited.conversations} conversations, last on {cited.last_cited[:10]}"
    told = f"- {wikilink_to(cited.relative_path)}{': ' + summary if summary else ''} ({often})"
    return StoredMemory("document", cited.relative_path, summary or "", told, cited.last_cited, cited.relative_path, cited.last_cited)


def rank_by_relevance(message: str, items: Sequence[StoredMemory], now: str) -> tuple[RankedMemory, ...]:
    """Everything that shares a word with the message, what bears most on it first."""
    asked = {stem(term): term for term in reversed(content_terms(message))}
    counted = [_counted(item.key, item.content) for item in items]
    average = sum(length for _, length in counted) / max(1, len(counted)) or 1.0
    holders = Counter(term for words, _ in counted for term in asked if term in words)
    found: list[RankedMemory] = []
    for item, (words, length) in zip(items, counted, strict=True):
        shared = [term for term in reversed(asked) if term in words]
        score = sum(_weight(words[term], length / average, holders[term], len(items)) for term in shared)
        if shared:
            found.append(RankedMemory(item, score * _recency(item.date, now), tuple(asked[term] for term in shared)))
    return tuple(sorted(found, key=lambda relevant: -relevant.score))


def _weight(frequency: int, length: float, holders: int, of: int) -> float:
    rarity = math.log(1 + (of - holders + 0.5) / (holders + 0.5))
    return rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))


@lru_cache(maxsize=8192)
def _counted(key: str, content: str) -> tuple[Counter[str], int]:
    words = Counter(stem(term) for term in content_terms(f"{key.replace('-', ' ')} {content}"))
    return words, sum(words.values())


def _recency(dated: str, now: str) -> float:
    """From 1 for what is of today to 0.5 for what is old, or of a date that nobody can read."""
    then, today = _instant(dated), _instant(now)
    days = max(0.0, (today - then).total_seconds() / 86_400) if then and today else math.inf
    return 0.5 + 0.5 * math.exp2(-days / HALF_LIFE)


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def choose_for_prompt(ranked: Sequence[RankedMemory], room: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
    """What goes into the prompt: the best, as far as they bear on the message in earnest and fit into `room` tokens."""
    chosen: list[MemoryItem] = []
    for relevant in ranked:
        if len(chosen) == MAX_ITEMS or relevant.score < OF_BEST * ranked[0].score:
            break
        item = relevant.item
        tokens = counter.count(item.prompt_line) + 1
        if tokens <= room:
            room -= tokens
            path = item.relative_path or ""
            chosen.append(MemoryItem(path, item.prompt_line, tokens, relevant.reason, kind=item.kind, key=item.key))
    return tuple(chosen)
