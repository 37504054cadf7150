"""mojentic's recovery streams as deltas. Importing this file imports mojentic, which takes a second: providers do so late.

mojentic owns the HTTP exchange, the retries before the first word, and the proof that an answer is whole; zkchat owns the tool loop.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import httpx

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import library_logging
from zkchat_cli.llm.base import ReasoningPart, Request, RetryDelay, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.threaded_stream import ALIVE, Put
from zkchat_cli.models import FinishReason, PromptMessage, PromptTool, TokenUsage, ToolCall
from zkchat_cli.text.words import replace_surrogates

library_logging.silence_libraries()

from mojentic.llm.completion_config import CompletionConfig  # noqa: E402  after hush
from mojentic.llm.gateways.models import LLMMessage, LLMToolCall, MessageRole  # noqa: E402
from mojentic.llm.reasoning import ReasoningEffort  # noqa: E402
from mojentic.llm.recovery import (  # noqa: E402
    AdmissionContext,
    Failure,
    LifecycleEvent,
    RecoveryError,
    RecoveryPolicy,
    RecoveryProvider,
    preparation_error,
)
from mojentic.llm.recovery_stream import RecoveryStreamEvent, StreamMetrics  # noqa: E402
from mojentic.llm.tools.llm_tool import LLMTool  # noqa: E402

CONNECT_SECONDS = 10.0
TRIES = 3
FIRST_DELAY = 1.0
"""Seconds before the second try, where the server names none; twice as long before the third."""
LONGEST_WAIT = 120.0
"""Seconds that a server may ask to wait; for more, the user is told and decides."""
MALFORMED = "zkchat: no JSON"
"""Marks the arguments of a tool call that were none."""

CUT_BY_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
GIVEN_UP = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons of OpenRouter and Mistral, of vLLM and SGLang, and of DeepSeek for an answer that is not whole."""

Events = AsyncGenerator[RecoveryStreamEvent, None]
Models = Callable[[], tuple[str, ...]]
"""The names of the models that a server has, asked for when it knows the wanted one not."""


class ToolDescriptor(LLMTool):  # type: ignore[misc]  # mojentic is untyped
    """A tool as mojentic wants it: only its description, for zkchat runs it itself."""

    def __init__(self, tool: PromptTool) -> None:
        super().__init__()
        self._descriptor = tool.descriptor

    @property
    def descriptor(self) -> dict[str, Any]:
        return self._descriptor


def arguments(model: str, request: Request, *, window: int | None = None) -> dict[str, Any]:
    """A request as a gateway's `complete_stream_with_recovery` takes it."""
    return {"model": model, "messages": messages(request), "tools": tools(request), "config": config(request, window=window)}


def messages(request: Request) -> list[LLMMessage]:
    return [_message(message) for message in request.messages]


def tools(request: Request) -> list[LLMTool] | None:
    return [ToolDescriptor(tool) for tool in request.tools] or None


def config(request: Request, *, window: int | None = None) -> CompletionConfig:
    options = request.options
    effort = ReasoningEffort(options.reasoning_effort) if options.reasoning_effort else None
    return CompletionConfig(temperature=options.temperature, max_tokens=options.max_output_tokens, reasoning_effort=effort, num_ctx=window)


def policy(put: Put, endpoint: Endpoint, first_delay: float = FIRST_DELAY) -> RecoveryPolicy:
    """Three tries where a server is in trouble or asks to wait, none where it cannot be reached, and none after the first word."""

    def observe(event: LifecycleEvent) -> None:
        if event.transition == "delay_scheduled" and event.failure is not None:
            put(RetryDelay(event.delay or 0.0, retry_reason(event.failure.http_status, endpoint)))

    async def admit(context: AdmissionContext) -> str:
        failure = context.failure
        return "reject" if failure.acceptance == "no" or endpoint.will_refuse_again(failure.inspect_response()) else "allow"

    return RecoveryPolicy(
        max_attempts=TRIES,
        base_delay=first_delay,
        delay_ceiling=LONGEST_WAIT,
        retryable_categories=frozenset({"http", "transport"}),
        jitter=lambda ceiling: ceiling,
        admission=admit,
        observer=observe,
    )


