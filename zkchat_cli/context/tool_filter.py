"""Which tools the model is told of, where all of them are too much (`context.tool_filter`).

Describing a tool takes about a hundred tokens with every call. Where the tools exceed their budget, or the window is small, the core ones
are always offered, and of the others those that the conversation has used, that were offered before, or whose name and description bear
on what is being said: BM25 over stemmed words, the message counting twice as much as the turns before it.

Tools stand at the very front of what a provider caches: so a tool that was once offered stays while there is room, and the order never
changes.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from zkchat_cli.models import PromptTool
from zkchat_cli.text.words import content_terms, stem

CORE = frozenset(("read_zk_document", "find_excerpts", "resolve_wikilink"))
ALWAYS = CORE | {"finish"}
"""Core tools, and the one that ends an agent run."""
SMALL_WINDOW = 8192
"""Tokens up to which a window is small. A turn with a search takes 1 100 tokens (measured on the demo notes) to 3 600 (on the benchmark's),
so only two to six of them fit, and the descriptions of all tools (about 900 tokens without those of memory) cost nearly one more. In twice
that window they are less than a tenth of what is sent, and a provider's cache holds them."""
RECENT_TURNS = 3
"""Turns before the message whose words count, too."""
K1, B = 1.2, 0.75
MESSAGE, BEFORE = 2.0, 1.0


@dataclass(frozen=True, slots=True)
class ToolRelevanceInput:
    """What is being said: the new message, the turns right before it, the names of tools that the conversation has used, and of those that
    the last prompt offered."""

    message: str = ""
    recent: Sequence[str] = ()
    used: frozenset[str] = frozenset()
    previous: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FilteredTools:
    """The tools to offer, in the order they were given; and the names of the others, each with the reason."""

    tools: tuple[PromptTool, ...]
    omitted: tuple[tuple[str, str], ...] = ()


def select_tools(tools: Sequence[PromptTool], talk: ToolRelevanceInput, budget: int, window: int) -> FilteredTools:
    """What to offer of `tools`, in `budget` tokens if the core tools and the used ones leave any; all of them where that is no matter."""
    total = sum(tool.tokens for tool in tools)
    small = window <= SMALL_WINDOW
    if total <= budget and not small:
        return FilteredTools(tuple(tools))
    always = {tool.name for tool in tools if tool.name in ALWAYS or tool.name in talk.used}
    relevance = _relevance(tools, talk)
    rest = [i for i, tool in enumerate(tools) if tool.name not in always]
    rest.sort(key=lambda i: (tools[i].name not in talk.previous, -relevance[i]))
    room = budget - sum(tool.tokens for tool in tools if tool.name in always)
    offered = set(always)
    reasons: dict[str, str] = {}
    for i in rest:
        tool = tools[i]
        if small and not relevance[i] and tool.name not in talk.previous:
            reasons[tool.name] = f"it does not bear on the message, and a window of {window} is small"
        elif tool.tokens > room:
            reasons[tool.name] = f"no room: all {len(tools)} tools take {total} tokens of their budget of {budget}"
        else:
            room -= tool.tokens
            offered.add(tool.name)
    return FilteredTools(tuple(t for t in tools if t.name in offered), tuple((t.name, reasons[t.name]) for t in tools if t.name in reasons))


def _relevance(tools: Sequence[PromptTool], talk: ToolRelevanceInput) -> list[float]:
    """How well each tool answers to what is said. Words that more than half of the tools have ("note") tell none from another."""
    words = [_described(tool.name, tool.descriptor["function"].get("description") or "") for tool in tools]
    lengths = [sum(each.values()) for each in words]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    weights = dict.fromkeys(_words(" ".join(talk.recent)), BEFORE) | dict.fromkeys(_words(talk.message), MESSAGE)
    scores = [0.0] * len(tools)
    for term, weight in weights.items():
        holders = [i for i, each in enumerate(words) if term in each]
        if 2 * len(holders) > len(tools):
            continue
        rarity = math.log(1 + (len(tools) - len(holders) + 0.5) / (len(holders) + 0.5))
        for i in holders:
            frequency = words[i][term]
            scores[i] += weight * rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths[i] / average))
    return scores


@lru_cache(maxsize=512)
def _described(name: str, description: str) -> Counter[str]:
    """The words of a tool, its name twice; they are asked for with each prompt."""
    return _words(f"{name} {name} {description}".replace("_", " "))


def _words(text: str) -> Counter[str]:
    return Counter(stem(term) for term in content_terms(text))
