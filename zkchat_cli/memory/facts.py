"""Facts: which ones a text has, and how relevant each is to a message.

Ranking is BM25 over stemmed words, fused with meaning as in the search of notes, both times
recency: an old fact counts half, never nothing.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from statistics import fmean, pstdev
from typing import NamedTuple

from zkchat_cli.errors import UsageError
from zkchat_cli.markdown.blocks import blocks
from zkchat_cli.markdown.tables import table_rows
from zkchat_cli.memory.project import MemoryItem, MemoryKind
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.literals import written_form
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import LANGUAGES, content_stems, content_terms, detect_language, stem
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault.links.wikilinks import write_link

BM25 = Bm25()
# Days after which the recency of an item has lost half of its bonus
HALF_LIFE = 90.0
# Share of the best score by words: an item below it is relevant only if its meaning is similar
MIN_SHARE_OF_BEST = 0.25
# Items in a prompt
MAX_ITEMS = 8
# Items without stored vectors that a search compares by meaning, at 3 ms each
MAX_WITHOUT_VECTOR = 100
SIMILAR = 0.3
"""The cosine of an item that is found by meaning alone. Of 19 questions in other words than their
fact, among 20 facts, the built-in model finds 15 (11 from .35 on, 9 from .4 on); a question about
something else gets .12 facts (.04, .02).
"""
# Cosines that are enough to show what is usual, since some models give .75 to unrelated texts. With
# so many, only an item above the usual is similar.
MIN_FOR_AVERAGE = 10
# Best items by words that are compared by their share of the message: the largest share counts
_BEST = 3
# Characters of a fact
MAX_FACT = 2_000
# Characters in the description of a fact's source
_LONGEST_SOURCE = 80
_LONGEST_TITLE = 60
_SECONDS_OF_A_DAY = 86_400
_CONTROL = lazy_pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class StoredMemory(NamedTuple):
    """A fact, found by its key, or a note, found by its path; and how relevant it is to a message,
    once it is ranked.
    """

    kind: MemoryKind
    key: str
    content: str
    # The line that the model gets
    prompt_line: str
    date: str
    relative_path: str | None = None
    last_accessed: str | None = None
    # The agent that a fact belongs to; None if it is shared
    agent: str | None = None
    score: float = 0.0
    # Words that it shares with the message; none if it was found by meaning
    shared_words: tuple[str, ...] = ()
    # False for an item that shares too little to be sent
    fits_prompt: bool = True

    @property
    def reason(self) -> str:
        """Why the item is in a prompt."""
        if self.shared_words:
            return f"shares {', '.join(self.shared_words)} with the message"
        return "means something similar"


def clean_fact(text: str) -> str:
    """A fact as it is stored: on one line, without control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def check_fact(content: str) -> None:
    """Raise UsageError for a text that cannot be remembered."""
    if not _has_words(content):
        raise UsageError(
            "there is nothing to remember",
            "Give a fact, such as: the roofer's number is 0171 5550",
        )
    if len(content) > MAX_FACT:
        raise UsageError(
            f"that is too long to remember: {len(content)} characters of at most {MAX_FACT}",
            "Write a note and remember where it is: notes can be searched.",
        )


def parse_facts(text: str) -> list[str]:
    """The facts in a file: each list item, paragraph and row of a table. Headings, rules, code and
    comments are not facts.
    """
    found: list[str] = []
    for block in blocks(text, lenient=True):
        if block.kind == "table":
            found += table_rows(block.lines)
        elif block.kind in ("paragraph", "item", "callout"):
            found.append(block.text)
        elif block.kind == "indented":
            # A list below a heading is often indented, code is seldom a file of facts
            found += parse_facts("\n".join(line.lstrip() for line in block.lines))
    cleaned = map(clean_fact, found)
    return [fact for fact in cleaned if _has_words(fact)]


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def recall_fact(fact: Fact) -> StoredMemory:
    """A fact with the line that a model gets of it."""
    line = f"- {fact.content} ({fact.key}; {fact.created_at[:10]}; {describe_source(fact)})"
    return StoredMemory(
        kind="fact",
        key=fact.key,
        content=fact.content,
        prompt_line=line,
        date=fact.created_at,
        last_accessed=fact.last_accessed,
        agent=fact.agent,
    )


