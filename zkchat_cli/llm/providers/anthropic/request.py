"""The body of a call of Anthropic's Messages API. Pure.

The API has rules of its own: instructions are separate, roles alternate and start with the user,
results directly follow their calls, ids and names use few characters, and empty texts are left out.
Cache markers follow what stays the same byte for byte: the tools, the instructions, the summary,
and the turns before the current one. Excerpts of notes become search results that Claude can cite
by the line.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from zkchat_cli.llm.base import (
    NOT_IN_NAMES,
    Options,
    Request,
    Window,
    image_base64,
    without_none,
)
from zkchat_cli.llm.known_models import KnownModel
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.excerpts import LONGEST_TITLE, text_around_excerpts
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.image_rules import PatchRule

# Marks reasoning that goes back to Anthropic only
PROVIDER_NAME = "anthropic"
CACHE_MARKER = {"type": "ephemeral"}
THINKING_BUDGETS = {
    "none": 0,
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 48_000,
}
"""Tokens for thinking, for models that need a number: at least 1024, and less than the longest
answer.
"""
MIN_THINKING_BUDGET = 1024
MIN_ANSWER = 4096
# Tokens to request for an answer and its thinking, unless the user sets a number
MAX_ANSWER = 64_000
MAX_ANSWER_OF_OLDER = 8192
# The highest temperature that the API takes
MAX_TEMPERATURE = 1.0
OMITTED = "[Earlier messages are left out.]"
_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_LINE = re.compile(r".*\S.*(?:\n\s*)*")

Block = dict[str, Any]


class ClaudeVersion(NamedTuple):
    """A version such as 4.5; versions compare by age."""

    major: int
    minor: int


# The first version with longer answers
LONG_ANSWERS = ClaudeVersion(4, 5)
# The first version that decides itself how long to think
ADAPTIVE_THINKING = ClaudeVersion(4, 6)
# The first version that thinks unless it is told not to
THINKS_BY_DEFAULT = ClaudeVersion(5, 0)
# The first version that takes no temperature
NO_TEMPERATURE = ClaudeVersion(4, 7)
# The first version that takes pictures
IMAGES = ClaudeVersion(3, 0)
STANDARD_IMAGES = PatchRule(patch=28, longest=1568, most=1568)
DETAILED_IMAGES = PatchRule(patch=28, longest=2576, most=4784)
# The version of a Claude that names none
NEWEST = ClaudeVersion(99, 0)
# The version of any other model
IMITATION = ClaudeVersion(4, 0)


def claude_version(model: str) -> ClaudeVersion:
    """The version in a model's name. A Claude without one counts as new, any other name as an
    imitation of an older one.
    """
    if found := _VERSION.search(model):
        return ClaudeVersion(int(found[1]), int(found[2] or 0))
    return NEWEST if "claude-" in model else IMITATION


def build_body(
    request: Request,
    model: str,
    window: Window | None,
    known: KnownModel | None = None,
    *,
    cites: bool,
) -> dict[str, Any]:
    """The JSON body of a call. The same beginning of a conversation gives the same bytes, with
    cache markers at the same positions. `cites`: excerpts go as search results.
    """
    version = claude_version(model)
    max_tokens = request.options.max_output_tokens or _longest_answer(request, version, window)
    if known is not None and known.output is not None:
        max_tokens = min(max_tokens, known.output)
    system, rest = _split_instructions(request.messages)
    conversation = _convert(rest, cites=cites)
    tools = [_tool(tool.descriptor["function"]) for tool in request.tools]
    tool_choice = None
    if not tools:
        # The API rejects calls in a conversation without tools: declare them, but forbid their use
        tools = _called_tools(rest)
        tool_choice = {"type": "none"} if tools else None
    for block in (*tools[-1:], *system[-1:], *conversation.cache_ends):
        block["cache_control"] = CACHE_MARKER
    body = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": conversation.messages,
        "stream": True,
    }
    body |= without_none(system=system or None, tools=tools or None, tool_choice=tool_choice)
    may_stop_thinking = known is None or "thinking off" not in known.refuses
    return body | _thinking_options(request.options, max_tokens, version, may_stop_thinking)


def _split_instructions(
    messages: Sequence[PromptMessage],
) -> tuple[list[Block], Sequence[PromptMessage]]:
    """The instructions at the beginning, as blocks, and the messages after them."""
    system: list[Block] = []
    for position, message in enumerate(messages):
        if message.role != "system":
            return system, messages[position:]
        system += text_blocks(message.content)
    return system, ()


def _called_tools(messages: Sequence[PromptMessage]) -> list[Block]:
    """The tools that a conversation calls, by their names alone."""
    names = {call.name for message in messages for call in message.tool_calls}
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]


def _longest_answer(request: Request, version: ClaudeVersion, window: Window | None) -> int:
    """The longest answer in tokens that fits into the window: older models reject a call that asks
    for more.
    """
    longest = MAX_ANSWER if version >= LONG_ANSWERS else MAX_ANSWER_OF_OLDER
    if window is None:
        return longest
    used = sum(message.tokens for message in request.messages)
    used += sum(tool.tokens for tool in request.tools)
    return min(longest, max(window.tokens - used, MIN_ANSWER))


def _tool(function: Mapping[str, Any]) -> Block:
    """A tool in the API's form. A tool of an imported conversation may have no parameters."""
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }


