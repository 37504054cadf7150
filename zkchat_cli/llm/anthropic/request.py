"""A request in the form of Anthropic's Messages API: pure functions, so that what is sent can be read and tested without the SDK.

The form has rules that other providers do not: instructions stand apart, roles alternate and begin with the user's, results stand right
behind their calls, ids and names are made of few characters, and no text is empty. Cache markers go where the front ends that stays the
same byte for byte: tools, instructions, summary, and the turns before the one in progress.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zkchat_cli.llm.base import Options, Request
from zkchat_cli.models import PromptMessage, PromptTool

NAME = "anthropic"
"""Whose thinking is put back; that of others is of no use here."""
MARK = {"type": "ephemeral"}
BUDGETS = {"low": 2048, "medium": 8192, "high": 24_576}
"""Tokens to think with, for models that want a number; at least 1024, and less than the longest answer."""
LEAST_BUDGET = 1024
LEAST_ANSWER = 4096
EARLIER = "[What was said before is left out.]"
_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelAbilities:
    """What a model can do: the longest answer to ask for, and its own window, in tokens; whether it decides by itself how long to think,
    thinks by a budget, or not at all; and whether it still takes a temperature."""

    longest: int
    window: int | None
    adaptive: bool
    budgeted: bool
    sampling: bool


def abilities(
    model: str, longest: int, window: int | None = None, *, adaptive: bool | None = None, budgeted: bool | None = None
) -> ModelAbilities:
    """What a model can do, by its name where its server does not say. A Claude without a version is taken for a new one, any other name
    for an imitation of an older one."""
    version = _version(model)
    return ModelAbilities(
        longest=longest,
        window=window,
        adaptive=version >= (4, 6) if adaptive is None else adaptive,
        budgeted=(3, 7) <= version < (4, 6) if budgeted is None else budgeted,
        sampling=version < (4, 7),
    )


def _version(model: str) -> tuple[int, int]:
    found = _VERSION.search(model)
    if found:
        return int(found[1]), int(found[2] or 0)
    return (99, 0) if "claude-" in model else (4, 0)


def body(model: str, request: Request, able: ModelAbilities) -> dict[str, Any]:
    """The request's JSON. The same front of a conversation gives the same bytes, and markers in the same places."""
    system, messages = _split(request.messages)
    sent = _Messages(messages)
    tools = [_tool(tool) for tool in request.tools]
    made: dict[str, Any] = {
        "model": model,
        "max_tokens": request.options.max_output_tokens or _room(request, able),
        "messages": sent.merged,
        "stream": True,
    }
    if system:
        made["system"] = system
    if not tools and sent.called:  # calls may not stand in a conversation without tools: these are there, and cannot be called
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(sent.called)]
        made["tool_choice"] = {"type": "none"}
    if tools:
        made["tools"] = tools
    for block in (*tools[-1:], *system[-1:], *sent.borders):
        block["cache_control"] = MARK
    return made | _thinking(request.options, made["max_tokens"], able)


def _room(request: Request, able: ModelAbilities) -> int:
    """The longest answer that the window has room for: older models refuse a call that asks for more."""
    if able.window is None:
        return able.longest
    used = sum(message.tokens for message in request.messages) + sum(tool.tokens for tool in request.tools)
    return min(able.longest, max(able.window - used, LEAST_ANSWER))


def _thinking(options: Options, longest: int, able: ModelAbilities) -> dict[str, Any]:
    effort = options.reasoning_effort
    if effort and able.adaptive:
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
    if effort and able.budgeted:
        budget = min(BUDGETS[effort], longest - longest // 4)
        if budget >= LEAST_BUDGET:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if options.temperature is not None and able.sampling:
        return {"temperature": min(options.temperature, 1.0)}
    return {}


def _tool(tool: PromptTool) -> Block:
    function = tool.descriptor["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function["name"], "description": function.get("description", ""), "input_schema": schema}


def _split(messages: Sequence[PromptMessage]) -> tuple[list[Block], list[PromptMessage]]:
    """The instructions at the front as blocks, and the rest."""
    rest = list(messages)
    system = []
    while rest and rest[0].role == "system":
        system += _text(rest.pop(0).content)
    return system, rest


def _text(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []


class _Messages:
    """A conversation's messages in the API's form; `borders` are the blocks after which the front ends that stays the same."""

    def __init__(self, messages: Sequence[PromptMessage]) -> None:
        self.merged: list[dict[str, Any]] = []
        self.called: set[str] = set()
        self.borders: list[Block] = []
        self._ids: set[str] = set()
        self._waiting: list[tuple[str, str]] = []
        stable = _before_the_turn(messages)
        last: Block | None = None
        for position, message in enumerate(messages):
            role, blocks = self._blocks(message)
            if position == stable and last is not None:
                self._border(last)
            if blocks:
                self._add(role, blocks)
                last = blocks[-1]
                if message.kind == "summary":
                    self._border(last)
        if not self.merged or self.merged[0]["role"] != "user":
            self.merged.insert(0, {"role": "user", "content": _text(EARLIER)})

    def _border(self, block: Block) -> None:
        if not any(block is known for known in self.borders):
            self.borders.append(block)

    def _add(self, role: str, blocks: list[Block]) -> None:
        if self.merged and self.merged[-1]["role"] == role:
            self.merged[-1]["content"] += blocks
        else:
            self.merged.append({"role": role, "content": list(blocks)})

    def _blocks(self, message: PromptMessage) -> tuple[str, list[Block]]:
        if message.role == "assistant":
            thinking = [dict(block) for block in message.thinking.blocks] if message.thinking and message.thinking.provider == NAME else []
            return "assistant", [*thinking, *_text(message.content), *self._calls(message)]
        if message.role == "tool":
            return "user", [self._result(message)]
        return "user", _text(message.content)

    def _calls(self, message: PromptMessage) -> Iterator[Block]:
        self._waiting = []
        for call in message.tool_calls:
            id_ = _FOREIGN.sub("_", call.id) or "call"
            while id_ in self._ids:
                id_ += "_"
            self._ids.add(id_)
            self._waiting.append((call.id, id_))
            name = _FOREIGN.sub("_", call.name)[:128] or "nameless"
            self.called.add(name)
            yield {"type": "tool_use", "id": id_, "name": name, "input": call.arguments}

    def _result(self, message: PromptMessage) -> Block:
        waiting = next((pair for pair in self._waiting if pair[0] == message.tool_call_id), None)
        if waiting is not None:
            self._waiting.remove(waiting)
        block: Block = {"type": "tool_result", "tool_use_id": waiting[1] if waiting else message.tool_call_id or ""}
        return block | {"content": message.content} if message.content.strip() else block


def _before_the_turn(messages: Sequence[PromptMessage]) -> int:
    """Where what belongs to the turn in progress begins: its question, and what is put before that (documents, recalled turns)."""
    asked = [i for i, message in enumerate(messages) if message.role == "user" and message.kind == "conversation"]
    start = asked[-1] if asked else len(messages)
    while start and messages[start - 1].role == "user" and messages[start - 1].kind != "summary":
        start -= 1
    return start
