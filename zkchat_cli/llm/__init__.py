"""The model seam: one request in, a stream of deltas out that ends in exactly one terminal. The session owns the tool loop.

A provider never raises from `stream`: what goes wrong is its last delta, `Failed`. So the session has one place to look, and text that
came before a failure is not lost.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from zkchat_cli.errors import ProviderError
from zkchat_cli.models import FinishReason, PromptMessage, PromptTool, TokenUsage, ToolCall


@dataclass(frozen=True, slots=True)
class Request:
    """One model call: messages and tools as the prompt has them."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tools the model wants run before it goes on, in its order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A good end. `usage` is None when the provider does not report it."""

    reason: FinishReason
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    error: ProviderError


Delta = Text | Reasoning | ToolCalls | Finished | Failed


class Model(Protocol):
    """An opened model. `name` is what `--model` calls it; `context_window` its size in tokens where that is known."""

    @property
    def name(self) -> str: ...

    @property
    def context_window(self) -> int | None: ...

    def stream(self, request: Request) -> Generator[Delta, None, None]: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to reach models. `open` gets the part of `PROVIDER/NAME` after the slash (empty without one); it raises ProviderError.

    `tools`: the names of those its models can call, where they cannot call any; describing others would only cost tokens.
    """

    name: str
    help: str
    open: Callable[[str], Model]
    tools: frozenset[str] | None = None
