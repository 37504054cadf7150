"""mojentic's Ollama gateway, made to get along with Ollamas old and new, and with servers that imitate one.

Importing this file imports mojentic. What is lenient here: an end without a reason or with one of its own, figures that are missing, tool
arguments as text, which may be no JSON.
"""

import json
from typing import Any

import httpx

from zkchat_cli.llm import mojentic_adapter
from zkchat_cli.llm.http_errors import Endpoint

# isort: split
from mojentic.llm.gateways.cloud_recovery import freeze_request
from mojentic.llm.gateways.ollama import OllamaGateway
from mojentic.llm.recovery import RecoveryCall, RecoveryPolicy, _Attempt
from mojentic.llm.recovery_stream import RecoveryStreamEvent, _Decoder, _StreamRecovery, recover_stream

_FIGURES = ("prompt_eval_count", "eval_count", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


class OllamaChatGateway(OllamaGateway):  # type: ignore[misc]  # mojentic is untyped
    """One server. Use it for one call at a time; for a stream it needs no time-out of its own: that is the pump's."""

    def __init__(self, endpoint: Endpoint, seconds: float | None = None) -> None:
        super().__init__(host=endpoint.address, timeout=httpx.Timeout(seconds, connect=mojentic_adapter.CONNECT_SECONDS))

    def with_policy(self, policy: RecoveryPolicy) -> "OllamaChatGateway":
        self.recovery_policy = policy
        return self

    async def complete_stream_with_recovery(self, call: RecoveryCall | None = None, **args: Any) -> mojentic_adapter.Events:
        try:
            body = self._body(args)
        except (ValueError, TypeError, KeyError) as cause:
            yield mojentic_adapter.unprepared(cause, "ollama")
            return
        events = recover_stream(
            self._recovery_host + "/api/chat",
            body,
            {"Content-Type": "application/json", "Accept-Encoding": "identity"},
            self._recovery_timeout,
            self._decode_stream_recovery,
            self.recovery_policy,
            call or RecoveryCall(),
            _engine_type=_OllamaEngine,
        )
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    def body(self, args: dict[str, Any]) -> dict[str, Any]:
        """The request that these arguments of a stream make."""
        made: dict[str, Any] = json.loads(self._body(args))
        return made

    def _body(self, args: dict[str, Any]) -> bytes:
        """The request, in which each tool's answer says whose it is: models that call several at once are lost without."""
        request = self._stream_request(args)
        names: dict[str | None, str] = {}
        for said, message in zip(args["messages"], request["messages"], strict=True):
            calls = said.tool_calls or []
            if message["role"] == "tool":
                message |= {"tool_call_id": calls[0].id, "tool_name": names.get(calls[0].id, "")}
            names |= {each.id: each.name for each in calls if each.name}
        request |= {"options": request["options"].model_dump(exclude_none=True), "stream": True}
        if args.get("tools") is not None:
            request["tools"] = [tool.descriptor for tool in args["tools"]]
        frozen: bytes = freeze_request(request)
        return frozen


class _Lenient(_Decoder):  # type: ignore[misc]
    """Frames of the stream made regular before mojentic reads them. `said` is the reason for the end in the server's own word."""

    said: str | None = None

    def events(self, frame: object, attempt: _Attempt) -> tuple[list[RecoveryStreamEvent], bool]:
        if isinstance(frame, dict) and frame.get("error") is None:
            frame = {key: value for key, value in frame.items() if key not in _FIGURES or (type(value) is int and value >= 0)}
            if frame.get("done"):
                self.said = str(frame.get("done_reason") or "stop")
                frame["done_reason"] = "stop"
            message = frame.get("message")
            if isinstance(message, dict):
                frame["message"] = message = mojentic_adapter.sanitize_surrogates(message, "content", "thinking")
                if isinstance(message.get("tool_calls"), list):
                    frame["message"] = {**message, "tool_calls": [_regular(call) for call in message["tool_calls"]]}
        events: tuple[list[RecoveryStreamEvent], bool] = super().events(frame, attempt)
        return events


def _regular(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    if arguments is None or isinstance(arguments, str):
        arguments = mojentic_adapter.read_arguments(arguments or "")
    return {**call, "function": {**function, "name": function.get("name") or "nameless", "arguments": arguments}}


class _OllamaEngine(_StreamRecovery):  # type: ignore[misc]
    def decoder(self) -> _Lenient:
        return _Lenient()

    def observe_chunk(
        self, lines: list[bytes], pending: bytes, decoder: _Lenient, attempt: _Attempt
    ) -> tuple[list[object], Exception | None]:
        frames, error = super().observe_chunk(lines, pending, decoder, attempt)
        if decoder.pending_observed and isinstance(last := json.loads(pending), dict) and last.get("done"):
            frames.append(last)  # an end without a line's end
        return frames, error

    @staticmethod
    def response_frame(decoder: _Lenient) -> dict[str, Any]:
        frame: dict[str, Any] = _StreamRecovery.response_frame(decoder)
        return frame | {"done_reason": decoder.said}