def describe_source(fact: Fact) -> str:
    """Who stored the fact and where: "told by the user in “The roof”"."""
    if fact.source == "user":
        who = "told by the user"
    elif fact.source != "model":
        who = f"imported from {truncate(fact.source, _LONGEST_SOURCE)}"
    elif fact.agent:
        who = f"noted by the agent {fact.agent} for itself"
    else:
        who = "noted by the assistant"
    if not fact.title:
        return who
    return f"{who} in “{truncate(fact.title, _LONGEST_TITLE)}”"


def recall_cited_note(note: NoteUsage, summary: str | None) -> StoredMemory:
    """A note that is often cited, with the line that a model gets of it. `summary`: the note in one
    line, if there is one.
    """
    often = f"cited in {note.conversations} conversations, last on {note.last_used[:10]}"
    about = f": {summary}" if summary else ""
    return StoredMemory(
        kind="document",
        key=note.relative_path,
        content=summary or "",
        prompt_line=f"- {write_link(note.relative_path)}{about} ({often})",
        date=note.last_used,
        relative_path=note.relative_path,
        last_accessed=note.last_used,
    )


def rank_by_relevance(
    message: str,
    items: Sequence[StoredMemory],
    now: str,
    languages: tuple[str, ...] = (ENGLISH,),
    cosines: Mapping[StoredMemory, float] | None = None,
) -> tuple[StoredMemory, ...]:
    """The items that share a word with the message, in any form, or mean something similar, best
    first.

    `languages` are those of the notes; that of the items is added. `cosines` says how near items
    are to the message by meaning; items without a vector are not in it.
    """
    # 12 ms, which the budget bar does not need
    from zkchat_cli.vault.search.fusion import DEVIATIONS, fuse

    recency = [_recency(item.date, now) for item in items]
    words = _match_words(message, items, languages)
    by_words = words.weighted_scores(recency)
    near = _cosines_by_number(items, cosines or {})
    similar = _similar_items(near)
    by_meaning: dict[int, float] = {}
    for number, cosine in near.items():
        if number in by_words or number in similar:
            by_meaning[number] = DEVIATIONS * cosine * recency[number]
    least = MIN_SHARE_OF_BEST * max(by_words.values(), default=0.0)
    coverage = words.coverage_of_best(by_words)
    ranked: list[StoredMemory] = []
    for number, score in fuse(by_words, by_meaning, coverage).items():
        ranked_item = items[number]._replace(
            score=score,
            shared_words=words.shared_as_written(number),
            fits_prompt=number in similar or by_words[number] >= least,
        )
        ranked.append(ranked_item)
    return tuple(ranked)


class _WordMatches(NamedTuple):
    """The words that a message shares with items.

    `written` are the message's words as they are written, by their stems; `rarities` those of the
    stems among the items. `shared` are the stems that each item has, `scores` its BM25.
    """

    written: Mapping[str, str]
    rarities: Mapping[str, float]
    shared: Sequence[Sequence[str]]
    scores: Sequence[float]

    def coverage_of_best(self, by_words: Mapping[int, float]) -> float:
        """The largest share of the message's words, weighted by their rarity, that one of the best
        items has.
        """
        best = sorted(by_words, key=lambda number: -by_words[number])[:_BEST]
        covered = max(map(self._shared_rarity, best), default=0.0)
        return covered / (sum(self.rarities.values()) or 1.0)

    def weighted_scores(self, factors: Sequence[float]) -> dict[int, float]:
        """The scores of the items that share words with the message, by their numbers, each times
        the factor of its item.
        """
        weighted: dict[int, float] = {}
        for number, score in enumerate(self.scores):
            if score:
                weighted[number] = score * factors[number]
        return weighted

    def shared_as_written(self, number: int) -> tuple[str, ...]:
        """The words that an item shares with the message, as the message writes them."""
        return tuple(written_form(self.written[word]) for word in self.shared[number])

    def _shared_rarity(self, number: int) -> float:
        return sum(self.rarities[word] for word in self.shared[number])


