"""Models called by OpenAI's Responses API.

OpenAI keeps nothing of a call (`store: false`), so each sends the whole conversation. What a model
has reasoned before a tool call comes encrypted, and goes back with the call's result; after the
turn it is of no use, and it is not stored.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from zkchat_cli.llm.base import MAX_CALL_ID, Options, Request, image_url, without_none
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, ReadEvent, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.providers.openai.chat_completions import OpenAIModel
from zkchat_cli.llm.providers.openai.model_tables import IMAGE_DETAIL
from zkchat_cli.llm.refusals import (
    TEMPERATURE_REFUSAL,
    Refusal,
    leave_out,
    refused_effort,
    refused_parameter,
)
from zkchat_cli.models.messages import ThinkingBlocks, ToolCall
from zkchat_cli.models.prompts import PromptMessage, PromptTool

# Marks reasoning that goes back to the same API only
RESPONSES = "openai/responses"
# The smallest `max_output_tokens` that OpenAI accepts
MIN_ANSWER = 16
# Bytes of the hash of a prompt's beginning
KEY_BYTES = 8
_TEXT_EVENTS = ("response.output_text.delta", "response.refusal.delta")
_REASONING_EVENTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_END_EVENTS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesReader(ChatReader):
    """The events of one response, or the whole response from a server that does not stream."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._items: list[dict[str, Any]] = []
        """The finished items of the output: reasoning unchanged, and other items without what the
        message itself has.
        """
        self._streams = False

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """See ChatReader. An event of an unknown type says nothing."""
        return ReadEvent(self._read_text(event), _read_reasoning(event))

    def _read_text(self, event: Mapping[str, Any]) -> str:
        """The text of an event; keeps its calls, its items and the end of the response."""
        kind = event.get("type")
        if kind in _TEXT_EVENTS:
            self._streams = True
            return text_of(event.get("delta"))
        if kind == "response.function_call_arguments.delta":
            self.hidden_bytes += len(text_of(event.get("delta")))
        elif kind == "response.output_item.done":
            whole = self._end_item(event["item"])
            return "" if self._streams else whole
        elif kind in _END_EVENTS:
            return self._end(event["response"])
        elif kind is None and event.get("object") == "response":
            return self._end(event)
        return ""

    def _end_item(self, item: Mapping[str, Any]) -> str:
        """Keep a finished item; returns its text, which has come in pieces if the server
        streams.
        """
        if len(self._items) >= MAX_ITEMS:
            raise ValueError("too many items")
        kind = item["type"]
        if kind == "function_call":
            self.add_call(
                PartialToolCall(item.get("call_id"), item.get("name"), item.get("arguments"))
            )
            self._items.append({"type": kind})
        elif kind == "reasoning":
            self.hidden_bytes += len(str(item))
            self._items.append(_known_reasoning(item))
        elif kind == "message":
            kept = {name: text_of(item[name]) for name in ("type", "phase") if item.get(name)}
            self._items.append(kept)
            self.hidden_bytes += len(item.get("phase") or "")
            return _text(item)
        return ""

    def _end(self, response: Mapping[str, Any]) -> str:
        """Read the end of a response; returns the text that has not come before."""
        status = text_of(response.get("status"))
        if status in ("failed", "cancelled"):
            reported = self.endpoint.error_from_stream(response)
            raise reported or self.endpoint.cut_off(f"the server gave up ({status})")
        text = ""
        if not self._items:
            text = "".join(self._end_item(item) for item in response.get("output") or ())
        self.count_usage(response.get("usage"), "input_tokens", "output_tokens")
        self.ended = True
        incomplete = response.get("incomplete_details") or {}
        self.finish = text_of(incomplete.get("reason")) or "stop"
        return text

    def thinking(self) -> ThinkingBlocks | None:
        """The items of the answer, if it has reasoned. Without its encrypted content, the server
        would look for the reasoning and not find it.
        """
        blocks = tuple(
            item
            for item in self._items
            if item["type"] != "reasoning" or item.get("encrypted_content")
        )
        if not any(item["type"] == "reasoning" for item in blocks):
            return None
        return ThinkingBlocks(provider=RESPONSES, blocks=blocks, stored=False)


def _read_reasoning(event: Mapping[str, Any]) -> str:
    """The reasoning in an event; its parts are paragraphs."""
    kind = event.get("type")
    if kind in _REASONING_EVENTS:
        return text_of(event.get("delta"))
    if kind == "response.reasoning_summary_part.added" and event.get("summary_index"):
        return "\n\n"
    return ""