def retry_reason(status: int | None, endpoint: Endpoint) -> str:
    """Why a call is made again: its answer's status, if it got one."""
    match status:
        case 429:
            return f"{endpoint.name} refuses more calls for now (429)"
        case int() if status >= 400:
            return f"{endpoint.name} failed ({status})"
        case _:
            return f"{endpoint.name} broke the connection off"


async def deltas(events: Events, put: Put, endpoint: Endpoint, *, model: str, models: Models) -> None:
    """Put a recovery stream's events as deltas. Raises the ProviderError that it ends with."""
    seen = _Seen()
    async with aclosing(events) as stream:  # or its connection would be closed when the loop ends, and complain
        async for event in stream:
            match event.kind:
                case "content":
                    seen.text += event.text
                    put(TextPart(event.text))
                case "reasoning":
                    put(ReasoningPart(event.text))
                case "progress":
                    put(ALIVE)
                case "metrics":
                    seen.metrics = event.metrics
                case "completed":
                    response = event.response
                    calls = tuple(tool_call(each.id, each.name, each.arguments) for each in response.tool_calls)
                    complete(calls, response.finish_reason, event.metrics, put, endpoint)
                case "failed":
                    _fail(event.error, seen, put, endpoint, model, models)


class _Seen:
    """What came before a stream failed."""

    def __init__(self) -> None:
        self.text = ""
        self.metrics: StreamMetrics | None = None

    @property
    def finish(self) -> str | None:
        return self.metrics.finish_reason if self.metrics is not None else None


def complete(calls: tuple[ToolCall, ...], finish: str | None, metrics: StreamMetrics | None, put: Put, endpoint: Endpoint) -> None:
    """Put what is said once at the end. Raises ProviderError where the server says that it gave up."""
    if finish is not None and finish.lower() in GIVEN_UP:
        raise endpoint.broke_off(f"it gave up ({finish})")
    end = reason(finish)
    if end == "length" and calls and calls[-1].malformed is not None:  # the call that was being written was cut off, too
        calls = calls[:-1]
    if calls:
        put(ToolCallsPart(calls))
    put(StreamFinished("tool_calls" if calls else end, usage(metrics)))


def unprepared(cause: Exception, provider: RecoveryProvider) -> RecoveryStreamEvent:
    """The end of a stream whose request could not be made."""
    error = preparation_error(cause, "streaming", provider)
    report = error.report
    return RecoveryStreamEvent(kind="failed", identity=report.identity, progress=report.progress, report=report, error=error)


def sanitize_surrogates(said: dict[str, Any], *keys: str) -> dict[str, Any]:
    """What a server said, its texts without halves of characters: mojentic would hold them against the whole answer at its end."""
    return said | {key: replace_surrogates(said[key]) for key in keys if isinstance(said.get(key), str)}


def read_arguments(arguments: str) -> dict[str, Any]:
    """A tool call's arguments from their JSON; marked as malformed if they are none.

    Servers say none in several ways, some put their JSON into a JSON text, and some begin with `{}` before there are any.
    """
    for text in dict.fromkeys((arguments, arguments.removeprefix("{}"))):
        try:
            found = json.loads(text) if text.strip() else {}
            found = json.loads(found) if isinstance(found, str) else found
        except (ValueError, RecursionError):
            continue
        if found is None or isinstance(found, dict):
            return found or {}
    return {MALFORMED: arguments}


def tool_call(id_: str | None, name: str, arguments: dict[str, Any]) -> ToolCall:
    if MALFORMED in arguments:
        return ToolCall(id=id_ or "", name=name, malformed=str(arguments[MALFORMED]))
    return ToolCall(id=id_ or "", name=name, arguments=arguments)


def reason(finish: str | None) -> FinishReason:
    """A provider's finish reason as one of ours; the many words for a good end are "stop"."""
    said = (finish or "").lower()
    return "length" if said in CUT_BY_LENGTH else "content_filter" if said == "content_filter" else "stop"


