"""Claude, from Anthropic or any server that speaks its Messages API: `anthropic/NAME`, at
ANTHROPIC_BASE_URL or anthropic.base_url.

mojentic makes the calls, and Anthropic's SDK puts the messages together; `prepare` or the first
call loads both. The SDK's own streams call `accumulate_event` for each event. It is not a public
name, so pyproject.toml pins the version.

Requests have rules of their own: instructions are separate, roles alternate and start with the
user, results directly follow their calls, ids and names use few characters, and empty texts are
left out. Cache markers follow what stays the same byte for byte: the tools, the instructions, the
summary, and the turns before the current one. Excerpts of notes become search results that Claude
can cite by the line; its citations become marks like all others: `[3]`, behind the cited line as a
quotation if that is short.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from zkchat_cli.config.schema import AnthropicSettings
from zkchat_cli.llm.base import (
    NOT_IN_NAMES,
    ModelConfig,
    Options,
    Provider,
    Request,
    Window,
    without_none,
)
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.remote_model import KeyedProvider, Refusal, RemoteModel, bearer
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.manager import parse_tool_result
from zkchat_cli.text.numbers import whole_number

API_VERSION = "2023-06-01"
SEARCH_RESULTS_REFUSAL = Refusal(re.compile(r"(?i)search_result|citations"), lambda _: None)
"""Of a server that does not know search results; `full_body` sends text instead."""
MIN_WINDOW = Window(200_000, "the minimum of all Claude models; the server does not say")
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
# Tokens of answer to request, thinking included, unless the user sets a number
MAX_ANSWER = 64_000
MAX_ANSWER_OF_OLDER = 8192
OMITTED = "[Earlier messages are left out.]"
_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")

# Characters of a cited line that are quoted in the answer
LONGEST_QUOTE = 160
_NUMBER = re.compile(r"\[(\d{1,9})\]")
_QUOTE_MARKS = re.compile('[“”„«»‹›"「」『』|`]')
_LINE = re.compile(r".*\S.*(?:\n\s*)*")
_DELTAS = ("text_delta", "thinking_delta", "signature_delta")
"""Those that the SDK gets: it would parse the arguments of a tool call anew with each piece, and
give up if they are not JSON.
"""

Block = dict[str, Any]


class AnthropicReader(ChatReader):
    def __init__(self, endpoint: Endpoint) -> None:
        # 0.5 s, which only the first call has to pay
        from anthropic.lib.streaming._messages import accumulate_event
        from anthropic.types import Message

        super().__init__(endpoint)
        self._accumulate: Callable[..., Any] = partial(accumulate_event, json_bufs={})
        # not of the server's own first event: llama.cpp forgets it if the first token is a part of
        # a character
        self._message: Any = Message.construct(content=[])
        # Of the block of text that is being written
        self._citations: list[Mapping[str, Any]] = []

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        match event["type"]:
            case "message_start":
                self._count_tokens(event["message"].get("usage"))
            case "content_block_start":
                return self._start_block(event["content_block"])
            case "content_block_delta" if event["delta"]["type"] == "input_json_delta":
                arguments = text_of(event["delta"].get("partial_json"))
                self.calls[-1].arguments += arguments
                self.hidden_bytes += len(arguments)
            case "content_block_delta" if (delta := event["delta"])["type"] in _DELTAS:
                self._accumulate(event=event, current_snapshot=self._message)
                return text_of(delta.get("text")), text_of(delta.get("thinking"))
            case "content_block_delta" if event["delta"]["type"] == "citations_delta":
                self._citations.append(event["delta"]["citation"])
            case "content_block_stop" if self._citations:
                citations = self._citations
                self._citations = []
                return citation_marks(self._message.content[-1].text, citations), ""
            case "message_delta":
                reason = text_of(event["delta"].get("stop_reason"))
                self.finish = "content_filter" if reason == "refusal" else reason or self.finish
                self._count_tokens(event.get("usage"))
            case "message_stop":
                self.ended = True
                self.finish = self.finish or "stop"
            # The whole answer, from a server that does not stream
            case "message":
                parts = list(map(self._start_block, event["content"]))
                self.read_event(
                    {"type": "message_delta", "delta": event, "usage": event.get("usage")}
                )
                return "".join(text for text, _ in parts), "".join(thought for _, thought in parts)
        return "", ""

    def _start_block(self, block: Mapping[str, Any]) -> tuple[str, str]:
        self._accumulate(
            event={"type": "content_block_start", "index": 0, "content_block": block},
            current_snapshot=self._message,
        )
        if len(self._message.content) > MAX_ITEMS:
            raise ValueError("too many blocks")
        if block["type"] in ("text", "thinking"):
            return text_of(block.get("text")), text_of(block.get("thinking"))
        if block["type"] == "tool_use":
            self.add_call(
                PartialToolCall(block.get("id"), block.get("name"), block.get("input") or "")
            )
        self.hidden_bytes += len(str(block))
        return "", ""

    def _count_tokens(self, usage: Mapping[str, Any] | None) -> None:
        """Figures come at the start and, as totals, at the end. Anthropic does not count tokens in
        its cache as input.
        """
        counts = usage or {}
        cached, *others = (
            whole_number(counts.get(f"{name}input_tokens"))
            for name in ("cache_read_", "", "cache_creation_")
        )
        prompt = sum(count or 0 for count in (cached, *others))
        self.count(
            prompt_tokens=prompt,
            completion_tokens=counts.get("output_tokens"),
            cached_tokens=cached,
        )

    def thinking(self) -> ThinkingBlocks | None:
        kept = tuple(
            block.to_dict()
            for block in self._message.content
            if block.type in ("thinking", "redacted_thinking")
        )
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=kept) if kept else None


@dataclass
class AnthropicModel(RemoteModel):
    provider = "anthropic"
    path = "/v1/messages"
    list_path = "/v1/models?limit=1000"
    count_path = "/count_tokens"
    reader = AnthropicReader
    plain_excerpts = False
    refusals = (SEARCH_RESULTS_REFUSAL,)
    settings: AnthropicSettings

    def full_body(self, request: Request) -> dict[str, Any]:
        """The same beginning of a conversation gives the same bytes, with markers at the same
        positions.

        A Claude gets excerpts as search results, unless it has refused them, and returns citations
        of them. If the user sets no limit, the longest answer that fits into the window is
        requested: older models reject a call that asks for more.
        """
        is_claude = "claude-" in self.model
        found = _VERSION.search(self.model)
        options = request.options
        # Without one a Claude counts as new, any other name as an imitation of an older one
        version = (99, 0) if is_claude else (4, 0)
        if found:
            version = int(found[1]), int(found[2] or 0)
        max_tokens = options.max_output_tokens or 0
        if not max_tokens:
            max_tokens = MAX_ANSWER if version >= (4, 5) else MAX_ANSWER_OF_OLDER
            if self.window is not None:
                used = sum(message.tokens for message in request.messages) + sum(
                    tool.tokens for tool in request.tools
                )
                max_tokens = min(max_tokens, max(self.window.tokens - used, MIN_ANSWER))
        rest = list(request.messages)
        system: list[Block] = []
        while rest and rest[0].role == "system":
            system += text_blocks(rest.pop(0).content)
        messages, cache_ends = _convert(
            rest, cites=is_claude and SEARCH_RESULTS_REFUSAL not in self.refused
        )
        tools: list[Block] = []
        for function in (tool.descriptor["function"] for tool in request.tools):
            # An imported conversation's tool may have none
            schema = function.get("parameters") or {"type": "object", "properties": {}}
            tools.append(
                {
                    "name": function["name"],
                    "description": function.get("description", ""),
                    "input_schema": schema,
                }
            )
        called = sorted({call.name for message in rest for call in message.tool_calls})
        tool_choice = None
        # The API rejects calls in a conversation without tools: declare them, but forbid their use
        if not tools and called:
            tools = [{"name": name, "input_schema": {"type": "object"}} for name in called]
            tool_choice = {"type": "none"}
        for block in (*tools[-1:], *system[-1:], *cache_ends):
            block["cache_control"] = CACHE_MARKER
        body = {"model": self.model, "max_tokens": max_tokens, "messages": messages, "stream": True}
        body |= without_none(system=system or None, tools=tools or None, tool_choice=tool_choice)
        return body | _thinking_options(options, max_tokens, version)


def _thinking_options(
    options: Options, max_tokens: int, version: tuple[int, int]
) -> dict[str, Any]:
    """From version 4.6 on, a model decides itself how long to think; older ones take a budget; from
    4.7 on, they take no temperature.
    """
    effort = options.reasoning_effort
    if effort and effort != "none" and version >= (4, 6):
        known = "low" if effort == "minimal" else effort
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": known},
        }
    if effort:
        budget = min(THINKING_BUDGETS[effort], max_tokens - max_tokens // 4)
        if budget >= MIN_THINKING_BUDGET:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if options.temperature is not None and version < (4, 7):
        return {"temperature": min(options.temperature, 1.0)}
    return {}


def _convert(
    messages: Sequence[PromptMessage], *, cites: bool
) -> tuple[list[dict[str, Any]], list[Block]]:
    """A conversation in the API's form, and the last blocks of the parts that stay the same: the
    summary, and all before the current turn, which begins with its question or with the documents
    and recalled turns that precede it.
    """
    questions = (
        i
        for i, message in enumerate(messages)
        if message.role == "user" and message.kind == "conversation"
    )
    turn = max(questions, default=len(messages))
    while turn and messages[turn - 1].role == "user" and messages[turn - 1].kind != "summary":
        turn -= 1
    converted: list[dict[str, Any]] = []
    cache_ends: list[Block] = []
    for position, message in enumerate(messages):
        if position == turn and converted:
            cache_ends.append(converted[-1]["content"][-1])
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message, cites=cites)
        if converted and converted[-1]["role"] == role:
            converted[-1]["content"] += blocks
        elif blocks:
            converted.append({"role": role, "content": blocks})
        if blocks and message.kind == "summary":
            cache_ends.append(blocks[-1])
    if not converted or converted[0]["role"] != "user":
        converted.insert(0, {"role": "user", "content": text_blocks(OMITTED)})
    return converted, cache_ends


def _blocks(message: PromptMessage, *, cites: bool) -> list[Block]:
    if message.role == "assistant":
        calls = (
            {
                "type": "tool_use",
                "id": _valid_id(call.id),
                "name": call.name,
                "input": call.arguments,
            }
            for call in message.tool_calls
        )
        return [
            *map(dict, message.thinking_for(PROVIDER_NAME)),
            *text_blocks(message.content),
            *calls,
        ]
    found = (
        _search_results(message.content)
        if cites and message.kind in ("tool_results", "documents")
        else None
    )
    if message.role != "tool":
        return found or text_blocks(message.content)
    result: Block = {"type": "tool_result", "tool_use_id": _valid_id(message.tool_call_id or "")}
    return [result | {"content": found or message.content} if message.content.strip() else result]


def _valid_id(id_: str) -> str:
    return NOT_IN_NAMES.sub("_", id_) or "call"


def _search_results(text: str) -> list[Block] | None:
    """A text that ends with a search result, with a block for each excerpt of that; None if it has
    none that can be cited.
    """
    before, result = parse_tool_result(text) or ("", {})
    excerpts = result.pop("excerpts", [])
    if not excerpts or not all(each["text"].strip() for each in excerpts):
        return None
    rest = json.dumps(result, ensure_ascii=False) if result else ""
    blocks = text_blocks(f"{before}\n{rest}" if before else rest)
    for excerpt in excerpts:
        names = [str(excerpt[key]) for key in ("title", "heading") if excerpt.get(key)]
        blocks.append(
            {
                "type": "search_result",
                "source": f"{excerpt.get('path')}:{excerpt.get('lines')}",
                "title": f"[{excerpt['source']}] {' › '.join(names)}",
                "content": [
                    {"type": "text", "text": line}
                    for line in _LINE.findall(excerpt["text"].lstrip("\n"))
                ],
                "citations": {"enabled": True},
            }
        )
    return blocks


def citation_marks(text: str, citations: Iterable[Mapping[str, Any]]) -> str:
    """What to write behind a part of an answer for the citations that came with it, unless it has
    these marks itself.
    """
    marks: dict[str, str] = {}
    for citation in citations:
        number = _NUMBER.match(str(citation.get("title") or ""))
        if (
            citation.get("type") == "search_result_location"
            and number
            and number[0] not in text
            and number[0] not in marks
        ):
            quote = str(citation.get("cited_text") or "").strip()
            is_short = (
                quote
                and len(quote) <= LONGEST_QUOTE
                and "\n" not in quote
                and not _QUOTE_MARKS.search(quote)
            )
            marks[number[0]] = (
                f"(“{quote}” {number[0]})" if is_short and quote not in text else number[0]
            )
    return "".join(f" {mark}" for mark in marks.values())


def text_blocks(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _headers(key: str, official: bool) -> dict[str, str]:
    """Of the imitations some read one header with the key, some the other."""
    return {
        "anthropic-version": API_VERSION,
        **({"x-api-key": key} if key else {}),
        **({} if official else bearer(key)),
    }


ANTHROPIC = KeyedProvider(
    name="anthropic",
    company="Anthropic",
    address="https://api.anthropic.com",
    other_name="the server for anthropic",
    headers=_headers,
    path="/v1",
)


def _open(config: ModelConfig) -> AnthropicModel:
    settings: AnthropicSettings = config.settings or AnthropicSettings()
    server = ANTHROPIC.server(config, settings)
    return AnthropicModel(
        config.name,
        server,
        settings,
        window=MIN_WINDOW if config.name.startswith("claude-") else None,
    )


PROVIDER = Provider("anthropic", _open, AnthropicSettings, open_remote=_open)