def _known_reasoning(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item of reasoning with the keys that the API takes back."""
    # Deferred: mojentic has imported it when this runs
    from openai.types.responses import ResponseReasoningItem

    known = {
        name: item[name]
        for name in ResponseReasoningItem.model_fields
        if name in item and name != "status"
    }
    return ResponseReasoningItem.model_validate(known).to_dict(exclude_none=True)


def _text(item: Mapping[str, Any]) -> str:
    """The text of a message, or of a refusal."""
    parts = item.get("content") or ()
    return "".join(text_of(part.get("text") or part.get("refusal")) for part in parts)


@dataclass
class OpenAIResponsesModel(OpenAIModel):
    """A model called by the Responses API."""

    path = "/responses"
    reader = ResponsesReader
    refusals = (
        Refusal(
            "encrypted reasoning",
            re.compile(r"(?i)encrypted content is not supported"),
            leave_out("include", "reasoning"),
        ),
        Refusal(
            "reasoning.summary",
            re.compile(r"(?i)generate reasoning summaries|reasoning\.summary"),
            lambda body: body.get("reasoning", {}).pop("summary", None),
            "shows no summary of its reasoning",
            "Answers do not change. OpenAI shows it to verified organizations, for models "
            "that have one.",
        ),
        TEMPERATURE_REFUSAL,
        refused_effort("reasoning.effort"),
        refused_parameter("text.verbosity", "text", setting="openai.verbosity"),
        refused_parameter("prompt_cache_key", "prompt_cache_key"),
        refused_parameter("max_output_tokens", "max_output_tokens"),
    )

    def full_body(self, request: Request) -> dict[str, Any]:
        """See RemoteModel."""
        options = request.options
        verbosity = self.settings.verbosity
        max_tokens = options.max_output_tokens
        return without_none(
            model=self.model,
            input=[item for message in request.messages for item in _input_items(message)],
            stream=True,
            store=False,
            prompt_cache_key=_cache_key(request),
            include=["reasoning.encrypted_content"] if self.may_reason else None,
            reasoning=self._reasoning(options) or None,
            text={"verbosity": verbosity} if verbosity else None,
            max_output_tokens=None if max_tokens is None else max(max_tokens, MIN_ANSWER),
            temperature=self.temperature(request),
            tools=[_tool(tool) for tool in request.tools] or None,
        )

    def _reasoning(self, options: Options) -> dict[str, Any]:
        """How much to reason, and that OpenAI summarizes it for the user."""
        effort = self.effort(options)
        has_summary = self.may_reason and self.official and effort != "none"
        return without_none(effort=effort, summary="auto" if has_summary else None)


def _cache_key(request: Request) -> str:
    """A key that is equal for prompts with the same beginning: OpenAI sends them to the server that
    has this beginning in its cache.
    """
    first = request.messages[0].content if request.messages else ""
    digest = blake2b(first.encode("utf-8", "replace"), digest_size=KEY_BYTES)
    return f"zkchat-{digest.hexdigest()}"


def _tool(tool: PromptTool) -> dict[str, Any]:
    """A tool in the API's form. It is not strict: that would make every parameter required."""
    return {
        "description": "",
        "parameters": {"type": "object", "properties": {}},
        **tool.descriptor["function"],
        "type": "function",
        "strict": False,
    }


def _input_items(message: PromptMessage) -> list[dict[str, Any]]:
    """A message as items of the API."""
    if message.role != "tool":
        return list(_answer_items(message))
    call_id = (message.tool_call_id or "")[-MAX_CALL_ID:]
    return [{"type": "function_call_output", "call_id": call_id, "output": message.content}]


def _answer_items(message: PromptMessage) -> Iterator[dict[str, Any]]:
    """The text, reasoning and calls of a message in the order in which they came."""
    order = message.thinking_for(RESPONSES)
    if all(item["type"] != "message" for item in order):
        order = ({"type": "message"}, *order)
    # The message has the texts of all its items as one
    texts = [message.content] if message.content else []
    calls = list(message.tool_calls)
    for item in order:
        if item["type"] == "reasoning":
            yield item
        elif item["type"] == "message" and texts:
            yield {**item, "role": message.role, "content": _content(texts.pop(), message)}
        elif item["type"] == "function_call" and calls:
            yield _call_item(calls.pop(0))
    for call in calls:
        yield _call_item(call)


def _content(text: str, message: PromptMessage) -> str | list[dict[str, Any]]:
    """The text of a message, with its pictures if it has any."""
    if not message.images:
        return text
    content: list[dict[str, Any]] = [{"type": "input_text", "text": text}]
    for image in message.images:
        url = image_url(image)
        content.append({"type": "input_image", "image_url": url, "detail": IMAGE_DETAIL})
    return content


def _call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id[-MAX_CALL_ID:],
        "name": call.name,
        "arguments": json.dumps(call.arguments, ensure_ascii=False),
    }
