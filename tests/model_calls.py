"""Calls of a model on a server of the test. Each ends with exactly one final delta, and never shows
the key.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from model_server import (
    ModelServer,
    Reply,
    anthropic_begun,
    anthropic_calls,
    anthropic_error,
    anthropic_text,
    ndjson,
    ollama_calls,
    ollama_error,
    ollama_frame,
    ollama_text,
    openai_calls,
    openai_delta,
    openai_error,
    openai_text,
    responses_begun,
    responses_calls,
    responses_text,
    sse,
)

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn, Waiting
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Delta, Model, ModelConfig, Request, StreamFailed, StreamFinished
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.prompts import PromptMessage, PromptTool

KEY = "sk-secret-0123456789"
QUESTION = PromptMessage(role="user", content="What is a filter?", tokens=9, kind="conversation")


FIND = {
    "name": "find_excerpts",
    "description": "finds",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}
REQUEST = Request(
    (QUESTION,),
    (
        PromptTool(
            name="find_excerpts", descriptor={"type": "function", "function": FIND}, tokens=9
        ),
    ),
)


@dataclass(frozen=True)
class Answer:
    """All deltas of one call."""

    deltas: tuple[Delta, ...]

    @property
    def text(self) -> str:
        """The answer, without what was withdrawn."""
        return self._sent[0]

    @property
    def reasoning(self) -> str:
        """The thoughts, with the text that turned out to be one."""
        return self._sent[1]

    @property
    def _sent(self) -> tuple[str, str]:
        text = ""
        reasoning = ""
        for delta in self.deltas:
            match delta:
                case TextDelta(more):
                    text += more
                case ReasoningDelta(more):
                    reasoning += more
                case TextWithdrawn():
                    reasoning += text
                    text = ""
        return text, reasoning

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.deltas[-1].calls if isinstance(self.deltas[-1], StreamFinished) else ()

    @property
    def waits(self) -> list[float]:
        return [round(delta.seconds, 1) for delta in self.deltas if isinstance(delta, Waiting)]

    @property
    def end(self) -> StreamFinished:
        assert isinstance(self.deltas[-1], StreamFinished), self.deltas[-1]
        return self.deltas[-1]

    @property
    def error(self) -> ProviderError:
        assert isinstance(self.deltas[-1], StreamFailed), self.deltas[-1]
        return self.deltas[-1].error


def open_model(
    provider: str,
    address: str,
    name: str = "m",
    *,
    key: str = KEY,
    first_delay: float = 0.01,
    **settings: Any,
) -> Model:
    """The provider's model at an address, with short timeouts; for "responses" OpenAI's, called by
    that API.
    """
    if provider == "responses":
        provider = "openai"
        settings = {"api": "responses", **settings}
    declared = providers.provider(provider)
    env = {
        "OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": key,
        "OLLAMA_HOST": address,
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": key,
    }
    patient = {"timeout": 5.0, "stall_timeout": 5.0, **settings}
    model: Any = declared.open(ModelConfig(name, declared.settings(**patient), env))
    model.first_delay = first_delay
    from zkchat_cli.llm.gateways import server_call  # noqa: F401

    return model  # type: ignore[no-any-return]


def call_model(model: Model, request: Request = REQUEST) -> Answer:
    """One call, to its end: exactly one final delta, and the key nowhere."""
    deltas = tuple(model.stream(request))
    assert [isinstance(delta, StreamFinished | StreamFailed) for delta in deltas] == [False] * (
        len(deltas) - 1
    ) + [True]
    assert KEY not in repr([*deltas, model])
    if isinstance(deltas[-1], StreamFailed):
        error = deltas[-1].error
        assert error.message
        assert error.hint
        assert KEY not in f"{error.message} {error.hint}"
    return Answer(deltas)


_kept_model = cache(open_model)
"""Opening a model takes as long as a call."""


@dataclass(frozen=True)
class Protocol:
    """The format of one provider's server."""

    name: str
    text: Callable[..., Any]
    begin: Callable[[str], bytes]
    """Some text, with more to come."""
    error: Callable[..., Reply]
    calls: Callable[..., Any]
    listing: str
    models: Callable[[list[str]], Any]
    path: str = "/v1"

    def address(self, server: ModelServer) -> str:
        return server.address + self.path

    def ask(
        self, server: ModelServer, *replies: Reply, request: Request = REQUEST, **settings: Any
    ) -> Answer:
        """One call to a server that gives these replies."""
        server.says(*replies)
        return call_model(_kept_model(self.name, self.address(server), **settings), request)


OPENAI = Protocol(
    "openai",
    openai_text,
    lambda text: sse(openai_delta(content=text)),
    openai_error,
    lambda *calls: openai_calls(*calls),
    "/v1/models",
    lambda names: {"data": [{"id": name} for name in names]},
)
RESPONSES = replace(
    OPENAI, name="responses", text=responses_text, begin=responses_begun, calls=responses_calls
)
OLLAMA = Protocol(
    "ollama",
    ollama_text,
    lambda text: ndjson(ollama_frame(text)),
    ollama_error,
    lambda *calls: ollama_calls(*calls),
    "/api/tags",
    lambda names: {"models": [{"name": name} for name in names]},
    path="",
)
ANTHROPIC = Protocol(
    "anthropic",
    anthropic_text,
    anthropic_begun,
    anthropic_error,
    anthropic_calls,
    "/v1/models?limit=1000",
    lambda names: {"data": [{"id": name} for name in names]},
    path="",
)
