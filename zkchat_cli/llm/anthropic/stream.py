"""A reply of Anthropic's Messages API, event by event, as deltas. Pure: the events come from whoever reads the stream."""

import json
from typing import Any

from zkchat_cli.llm.anthropic.request import NAME
from zkchat_cli.llm.base import ReasoningPart, StreamFinished, TextPart, ThinkingPart, ToolCallsPart
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.threaded_stream import ALIVE, Put
from zkchat_cli.models import ThinkingBlocks, TokenUsage, ToolCall

STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error would have been, had the server not begun its answer with "all is well"."""
CUT_BY_LENGTH = ("max_tokens", "model_context_window_exceeded")


class ErrorEvent(Exception):
    """The server gives up in the middle of its answer: `status` and `body` as if it had said so at once."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class AnthropicReply:
    """One reply. `take` its events as they come, then `finish`."""

    def __init__(self, put: Put, endpoint: Endpoint) -> None:
        self._put, self._endpoint = put, endpoint
        self.spoken = False
        """Whether anything of it was shown: then it is not asked for again."""
        self.begun = False
        self.ended = False
        """Whether its last event was seen."""
        self._stop: str | None = None
        self._explanation = ""
        self._usage: dict[str, int] = {}
        self._blocks: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}

    @property
    def whole(self) -> bool:
        """Whether nothing is missing: some imitations leave out the last event, none the reason to stop."""
        return self.ended or self._stop is not None

    def take(self, data: str) -> None:
        """One event's JSON. Unknown events are passed over, as the API asks of its users. Raises ErrorEvent, and ProviderError for what
        is no event."""
        if data.strip() in ("", "[DONE]"):
            return
        try:
            event = json.loads(data)
            self._take(event["type"], event, data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
            raise (self._endpoint.garbled() if self.spoken else self._endpoint.unintelligible(data)) from e

    def _take(self, kind: str, event: dict[str, Any], data: str) -> None:
        self.begun = True
        match kind:
            case "message_start":
                self._count(event["message"].get("usage"))
            case "content_block_start":
                self._begin(event["index"], event["content_block"])
            case "content_block_delta":
                self._go_on(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._explanation = (event["delta"].get("stop_details") or {}).get("explanation") or ""
                self._count(event.get("usage"))
            case "message_stop":
                self.ended = True
            case "error":
                error = event["error"]
                raise ErrorEvent(STATUSES.get(error.get("type"), 500), data)
        self._put(ALIVE)

    def _begin(self, index: int, block: dict[str, Any]) -> None:
        opened = {**block, "said": ""}
        self._open[index] = opened
        self._blocks.append(opened)
        match block["type"]:
            case "text":
                self._say(block.get("text"))
            case "thinking":
                self._reason(opened, block.get("thinking"))

    def _go_on(self, index: int, delta: dict[str, Any]) -> None:
        match delta["type"]:
            case "text_delta":
                self._say(delta["text"])
            case "thinking_delta":
                self._reason(self._open[index], delta["thinking"])
            case "signature_delta":
                self._open[index]["signature"] = delta["signature"]
            case "input_json_delta":
                self._open[index]["said"] += delta["partial_json"]

    def _say(self, text: object) -> None:
        if said := _words(text):
            self.spoken = True
            self._put(TextPart(said))

    def _reason(self, block: dict[str, Any], text: object) -> None:
        if said := _words(text):
            self.spoken = True
            block["said"] += said
            self._put(ReasoningPart(said))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Figures come at the beginning and, as sums, at the end; a server may leave out either, or say 0."""
        for name, figure in (usage or {}).items():
            if isinstance(figure, int):
                self._usage[name] = max(figure, self._usage.get(name, 0))

    def finish(self) -> None:
        """Put what is said once at the end. Raises ProviderError if the model refused to go on."""
        if self._stop == "refusal":
            raise self._endpoint.filtered(self._endpoint.redacted(self._explanation))
        if self._stop in CUT_BY_LENGTH:  # and so is perhaps the call that it was writing
            self._put(StreamFinished("length", self.usage))
            return
        calls = tuple(_call(block) for block in self._blocks if block["type"] == "tool_use")
        thoughts = tuple(_thought(block) for block in self._blocks if block["type"] in ("thinking", "redacted_thinking"))
        if calls and thoughts:
            self._put(ThinkingPart(ThinkingBlocks(provider=NAME, blocks=thoughts)))
        if calls:
            self._put(ToolCallsPart(calls))
        self._put(StreamFinished("tool_calls" if calls else "stop", self.usage))

    @property
    def usage(self) -> TokenUsage | None:
        """What the call cost; what was read from the cache or written to it is not in the API's figure of input."""
        said = self._usage
        cached = said.get("cache_read_input_tokens")
        prompt = said.get("input_tokens", 0) + (cached or 0) + said.get("cache_creation_input_tokens", 0)
        if prompt <= 0:
            return None
        return TokenUsage(prompt_tokens=prompt, completion_tokens=said.get("output_tokens", 0), estimated=False, cached_tokens=cached)


def _words(text: object) -> str:
    """What a server says as text; nothing, for null. Raises TypeError for what is none: whoever shows it would stumble over it."""
    if text is not None and not isinstance(text, str):
        raise TypeError(text)
    return text or ""


def _call(block: dict[str, Any]) -> ToolCall:
    id_, name, said = str(block.get("id") or ""), str(block.get("name") or "nameless"), block["said"]
    try:
        arguments = json.loads(said) if said.strip() else block.get("input") or {}
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(id=id_, name=name, malformed=said)
    return ToolCall(id=id_, name=name, arguments=arguments)


def _thought(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "redacted_thinking":
        return {"type": "redacted_thinking", "data": block.get("data", "")}
    return {"type": "thinking", "thinking": block["said"], "signature": block.get("signature", "")}
