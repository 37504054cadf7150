"""OpenAI's chat completions as OpenAI and compatible servers speak them: requests, and the events of a stream. Pure."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from zkchat_cli.llm.base import Request, openai_message, without_none
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, json_of, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.models import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

PROVIDER_NAME = "openai"
"""Marks reasoning that goes back to an OpenAI-compatible server only."""
REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
"""Prefixes of OpenAI's models that take no temperature."""
SHORT_ID = 9
"""Characters of an id at Mistral."""


class OpenAIReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or `reasoning` (OpenRouter, Groq, LM Studio)."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, PartialToolCall] = {}
        self._reasoning_details: list[dict[str, Any]] = []
        self._reasoning_content = ""

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        self.count_usage(event.get("usage"), "prompt_tokens", "completion_tokens")
        choices = event.get("choices")
        if not choices:
            return "", ""
        delta = choices[0].get("delta") or choices[0].get("message") or {}  # the latter from a server that does not stream
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        self._keep_reasoning_details(delta.get("reasoning_details") or ())
        self.finish = text_of(choices[0].get("finish_reason")) or self.finish
        text, thought = _split_content(delta.get("content") or delta.get("refusal"))
        reasoning = text_of(delta.get("reasoning_content"))
        self._reasoning_content += reasoning
        return text, thought + (reasoning or text_of(delta.get("reasoning")))

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """A fragment continues the call of its index, unless it begins another."""
        function = fragment.get("function") or {}
        added = PartialToolCall(text_of(fragment.get("id")), text_of(function.get("name")), json_of(function.get("arguments")))
        if isinstance(extra := fragment.get("extra_content"), dict):  # Gemini signs its calls
            added.extra = {"extra_content": extra}
            self.hidden_bytes += len(str(extra))
        self.hidden_bytes += added.size
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        if call is None or call.ends_before(added):
            self._by_index[index] = added
            self.add_call(added)
            return
        call.id = call.id or added.id
        call.name = call.name or added.name
        call.arguments += added.arguments
        call.extra |= added.extra

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
        """What OpenRouter, DeepSeek and Gemini want back: keys of the message, and of its calls."""
        block: dict[str, Any] = {"reasoning_details": self._reasoning_details, "reasoning_content": self._reasoning_content}
        if any(call.extra for call in self.calls):
            block["tool_calls"] = [call.extra for call in self.calls]
        sent = {name: value for name, value in block.items() if value}
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=(sent,)) if sent else None


def _split_content(content: object) -> tuple[str, str]:
    """A text, or the texts and thoughts in Mistral's list of both. A thought is a list of texts."""
    if not isinstance(content, list):
        return text_of(content), ""
    return _join_texts(content), "".join(_join_texts(each.get("thinking") or ()) for each in content)


def _join_texts(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts)


def add_reasoning(body: dict[str, Any]) -> None:
    """DeepSeek wants reasoning with each of its answers: of earlier turns, which are sent without, it takes an empty one."""
    for message in body["messages"]:
        if message["role"] == "assistant":
            message.setdefault("reasoning_content", "")


def shorten_call_ids(body: dict[str, Any]) -> None:
    """Mistral wants calls' ids of nine letters and digits."""
    for message in body["messages"]:
        for place, key in ((message, "tool_call_id"), *((call, "id") for call in message.get("tool_calls", ()))):
            if key in place and not (len(place[key]) == SHORT_ID and place[key].isalnum()):
                place[key] = sha256(place[key].encode()).hexdigest()[:SHORT_ID]


def takes_temperature(model: str) -> bool:
    """Whether a model at OpenAI does."""
    return not model.startswith(REASONING_MODELS)


def request_body(model: str, request: Request, *, official: bool, verbosity: str = "") -> dict[str, Any]:
    """The request's JSON. `official`: the server is OpenAI, which is stricter than compatible servers."""
    options = request.options
    messages = list(map(openai_message, request.messages))
    for message, source in zip(messages, request.messages, strict=True):
        for block in source.thinking_for(PROVIDER_NAME):
            for call, extra in zip(message.get("tool_calls", ()), block.get("tool_calls", ()), strict=False):
                call |= extra
            message |= {name: value for name, value in block.items() if name != "tool_calls"}
    return without_none(
        model=model,
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=options.max_output_tokens if official else None,
        max_tokens=None if official else options.max_output_tokens,
        temperature=options.temperature if takes_temperature(model) or not official else None,
        reasoning_effort=options.reasoning_effort,
        verbosity=verbosity or None,
        tools=[tool.descriptor for tool in request.tools] or None,
    )