def _thinking_options(
    options: Options, max_tokens: int, version: ClaudeVersion, may_stop_thinking: bool
) -> dict[str, Any]:
    """The keys for thinking or, without it, for the temperature. Newer models decide themselves how
    long to think, older ones take a budget. The newest think unless they are told not to.
    """
    effort = options.reasoning_effort
    if effort and effort != "none" and version >= ADAPTIVE_THINKING:
        known = "low" if effort == "minimal" else effort
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": known},
        }
    if effort == "none" and NEWEST > version >= THINKS_BY_DEFAULT and may_stop_thinking:
        return {"thinking": {"type": "disabled"}}
    if effort:
        budget = min(THINKING_BUDGETS[effort], max_tokens - max_tokens // 4)
        if budget >= MIN_THINKING_BUDGET:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if options.temperature is not None and version < NO_TEMPERATURE:
        return {"temperature": min(options.temperature, MAX_TEMPERATURE)}
    return {}


class _Conversation(NamedTuple):
    """Messages in the API's form, and the last blocks of the parts that stay the same, where cache
    markers go.
    """

    messages: list[dict[str, Any]]
    cache_ends: list[Block]


def _convert(messages: Sequence[PromptMessage], *, cites: bool) -> _Conversation:
    """A conversation in the API's form. The parts that stay the same are the summary, and all
    before the current turn.
    """
    turn = _turn_start(messages)
    converted: list[dict[str, Any]] = []
    cache_ends: list[Block] = []
    for position, message in enumerate(messages):
        if position == turn and converted:
            cache_ends.append(converted[-1]["content"][-1])
        blocks = _blocks(message, cites=cites)
        _append(converted, "assistant" if message.role == "assistant" else "user", blocks)
        if blocks and message.kind == "summary":
            cache_ends.append(blocks[-1])
    if not converted or converted[0]["role"] != "user":
        converted.insert(0, {"role": "user", "content": text_blocks(OMITTED)})
    return _Conversation(converted, cache_ends)


def _append(converted: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    """Add blocks to the last message if it has the same role, else as a message: roles
    alternate.
    """
    if converted and converted[-1]["role"] == role:
        converted[-1]["content"] += blocks
    elif blocks:
        converted.append({"role": role, "content": blocks})


def _turn_start(messages: Sequence[PromptMessage]) -> int:
    """The position of the current turn, which begins with its question or with the documents and
    recalled turns before it.
    """
    start = len(messages)
    for position, message in enumerate(messages):
        if message.role == "user" and message.kind == "conversation":
            start = position
    while start and messages[start - 1].role == "user" and messages[start - 1].kind != "summary":
        start -= 1
    return start


def _blocks(message: PromptMessage, *, cites: bool) -> list[Block]:
    if message.role == "assistant":
        return _answer_blocks(message)
    found = None
    if cites and message.kind in ("tool_results", "documents"):
        found = _search_results(message)
    if message.role != "tool":
        return [*map(_image_block, message.images), *(found or text_blocks(message.content))]
    result: Block = {"type": "tool_result", "tool_use_id": _valid_id(message.tool_call_id or "")}
    if message.content.strip():
        result["content"] = found or message.content
    return [result]


def _image_block(image: Image) -> Block:
    """A picture. Anthropic advises to put pictures before the text."""
    source = {"type": "base64", "media_type": image.media_type, "data": image_base64(image)}
    return {"type": "image", "source": source}


def image_rule(model: str) -> PatchRule:
    """How a Claude counts pictures: a token for 28 × 28 pixels. Newer ones see large pictures in
    more detail. Source: https://platform.claude.com/docs/en/build-with-claude/vision
    """
    return DETAILED_IMAGES if claude_version(model) >= NO_TEMPERATURE else STANDARD_IMAGES


def _answer_blocks(message: PromptMessage) -> list[Block]:
    """The thoughts, the text and the calls of an answer."""
    blocks = [dict(block) for block in message.thinking_for(PROVIDER_NAME)]
    blocks += text_blocks(message.content)
    for call in message.tool_calls:
        blocks.append(
            {
                "type": "tool_use",
                "id": _valid_id(call.id),
                "name": call.name,
                "input": call.arguments,
            }
        )
    return blocks


def _valid_id(id_: str) -> str:
    return NOT_IN_NAMES.sub("_", id_) or "call"


def _search_results(message: PromptMessage) -> list[Block] | None:
    """A message with excerpts, with a block for each of them; None if it has no excerpts that can
    be cited.
    """
    if not message.chunks or not all(chunk.text.strip() for chunk in message.chunks):
        return None
    rest = text_around_excerpts(message.content, message.chunks)
    if rest is None:
        return None
    return text_blocks(rest) + [_search_result(chunk) for chunk in message.chunks]


def _search_result(chunk: ContentChunk) -> Block:
    """An excerpt with a text for each of its lines, which is what Claude can cite."""
    names = [truncate(name, LONGEST_TITLE) for name in (chunk.title, chunk.heading) if name]
    lines = _LINE.findall(chunk.text.lstrip("\n"))
    return {
        "type": "search_result",
        "source": f"{chunk.relative_path}:{chunk.start_line}-{chunk.end_line}",
        "title": f"[{chunk.number}] {' › '.join(names)}",
        "content": [{"type": "text", "text": line} for line in lines],
        "citations": {"enabled": True},
    }


def text_blocks(text: str) -> list[Block]:
    """A text as a block; none if it is empty, which the API rejects."""
    return [{"type": "text", "text": text}] if text.strip() else []
