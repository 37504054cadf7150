"""OpenAI's chat completions as OpenAI and compatible servers speak them: requests, and the events of a stream. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from zkchat_cli.llm.base import Request, openai_message
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.models import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

PROVIDER_NAME = "openai"
"""Marks reasoning that goes back to an OpenAI-compatible server only."""
REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
"""Prefixes of OpenAI's models that take no temperature."""
MAX_ID = 40
"""Characters that OpenAI accepts in a call's id; vLLM, which may have answered before, generates ids of 46."""


class OpenAIReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or `reasoning` (OpenRouter, Groq, LM Studio)."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, PartialToolCall] = {}
        self._reasoning_details: list[dict[str, Any]] = []

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        if isinstance(usage := event.get("usage"), dict):
            self.count(
                prompt_tokens=usage.get("prompt_tokens"),
                completion_tokens=usage.get("completion_tokens"),
                cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
                reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
            )
        choices = event.get("choices")
        if not choices:
            return "", ""
        delta = choices[0].get("delta") or choices[0].get("message") or {}  # the latter from a server that does not stream
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        self._keep_reasoning_details(delta.get("reasoning_details") or ())
        self.finish = text_of(choices[0].get("finish_reason")) or self.finish
        return text_of(delta.get("content") or delta.get("refusal")), text_of(delta.get("reasoning_content") or delta.get("reasoning"))

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """A fragment continues the call of its index; another id, or without an id another name, starts a new one (Gemini)."""
        function = fragment.get("function") or {}
        added = PartialToolCall(text_of(fragment.get("id")), text_of(function.get("name")), text_of(function.get("arguments")))
        self.hidden_bytes += len(added.id) + len(added.name) + len(added.arguments)
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        if call is None or (added.id != call.id if added.id and call.id else added.name and call.name):
            self._by_index[index] = added
            self.calls.append(added)
            if len(self.calls) > MAX_ITEMS:
                raise ValueError("too many tool calls")
            return
        call.id = call.id or added.id
        call.name = call.name or added.name
        call.arguments += added.arguments

    def _keep_reasoning_details(self, details: Iterable[Mapping[str, Any]]) -> None:
        """OpenRouter needs them back as they were; the texts of one come in pieces."""
        for part in details:
            self.hidden_bytes += len(str(part))
            last = self._reasoning_details[-1] if self._reasoning_details else {}
            if not last or (last.get("type"), last.get("index")) != (part.get("type"), part.get("index")):
                self._reasoning_details.append(dict(part))
                continue
            for name, value in part.items():
                if name in ("text", "summary", "data"):
                    last[name] = (last.get(name) or "") + (value or "")
                elif value is not None:
                    last[name] = value

    def thinking(self) -> ThinkingBlocks | None:
        if not self.calls or not self._reasoning_details:
            return None
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=({"reasoning_details": self._reasoning_details},))


def takes_temperature(model: str) -> bool:
    """Whether a model at OpenAI does."""
    return not model.startswith(REASONING_MODELS)


def request_body(model: str, request: Request, *, official: bool, verbosity: str = "") -> dict[str, Any]:
    """The request's JSON. `official`: the server is OpenAI, which is stricter than compatible servers."""
    options = request.options
    messages = [openai_message(message) for message in request.messages]
    for message, source in zip(messages, request.messages, strict=True):
        for call in message.get("tool_calls", ()):
            call["id"] = call["id"][-MAX_ID:] if official else call["id"]
        if official and "tool_call_id" in message:
            message["tool_call_id"] = message["tool_call_id"][-MAX_ID:]
        for block in source.thinking_for(PROVIDER_NAME):
            message |= block
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    if options.max_output_tokens is not None:
        body["max_completion_tokens" if official else "max_tokens"] = options.max_output_tokens
    if options.temperature is not None and (takes_temperature(model) or not official):
        body["temperature"] = options.temperature
    if options.reasoning_effort is not None:
        body["reasoning_effort"] = options.reasoning_effort
    if verbosity:
        body["verbosity"] = verbosity
    if request.tools:
        body["tools"] = [tool.descriptor for tool in request.tools]
    return body
