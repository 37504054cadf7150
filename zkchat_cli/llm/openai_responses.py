"""OpenAI's Responses API: requests, and the events of a stream. Pure.

The server keeps nothing (`store: false`), so each call sends the whole conversation. What a model has reasoned before a tool call comes
encrypted, and goes back with the call's result; after the turn it is of no use, and it is not stored.

The types of requests are those of OpenAI's SDK, which mojentic has imported before the first call.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from zkchat_cli.llm.base import Request
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.openai_chat import takes_temperature
from zkchat_cli.models import PromptMessage, PromptTool, ThinkingBlocks, ToolCall
from zkchat_cli.text.numbers import whole_number

if TYPE_CHECKING:
    from openai.types.responses import EasyInputMessageParam, FunctionToolParam, ResponseInputItemParam
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
    from openai.types.shared_params import Reasoning

PROVIDER_NAME = "openai/responses"
"""Marks reasoning that goes back to this API only."""
NEVER_REASONING = ("gpt-3", "gpt-4", "chatgpt", "gpt-5-chat")
"""Prefixes of models that refuse settings of reasoning; others that do are called again without (July 2026)."""
MAX_ID = 64
MIN_ANSWER = 16
"""The smallest `max_output_tokens` that OpenAI accepts."""
MAX_ID_LENGTH = 200


class ResponsesReader(ChatReader):
    """The events of one response, or the whole response from a server that does not stream."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._calls: dict[int | str, PartialToolCall] = {}
        self._items: dict[int | str, dict[str, Any]] = {}
        """The finished items of the output: reasoning as it came, and of others what the message itself does not have."""
        self._texts: set[int | str] = set()
        """Items with text that has been handed on."""

    def read_line(self, line: bytes) -> bytes:
        chunk = super().read_line(line)
        return chunk + self.close() if self.finish else chunk  # no other final event follows

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._texts.add(_item_key(event))
                return text_of(event.get("delta")), ""
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return "", text_of(event.get("delta"))
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return "", "\n\n"
            case "response.output_item.added":
                self._start_item(_item_key(event), event["item"])
            case "response.function_call_arguments.delta":
                arguments = text_of(event.get("delta"))
                self._calls[_item_key(event)].arguments += arguments
                self.hidden_bytes += len(arguments)
            case "response.output_item.done":
                return self._end_item(_item_key(event), event["item"]), ""
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(event["response"]), ""
            case None if event.get("object") == "response":
                return self._end(event), ""
        return "", ""

    def _start_item(self, index: int | str, item: Mapping[str, Any]) -> None:
        if len(self._calls) >= MAX_ITEMS:
            raise ValueError("too many items")
        if item["type"] == "function_call" and index not in self._calls:
            self._calls[index] = PartialToolCall(text_of(item.get("call_id")), text_of(item.get("name")))
            self.calls.append(self._calls[index])
            self.hidden_bytes += self._calls[index].size

    def _end_item(self, index: int | str, item: Mapping[str, Any]) -> str:
        """Keep a finished item; returns its text if that has not come in pieces."""
        if len(self._items) >= MAX_ITEMS:
            raise ValueError("too many items")
        kind = item["type"]
        match kind:
            case "function_call":
                self._items[index] = {"type": kind}
                self._start_item(index, item)
                call, arguments = self._calls[index], text_of(item.get("arguments"))
                if not call.arguments:
                    call.arguments = arguments
                    self.hidden_bytes += len(arguments)
            case "reasoning":
                self._items[index] = _sendable_reasoning(item)
                self.hidden_bytes += len(str(item))
            case "message":
                self._items[index] = {"type": kind}
                if phase := text_of(item.get("phase")):
                    self._items[index]["phase"] = phase
                    self.hidden_bytes += len(phase)
                if index not in self._texts:
                    return "".join(text_of(part.get("text") or part.get("refusal")) for part in item.get("content") or ())
        return ""

    def _end(self, response: Mapping[str, Any]) -> str:
        """Take the end of a response; returns the text that has not come before."""
        status = text_of(response.get("status"))
        if status in ("failed", "cancelled"):
            raise self.endpoint.error_from_stream(response) or self.endpoint.cut_off(f"the server gave up ({status})", started=self.started)
        output = enumerate(response.get("output") or ())
        text = "".join(self._end_item(index, item) for index, item in output if not {index, item.get("id")} & self._items.keys())
        if usage := response.get("usage"):
            self.count(
                prompt_tokens=usage.get("input_tokens"),
                completion_tokens=usage.get("output_tokens"),
                cached_tokens=(usage.get("input_tokens_details") or {}).get("cached_tokens"),
                reasoning_tokens=(usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
            )
        self.finish = text_of((response.get("incomplete_details") or {}).get("reason")) or "stop"
        return text

    def thinking(self) -> ThinkingBlocks | None:
        blocks = tuple(item for item in self._items.values() if item)
        reasons = any(block["type"] == "reasoning" for block in blocks)
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=blocks, stored=False) if reasons else None


