"""mojentic's OpenAI gateway, made to get along with the many servers that speak OpenAI's language with an accent.

Importing this file imports mojentic and the OpenAI SDK. What is lenient here is what real servers were seen to do: an empty first event
(Azure), finish reasons that are empty or their own, reasoning under another name (OpenRouter, vLLM), tool calls without an index or all
with the same one, tool arguments that are no JSON, and no `[DONE]` at the end.
"""

import hashlib
import json
import re
from contextlib import aclosing
from typing import Any

import httpx

from zkchat_cli.llm import Finished, ToolCalls, recovery
from zkchat_cli.llm.endpoint import Endpoint
from zkchat_cli.llm.pump import Put
from zkchat_cli.llm.recovery import Models

# isort: split
from mojentic.llm.gateways.cloud_recovery import freeze_request
from mojentic.llm.gateways.models import LLMGatewayResponse
from mojentic.llm.gateways.omlx_recovery import OMLXStreamRecovery
from mojentic.llm.gateways.openai import OpenAIGateway
from mojentic.llm.gateways.openai_model_registry import ModelCapabilities, ModelType, OpenAIModelRegistry
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery, _OpenAIDecoder
from mojentic.llm.recovery import RecoveryCall, RecoveryPolicy, _Attempt
from mojentic.llm.recovery_stream import RecoveryStreamEvent, StreamMetrics, recover_stream

NO_KEY = "none"
"""For the SDK, which insists on one; it is not sent."""
LONGEST_ID = 40
"""Characters that OpenAI takes as a call's id; vLLM gives some of 46."""
LONGEST_NAME = 64
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRALS = re.compile(r"[a-zA-Z0-9]{9}")
_OF_MISTRAL = re.compile("mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral", re.IGNORECASE)
"""In a model's name or a server's address: it takes no other ids than such."""


class Gateway(OpenAIGateway):  # type: ignore[misc]  # mojentic is untyped
    """One server. `key` may be empty. Use it for one call at a time."""

    def __init__(self, endpoint: Endpoint, *, official: bool) -> None:
        super().__init__(api_key=endpoint.key or NO_KEY, base_url=endpoint.address)
        self._endpoint = endpoint
        self._official = official
        self._introduced: set[str] = set()
        self.model_registry = OpenAIModelRegistry()

    def known_window(self, model: str) -> int | None:
        """The context window in tokens that mojentic knows of a model of OpenAI's own; None for any other."""
        if not self._official or model not in self.model_registry.get_registered_models():
            return None
        window: int | None = self.model_registry.get_model_capabilities(model).max_context_tokens
        return window

    async def complete_stream_with_recovery(self, call: RecoveryCall | None = None, **args: Any) -> recovery.Events:
        self._introduce(args["model"])
        try:
            body = self._recovery_body(args, True)
        except (ValueError, TypeError, KeyError, NotImplementedError) as cause:
            yield recovery.unprepared(cause, "openai")
            return
        proxied = not self._endpoint.is_local
        events = recover_stream(
            self._recovery_url,
            body,
            self._recovery_headers(),
            httpx.Timeout(None, connect=recovery.CONNECT_SECONDS),
            self._decode_recovery,
            self.recovery_policy,
            call or RecoveryCall(),
            _engine_type=_ProxiedEngine if proxied else _Engine,
        )
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    def body(self, args: dict[str, Any]) -> dict[str, Any]:
        """The request that these arguments of a stream make."""
        self._introduce(args["model"])
        made: dict[str, Any] = json.loads(self._recovery_body(args, True))
        return made

    def with_policy(self, policy: RecoveryPolicy) -> "Gateway":
        self.recovery_policy = policy
        return self

    def _recovery_headers(self) -> dict[str, str]:
        headers: dict[str, str] = super()._recovery_headers()
        if not self._endpoint.key:
            headers.pop("Authorization")
        return headers

    def _recovery_body(self, args: dict[str, Any], streaming: bool) -> bytes:
        """The request with text as it is instead of escaped, which costs tokens, and with every option that was set."""
        body = json.loads(super()._recovery_body(args, streaming))
        strict = _OF_MISTRAL.search(f"{body['model']} {self._endpoint.address}") is not None
        turn = max((i for i, message in enumerate(body["messages"]) if message["role"] == "user"), default=0)
        for position, message in enumerate(body["messages"]):
            own = position > turn and not strict
            for call in message.get("tool_calls", ()):
                function = call["function"]
                call["id"] = call["id"] if own else _accepted(call["id"], strict=strict)
                function["name"] = _FOREIGN.sub("_", function["name"])[:LONGEST_NAME]
                function["arguments"] = json.dumps(json.loads(function["arguments"]), ensure_ascii=False)
            if "tool_call_id" in message and not own:
                message["tool_call_id"] = _accepted(message["tool_call_id"], strict=strict)
        effort = args["config"].reasoning_effort
        if effort is not None:  # mojentic sends it to OpenAI's own reasoning models only
            body["reasoning_effort"] = effort.value
        frozen: bytes = freeze_request(body)
        return frozen

    def _introduce(self, model: str) -> None:
        """Tell mojentic of a model that it does not know: it takes any with "o1" or "gpt-5" in its name for one without streaming."""
        if model in self._introduced or (self._official and model in self.model_registry.get_registered_models()):
            return
        self._introduced.add(model)
        reasons = self._official and self.model_registry.is_reasoning_model(model)
        kind = ModelType.REASONING if reasons else ModelType.CHAT
        temperatures: list[float] | None = [] if reasons else None
        self.model_registry.register_model(model, ModelCapabilities(kind, supported_temperatures=temperatures))


