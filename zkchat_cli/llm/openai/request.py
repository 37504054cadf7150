"""A request in the form of OpenAI's chat completions, with the exceptions that single servers need. Imports mojentic."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from zkchat_cli.llm.base import Request, openai_message
from zkchat_cli.llm.openai.stream import PROVIDER_NAME
from zkchat_cli.llm.remote_model import silence_libraries

silence_libraries()

from mojentic.llm.gateways.openai_model_registry import OpenAIModelRegistry  # noqa: E402  after silence_libraries

MAX_ID = 40
"""Characters that OpenAI accepts in a call's id; vLLM generates ids of 46."""
MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRAL = re.compile("mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral", re.IGNORECASE)
"""In a model's name or a server's address: these accept only ids of nine letters or digits."""

_registry = OpenAIModelRegistry()


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
                _attach(message, block)
        if "tool_call_id" in message and not current:
            message["tool_call_id"] = _valid_id(message["tool_call_id"], strict=strict_ids)


def _attach(message: dict[str, Any], block: Mapping[str, Any]) -> None:
    if "message" in block:
        message |= block["message"]
    elif block["call"] < len(message["tool_calls"]):  # a call that was cut off is not there
        message["tool_calls"][block["call"]] |= block["fields"]


def _valid_id(id_: str, *, strict: bool) -> str:
    """A call's id as the server accepts it; the same id always becomes the same one."""
    valid = _MISTRAL_ID.fullmatch(id_) is not None if strict else len(id_) <= MAX_ID
    return id_ if valid else hashlib.sha256(id_.encode()).hexdigest()[:9]
