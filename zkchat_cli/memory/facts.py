"""Facts: what a text says of them, the keys they are stored under, and how relevant each is to a
message.

The key of "NAME: VALUE" and "NAME = VALUE" is the name, and a new value replaces the old one. "NAME
is VALUE" does so only for things that have one value at a time, such as a deadline. In doubt both
facts stay: the user can forget a fact too many, but cannot restore a lost one.

Ranking is BM25 over stemmed words, fused with meaning as in the
search of notes, both times recency: an old fact counts half, never nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, count
from statistics import fmean, pstdev
from typing import NamedTuple

from zkchat_cli.markdown.blocks import blocks, is_delimiter_row, table_cells
from zkchat_cli.memory.project import MemoryItem, MemoryKind
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import (
    ENGLISH,
    LANGUAGES,
    STOPWORDS,
    content_stems,
    content_terms,
    detect_language,
    fold,
    stem,
)
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault.links.wikilinks import write_link

BM25 = Bm25()
HALF_LIFE = 90.0  # days
# A lower score by words than this share of the best one is not relevant, unless the meaning is
# similar
MIN_SHARE_OF_BEST = 0.25
MAX_ITEMS = 8
# Items without stored vectors that a search compares by meaning, at 3 ms each
MAX_WITHOUT_VECTOR = 100
SIMILAR = 0.3
"""The cosine of an item that is found by meaning alone. Of 19 questions in other words than their
fact, among 20 facts, the built-in model finds 15 (11 from .35 on, 9 from .4 on); a question about
something else gets .12 facts (.04, .02).
"""
# So many cosines show what is usual: some models give .75 to unrelated texts. Only what is above it
# is similar.
MIN_FOR_AVERAGE = 10
MAX_FACT = 2_000  # characters
MAX_KEY = 48
MAX_NAME_WORDS = 6
_CONTROL = lazy_pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ENTRY = lazy_pattern(r"([^\s:=：][^:=：\n]{0,80}?)\s*(?::(?=\s)|：|\s=\s)\s*\S")
_IS = lazy_pattern(r"([^\s.!?][^.!?\n]{0,80}?)(?:\s+(?:is|are)\s+|是)\S", re.IGNORECASE)
_ARTICLE = lazy_pattern(r"^(?:(?:the|a|an|my|our|your|please|remember|that)\s+)+", re.IGNORECASE)
_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)*")
# labels before many different facts
_LABELS = frozenset(
    (
        "note todo reminder remember idea important warning tip hint fyi ps nb attention "
        "question fact task 注意 备注"
    ).split()
)
_SINGLE_VALUED = frozenset(
    """name number phone mobile email address password pin birthday age height weight size colour color price cost rent salary fee budget
    deadline date start end location capital username url version status owner manager goal limit language timezone amount quantity model
    favourite favorite preferred current""".split()
)
_SINGLE_VALUED_CHINESE = tuple(
    "密码 电话 号码 邮箱 地址 生日 名字 年龄 身高 体重 价格 日期 时间 版本 状态".split()
)


class StoredMemory(NamedTuple):
    """A fact, found by its key, or a note, found by its path; and how relevant it is to a message,
    once it is ranked.
    """

    kind: MemoryKind
    key: str
    content: str
    prompt_line: str  # the line that the model gets
    date: str
    relative_path: str | None = None
    last_accessed: str | None = None
    # The agent that a fact belongs to; None if it is shared
    agent: str | None = None
    score: float = 0.0
    # With the message; none if it was found by meaning
    shared_words: tuple[str, ...] = ()
    # False for an item that shares too little to be sent
    fits_prompt: bool = True

    @property
    def reason(self) -> str:
        return (
            f"shares {', '.join(self.shared_words)} with the message"
            if self.shared_words
            else "means something similar"
        )


def clean_fact(text: str) -> str:
    """One line without control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def parse_facts(text: str) -> list[str]:
    """The facts in a file: each list item, paragraph and row of a table. Headings, rules, code and
    comments are not facts.
    """
    found: list[str] = []
    for block in blocks(text, lenient=True):
        if block.kind == "table":
            found += (
                " · ".join(table_cells(row)) for row in block.lines if not is_delimiter_row(row)
            )
        elif block.kind in ("paragraph", "item", "callout"):
            found.append(block.text)
        elif block.kind == "indented":
            # A list below a heading is often indented, code is seldom a file of facts
            found += parse_facts("\n".join(line.lstrip() for line in block.lines))
    return [clean_fact(fact) for fact in found if any(c.isalnum() for c in fact)]


def suggest_key(content: str, facts: Mapping[str, str]) -> str:
    """A key for a fact: its name, which may be that of an older fact, or a new key made of its
    first words. `facts`: the others by key.
    """
    entry = _ENTRY.match(content)
    match = entry or _IS.match(content)
    words = (
        [word for word in _words(_ARTICLE.sub("", match[1])) if word not in ("the", "of")]
        if match
        else []
    )
    if (
        0 < len(words) <= MAX_NAME_WORDS
        and words[0] not in _LABELS
        and any(word not in STOPWORDS for word in words)
    ):
        is_single = not _SINGLE_VALUED.isdisjoint((words[0], words[-1])) or words[-1].endswith(
            _SINGLE_VALUED_CHINESE
        )
        if (entry or is_single) and (name := slugify(" ".join(words))):
            return name
    first = (
        slugify(
            " ".join(
                [word for word in _words(content[:2000]) if word not in STOPWORDS][:MAX_NAME_WORDS]
            )
        )
        or "fact"
    )
    numbered = (f"{first[: MAX_KEY - 4].strip('-')}-{n}" for n in count(2))
    return next(key for key in chain([first], numbered) if facts.get(key, content) == content)