def _accepted(id_: str, *, strict: bool) -> str:
    """The id of a call as the server takes it: another provider's, or another model's, may be too long for it or made of other letters.

    The same id always becomes the same. What a server said in the turn in progress is left as it is: some hide there what they need back.
    """
    fits = _MISTRALS.fullmatch(id_) is not None if strict else len(id_) <= LONGEST_ID
    return id_ if fits else hashlib.sha256(id_.encode()).hexdigest()[:9]


class _Decoder(_OpenAIDecoder):  # type: ignore[misc]
    """Events of the stream made regular before mojentic reads them. `said` is the finish reason in the server's own word."""

    def __init__(self) -> None:
        super().__init__()
        self.finish: str | None = None
        self.said: str | None = None
        self._open: dict[int | None, int] = {}
        self._begun: list[tuple[str, str]] = []

    def events(self, frame: object, attempt: _Attempt) -> tuple[list[RecoveryStreamEvent], bool]:
        if frame == "[DONE]" and self.finish is None:
            self.finish = "stop"
        if isinstance(frame, dict) and frame.get("error") is None:
            choices = frame.get("choices")
            usage = _figures(frame.get("usage"))
            if not choices and usage is None:
                return [], True
            frame = {**frame, "usage": usage, "choices": [self._regular(choice) for choice in choices or [] if isinstance(choice, dict)]}
        events: tuple[list[RecoveryStreamEvent], bool] = super().events(frame, attempt)
        return events

    def metrics(self, common: dict[str, Any]) -> RecoveryStreamEvent:
        event = super().metrics(common)
        return event.model_copy(update={"metrics": event.metrics.model_copy(update={"finish_reason": self.said or self.finish})})

    def _regular(self, choice: dict[str, Any]) -> dict[str, Any]:
        delta = dict(choice.get("delta") or {})
        if isinstance(delta.get("content"), list):  # Mistral's, in parts
            delta["content"] = "".join(str(part.get("text") or "") for part in delta["content"] if isinstance(part, dict))
        if delta.get("reasoning_content") is None and isinstance(delta.get("reasoning"), str):
            delta["reasoning_content"] = delta["reasoning"]
        delta = recovery.utterable(delta, "content", "reasoning_content")
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            delta["tool_calls"] = [self._placed(call) if isinstance(call, dict) else call for call in calls]
        finish = choice.get("finish_reason") or None
        if isinstance(finish, str):
            self.said = finish
            finish = finish if finish in ("stop", "tool_calls", "content_filter") else "stop"
        return {**choice, "delta": delta, "finish_reason": finish}

    def _placed(self, fragment: dict[str, Any]) -> dict[str, Any]:
        """The fragment with an index of its own call: another id begins another call, and without an index so does an id or a name.

        A server that says the name again with each fragment says it once.
        """
        function = fragment.get("function")
        function = dict(function) if isinstance(function, dict) else {}
        if isinstance(function.get("arguments"), dict):
            function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
        index = fragment["index"] if isinstance(fragment.get("index"), int) else None
        id_, name = str(fragment.get("id") or ""), str(function.get("name") or "")
        place = self._open.get(index)
        if place is not None:
            known_id, known_name = self._begun[place]
            if (id_ and known_id and id_ != known_id) or (index is None and (id_ or name)):
                place = None
            else:
                self._begun[place] = (id_ or known_id, known_name or name)
                function = {**function, "name": None if name == known_name else name}
        if place is None:
            place = len(self._begun)
            self._begun.append((id_, name))
            self._open[index] = place
        return {**fragment, "index": place, "function": function}

    def completed_tools(self) -> list[dict[str, Any]]:
        tools = []
        for index in sorted(self.fragments):
            call = self.fragments[index]
            arguments = recovery.read_arguments(call["arguments"])
            tools.append({"id": call["id"], "function": {"name": call["name"] or "nameless", "arguments": arguments}})
        return tools


