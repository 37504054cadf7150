"""mojentic's gateways for chat completions and for Ollama, with zkchat's requests and connection.

mojentic's own classes build the body of a request and open the connection themselves. Their bodies
lack what servers must be told: that Ollama is not to cut a long prompt, which result belongs to
which call, how detailed an answer is to be. Their connections have neither limits nor proxies.
These classes replace the two. Attempts, decoders, recovery, cancellation and outcomes are
mojentic's.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar, NamedTuple

import httpx
from mojentic.llm.gateways.models import LLMGatewayResponse
from mojentic.llm.gateways.ollama import OllamaGateway
from mojentic.llm.gateways.openai import OpenAIGateway
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery
from mojentic.llm.recovery import RecoveryCall, RecoveryPolicy
from mojentic.llm.recovery_stream import RecoveryStreamEvent, _StreamRecovery, recover_stream

from zkchat_cli.llm.gateways.connection import ModelConnection


class ServerRequest(NamedTuple):
    """The request of a call, which is the same in each attempt."""

    url: str
    body: bytes
    headers: dict[str, str]


class _ConnectedAttempts:
    """mojentic's engine, which makes each attempt of a call over zkchat's connection."""

    def __init__(
        self, connection: ModelConnection, client: httpx.AsyncClient, *arguments: Any
    ) -> None:
        super().__init__(*arguments)
        self._connection = connection
        self._client = client

    async def exchange_stream(
        self, _of_mojentic: httpx.AsyncClient, *arguments: Any
    ) -> LLMGatewayResponse:
        """The response of one attempt. Its events are delivered before, while they arrive."""
        self._connection.begin_attempt()
        return await super().exchange_stream(self._client, *arguments)  # type: ignore[misc]


class _ChatCompletionsAttempts(_ConnectedAttempts, OpenAIStreamRecovery):  # type: ignore[misc]
    pass


class _OllamaAttempts(_ConnectedAttempts, _StreamRecovery):  # type: ignore[misc]
    pass


class ConnectedGateway:
    """What the two gateways have in common: one call, over zkchat's connection."""

    attempts: ClassVar[type[_ConnectedAttempts]]

    def __init__(self, connection: ModelConnection, policy: RecoveryPolicy) -> None:
        # mojentic's constructors open clients that are of no use here: they take 60 ms, and fail
        # for a proxy in the environment even if it does not concern this server
        self.recovery_policy = policy
        self._connection = connection

    def decode(self, frame: dict[str, Any]) -> LLMGatewayResponse:
        """The whole response that mojentic's decoder has put together."""
        raise NotImplementedError

    async def complete_stream_with_recovery(
        self, call: RecoveryCall, request: ServerRequest
    ) -> AsyncGenerator[RecoveryStreamEvent, None]:
        """The events of a call, exactly one of them final. Closing it ends the call. Raises
        ProviderError if the environment does not allow any call.
        """
        async with self._connection.open_client() as client:
            events = recover_stream(
                *request,
                client.timeout,
                self.decode,
                self.recovery_policy,
                call,
                _engine_type=partial(self.attempts, self._connection, client),
            )
            async with aclosing(events):
                async for event in events:
                    yield event


class ChatCompletionsGateway(ConnectedGateway, OpenAIGateway):  # type: ignore[misc]
    """mojentic's gateway for OpenAI's chat completions."""

    attempts = _ChatCompletionsAttempts

    def decode(self, frame: dict[str, Any]) -> LLMGatewayResponse:
        """See ConnectedGateway."""
        return self._decode_recovery(frame)


class OllamaChatGateway(ConnectedGateway, OllamaGateway):  # type: ignore[misc]
    """mojentic's gateway for Ollama's chat."""

    attempts = _OllamaAttempts

    def decode(self, frame: dict[str, Any]) -> LLMGatewayResponse:
        """See ConnectedGateway."""
        return self._decode_stream_recovery(frame)
