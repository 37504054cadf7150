"""mojentic's OpenAI gateway, made to get along with the many servers that speak OpenAI's language with an accent (see `accents`).

Importing this file imports mojentic and the OpenAI SDK.
"""

import hashlib
import json
import re
import ssl
from contextlib import aclosing
from functools import cache, partial
from http import HTTPStatus
from typing import Any

import httpx

from zkchat_cli.llm import mojentic_adapter
from zkchat_cli.llm.base import ReasoningPart, Request, TextPart, ThinkingPart
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.mojentic_adapter import Models
from zkchat_cli.llm.openai import stream_normalizer
from zkchat_cli.llm.openai.stream_normalizer import StreamNormalizer
from zkchat_cli.llm.threaded_stream import Put
from zkchat_cli.models import ThinkingBlocks

# isort: split
from mojentic.llm.gateways.cloud_recovery import freeze_request
from mojentic.llm.gateways.models import LLMGatewayResponse
from mojentic.llm.gateways.omlx_recovery import OMLXStreamRecovery
from mojentic.llm.gateways.openai import OpenAIGateway
from mojentic.llm.gateways.openai_model_registry import ModelCapabilities, ModelType, OpenAIModelRegistry
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery
from mojentic.llm.recovery import RecoveryCall, RecoveryPolicy, _Attempt
from mojentic.llm.recovery_stream import RecoveryStreamEvent, StreamMetrics, recover_stream

NAME = "openai"
"""Whose attachments to calls are put back."""
NO_KEY = "none"
"""For the SDK, which insists on one; it is not sent."""
LONGEST_ID = 40
"""Characters that OpenAI takes as a call's id; vLLM gives some of 46."""
LONGEST_NAME = 64
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRALS = re.compile(r"[a-zA-Z0-9]{9}")
_OF_MISTRAL = re.compile("mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral", re.IGNORECASE)
"""In a model's name or a server's address: it takes no other ids than such."""


def arguments(model: str, request: Request) -> dict[str, Any]:
    """A request as the gateway takes it; `back` is what the server wants back with its calls, by message."""
    back = {
        position: message.thinking.blocks
        for position, message in enumerate(request.messages)
        if message.thinking is not None and message.thinking.provider == NAME
    }
    return mojentic_adapter.arguments(model, request) | {"back": back}