def slugify(text: str) -> str:
    """The words of a text without case and accents, joined by hyphens; at most `MAX_KEY`
    characters.
    """
    return "-".join(_words(text[: 4 * MAX_KEY]))[:MAX_KEY].strip("-")


def _words(text: str) -> list[str]:
    return [re.sub("['’]", "", word) for word in _WORD.findall(fold(text))]


def recall_fact(fact: Fact) -> StoredMemory:
    line = f"- {fact.content} ({fact.key}; {fact.created_at[:10]}; {describe_source(fact)})"
    return StoredMemory(
        "fact", fact.key, fact.content, line, fact.created_at, None, fact.last_accessed, fact.agent
    )


def describe_source(fact: Fact) -> str:
    """Who stored the fact and where: "told by the user in “The roof”"."""
    noted = (
        f"noted by the agent {fact.agent} for itself" if fact.agent else "noted by the assistant"
    )
    who = {"user": "told by the user", "model": noted}.get(
        fact.source, f"imported from {truncate(fact.source, 80)}"
    )
    return f"{who} in “{truncate(fact.title, 60)}”" if fact.title else who


def recall_cited_note(note: NoteUsage, summary: str | None) -> StoredMemory:
    often = f"cited in {note.conversations} conversations, last on {note.last_used[:10]}"
    line = f"- {write_link(note.relative_path)}{': ' + summary if summary else ''} ({often})"
    return StoredMemory(
        "document",
        note.relative_path,
        summary or "",
        line,
        note.last_used,
        note.relative_path,
        note.last_used,
    )


def rank_by_relevance(
    message: str,
    items: Sequence[StoredMemory],
    now: str,
    languages: tuple[str, ...] = (ENGLISH,),
    cosines: Mapping[StoredMemory, float] | None = None,
) -> tuple[StoredMemory, ...]:
    """The items that share a word with the message, in any form, or mean something similar, best
    first. `languages`: of the notes; that of the items is added. `cosines`: how near items are to
    the message by meaning, as far as known.
    """
    # 12 ms, which the budget bar does not need
    from zkchat_cli.vault.search.lexical import DEVIATIONS, fuse

    # One fact is too short to tell
    spoken = {*languages, _detect_language(" ".join(item.content for item in items))}
    languages = tuple(language for language in LANGUAGES if language in spoken) or (ENGLISH,)
    query = {stem(term, languages): term for term in reversed(content_terms(message))}
    counts = [_count_words(item.key, item.content, languages) for item in items]
    average = sum(words.total() for words in counts) / max(1, len(counts)) or 1.0
    frequency = Counter(term for words in counts for term in query if term in words)
    rarities = {term: rarity(frequency[term], len(items)) for term in query}
    recency = [_recency(item.date, now) for item in items]
    shared = [[term for term in reversed(query) if term in words] for words in counts]
    by_words: dict[int, float] = {}
    for number, words in enumerate(counts):
        counted = {term: words[term] for term in shared[number]}
        if score := BM25.score(counted, rarities, BM25.norm(words.total(), average)):
            by_words[number] = score * recency[number]
    best = sorted(by_words, key=lambda number: -by_words[number])[:3]
    coverage = max(
        (sum(rarities[term] for term in shared[number]) for number in best), default=0.0
    ) / (sum(rarities.values()) or 1.0)
    near = (
        {number: cosines[item] for number, item in enumerate(items) if item in cosines}
        if cosines
        else {}
    )
    usual = fmean(near.values()) + pstdev(near.values()) if len(near) >= MIN_FOR_AVERAGE else 0.0
    similar = {number for number, cosine in near.items() if cosine >= max(SIMILAR, usual)}
    by_meaning = {
        n: DEVIATIONS * near[n] * recency[n] for n in near if n in by_words or n in similar
    }
    least = MIN_SHARE_OF_BEST * max(by_words.values(), default=0.0)
    ranked = []
    for n, score in fuse(by_words, by_meaning, coverage).items():
        common = tuple(query[term] for term in shared[n])
        ranked.append(
            items[n]._replace(
                score=score, shared_words=common, fits_prompt=n in similar or by_words[n] >= least
            )
        )
    return tuple(ranked)


_detect_language = lru_cache(maxsize=2)(detect_language)


@lru_cache(maxsize=2048)
def _count_words(key: str, content: str, languages: tuple[str, ...]) -> Counter[str]:
    return Counter(content_stems(f"{key.replace('-', ' ')} {content}", languages))


def _recency(date: str, now: str) -> float:
    """A factor from 1 for today to 0.5 for an old or unreadable date."""
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(date)
    except (ValueError, TypeError):
        return 0.5
    return 0.5 + 0.5 * math.exp2(-max(0.0, age.total_seconds() / 86_400) / HALF_LIFE)


def choose_for_prompt(
    ranked: Sequence[StoredMemory], budget: int, counter: TokenCounter
) -> tuple[MemoryItem, ...]:
    """The relevant items that fit into `budget` tokens, best first."""
    chosen: list[MemoryItem] = []
    for each in ranked:
        tokens = counter.count(each.prompt_line) + 1
        if each.fits_prompt and tokens <= budget and len(chosen) < MAX_ITEMS:
            budget -= tokens
            path = each.relative_path or ""
            chosen.append(
                MemoryItem(
                    path,
                    each.prompt_line,
                    tokens,
                    each.reason,
                    kind=each.kind,
                    key=each.key,
                    agent=each.agent,
                )
            )
    return tuple(chosen)
