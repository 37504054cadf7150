"""The model seam: one request in, a stream of deltas out that ends in exactly one terminal. The session owns the tool loop.

A provider never raises from `stream`: what goes wrong is its last delta, `Failed`. So the session has one place to look, and text that
came before a failure is not lost.

`providers` and `embedders` are drawers; the rooms they share are

    endpoint     a server as it is spoken of: every way of failing becomes a ProviderError here
    wire         JSON over HTTP for listings and embeddings
    pump         a call on its own thread, so that the reader can leave; its patience and its countdown
    recovery     mojentic's streams as deltas; `compatible` (OpenAI's language) and `native` (Ollama's) are its gateways;
                 `accents` is how the servers of the first differ
    messages_api Anthropic's language on its SDK; `messages_request` and `messages_reply` are its pure halves
    describing   a note's text in one sentence
    summarising  one call whose answer is wanted whole
    quiet        makes libraries log instead of print
    answering    the offline provider: what it looks for and answers; `questions` understands what is asked, `passages` cuts notes into
                 quotable pieces, `quoting` chooses among them
"""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from zkchat_cli.config.schema import Section
from zkchat_cli.credentials import ApiKey
from zkchat_cli.errors import ProviderError
from zkchat_cli.models import FinishReason, PromptMessage, PromptTool, ThinkingBlocks, TokenUsage, ToolCall

Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer; what is None is left to the model, and out of the request."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: Effort | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One model call: messages and tools as the prompt has them, and the context window in tokens that the prompt was made for.

    `wanted` is for who reads on a thread that nobody can interrupt: it is asked while the answer is awaited, and once it says no the stream
    ends, without a terminal, as if it had been closed.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...] = ()
    options: Options = field(default_factory=Options)
    window: int | None = None
    wanted: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallsPart:
    """The tools the model wants run before it goes on, in its order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """Reasoning in the form in which the provider wants it back while the turn goes on (signed blocks, say)."""

    blocks: ThinkingBlocks


@dataclass(frozen=True, slots=True)
class RetryDelay:
    """Nothing came yet, and the call will be made again in so many seconds, because of `reason`."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class StreamFinished:
    """A good end. `usage` is None when the provider does not report it."""

    reason: FinishReason
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class StreamFailed:
    error: ProviderError


Delta = TextPart | ReasoningPart | ThinkingPart | ToolCallsPart | RetryDelay | StreamFinished | StreamFailed


@dataclass(frozen=True, slots=True)
class Window:
    """A context window in tokens, and who says so."""

    tokens: int
    source: str


class Model(Protocol):
    """An opened model. Nothing is loaded or contacted before `prepare` or `stream`."""

    @property
    def name(self) -> str:
        """What `--model` calls it."""
        ...

    @property
    def window(self) -> Window | None:
        """Its context window, as far as it is known by now."""
        ...

    @property
    def exact(self) -> bool:
        """Whether zkchat's token counts are the model's own, and no estimate of what its tokenizer makes of a text."""
        ...

    def prepare(self) -> None:
        """Load what a call needs and find out the window, if that can be done soon. Never raises; may be called from any thread, again."""
        ...

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Closing it ends the call within 0.2 s."""
        ...


@runtime_checkable
class SupportsRequestBody(Protocol):
    """A model that puts a request into a language of its server's own."""

    def body(self, request: Request) -> dict[str, Any]:
        """What `stream` would send, as JSON: the body alone, without the headers, which have the key. Nothing is contacted."""
        ...


def request_body(model: Model, request: Request) -> dict[str, Any]:
    """A request as the model's server would get it; of a model without a server, in the form that most servers speak (OpenAI's)."""
    if isinstance(model, SupportsRequestBody):
        return model.body(request)
    messages = [_plain(message) for message in request.messages]
    tools = [tool.descriptor for tool in request.tools]
    return {"model": model.name, "messages": messages, **({"tools": tools} if tools else {})}


def _plain(message: PromptMessage) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    return plain | ({"tool_call_id": message.tool_call_id} if message.tool_call_id is not None else {})


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What a provider opens a model with: the part of `PROVIDER/NAME` after the slash, its own settings, the environment, its key."""

    name: str = ""
    settings: Any = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: ApiKey = field(default_factory=ApiKey)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that a server offers, by the name it is called by."""

    name: str
    window: int | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """How a provider's server is reached, without a word of the key itself.

    `chosen` names what the user has set for it (an address, a key), and is empty where nothing says that this provider is wanted.
    """

    address: str
    key: str
    chosen: str
    models: Callable[[], tuple[ModelInfo, ...]]
    """Asks the server, within seconds. Raises ProviderError."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to reach models. `open` raises ProviderError for a name that cannot be one.

    `tools`: the names of those its models can call, where they cannot call any; describing others would only cost tokens. `summarizes`:
    whether they can summarise a conversation in words of their own.
    `settings` is its own table in the settings file; `reach` is there if it sends what it is given to a server.
    """

    name: str
    help: str
    open: Callable[[ModelConfig], Model]
    settings: type[Section] = Section
    tools: frozenset[str] | None = None
    reach: Callable[[ModelConfig], ServerInfo] | None = None
    summarizes: bool = True
