"""Chooses the tools that a prompt offers, if their descriptions take too much of its window."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.models.prompts import PromptTool
from zkchat_cli.text.words import content_stems, detect_languages

LARGEST_FILTERED_WINDOW = 8192
"""Largest window, in tokens, for which tools are filtered.

A turn with a search takes 1 100 to 3 600 tokens, so two to six turns fit, and the descriptions of
all tools take nearly as much as one more.
"""
# Number of turns before the message that count too
RECENT_TURNS = 3
# Weights of words in the message, and in the turns before it
MESSAGE_WEIGHT = 2.0
RECENT_WEIGHT = 1.0


class _Candidate(NamedTuple):
    """A tool that is neither a core tool nor used already."""

    tool: PromptTool
    relevance: float
    was_offered: bool


def find_omitted_tools(
    tools: Sequence[PromptTool], inputs: PromptInputs, budget: Budget
) -> dict[str, str]:
    """The reasons of the tools that are not offered, by tool name.

    Such a tool is neither a core tool nor used already, and it has no room in the budget or is not
    relevant.
    """
    total = sum(tool.tokens for tool in tools)
    is_small = budget.max_context <= LARGEST_FILTERED_WINDOW
    if not inputs.filter_tools or (total <= budget.tools and not is_small):
        return {}
    reasons = _find_reasons(tools, inputs, budget)
    return {tool.name: reasons[tool.name] for tool in tools if tool.name in reasons}


def _find_reasons(
    tools: Sequence[PromptTool], inputs: PromptInputs, budget: Budget
) -> dict[str, str]:
    """Why tools are not offered, in the order in which they are considered."""
    total = sum(tool.tokens for tool in tools)
    window = budget.max_context
    is_small = window <= LARGEST_FILTERED_WINDOW
    reasons: dict[str, str] = {}
    always = inputs.core_tools.union(_called_tools(inputs))
    room = budget.tools
    for tool in tools:
        if tool.name in always:
            room -= tool.tokens
    for tool, relevance, was_offered in _candidates(tools, inputs, always):
        if is_small and not relevance and not was_offered:
            reasons[tool.name] = (
                f"not relevant to the message, and the window of {window:,} tokens is small"
            )
        elif tool.tokens > room:
            reasons[tool.name] = (
                f"no room: all {len(tools)} tools use {total:,} of {budget.tools:,} tokens"
            )
        else:
            room -= tool.tokens
    return reasons


def _candidates(
    tools: Sequence[PromptTool], inputs: PromptInputs, always: frozenset[str]
) -> list[_Candidate]:
    """The tools that need not be offered: first those of the last prompt, then the most relevant
    ones.
    """
    candidates: list[_Candidate] = []
    for tool, relevance in zip(tools, _relevance(tools, inputs), strict=True):
        if tool.name not in always:
            was_offered = tool.name in inputs.previous_tools
            candidates.append(_Candidate(tool, relevance, was_offered))
    candidates.sort(key=lambda each: (not each.was_offered, -each.relevance))
    return candidates


def _called_tools(inputs: PromptInputs) -> set[str]:
    """The names of the tools that the conversation and the turn in progress have called."""
    called: set[str] = set()
    for message in inputs.current:
        for call in message.tool_calls:
            called.add(call.name)
    # One union for all turns, because there may be 10,000 of them
    return called.union(*(turn.called_tools for turn in inputs.history.turns))


def _relevance(tools: Sequence[PromptTool], inputs: PromptInputs) -> list[float]:
    """The weight of the words that each tool shares with the conversation.

    Rare words count more, those of more than half of the tools ("note") count nothing, and those of
    the message count twice as much as those of the turns before it.
    """
    texts = tuple(map(_description, tools))
    languages = _detect_languages(texts)
    words_of_tools = [_content_words(text, languages) for text in texts]
    # For each word the number of tools that have it
    holders: Counter[str] = Counter()
    for words in words_of_tools:
        holders.update(words)
    message = inputs.question.prompt_text if inputs.question else ""
    weights = dict.fromkeys(_content_words(_recent_text(inputs), languages), RECENT_WEIGHT)
    weights |= dict.fromkeys(_content_words(message, languages), MESSAGE_WEIGHT)
    weight_of: dict[str, float] = {}
    for word, weight in weights.items():
        if 0 < 2 * holders[word] <= len(tools):
            weight_of[word] = weight / holders[word]
    relevance: list[float] = []
    for words in words_of_tools:
        shared = (weight_of.get(word, 0.0) for word in words)
        relevance.append(sum(shared))
    return relevance


def _description(tool: PromptTool) -> str:
    function = tool.descriptor["function"]
    return f"{tool.name} {function.get('description') or ''}".replace("_", " ")


def _recent_text(inputs: PromptInputs) -> str:
    """The text of the turns before the message."""
    said: list[str] = []
    for turn in inputs.history.all_turns[-RECENT_TURNS:]:
        said += [message.content for message in turn.messages if message.role != "tool"]
    return "\n".join(said)


@lru_cache(maxsize=512)
def _content_words(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The content words of a text. Cached, because each prompt needs the words of the tools."""
    return frozenset(content_stems(text, languages))


_detect_languages = lru_cache(maxsize=8)(detect_languages)