class OpenAICompatibleGateway(OpenAIGateway):  # type: ignore[misc]  # mojentic is untyped
    """One server. `key` may be empty. Use it for one call at a time."""

    def __init__(self, endpoint: Endpoint, *, official: bool) -> None:
        super().__init__(api_key=endpoint.key or NO_KEY, base_url=endpoint.address)
        self._endpoint = endpoint
        self._official = official
        self._introduced: set[str] = set()
        self.model_registry = OpenAIModelRegistry()
        self.said = StreamNormalizer()
        """What the last attempt of a call has said so far."""

    def known_window(self, model: str) -> int | None:
        """The context window in tokens that mojentic knows of a model of OpenAI's own; None for any other."""
        if not self._official or model not in self.model_registry.get_registered_models():
            return None
        window: int | None = self.model_registry.get_model_capabilities(model).max_context_tokens
        return window

    async def complete_stream_with_recovery(self, call: RecoveryCall | None = None, **args: Any) -> mojentic_adapter.Events:
        self._introduce(args["model"])
        try:
            body = self._recovery_body(args, True)
        except (ValueError, TypeError, KeyError, NotImplementedError) as cause:
            yield mojentic_adapter.unprepared(cause, "openai")
            return
        proxied = not self._endpoint.is_local
        events = recover_stream(
            self._recovery_url,
            body,
            self._recovery_headers(),
            httpx.Timeout(None, connect=mojentic_adapter.CONNECT_SECONDS),
            self._decode_recovery,
            self.recovery_policy,
            call or RecoveryCall(),
            _engine_type=partial(_ProxiedEngine if proxied else _OpenAIEngine, self),
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

    def with_policy(self, policy: RecoveryPolicy) -> "OpenAICompatibleGateway":
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
            if "tool_calls" in message and self._wants_thoughts:
                message["reasoning_content"] = ""
            for block in args.get("back", {}).get(position, ()):
                if "message" in block:
                    message |= block["message"]
                elif block["call"] < len(message["tool_calls"]):  # not one that was cut off
                    message["tool_calls"][block["call"]] |= block["fields"]
            if "tool_call_id" in message and not own:
                message["tool_call_id"] = _accepted(message["tool_call_id"], strict=strict)
        effort = args["config"].reasoning_effort
        if effort is not None:  # mojentic sends it to OpenAI's own reasoning models only
            body["reasoning_effort"] = effort.value
        frozen: bytes = freeze_request(body)
        return frozen

    @property
    def _wants_thoughts(self) -> bool:
        """DeepSeek refuses calls without any, those of earlier turns, too."""
        return "deepseek.com" in self._endpoint.address

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


class _OpenAIEngine(OpenAIStreamRecovery):  # type: ignore[misc]
    data = staticmethod(stream_normalizer.data)

    def __init__(self, gateway: OpenAICompatibleGateway, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._gateway = gateway

    def decoder(self) -> StreamNormalizer:
        self._gateway.said = StreamNormalizer()
        return self._gateway.said

    @staticmethod
    def response_frame(decoder: StreamNormalizer) -> dict[str, Any]:
        frame: dict[str, Any] = OMLXStreamRecovery.response_frame(decoder)
        frame["choices"][0]["finish_reason"] = decoder.said or decoder.finish
        return frame


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    return httpx.create_ssl_context()


class _ProxiedEngine(_OpenAIEngine):
    """Calls through the proxy that the environment names, as every other program does; mojentic's own client knows none."""

    async def exchange_stream(
        self, client: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str], attempt: _Attempt, decode: Any
    ) -> LLMGatewayResponse:
        async with httpx.AsyncClient(verify=_tls(), timeout=client.timeout, follow_redirects=False) as own:
            return await super().exchange_stream(own, url, body, headers, attempt, decode)


async def deltas(
    gateway: OpenAICompatibleGateway, events: mojentic_adapter.Events, put: Put, endpoint: Endpoint, *, model: str, models: Models
) -> None:
    """As `recovery.deltas`; a stream that ends after its finish reason is whole, `[DONE]` or not, and so is an answer in one piece."""
    await mojentic_adapter.deltas(_whole(gateway, events, put, endpoint), put, endpoint, model=model, models=models)


async def _whole(
    gateway: OpenAICompatibleGateway, events: mojentic_adapter.Events, put: Put, endpoint: Endpoint
) -> mojentic_adapter.Events:
    metrics: StreamMetrics | None = None
    async with aclosing(events):
        async for event in events:
            metrics = event.metrics or metrics
            if event.kind == "completed":
                _keep(gateway.said, put, endpoint)
            elif event.kind == "failed" and metrics is not None and _only_ended(event.error.inspect_cause(), metrics):
                _complete(gateway.said, metrics.finish_reason, metrics, put, endpoint)
                return
            elif event.kind == "failed" and (said := _document(event)) is not None:
                if said.thinking:
                    put(ReasoningPart(said.thinking))
                if said.content:
                    put(TextPart(said.content))
                _complete(said, said.said, StreamMetrics(provider="openai", usage=said.evidence["usage"]), put, endpoint)
                return
            yield event


def _only_ended(cause: BaseException, metrics: StreamMetrics) -> bool:
    """Whether nothing is wrong with a stream but its end: no `[DONE]`, one without a line's end, or a connection torn down."""
    ended = isinstance(cause, httpx.TransportError) or "unfinished frame" in str(cause)
    return ended and metrics.finish_reason not in (None, "content_filter")


def _document(event: RecoveryStreamEvent) -> StreamNormalizer | None:
    """The answer, where it came whole instead of as a stream."""
    failure = event.report.final_failure if event.report is not None else None
    if failure is None or failure.http_status != HTTPStatus.OK or failure.progress.semantic or event.error is None:
        return None
    return StreamNormalizer.of_document(event.error.inspect_response())


def _complete(said: StreamNormalizer, finish: str | None, metrics: StreamMetrics, put: Put, endpoint: Endpoint) -> None:
    _keep(said, put, endpoint)
    calls = tuple(mojentic_adapter.tool_call(tool["id"], **tool["function"]) for tool in said.completed_tools())
    mojentic_adapter.complete(calls, finish, metrics, put, endpoint)


def _keep(said: StreamNormalizer, put: Put, endpoint: Endpoint) -> None:
    """Keep what is wanted back. A model on this machine wants no plain thoughts: they would only fill its window."""
    if blocks := said.wanted_back(thoughts=not endpoint.is_local):
        put(ThinkingPart(ThinkingBlocks(provider=NAME, blocks=blocks)))
