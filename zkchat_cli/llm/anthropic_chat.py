"""Anthropic's Messages API: requests, and the events of a stream, which Anthropic's SDK puts together to a message. Pure.

Requests have rules of their own: instructions are separate, roles alternate and start with the user, results directly follow their calls,
ids and names use few characters, and empty texts are left out. Cache markers follow the parts that stay the same byte for byte: the tools,
the instructions, the summary, and the turns before the current one.

Excerpts of notes become search results that Claude can cite, line by line, and its citations become marks like all others: `[3]`, behind
the cited line in quotation marks if that is short. Then it is verified to the letter, like any quotation.

The SDK's own streams call `accumulate_event` for each event. It is not a public name, so pyproject.toml pins the version.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from zkchat_cli.llm.base import NOT_IN_NAMES, Options, Request
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, json_of, text_of
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.models import PromptMessage, PromptTool, ThinkingBlocks
from zkchat_cli.references.chunk_format import parse_tool_result
from zkchat_cli.text.numbers import whole_number

PROVIDER_NAME = "anthropic"
"""Marks reasoning that goes back to Anthropic only."""
CACHE_MARKER = {"type": "ephemeral"}
THINKING_BUDGETS = {"none": 0, "minimal": 1024, "low": 2048, "medium": 8192, "high": 24_576, "xhigh": 32_768, "max": 48_000}
"""Tokens for thinking, for models that need a number: at least 1024, and less than the longest answer."""
MIN_THINKING_BUDGET = 1024
MIN_ANSWER = 4096
MAX_ANSWER = 64_000
"""Tokens of answer to request, thinking included, unless the user sets a number."""
MAX_ANSWER_OF_OLDER = 8192
OMITTED = "[Earlier messages are left out.]"
_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")

LONGEST_QUOTE = 160
"""Characters of a cited line that are quoted in the answer."""
SEARCH_RESULTS_REFUSED = re.compile(r"search_result|citations", re.IGNORECASE)
"""The wording of a server that does not know search results."""
_NUMBER = re.compile(r"\[(\d{1,9})\]")
_QUOTE_MARKS = re.compile('[“”„«»‹›"「」『』|`]')
_LINE = re.compile(r".*\S.*(?:\n\s*)*")
_DELTAS = ("text_delta", "thinking_delta", "signature_delta")
"""Those that the SDK gets: it would parse the arguments of a tool call anew with each piece, and give up if they are not JSON."""

Block = dict[str, Any]
_EMPTY_MESSAGE: Block = {"id": "", "type": "message", "role": "assistant", "model": "", "content": [], "usage": {}}


class AnthropicReader(ChatReader):
    """The events of one response."""

    def __init__(self, endpoint: Endpoint) -> None:
        from anthropic.lib.streaming._messages import accumulate_event  # 0.5 s, which only the first call has to pay

        super().__init__(endpoint)
        self._accumulate: Callable[..., Any] = partial(accumulate_event, json_bufs={})
        self._message: Any = None
        self._citations: list[Mapping[str, Any]] = []
        """Of the block of text that is being written."""

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        match event["type"]:
            case "message_start":
                self._message = self._accumulate(event=event, current_snapshot=None)
                self._count_tokens(event["message"].get("usage"))
            case "content_block_start":
                return self._start_block(event)
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
                citations, self._citations = self._citations, []
                return citation_marks(self._message.content[-1].text, citations), ""
            case "message_delta":
                reason = text_of(event["delta"].get("stop_reason"))
                self.finish = "content_filter" if reason == "refusal" else reason or self.finish
                self._count_tokens(event.get("usage"))
            case "message_stop":
                self.ended, self.finish = True, self.finish or "stop"
            case "message":
                return self._read_whole(event)
        return "", ""

    def _read_whole(self, message: Mapping[str, Any]) -> tuple[str, str]:
        """The text and reasoning of a whole answer, from a server that does not stream."""
        self.read_event({"type": "message_start", "message": {**message, "content": []}})
        texts = [self._start_block({"type": "content_block_start", "index": 0, "content_block": block}) for block in message["content"]]
        self.read_event({"type": "message_delta", "delta": message})
        return "".join(text for text, _ in texts), "".join(thought for _, thought in texts)

    def _start_block(self, event: Mapping[str, Any]) -> tuple[str, str]:
        if self._message is None:  # llama.cpp forgets the first event if the first token is a part of a character
            self.read_event({"type": "message_start", "message": _EMPTY_MESSAGE})
        self._accumulate(event=event, current_snapshot=self._message)
        if len(self._message.content) > MAX_ITEMS:
            raise ValueError("too many blocks")
        block = event["content_block"]
        if block["type"] in ("text", "thinking"):
            return text_of(block.get("text")), text_of(block.get("thinking"))
        if block["type"] == "tool_use":
            self.add_call(PartialToolCall(text_of(block.get("id")), text_of(block.get("name")), json_of(block.get("input") or "")))
        self.hidden_bytes += len(str(block))
        return "", ""

    def _count_tokens(self, usage: Mapping[str, Any] | None) -> None:
        """Figures come at the start and, as totals, at the end. Anthropic does not count tokens in its cache as input."""
        counts = usage or {}
        cached, *others = (whole_number(counts.get(f"{name}input_tokens")) for name in ("cache_read_", "", "cache_creation_"))
        prompt = sum(count or 0 for count in (cached, *others))
        self.count(prompt_tokens=prompt, completion_tokens=counts.get("output_tokens"), cached_tokens=cached)

    def thinking(self) -> ThinkingBlocks | None:
        blocks = [block.to_dict() for block in self._message.content] if self._message else []
        kept = tuple(block for block in blocks if block["type"] in ("thinking", "redacted_thinking"))
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=kept) if kept else None


def request_body(model: str, request: Request, window: int | None, *, cites: bool = True) -> dict[str, Any]:
    """The request's JSON. The same beginning of a conversation gives the same bytes, with markers at the same positions.

    If it `cites`, a Claude gets excerpts as search results, and returns citations of them.
    """
    rest = list(request.messages)
    system: list[Block] = []
    while rest and rest[0].role == "system":
        system += text_blocks(rest.pop(0).content)
    version = _version(model)
    messages, cache_ends = _convert(rest, cites=cites and "claude-" in model)
    tools = [_tool(tool) for tool in request.tools]
    max_tokens = request.options.max_output_tokens or _max_answer(request, version, window)
    body: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "messages": messages, "stream": True}
    if system:
        body["system"] = system
    called = sorted({call.name for message in rest for call in message.tool_calls})
    if not tools and called:  # the API rejects calls in a conversation without tools: declare them, but forbid their use
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in called]
        body["tool_choice"] = {"type": "none"}
    if tools:
        body["tools"] = tools
    for block in (*tools[-1:], *system[-1:], *cache_ends):
        block["cache_control"] = CACHE_MARKER
    return body | _thinking_options(request.options, max_tokens, version)


def _version(model: str) -> tuple[int, int]:
    """The version in a model's name. A Claude without one counts as new, any other name as an imitation of an older one."""
    found = _VERSION.search(model)
    if found:
        return int(found[1]), int(found[2] or 0)
    return (99, 0) if "claude-" in model else (4, 0)