def _match_words(
    message: str, items: Sequence[StoredMemory], languages: Sequence[str]
) -> _WordMatches:
    known = _known_languages(items, languages)
    # Reversed, so that the first of several words with one stem is the one that is named
    written = {stem(term, known): term for term in reversed(content_terms(message))}
    counts = [_count_words(item.key, item.content, known) for item in items]
    average = sum(words.total() for words in counts) / max(1, len(counts)) or 1.0
    shared = [_shared_words(written, words) for words in counts]
    frequency: Counter[str] = Counter()
    for common in shared:
        frequency.update(common)
    rarities: dict[str, float] = {}
    for word in written:
        rarities[word] = rarity(frequency[word], len(items))
    scores: list[float] = []
    for words, common in zip(counts, shared, strict=True):
        counted = {word: words[word] for word in common}
        scores.append(BM25.score(counted, rarities, BM25.norm(words.total(), average)))
    return _WordMatches(written, rarities, shared, scores)


def _shared_words(query: dict[str, str], words: Mapping[str, int]) -> list[str]:
    """The stems of a message that an item has, in the message's order."""
    return [word for word in reversed(query) if word in words]


def _known_languages(items: Sequence[StoredMemory], languages: Sequence[str]) -> tuple[str, ...]:
    """These languages and that of the items: one fact is too short to tell its language."""
    contents = " ".join(item.content for item in items)
    spoken = {*languages, _detect_language(contents)}
    known = tuple(language for language in LANGUAGES if language in spoken)
    return known or (ENGLISH,)


def _cosines_by_number(
    items: Sequence[StoredMemory], cosines: Mapping[StoredMemory, float]
) -> dict[int, float]:
    by_number: dict[int, float] = {}
    for number, item in enumerate(items):
        if item in cosines:
            by_number[number] = cosines[item]
    return by_number


def _similar_items(near: Mapping[int, float]) -> set[int]:
    """The numbers of the items that are near enough to be found by meaning alone."""
    least = SIMILAR
    if len(near) >= MIN_FOR_AVERAGE:
        usual = fmean(near.values()) + pstdev(near.values())
        least = max(SIMILAR, usual)
    return {number for number, cosine in near.items() if cosine >= least}


_detect_language = lru_cache(maxsize=2)(detect_language)


@lru_cache(maxsize=2048)
def _count_words(key: str, content: str, languages: tuple[str, ...]) -> Counter[str]:
    return Counter(content_stems(f"{key.replace('-', ' ')} {content}", languages))


def _recency(date: str, now: str) -> float:
    """A factor for a date: 1 for today, down to 0.5 for an old or unreadable one."""
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(date)
    except (ValueError, TypeError):
        return 0.5
    days = max(0.0, age.total_seconds() / _SECONDS_OF_A_DAY)
    return 0.5 + 0.5 * math.exp2(-days / HALF_LIFE)


def choose_for_prompt(
    ranked: Sequence[StoredMemory], budget: int, counter: TokenCounter
) -> tuple[MemoryItem, ...]:
    """The relevant items that fit into `budget` tokens, best first."""
    chosen: list[MemoryItem] = []
    for each in ranked:
        # One more token for the line end
        tokens = counter.count(each.prompt_line) + 1
        if each.fits_prompt and tokens <= budget and len(chosen) < MAX_ITEMS:
            budget -= tokens
            item = MemoryItem(
                relative_path=each.relative_path or "",
                content=each.prompt_line,
                tokens=tokens,
                reason=each.reason,
                kind=each.kind,
                key=each.key,
                agent=each.agent,
            )
            chosen.append(item)
    return tuple(chosen)