def _item_key(event: Mapping[str, Any]) -> int | str:
    """Which item of the output an event is about: its index, or the id that llama.cpp sends instead.

    Raises ValueError for anything else: keys are remembered, and it may have any size.
    """
    position = event.get("output_index")
    if position is None:
        id_ = event.get("item_id") or event["item"]["id"]
        if isinstance(id_, str) and len(id_) <= MAX_ID_LENGTH:
            return id_
    elif (index := whole_number(position, most=MAX_ITEMS)) is not None:
        return index
    raise ValueError("an item without an index or an id")


def _sendable_reasoning(item: Mapping[str, Any]) -> dict[str, Any]:
    """Reasoning as the server takes it back; empty without its encrypted form, which the server would look for and not find."""
    from openai.types.responses import ResponseReasoningItem  # mojentic has imported it

    if not item.get("encrypted_content"):
        return {}
    fields = {name: value for name, value in item.items() if name in ResponseReasoningItem.model_fields and name != "status"}
    return ResponseReasoningItem.model_validate(fields).to_dict(exclude_none=True)


def request_body(model: str, request: Request, *, official: bool, verbosity: str = "") -> "ResponseCreateParamsStreaming":
    """The request's JSON. `official`: the server is OpenAI, which has more to offer than compatible servers."""
    options = request.options
    body: ResponseCreateParamsStreaming = {
        "model": model,
        "input": [item for message in request.messages for item in _input_items(message)],
        "stream": True,
        "store": False,
        "prompt_cache_key": _cache_key(request),
    }
    reasoning: Reasoning = {}
    if options.reasoning_effort is not None:
        reasoning["effort"] = options.reasoning_effort
    if not model.startswith(NEVER_REASONING):
        body["include"] = ["reasoning.encrypted_content"]
        if official and options.reasoning_effort != "none":
            reasoning["summary"] = "auto"
    if reasoning:
        body["reasoning"] = reasoning
    if verbosity:
        body["text"] = {"verbosity": verbosity}  # type: ignore[typeddict-item]  # checked by the settings
    if options.max_output_tokens is not None:
        body["max_output_tokens"] = max(options.max_output_tokens, MIN_ANSWER)
    if options.temperature is not None and (takes_temperature(model) or not official):
        body["temperature"] = options.temperature
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return body


def _input_items(message: PromptMessage) -> "Iterator[ResponseInputItemParam]":
    """A message as items: the text, reasoning and calls of an answer in the order in which they came."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": (message.tool_call_id or "")[-MAX_ID:], "output": message.content}
        return
    items = message.thinking_for(PROVIDER_NAME)
    calls = list(message.tool_calls)
    text: EasyInputMessageParam | None = {"type": "message", "role": message.role, "content": message.content} if message.content else None
    if text and all(item["type"] != "message" for item in items):
        yield text
        text = None
    for item in items:
        if item["type"] == "reasoning":
            yield item  # type: ignore[misc]  # as the server sent it
        elif item["type"] == "message" and text:
            yield {**text, "phase": item["phase"]} if "phase" in item else text
            text = None  # the texts of several are one
        elif item["type"] == "function_call" and calls:
            yield _function_call(calls.pop(0))
    for call in calls:
        yield _function_call(call)


def _function_call(call: ToolCall) -> "ResponseInputItemParam":
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"type": "function_call", "call_id": call.id[-MAX_ID:], "name": call.name, "arguments": arguments}


def _tool(tool: PromptTool) -> "FunctionToolParam":
    """Not strict: that would make every parameter of a tool required."""
    given = {"parameters": {"type": "object", "properties": {}}, **tool.descriptor["function"]}
    return {"type": "function", "description": "", **given, "strict": False}  # type: ignore[typeddict-item]  # `given` has the name


def _cache_key(request: Request) -> str:
    """Equal for prompts with the same beginning, so that OpenAI sends them to the server that has it in its cache."""
    first = next((message.content for message in request.messages), "")
    return f"zkchat-{blake2b(first.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