def _max_answer(request: Request, version: tuple[int, int], window: int | None) -> int:
    """The longest answer that fits into the window: older models reject a call that asks for more."""
    longest = MAX_ANSWER if version >= (4, 5) else MAX_ANSWER_OF_OLDER
    if window is None:
        return longest
    used = sum(message.tokens for message in request.messages) + sum(tool.tokens for tool in request.tools)
    return min(longest, max(window - used, MIN_ANSWER))


def _thinking_options(options: Options, max_tokens: int, version: tuple[int, int]) -> dict[str, Any]:
    """From version 4.6 on, a model decides itself how long to think; older ones take a budget; from 4.7 on, they take no temperature."""
    effort = options.reasoning_effort
    if effort and effort != "none" and version >= (4, 6):
        known = "low" if effort == "minimal" else effort
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": known}}
    if effort:
        budget = min(THINKING_BUDGETS[effort], max_tokens - max_tokens // 4)
        if budget >= MIN_THINKING_BUDGET:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if options.temperature is not None and version < (4, 7):
        return {"temperature": min(options.temperature, 1.0)}
    return {}


def _tool(tool: PromptTool) -> Block:
    function = tool.descriptor["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}  # an imported conversation's tool may have none
    return {"name": function["name"], "description": function.get("description", ""), "input_schema": schema}


def _convert(messages: Sequence[PromptMessage], *, cites: bool) -> tuple[list[dict[str, Any]], list[Block]]:
    """A conversation in the API's form, and the last blocks of the parts that stay the same."""
    converted: list[dict[str, Any]] = []
    cache_ends: list[Block] = []
    turn = _turn_start(messages)
    for position, message in enumerate(messages):
        if position == turn and converted:
            cache_ends.append(converted[-1]["content"][-1])
        role, blocks = "assistant" if message.role == "assistant" else "user", _blocks(message, cites=cites)
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
        calls = ({"type": "tool_use", "id": _valid_id(call.id), "name": call.name, "input": call.arguments} for call in message.tool_calls)
        return [*map(dict, message.thinking_for(PROVIDER_NAME)), *text_blocks(message.content), *calls]
    found = search_result_blocks(message.content) if cites and message.kind in ("tool_results", "documents") else None
    if message.role == "tool":
        return [_result(message, found or message.content)]
    return found or text_blocks(message.content)


def _result(message: PromptMessage, content: str | list[Block]) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _valid_id(message.tool_call_id or "")}
    return block | {"content": content} if message.content.strip() else block


def _valid_id(id_: str) -> str:
    return NOT_IN_NAMES.sub("_", id_) or "call"


def _turn_start(messages: Sequence[PromptMessage]) -> int:
    """The position of the current turn: of its question, or of the documents and recalled turns that precede it."""
    questions = [i for i, message in enumerate(messages) if message.role == "user" and message.kind == "conversation"]
    start = questions[-1] if questions else len(messages)
    while start and messages[start - 1].role == "user" and messages[start - 1].kind != "summary":
        start -= 1
    return start


def search_result_blocks(text: str) -> list[Block] | None:
    """A text that ends with a search result, with a block for each excerpt of that; None if it has none that can be cited."""
    before, result = parse_tool_result(text) or ("", {})
    excerpts = result.pop("excerpts", [])
    if not excerpts or not all(each["text"].strip() for each in excerpts):
        return None
    rest = json.dumps(result, ensure_ascii=False) if result else ""
    return [*text_blocks(f"{before}\n{rest}" if before else rest), *map(_search_result, excerpts)]


def citation_marks(text: str, citations: Iterable[Mapping[str, Any]]) -> str:
    """What to write behind a part of an answer for the citations that came with it, unless it has these marks itself."""
    marks: dict[str, str] = {}
    for citation in citations:
        number = _NUMBER.match(str(citation.get("title") or ""))
        if citation.get("type") == "search_result_location" and number and number[0] not in text and number[0] not in marks:
            quote = str(citation.get("cited_text") or "").strip()
            is_short = quote and len(quote) <= LONGEST_QUOTE and "\n" not in quote and not _QUOTE_MARKS.search(quote)
            marks[number[0]] = f"(“{quote}” {number[0]})" if is_short and quote not in text else number[0]
    return "".join(f" {mark}" for mark in marks.values())


def _search_result(excerpt: Mapping[str, Any]) -> Block:
    names = [str(excerpt[key]) for key in ("title", "heading") if excerpt.get(key)]
    return {
        "type": "search_result",
        "source": f"{excerpt.get('path')}:{excerpt.get('lines')}",
        "title": f"[{excerpt['source']}] {' › '.join(names)}",
        "content": [{"type": "text", "text": line} for line in _LINE.findall(excerpt["text"].lstrip("\n"))],
        "citations": {"enabled": True},
    }


def text_blocks(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []
