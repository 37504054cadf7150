"""Quotes your notes, without a model, a key or a network. It is not a language model, and says so.

It goes through the same tool loop as any other: asks for excerpts, reads the documents that the message names, and answers with the
sentences that bear most on the question, word for word, each with its citation. Below a threshold it says that the notes do not say.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import Delta, Finished, Model, Provider, Request, Setup, Text, ToolCalls, Window
from zkchat_cli.models import PromptMessage, ToolCall
from zkchat_cli.words import STOPWORDS, content_terms, sentences, shorten, stem, terms

_LINK = re.compile(r"!?\[\[[^\[\]]*\]\]")
_DASH = re.compile(r"(?<!\S)-+(?=\w)")
"""Who asks about `find -name` excludes nothing."""
_POINTING_BACK = frozenset(("that", "it", "this", "those", "them", "these", "there"))
_ONLY_ABOUT = frozenset(
    "summarise summarize summary overview explain describe content contents tell show read say says discuss note notes".split()
)
"""Words of a question that ask for a document as such, not for something in it."""
MAX_QUOTES = 4
MAX_DOCUMENTS_READ = 3
LONGEST_QUOTE = 320
ENOUGH = 0.34
"""The least share of the question's rarity-weighted words that a sentence and its headings must have between them to be an answer."""
SECOND_BEST = 0.5
"""A further sentence must be worth at least this share of the best one."""
HEADING_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class _Excerpt:
    source: int
    title: str
    heading: str | None
    text: str
    rank: int


@dataclass(frozen=True, slots=True)
class _Quote:
    text: str
    source: int
    words: frozenset[str]
    value: float
    order: tuple[int, int]


class OfflineModel:
    """See the module. Streams word by word, as a model would."""

    name = "offline"
    window: Window | None = None
    exact = True

    def prepare(self) -> None:
        """There is nothing to load."""

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        asked = max((i for i, m in enumerate(request.messages) if m.role == "user" and m.kind == "conversation"), default=-1)
        question = request.messages[asked].content if asked >= 0 else ""
        results = [m for m in request.messages[asked + 1 :] if m.role == "tool"]
        calls = () if results or asked < 0 else _calls(request, question, asked)
        if calls:
            yield ToolCalls(calls)
            yield Finished("tool_calls")
            return
        read = {c.id for m in request.messages[asked + 1 :] for c in m.tool_calls if c.name == "read_zk_document"}
        named = [m for m in results if m.tool_call_id in read]
        answer = answer_from(query_of(request.messages, asked), results, named)
        for line in answer.splitlines(keepends=True):
            words = line.split(" ")
            for i, word in enumerate(words):
                yield Text(word if i == len(words) - 1 else word + " ")
        yield Finished("stop")


def _calls(request: Request, question: str, asked: int) -> tuple[ToolCall, ...]:
    offered = {tool.name for tool in request.tools}
    wanted: list[tuple[str, dict[str, Any]]] = []
    introduced = request.messages[asked - 1] if asked > 0 else None
    if introduced is not None and introduced.kind == "documents":
        wanted += [("read_zk_document", {"relative_path": path}) for path in introduced.source_ids[:MAX_DOCUMENTS_READ]]
    if question.strip():
        query = _DASH.sub("", query_of(request.messages, asked))
        wanted.append(("find_excerpts", {"query": shorten(query, 400)}))
    numbered = enumerate(((name, arguments) for name, arguments in wanted if name in offered), 1)
    return tuple(ToolCall(id=f"offline-{asked}-{i}", name=name, arguments=arguments) for i, (name, arguments) in numbered)


def query_of(messages: Sequence[PromptMessage], asked: int) -> str:
    """What to look for: the question, and the one before it when this one only points back ("and how do I undo that?")."""
    if asked < 0:
        return ""
    question = _without_links(messages[asked].content)
    words = terms(question)
    own = [w for w in words if w not in STOPWORDS]
    if own and not (len(own) <= 2 and (_POINTING_BACK & set(words) or words[0] in ("and", "also", "or"))):
        return question
    # a message of several sources is no question but quotes whole turns
    earlier = [m.content for m in messages[:asked] if m.role == "user" and m.kind == "conversation" and len(m.source_ids) == 1]
    return f"{question} {_without_links(earlier[-1])}" if earlier else question


def _without_links(text: str) -> str:
    """Documents that a message names are read anyway; their titles would only outweigh the question's own words."""
    bare = _LINK.sub(" ", text)
    return bare if set(terms(bare)) - STOPWORDS else text


