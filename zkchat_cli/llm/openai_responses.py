"""OpenAI's Responses API: requests, and the events of a stream. Pure.

The server keeps nothing (`store: false`), so each call sends the whole conversation. What a model has reasoned before a tool call comes
encrypted, and goes back with the call's result; after the turn it is of no use, and it is not stored.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from zkchat_cli.llm.base import MAX_CALL_ID, Request, without_none
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.known_models import REASONING_MODELS
from zkchat_cli.models import PromptMessage, ThinkingBlocks

PROVIDER_NAME = "openai/responses"
"""Marks reasoning that goes back to this API only."""
NEVER_REASONING = ("gpt-3", "gpt-4", "chatgpt", "gpt-5-chat")
"""Prefixes of models that refuse settings of reasoning; others that do are called again without (July 2026)."""
MIN_ANSWER = 16
"""The smallest `max_output_tokens` that OpenAI accepts."""


class ResponsesReader(ChatReader):
    """The events of one response, or the whole response from a server that does not stream."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._items: list[dict[str, Any]] = []
        """The finished items of the output: reasoning as it came, and of others what the message itself does not have."""
        self._streamed = 0
        """Characters of the item that is being written, as far as they have come in pieces."""

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                text = text_of(event.get("delta"))
                self._streamed += len(text)
                return text, ""
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return "", text_of(event.get("delta"))
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return "", "\n\n"
            case "response.function_call_arguments.delta":
                size = len(text_of(event.get("delta")))
                self._streamed += size
                self.hidden_bytes += size
            case "response.output_item.done":
                return self._end_item(event["item"]), ""
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(event["response"]), ""
            case None if event.get("object") == "response":
                return self._end(event), ""
        return "", ""

    def _end_item(self, item: Mapping[str, Any]) -> str:
        """Keep a finished item; returns its text if that has not come in pieces."""
        if len(self._items) >= MAX_ITEMS:
            raise ValueError("too many items")
        streamed, self._streamed = self._streamed, 0
        match kind := item["type"]:
            case "function_call":
                call = PartialToolCall(text_of(item.get("call_id")), text_of(item.get("name")), text_of(item.get("arguments")))
                self.add_call(call)
                self.hidden_bytes += max(0, call.size - streamed)
                self._items.append({"type": kind})
            case "reasoning":
                self.hidden_bytes += len(str(item))
                if item.get("encrypted_content"):  # without it, the server would look for the reasoning and not find it
                    from openai.types.responses import ResponseReasoningItem  # mojentic has imported it

                    known = {name: value for name, value in item.items() if name in ResponseReasoningItem.model_fields and name != "status"}
                    self._items.append(ResponseReasoningItem.model_validate(known).to_dict(exclude_none=True))
                else:
                    self._items.append({})
            case "message":
                phase = text_of(item.get("phase"))
                self._items.append({"type": kind, "phase": phase} if phase else {"type": kind})
                self.hidden_bytes += len(phase)
                if not streamed:
                    return "".join(text_of(part.get("text") or part.get("refusal")) for part in item.get("content") or ())
        return ""

    def _end(self, response: Mapping[str, Any]) -> str:
        """Take the end of a response; returns the text that has not come before."""
        status = text_of(response.get("status"))
        if status in ("failed", "cancelled"):
            raise self.endpoint.error_from_stream(response) or self.endpoint.cut_off(f"the server gave up ({status})", started=self.started)
        text = "" if self._items else "".join(self._end_item(item) for item in response.get("output") or ())
        self.count_usage(response.get("usage"), "input_tokens", "output_tokens")
        self.ended, self.finish = True, text_of((response.get("incomplete_details") or {}).get("reason")) or "stop"
        return text

    def thinking(self) -> ThinkingBlocks | None:
        blocks = tuple(item for item in self._items if item)
        reasons = any(block["type"] == "reasoning" for block in blocks)
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=blocks, stored=False) if reasons else None


def request_body(model: str, request: Request, *, official: bool, verbosity: str = "") -> dict[str, Any]:
    """The request's JSON. `official`: the server is OpenAI, which has more to offer than compatible servers."""
    options, may_reason = request.options, not model.startswith(NEVER_REASONING)
    summary = "auto" if may_reason and official and options.reasoning_effort != "none" else None
    first = request.messages[0].content if request.messages else ""
    # not strict: that would make every parameter of a tool required
    fixed, no_parameters = {"type": "function", "strict": False}, {"type": "object", "properties": {}}
    tools = [{"description": "", "parameters": no_parameters, **tool.descriptor["function"], **fixed} for tool in request.tools]
    return without_none(
        model=model,
        input=[item for message in request.messages for item in _input_items(message)],
        stream=True,
        store=False,
        # equal for prompts with the same beginning, so that OpenAI sends them to the server that has it in its cache
        prompt_cache_key=f"zkchat-{blake2b(first.encode('utf-8', 'replace'), digest_size=8).hexdigest()}",
        include=["reasoning.encrypted_content"] if may_reason else None,
        reasoning=without_none(effort=options.reasoning_effort, summary=summary) or None,
        text={"verbosity": verbosity} if verbosity else None,
        max_output_tokens=max(options.max_output_tokens, MIN_ANSWER) if options.max_output_tokens is not None else None,
        temperature=None if official and model.startswith(REASONING_MODELS) else options.temperature,
        tools=tools or None,
    )


def _input_items(message: PromptMessage) -> Iterator[dict[str, Any]]:
    """A message as items: the text, reasoning and calls of an answer in the order in which they came."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": (message.tool_call_id or "")[-MAX_CALL_ID:], "output": message.content}
        return
    order = message.thinking_for(PROVIDER_NAME)
    texts = [message.content] if message.content else []  # one, as the texts of several items are one
    calls = list(message.tool_calls)
    if all(item["type"] != "message" for item in order):
        order = ({"type": "message"}, *order)
    for item in (*order, *({"type": "function_call"} for _ in calls)):
        if item["type"] == "reasoning":
            yield item
        elif item["type"] == "message" and texts:
            yield {**item, "role": message.role, "content": texts.pop()}
        elif item["type"] == "function_call" and calls:
            call = calls.pop(0)
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            yield {"type": "function_call", "call_id": call.id[-MAX_CALL_ID:], "name": call.name, "arguments": arguments}
