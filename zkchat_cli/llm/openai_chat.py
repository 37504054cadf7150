"""OpenAI's chat completions: requests with the exceptions that single servers need, and streams with the deviations seen in real servers.

Imports mojentic. The deviations: an empty first event (Azure); finish reasons that are empty or of their own; reasoning in another field
(OpenRouter, vLLM); errors in other fields or on a line of their own (llama.cpp); tool calls without an index or all with the same one
(Gemini, Ollama); fragments that repeat the id; tool arguments that are not JSON; an answer in one piece; no `[DONE]`.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from zkchat_cli.llm.base import Request, openai_message
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, counts, text_of
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.remote_model import silence_libraries
from zkchat_cli.models import ThinkingBlocks

silence_libraries()

from mojentic.llm.gateways.openai_model_registry import OpenAIModelRegistry  # noqa: E402  after silence_libraries

PROVIDER_NAME = "openai"
"""Marks reasoning that goes back to an OpenAI-compatible server only."""
SIGNATURE = "extra_content"
"""The field of a call in which Gemini signs its reasoning, and without which it rejects the call's result."""
_OTHER_FIELD = re.compile(rb"[A-Za-z][\w-]*:")
MAX_ID = 40
"""Characters that OpenAI accepts in a call's id; vLLM generates ids of 46."""
MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRAL = re.compile("mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral", re.IGNORECASE)
"""In a model's name or a server's address: these accept only ids of nine letters or digits."""
_registry = OpenAIModelRegistry()


class OpenAIReader(ChatReader):
    """The events of one response. Fragments of tool calls are put together here, because servers number them in many ways."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, int] = {}
        self._by_id: dict[str, int] = {}
        self._signatures: dict[int, Any] = {}
        self._reasoning = ""
        self._reasoning_details: list[dict[str, Any]] = []

    def parse_line(self, line: bytes) -> object:
        line = line.removeprefix(codecs.BOM_UTF8)
        if line.startswith(b"data:"):
            data = line[5:].strip()
            return "[DONE]" if data == b"[DONE]" else json.loads(data) if data else None
        if line.startswith(b"error:"):  # llama.cpp
            return {"error": json.loads(line[6:].strip() or b"null")}
        if not line.strip() or line.startswith(b":") or _OTHER_FIELD.match(line):
            return None
        raise ValueError("not a line of server-sent events")

    def read_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        self._read_usage(event.get("usage"))
        choices = event.get("choices")
        choices = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        chosen = next((choice for choice in choices if not choice.get("index")), None) or next(iter(choices), None)
        return self._read_choice(chosen, "delta") if chosen else {}

    def read_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        self._read_usage(document.get("usage"))
        choice = document["choices"][0]
        if not isinstance(choice["message"], dict):
            raise TypeError(choice)
        return self._read_choice(choice, "message")

    def _read_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            details = usage.get("prompt_tokens_details")
            self.usage = counts(usage, prompt_tokens="prompt_tokens", completion_tokens="completion_tokens")
            self.usage |= counts(details, cached_tokens="cached_tokens") if isinstance(details, dict) else {}

    def _read_choice(self, choice: Mapping[str, Any], key: str) -> dict[str, Any]:
        delta = choice.get(key) or {}
        content = delta.get("content")
        if isinstance(content, list):  # Mistral sends parts
            content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        self._keep_reasoning(delta)
        reasoning = delta.get("reasoning_content")
        if reasoning is None and isinstance(delta.get("reasoning"), str):
            reasoning = delta["reasoning"]
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
            self.finish = choice["finish_reason"]
        refusal = delta.get("refusal")
        return {"content": text_of(content or (refusal if isinstance(refusal, str) else content)), "reasoning_content": text_of(reasoning)}

    def _add_fragment(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index = fragment["index"] if isinstance(fragment.get("index"), int) else None
        added = PartialToolCall(str(fragment.get("id") or ""), str(function.get("name") or ""), arguments or "")
        place = self._find_call(index, added)
        if place is None:
            place = len(self.calls)
            self.calls.append(added)
        else:
            call = self.calls[place]
            # the costly check is last: a million fragments may come
            repeated = bool(added.id or added.name) and added.arguments == call.arguments and call.is_complete
            call.id = added.id or call.id
            call.name += "" if added.name == call.name else added.name
            call.arguments += "" if repeated else added.arguments
        self._by_index[index] = place
        if isinstance(signature := fragment.get(SIGNATURE), dict):
            self._signatures[place] = signature
        if added.id:
            self._by_id[added.id] = place

    def _find_call(self, index: int | None, added: PartialToolCall) -> int | None:
        """The call that a fragment continues or repeats; None if it starts one.

        Without an id and a name it continues the call of its index, or else the last one. A known id continues its call, whatever the
        index says; an unknown one starts a call. Without an id, another name starts a call, and so do other arguments after complete ones.
        """
        at_index = self._by_index.get(index)
        place = self._by_id.get(added.id)
        if place is None and (not added.id or (index is not None and at_index is not None and not self.calls[at_index].id)):
            place = at_index if at_index is not None or added.id or added.name or not self.calls else len(self.calls) - 1
        if place is None:
            return None
        known = self.calls[place]
        if not added.name or (added.name == known.name and added.arguments in ("", known.arguments)):
            return place
        continues = added.name == known.name or (index is not None and place == at_index)
        return place if continues and not known.is_complete else None

    def _keep_reasoning(self, delta: Mapping[str, Any]) -> None:
        if isinstance(delta.get("reasoning_content"), str):
            self._reasoning += text_of(delta["reasoning_content"])
        details = delta.get("reasoning_details")
        for part in details if isinstance(details, list) else ():
            if isinstance(part, dict):
                last = self._reasoning_details[-1] if self._reasoning_details else {}
                if not last or (last.get("type"), last.get("index")) != (part.get("type"), part.get("index")):
                    self._reasoning_details.append(last := {})
                for name, value in part.items():
                    continues = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(last.get(name), str)
                    last[name] = last[name] + value if continues else last.get(name) if value is None else value

    def thinking(self) -> ThinkingBlocks | None:
        """Reasoning fields of the message, as the server named them, and signatures of single calls, by their position.

        A model on this machine gets no plain reasoning back: it would only fill its window.
        """
        if not self.calls:
            return None
        fields = {"reasoning_content": "" if self.endpoint.is_local else self._reasoning, "reasoning_details": self._reasoning_details}
        message = {name: value for name, value in fields.items() if value}
        calls = [{"call": place, "fields": {SIGNATURE: self._signatures[place]}} for place in sorted(self._signatures)]
        blocks = ([{"message": message}] if message else []) + calls
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=tuple(blocks)) if blocks else None


def known_window(model: str) -> int | None:
    """The context window that mojentic knows for one of OpenAI's own models."""
    if model not in _registry.get_registered_models():
        return None
    window: int | None = _registry.get_model_capabilities(model).max_context_tokens
    return window