def answer_from(question: str, results: Sequence[PromptMessage], named: Sequence[PromptMessage] = ()) -> str:
    """The answer in quotations, or an honest "your notes don't say" with the nearest notes.

    `named` are the results that hold documents the user named: when nothing in them answers, how they begin is the best there is.
    """
    excerpts = _excerpts(results)
    if not excerpts:
        return "Your notes don't say: nothing in them shares a word with your question.\n"
    quotes, coverage = _rank(excerpts, {stem(t) for t in content_terms(question)})
    about_it = bool(named) and not set(terms(question)) - STOPWORDS - _ONLY_ABOUT
    if quotes and coverage >= ENOUGH and not about_it:
        return "From your notes:\n\n" + _quoted(_choose(quotes))
    begin = [quote for excerpt in _excerpts(named)[:1] for quote in _opening(excerpt)]
    if begin:
        return f"[[{_excerpts(named)[0].title}]] begins:\n\n" + _quoted(begin)
    nearest = {e.title: e.source for e in reversed(excerpts)}
    names = [f"[[{title}]] [{source}]" for title, source in reversed(nearest.items())]
    return f"Your notes don't say. Nearest: {', '.join(names[:3])}\n"


def _quoted(quotes: Sequence[_Quote]) -> str:
    return "\n\n".join(f"“{quote.text}” [{quote.source}]" for quote in quotes) + "\n"


def _opening(excerpt: _Excerpt) -> list[_Quote]:
    said = [s.text for s in sentences(excerpt.text) if len(content_terms(s.text)) > 2 and not s.text.endswith(":")]
    return [_Quote(_cut(text), excerpt.source, frozenset(), 0.0, (0, i)) for i, text in enumerate(said[:MAX_QUOTES])]


def _excerpts(results: Sequence[PromptMessage]) -> list[_Excerpt]:
    """The numbered excerpts of tool results, each source once; a result that is not our JSON (an error text) has none."""
    found: dict[int, _Excerpt] = {}
    for result in results:
        try:
            document = json.loads(result.content)
        except ValueError:
            continue
        for rank, item in enumerate(document.get("excerpts", []) if isinstance(document, dict) else []):
            excerpt = _Excerpt(item["source"], item["title"], item["heading"], item["text"], rank)
            found.setdefault(excerpt.source, excerpt)
    return list(found.values())


def _rank(excerpts: Sequence[_Excerpt], wanted: set[str]) -> tuple[list[_Quote], float]:
    """Every sentence with its worth, best first, and the share of the question that the best one (with its headings) covers."""
    candidates = [
        (excerpt, position, sentence.text, frozenset(stem(t) for t in content_terms(sentence.text)))
        for excerpt in excerpts
        for position, sentence in enumerate(sentences(excerpt.text))
    ]
    frequency = Counter(word for _, _, _, words in candidates for word in words)
    rarity = {word: math.log(1 + len(candidates) / (frequency[word] or 0.5)) for word in sorted(wanted)}
    whole = math.fsum(rarity.values()) or 1.0  # fsum: a set's order differs by process, the answer must not
    quotes: list[_Quote] = []
    coverage = 0.0
    for excerpt, position, text, words in candidates:
        headings = {stem(t) for t in content_terms(f"{excerpt.title} {excerpt.heading or ''}")}
        own = math.fsum(rarity[w] for w in wanted & words)
        around = math.fsum(rarity[w] for w in (wanted & headings) - words)
        value = (own + HEADING_WEIGHT * around) / whole
        value *= 1.0 / (1 + 0.04 * excerpt.rank)
        value *= 0.5 if text.endswith((":", "?")) or len(words) < 3 else 1.0
        value /= 1 + max(0, len(text) - 240) / 480
        if own > 0:
            coverage = max(coverage, (own + around) / whole)
            quotes.append(_Quote(_cut(text), excerpt.source, words, value, (excerpt.rank, position)))
    return sorted(quotes, key=lambda q: (-q.value, q.order)), coverage


def _choose(quotes: Sequence[_Quote]) -> list[_Quote]:
    """The best sentences that say something the chosen ones have not; in the order of their worth."""
    chosen: list[_Quote] = []
    for quote in quotes:
        if len(chosen) == MAX_QUOTES or (chosen and quote.value < SECOND_BEST * chosen[0].value):
            break
        if all(len(quote.words & other.words) <= 0.6 * len(quote.words) for other in chosen):
            chosen.append(quote)
    return chosen


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else shorten(text, LONGEST_QUOTE)


def _open(setup: Setup) -> Model:
    if setup.name:
        raise ProviderError("unknown_model", f"offline has no model {setup.name!r}", "It has no models at all: say --model offline")
    return OfflineModel()


PROVIDER = Provider("offline", "quotes your notes, no model", _open, tools=frozenset(("find_excerpts", "read_zk_document")))
