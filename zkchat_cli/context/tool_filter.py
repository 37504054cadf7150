"""Tool filter: which tools to offer if all of them are too many (`context.tool_filter`).

A tool description takes about a hundred tokens with every call. If the tools exceed their budget or the window is small, core tools are
offered, and others that the conversation has used, that the last prompt offered, or that share words with the conversation.

Tools come first in the provider's prompt cache, so an offered tool stays while there is room, and their order never changes.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.models import PromptTool
from zkchat_cli.text.words import content_stems, detect_languages

CORE = frozenset(("read_zk_document", "find_excerpts", "resolve_wikilink"))
LARGEST_FILTERED_WINDOW = 8192
"""Tokens. A turn with a search takes 1 100 to 3 600, so two to six turns fit, and the descriptions of all tools cost nearly one more."""
RECENT_TURNS = 3
"""Turns before the message that count too."""


class ToolRelevanceInput(NamedTuple):
    """The new message, the turns before it, and the tools that the conversation used and that the last prompt offered."""

    message: str = ""
    recent: Sequence[str] = ()
    used: frozenset[str] = frozenset()
    previous: frozenset[str] = frozenset()


class FilteredTools(NamedTuple):
    """The tools to offer, in their original order, and the omitted ones with the reason."""

    tools: tuple[PromptTool, ...]
    omitted: tuple[tuple[str, str], ...] = ()


def select_tools(tools: Sequence[PromptTool], conversation: ToolRelevanceInput, budget: int, window: int) -> FilteredTools:
    """Core and used tools, and what else fits into `budget` tokens."""
    total = sum(tool.tokens for tool in tools)
    small = window <= LARGEST_FILTERED_WINDOW
    always = {tool.name for tool in tools if tool.name in CORE or tool.name in conversation.used}
    relevance = _relevance(tools, conversation)
    rest = [i for i, tool in enumerate(tools) if tool.name not in always]
    rest.sort(key=lambda i: (tools[i].name not in conversation.previous, -relevance[i]))
    room = budget - sum(tool.tokens for tool in tools if tool.name in always)
    offered = set(always)
    reasons: dict[str, str] = {}
    for i in rest:
        tool = tools[i]
        if small and not relevance[i] and tool.name not in conversation.previous:
            reasons[tool.name] = f"not relevant to the message, and the window of {window:,} tokens is small"
        elif tool.tokens > room:
            reasons[tool.name] = f"no room: all {len(tools)} tools use {total:,} of {budget:,} tokens"
        else:
            room -= tool.tokens
            offered.add(tool.name)
    return FilteredTools(tuple(t for t in tools if t.name in offered), tuple((t.name, reasons[t.name]) for t in tools if t.name in reasons))


def _relevance(tools: Sequence[PromptTool], conversation: ToolRelevanceInput) -> list[float]:
    """The words that each tool shares with the conversation: rare ones count more, those of more than half of the tools ("note") nothing,
    those of the message twice as much as those of the turns before it."""
    texts = tuple(f"{tool.name} {tool.descriptor['function'].get('description') or ''}".replace("_", " ") for tool in tools)
    languages = _detect_languages(texts)
    words = [_content_words(text, languages) for text in texts]
    holders = Counter(word for each in words for word in each)
    recent, message = _content_words(" ".join(conversation.recent), languages), _content_words(conversation.message, languages)
    weights = dict.fromkeys(recent, 1.0) | dict.fromkeys(message, 2.0)
    weights = {word: weight / holders[word] for word, weight in weights.items() if 0 < 2 * holders[word] <= len(tools)}
    return [sum(weights.get(word, 0.0) for word in each) for each in words]


@lru_cache(maxsize=512)
def _content_words(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Cached: the words of the tools are needed for each prompt."""
    return frozenset(content_stems(text, languages))


_detect_languages = lru_cache(maxsize=8)(detect_languages)