def request_body(model: str, request: Request, address: str, *, official: bool) -> dict[str, Any]:
    """The request's JSON. `official`: the server is OpenAI, whose models differ in the options they take."""
    options = request.options
    messages = [openai_message(message) for message in request.messages]
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    reasons = official and _registry.is_reasoning_model(model)
    known = _registry.get_model_capabilities(model) if official and model in _registry.get_registered_models() else None
    if options.max_output_tokens is not None:
        body["max_completion_tokens" if reasons else "max_tokens"] = options.max_output_tokens
    if options.temperature is not None and (known.supports_temperature(options.temperature) if known else not reasons):
        body["temperature"] = options.temperature
    if options.reasoning_effort is not None:
        body["reasoning_effort"] = options.reasoning_effort
    if request.tools and (known is None or known.supports_tools):
        body["tools"] = [tool.descriptor for tool in request.tools]
    _adapt_calls(messages, request, address, strict_ids=_MISTRAL.search(f"{model} {address}") is not None)
    return body


def _adapt_calls(messages: list[dict[str, Any]], request: Request, address: str, *, strict_ids: bool) -> None:
    """Make ids and names acceptable, and add what the server wants back with its calls.

    Ids of the current turn stay as they are: some servers hide in them what they need back.
    """
    turn = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=0)
    for position, (message, source) in enumerate(zip(messages, request.messages, strict=True)):
        current = position > turn and not strict_ids
        for call in message.get("tool_calls", ()):
            call["id"] = call["id"] if current else _valid_id(call["id"], strict=strict_ids)
            call["function"]["name"] = _NOT_IN_NAMES.sub("_", call["function"]["name"])[:MAX_NAME]
        if "tool_calls" in message and "deepseek.com" in address:
            message["reasoning_content"] = ""  # DeepSeek rejects calls without it, also those of earlier turns
        if source.thinking is not None and source.thinking.provider == PROVIDER_NAME:
            for block in source.thinking.blocks:
                if "message" in block:
                    message |= block["message"]
                elif block["call"] < len(message["tool_calls"]):  # a call that was cut off is not there
                    message["tool_calls"][block["call"]] |= block["fields"]
        if "tool_call_id" in message and not current:
            message["tool_call_id"] = _valid_id(message["tool_call_id"], strict=strict_ids)


def _valid_id(id_: str, *, strict: bool) -> str:
    """A call's id as the server accepts it; the same id always becomes the same one."""
    valid = _MISTRAL_ID.fullmatch(id_) is not None if strict else len(id_) <= MAX_ID
    return id_ if valid else hashlib.sha256(id_.encode()).hexdigest()[:9]