def _figures(usage: object) -> dict[str, Any] | None:
    """What of a usage is numbers, as mojentic demands; None if there is none."""
    if not isinstance(usage, dict):
        return None
    counts = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {key: value for key, value in usage.items() if key not in counts or (type(value) is int and value >= 0)}


class _Engine(OpenAIStreamRecovery):  # type: ignore[misc]
    def decoder(self) -> _Decoder:
        return _Decoder()

    @staticmethod
    def response_frame(decoder: _Decoder) -> dict[str, Any]:
        frame: dict[str, Any] = OMLXStreamRecovery.response_frame(decoder)
        frame["choices"][0]["finish_reason"] = decoder.said or decoder.finish
        return frame


class _ProxiedEngine(_Engine):
    """Calls through the proxy that the environment names, as every other program does; mojentic's own client knows none."""

    async def exchange_stream(
        self, client: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str], attempt: _Attempt, decode: Any
    ) -> LLMGatewayResponse:
        async with httpx.AsyncClient(timeout=client.timeout, follow_redirects=False) as own:
            return await super().exchange_stream(own, url, body, headers, attempt, decode)


async def deltas(events: recovery.Events, put: Put, endpoint: Endpoint, *, model: str, models: Models) -> None:
    """As `recovery.deltas`; a stream that ends after its finish reason is whole, `[DONE]` or not."""
    await recovery.deltas(_whole(events, put), put, endpoint, model=model, models=models)


async def _whole(events: recovery.Events, put: Put) -> recovery.Events:
    fragments: list[dict[str, Any]] = []
    metrics: StreamMetrics | None = None
    async with aclosing(events):
        async for event in events:
            fragments += event.tools
            metrics = event.metrics or metrics
            whole = metrics is not None and metrics.finish_reason not in (None, "content_filter")
            if metrics is not None and whole and event.kind == "failed" and _only_ended(event.error.inspect_cause()):
                decoder = _Decoder()
                for fragment in fragments:
                    decoder.accumulate(fragment)
                calls = tuple(recovery.tool_call(t["id"], **t["function"]) for t in decoder.completed_tools())
                if calls:
                    put(ToolCalls(calls))
                put(Finished("tool_calls" if calls else recovery.reason(metrics.finish_reason), recovery.usage(metrics)))
                return
            yield event


def _only_ended(cause: BaseException) -> bool:
    """Whether nothing is wrong with a stream but its end: no `[DONE]`, one without a line's end, or a connection torn down."""
    return isinstance(cause, httpx.TransportError) or "unfinished frame" in str(cause)
