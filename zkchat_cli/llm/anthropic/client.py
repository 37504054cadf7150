"""mojentic's LLMGateway for Anthropic's Messages API, on the anthropic SDK: mojentic's own has neither streaming nor tools.

Importing this file imports both, which takes a second: providers do so late. The SDK makes the exchange and reads its events; retries
before the first word, and the proof that an answer is whole, are here.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import cached_property
from typing import Any, cast

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import library_logging
from zkchat_cli.llm.anthropic import request as anthropic_request
from zkchat_cli.llm.anthropic.request import ModelAbilities
from zkchat_cli.llm.anthropic.stream import AnthropicReply, ErrorEvent
from zkchat_cli.llm.base import Delta, Options, Request, RetryDelay, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.mojentic_adapter import CONNECT_SECONDS, FIRST_DELAY, LONGEST_WAIT, TRIES, Models, retry_reason
from zkchat_cli.llm.threaded_stream import Put
from zkchat_cli.models import PromptMessage, PromptTool, ToolCall

library_logging.silence_libraries()

import httpx2  # noqa: E402  after hush
from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic, AsyncStream, Omit  # noqa: E402
from mojentic.llm.completion_config import CompletionConfig  # noqa: E402
from mojentic.llm.gateways.anthropic_model_registry import max_output_tokens  # noqa: E402
from mojentic.llm.gateways.llm_gateway import LLMGateway  # noqa: E402
from mojentic.llm.gateways.models import LLMGatewayResponse, LLMMessage, LLMToolCall  # noqa: E402
from mojentic.llm.recovery import parse_retry_after  # noqa: E402
from mojentic.llm.tools.llm_tool import LLMTool  # noqa: E402

NO_KEY = "none"
"""For the SDK, which looks for one in places of its own where it is given none; it is not sent."""
UNLISTED = 8192
"""Tokens that an answer may take where nobody says how many the model can."""
PASSING = frozenset({429, 500, 502, 503, 504, 529})
"""Statuses of a server in trouble, or with too much to do: worth another try."""


def longest_answer(model: str) -> int:
    """The most tokens an answer may take, which the API wants to be told: by mojentic's table, which says 4096 of models unknown to it."""
    known: int = max_output_tokens(model)
    return max(known, UNLISTED)


class _Failure(Exception):
    """What an attempt came to: an error, or an answer with an error's status. `passing`: another attempt may do better."""

    def __init__(self, error: ProviderError | None = None, *, passing: bool = False) -> None:
        super().__init__()
        self.error, self.passing = error, passing
        self.status: int | None = None
        self.body: str | bytes = b""
        self.wait: float | None = None

    @classmethod
    def of_status(cls, status: int, body: str | bytes, headers: httpx2.Headers | None = None) -> "_Failure":
        said = headers or httpx2.Headers()
        failure = cls(passing=status in PASSING and said.get("x-should-retry") != "false")
        failure.status, failure.body = status, body
        failure.wait = parse_retry_after(said.get("retry-after"), time.time()).delay
        return failure


