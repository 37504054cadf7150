"""One call of a model server through mojentic: its typed events become deltas, and its typed
failures become errors that users understand.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, NamedTuple

import httpx
from mojentic.llm.gateways.models import LLMGatewayResponse
from mojentic.llm.recovery import (
    AdmissionContext,
    Failure,
    LengthTerminationError,
    LifecycleEvent,
    RecoveryCall,
    RecoveryPolicy,
)
from mojentic.llm.recovery_stream import RecoveryStreamEvent

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, Waiting
from zkchat_cli.llm.base import Emit, StreamFinished
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.gateways.connection import PASSING, FinalFault, ModelConnection, PassingFault
from zkchat_cli.llm.gateways.frames import Encode, encode_chat_completions, encode_ollama_chat
from zkchat_cli.llm.gateways.server_gateways import (
    ChatCompletionsGateway,
    ConnectedGateway,
    OllamaChatGateway,
    ServerRequest,
)
from zkchat_cli.llm.http_client import UNCOMPRESSED, Endpoint
from zkchat_cli.models.messages import ToolCall

MAX_ATTEMPTS = 3
# If a server asks to wait longer, the call fails and the user decides
MAX_DELAY = 120.0
# Most seconds that are shown of the time that a server asks to wait
MAX_RETRY_AFTER = 86_400.0
# Statuses after which another attempt may succeed, as far as they tell: `_admit` reads the body
PASSING_STATUSES = frozenset({408, 429, *range(500, 600)})
_log = logging.getLogger(__name__)
UNREACHED = (httpx.ConnectTimeout, httpx.ConnectError, httpx.ProxyError)


class _Format(NamedTuple):
    """A gateway of mojentic, and how the frames for its decoder are written."""

    gateway: type[ConnectedGateway]
    encode: Encode


FORMATS = {
    "openai": _Format(ChatCompletionsGateway, encode_chat_completions),
    "ollama": _Format(OllamaChatGateway, encode_ollama_chat),
}


@dataclass
class ServerCall:
    """A call of a server, with up to `MAX_ATTEMPTS` attempts.

    `first_delay` are the seconds before the second attempt if the server names none. `explain`
    returns an error that says more, such as which models the server has.
    """

    server: Endpoint
    path: str
    body: bytes
    gateway: Literal["openai", "ollama"]
    new_reader: Callable[[Endpoint], ChatReader]
    first_delay: float
    explain: Callable[[ProviderError], ProviderError]

    async def run(self, emit: Emit) -> None:
        """Emit the deltas of the answer. Raises ProviderError if the call fails."""
        chosen = FORMATS[self.gateway]
        connection = ModelConnection(self.server, self.new_reader, chosen.encode, emit)
        recovery = _Recovery(self, connection, emit)
        gateway = chosen.gateway(connection, recovery.policy())
        headers = {"Content-Type": "application/json", **UNCOMPRESSED, **self.server.headers}
        request = ServerRequest(self.server.address.rstrip("/") + self.path, self.body, headers)
        events = gateway.complete_stream_with_recovery(RecoveryCall(), request)
        async with aclosing(events):
            async for event in events:
                self._take(event, connection, emit)

    def _take(self, event: RecoveryStreamEvent, connection: ModelConnection, emit: Emit) -> None:
        """Emit what an event of mojentic says. Raises ProviderError for a failure."""
        match event.kind:
            case "content":
                emit(TextDelta(event.text))
            case "reasoning":
                emit(ReasoningDelta(event.text))
            case "completed":
                assert connection.end is not None
                emit(_with_decoded_calls(connection.end, event.response))
            case "failed":
                failure = event.report.final_failure
                is_cut = isinstance(failure.inspect_cause(), LengthTerminationError)
                if is_cut and connection.end is not None:
                    emit(connection.end)
                    return
                raise self.explain(error_of_failure(failure, self.server))


@dataclass
class _Recovery:
    """How mojentic recovers from a failed attempt: zkchat decides by the server's words whether
    another may succeed, and tells the user how long it waits.
    """

    call: ServerCall
    connection: ModelConnection
    emit: Emit
    reason: str = ""

    def policy(self) -> RecoveryPolicy:
        """The policy of one call."""
        return RecoveryPolicy(
            max_attempts=MAX_ATTEMPTS,
            base_delay=self.call.first_delay,
            delay_ceiling=MAX_DELAY,
            jitter=lambda ceiling: ceiling,
            retryable_statuses=PASSING_STATUSES,
            admission=self._admit,
            sleeper=self._wait,
            observer=self._log_step,
        )

    def _log_step(self, event: LifecycleEvent) -> None:
        """Log what mojentic does; its events have neither keys nor texts."""
        failure = event.failure
        why = f" ({failure.category}, status {failure.http_status})" if failure else ""
        attempt = event.identity.wire_attempt
        _log.info("%s: attempt %d: %s%s", self.call.server.name, attempt, event.transition, why)

    async def _admit(self, context: AdmissionContext) -> Literal["allow", "reject"]:
        """Whether another attempt may be made: not if part of the answer came, because a part of
        a tool call is not an event of mojentic's yet.
        """
        error = error_of_failure(context.failure, self.call.server)
        self.reason = error.message
        may_pass = error.kind in PASSING and not self.connection.reader.started
        return "allow" if may_pass else "reject"

    async def _wait(self, seconds: float) -> None:
        """Wait for the next attempt, and tell once a second how long it still takes, and why."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.emit(Waiting(left, self.reason))
            await asyncio.sleep(min(1.0, left))


def error_of_failure(failure: Failure, server: Endpoint) -> ProviderError:
    """The error that tells the user of mojentic's typed failure."""
    cause = failure.inspect_cause()
    if isinstance(cause, PassingFault | FinalFault):
        return cause.error
    if failure.category == "http":
        delay = failure.retry_after.delay
        if delay is not None:
            delay = min(delay, MAX_RETRY_AFTER)
        return server.error_from_response(failure.http_status, failure.inspect_response(), delay)
    if isinstance(cause, UNREACHED):
        return server.unreachable(cause)
    if isinstance(cause, httpx.TransportError):
        return server.cut_off(cause)
    problem = f"could not be called: {type(cause).__name__}: {cause}"
    return server.error("bad_answer", problem, "Run it again with --verbose.")


def _with_decoded_calls(end: StreamFinished, response: LLMGatewayResponse) -> StreamFinished:
    """The end of an answer with the tool calls as mojentic decoded them, and those that it does
    not take: their arguments could not be read.
    """
    decoded = iter(response.tool_calls)
    calls = []
    for call in end.calls:
        if call.malformed is None:
            told = next(decoded)
            call = ToolCall(id=told.id or "", name=told.name, arguments=told.arguments)
        calls.append(call)
    return end._replace(calls=tuple(calls))