def usage(metrics: StreamMetrics | None) -> TokenUsage | None:
    """What the call cost, by the provider's own figures; None if it did not say."""
    if metrics is None:
        return None
    if metrics.prompt_eval_count is not None:  # Ollama's names
        return TokenUsage(prompt_tokens=metrics.prompt_eval_count, completion_tokens=metrics.eval_count or 0, estimated=False)
    said = metrics.usage or {}
    prompt, completion = said.get("prompt_tokens"), said.get("completion_tokens")
    if not isinstance(prompt, int) or prompt <= 0:
        return None
    details = said.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return TokenUsage(
        prompt_tokens=prompt,
        completion_tokens=completion if isinstance(completion, int) else 0,
        estimated=False,
        cached_tokens=cached if isinstance(cached, int) else None,
    )


def _fail(error: RecoveryError, seen: _Seen, put: Put, endpoint: Endpoint, model: str, models: Models) -> None:
    """Raises the ProviderError that says what the stream failed with; nothing, if it was cancelled."""
    failure = error.report.final_failure
    cause, body = error.inspect_cause(), error.inspect_response()
    if failure is None or failure.category == "cancellation":
        return
    if failure.http_status is not None and not 200 <= failure.http_status < 300:
        known = models() if failure.http_status == 404 else ()
        raise endpoint.refusal(failure.http_status, body, model=model, models=known, retry_after=failure.retry_after.delay)
    if rest := _undelivered(body, seen.text):
        put(TextPart(rest))
    if complaint := _complaint(body, endpoint):
        raise complaint
    if failure.reason == "invalid_configuration":
        raise endpoint.error("bad_request", f"cannot be asked so: {cause}", "Leave out llm.* settings that this model does not know.")
    raise _transport(failure, cause, seen, body, endpoint)


def _transport(failure: Failure, cause: BaseException, seen: _Seen, body: bytes, endpoint: Endpoint) -> ProviderError:
    if isinstance(cause, httpx.TimeoutException):
        return endpoint.error("timeout", "did not take the call in time", endpoint.check)
    begun = failure.progress.semantic
    if failure.acceptance == "no":
        return endpoint.unreachable(cause)
    if isinstance(cause, httpx.TransportError):
        return endpoint.broke_off("it ended without its last word" if "terminal proof" in str(cause) else cause, begun=begun)
    if body.lstrip()[:1] == b"<":
        return endpoint.unintelligible(body)
    if seen.finish == "content_filter":
        return endpoint.filtered()
    if "unfinished frame" in str(cause) and not _is_json(body):
        return endpoint.broke_off("in the middle of a line", begun=begun)
    return endpoint.garbled() if begun else endpoint.unintelligible(body)


def _undelivered(body: bytes, delivered: str) -> str:
    """Text that came with the piece in which something was wrong: mojentic drops all of that, and what came is kept here."""
    text = ""
    for line in body.splitlines():
        try:
            frame = json.loads(line.removeprefix(b"data:").strip() or b"{}")
            message = frame["choices"][0]["delta"] if "choices" in frame else frame.get("message", {})
            text += message.get("content") or ""
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            break
    return text[len(delivered) :] if text.startswith(delivered) else ""


def _complaint(body: bytes, endpoint: Endpoint) -> ProviderError | None:
    """An error that a server sends after it has said that all is well: as an event, or in place of the stream."""
    for said in (body, *reversed(body.splitlines())):
        said = b'{"error":' + said[6:] + b"}" if said.startswith(b"error:") else said.removeprefix(b"data:")
        if complaint := endpoint.complaint(said):
            return complaint
    return None


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _message(message: PromptMessage) -> LLMMessage:
    calls = [LLMToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in message.tool_calls]
    if message.role == "tool":
        calls = [LLMToolCall(id=message.tool_call_id, name="", arguments={})]
    return LLMMessage(role=MessageRole(message.role), content=message.content, tool_calls=calls or None)