class _TeeResponse:
    """A response whose beginning is kept, to tell what it was if it was no stream of events."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.beginning = b""

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_bytes():
            if len(self.beginning) < 200:
                self.beginning += piece
            yield piece


class AnthropicMessagesGateway(LLMGateway):  # type: ignore[misc]  # mojentic is untyped
    """One server. `key` may be empty.

    `stream` takes zkchat's own request: mojentic's messages have no kind, by which the cache markers are set, nor signed thinking.
    """

    def __init__(self, endpoint: Endpoint, *, official: bool) -> None:
        self._endpoint = endpoint
        self._official = official

    async def stream(
        self, model: str, request: Request, able: ModelAbilities, put: Put, models: Models = tuple, first_delay: float = FIRST_DELAY
    ) -> None:
        """Put the deltas of an answer. Raises the ProviderError it ends with."""
        body = anthropic_request.body(model, request, able)
        for attempt in range(1, TRIES + 1):
            reply = AnthropicReply(put, self._endpoint)
            try:
                await self._exchange(body, reply)
                reply.finish()
                return
            except _Failure as failure:
                wait = first_delay * 2 ** (attempt - 1) if failure.wait is None else failure.wait
                if reply.spoken or attempt == TRIES or not failure.passing or wait > LONGEST_WAIT:
                    raise self._error(failure, model, models) from None
                put(RetryDelay(wait, retry_reason(failure.status, self._endpoint)))
            await asyncio.sleep(wait)

    def _error(self, failure: _Failure, model: str, models: Models) -> ProviderError:
        if failure.error is not None:
            return failure.error
        status = failure.status or 500
        known = models() if status == 404 else ()
        return self._endpoint.refusal(status, failure.body, model=model, models=known, retry_after=failure.wait)

    async def _exchange(self, body: dict[str, Any], reply: AnthropicReply) -> None:
        """One attempt. Raises _Failure, and ProviderError for what no other attempt will mend."""
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)  # the rest of the patience is the pump's
        # a proxy on the way to this very machine is never meant; a redirect would take the key elsewhere
        http = httpx2.AsyncClient(verify=self._tls, timeout=timeout, trust_env=not self._endpoint.is_local, follow_redirects=False)
        try:
            async with http:
                client = AsyncAnthropic(
                    api_key=self._endpoint.key or NO_KEY,
                    base_url=self._endpoint.address,
                    max_retries=0,
                    timeout=timeout,
                    http_client=http,
                    open_telemetry=False,
                )
                rest = {name: value for name, value in body.items() if name not in ("model", "max_tokens", "messages", "stream")}
                async with client.messages.with_streaming_response.create(
                    model=body["model"],
                    max_tokens=body["max_tokens"],
                    messages=body["messages"],
                    stream=True,
                    extra_headers=self._headers(),
                    extra_body=rest,  # as it is: the SDK knows no temperature any more, and warns of what older models want
                ) as response:
                    await self._read(response.http_response, reply)
        except APIStatusError as e:
            raise _Failure.of_status(e.status_code, e.response.content, e.response.headers) from e
        except APIConnectionError as e:
            raise self._unanswered(e.__cause__ or e) from e
        except ErrorEvent as e:
            raise _Failure.of_status(e.status, e.body) from e
        except httpx2.InvalidURL as e:
            raise self._unanswered(e) from e
        except httpx2.TransportError as e:
            raise _Failure(self._endpoint.broke_off(e), passing=True) from e

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made once: reading all certificates takes 20 ms, which no message should pay."""
        return httpx2.create_ssl_context()

    def _headers(self) -> dict[str, str | Omit]:
        """The SDK sends a key as a bearer's; servers that imitate an older API look for it where that had it."""
        if not self._endpoint.key:
            return {"Authorization": Omit()}
        return {} if self._official else {"x-api-key": self._endpoint.key}

    async def _read(self, response: httpx2.Response, reply: AnthropicReply) -> None:
        heard = _TeeResponse(response)
        try:
            events = AsyncStream.raw_events(cast(httpx2.Response, heard))
            async with aclosing(cast(AsyncGenerator[Any, None], events)) as stream:
                async for event in stream:
                    reply.take(event.data)
                    if reply.ended:
                        return
        except UnicodeDecodeError as e:
            raise self._endpoint.unintelligible(heard.beginning) from e
        except httpx2.TransportError:
            if not reply.whole:
                raise
        if not reply.begun and heard.beginning.strip():
            raise self._endpoint.unintelligible(heard.beginning)
        if not reply.whole:
            raise _Failure(self._endpoint.broke_off("it ended without its last word"), passing=True)

    def _unanswered(self, cause: BaseException) -> _Failure:
        """A call that got no answer; only one that may have reached the server is made again."""
        endpoint = self._endpoint
        if isinstance(cause, httpx2.TimeoutException):
            return _Failure(endpoint.error("timeout", "did not take the call in time", endpoint.check))
        if isinstance(cause, httpx2.InvalidURL | httpx2.UnsupportedProtocol | ValueError):
            return _Failure(endpoint.error("connection", "is no address that can be called", endpoint.check))
        if isinstance(cause, httpx2.ConnectError | httpx2.ProxyError):
            return _Failure(endpoint.unreachable(cause))
        return _Failure(endpoint.broke_off(cause), passing=isinstance(cause, httpx2.TransportError))

    def complete(
        self,
        model: str,
        messages: list[LLMMessage],
        object_model: Any = None,
        tools: list[LLMTool] | None = None,
        config: CompletionConfig | None = None,
        **_: Any,
    ) -> LLMGatewayResponse:
        """A whole answer, for those who know this gateway as mojentic's. Raises ProviderError."""
        if object_model is not None:
            raise NotImplementedError("answers of a given form are not asked for here")
        given = config or CompletionConfig()
        options = Options(given.max_tokens, given.temperature, given.reasoning_effort.value if given.reasoning_effort else None)
        request = Request(tuple(map(_said, messages)), tuple(map(_offered, tools or ())), options)
        deltas: list[Delta] = []
        asyncio.run(self.stream(model, request, anthropic_request.abilities(model, longest_answer(model)), deltas.append))
        calls = [call for delta in deltas if isinstance(delta, ToolCallsPart) for call in delta.calls]
        return LLMGatewayResponse(
            content="".join(delta.text for delta in deltas if isinstance(delta, TextPart)),
            tool_calls=[LLMToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in calls],
            finish_reason=next(delta.reason for delta in deltas if isinstance(delta, StreamFinished)),
            model=model,
        )


def _said(message: LLMMessage) -> PromptMessage:
    role = message.role.value
    calls = message.tool_calls or []
    return PromptMessage(
        role=role,
        content=message.content or "",
        tool_calls=tuple(ToolCall(id=call.id or "", name=call.name, arguments=call.arguments) for call in calls) if role != "tool" else (),
        tool_call_id=calls[0].id if role == "tool" and calls else None,
        tokens=0,
        kind="conversation",
    )


def _offered(tool: LLMTool) -> PromptTool:
    return PromptTool(name=tool.name, descriptor=tool.descriptor, tokens=0)
