"""The seam between the engine and a model: one request in, a stream of deltas out. The engine owns
the tool loop.

A stream never raises. It ends with exactly one `StreamFinished` or `StreamFailed`, so the engine
handles failures in one place and keeps the text that came before them.
"""

import base64
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from zkchat_cli.config.credentials import ApiKey
from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn, Waiting
from zkchat_cli.llm.model_reports import ModelReports
from zkchat_cli.models.images import Image
from zkchat_cli.models.messages import FinishReason, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.models.money import Price
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.prompts import PromptMessage, PromptTool
from zkchat_cli.models.reports import AnswerLevel, RequestKind
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.image_rules import ImageRule, open_model_rule

if TYPE_CHECKING:
    from zkchat_cli.llm.http_client import Endpoint
    from zkchat_cli.vault.search.embedder import Embedder

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model reasons. No model accepts all of these; a provider with models that know fewer
sends the nearest.
"""

_log = logging.getLogger(__name__)
MAX_TOOL_NAME = 64
# Characters that OpenAI accepts in a call's id; vLLM, which may have answered before, generates ids
# of 46
MAX_CALL_ID = 40
NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


class Options(NamedTuple):
    """How to answer. None leaves the decision to the model."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: Effort | None = None
    max_answer_bytes: int = 2_000_000
    """The limit for an answer's text, for its reasoning and for its tool calls, each. It holds
    whatever limit the server got: about 500,000 tokens, several times what today's models write.
    """

    @property
    def light_effort(self) -> Effort | None:
        """The effort for a short answer: long reasoning would use up its tokens."""
        is_light = self.reasoning_effort in (None, "none", "minimal")
        return self.reasoning_effort if is_light else "low"


class Request(NamedTuple):
    """One model call: messages and tools of the prompt, and the context window in tokens for which
    the prompt was built.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...] = ()
    options: Options = Options()
    window: int | None = None


class WrittenCall(NamedTuple):
    """Text that may be meant as a call of a tool: between marks for it, or else JSON."""

    text: str
    is_marked: bool


class StreamFinished(NamedTuple):
    """The answer is complete; `notice` says if zkchat cut it or had to request it in another way.
    `usage` is None if the provider does not report it, `level` if it does not know how sure it is.
    """

    reason: FinishReason
    usage: TokenUsage | None = None
    # The tools the model wants to run before it continues, in its order
    calls: tuple[ToolCall, ...] = ()
    thinking: ThinkingBlocks | None = None
    """Reasoning as the provider needs it back during the turn, such as signed blocks."""
    notice: str = ""
    # What the user can do about the notice
    hint: str = ""
    level: AnswerLevel | None = None
    # What the question was taken for by the offline provider
    request: RequestKind | None = None
    # Calls that the model has written as text
    written: tuple[WrittenCall, ...] = ()


class StreamFailed(NamedTuple):
    """The call failed, perhaps after part of the answer had arrived."""

    error: ProviderError


Delta = TextDelta | ReasoningDelta | TextWithdrawn | Waiting | StreamFinished | StreamFailed
Emit = Callable[[Delta | int], None]
"""Takes a delta, or how many bytes have come that the engine does not get, such as those of a
piece of a tool call. Both start the time-out again.
"""


class Window(NamedTuple):
    """The size of a context window, where it comes from, and the limit of a prompt alone."""

    tokens: int
    source: str
    largest_prompt: int | None = None


class Model(ABC):
    """An opened model. It contacts nobody before `prepare` or `stream`, and no method raises. The
    defaults are those of a model without a server.
    """

    name: str
    window: Window | None = None
    # Whether zkchat's token counts are those of the model's own tokenizer
    exact: bool = True
    has_server: ClassVar[bool] = False
    # Whether it searches the notes for every answer, without being told to
    searches_itself: ClassVar[bool] = False
    # Whether it can summarize a conversation in words of its own
    summarizes: bool = True
    # Whether it can work on a goal in several answers, and judge if the goal is reached
    works_in_steps: ClassVar[bool] = True
    # The tools that it can call, if not all: describing others would cost tokens
    only_tools: frozenset[str] | None = None
    # Whether it knows the arguments of its tools: describing them would cost tokens, too
    knows_tools: ClassVar[bool] = False
    # Whether it can call tools, if that is known after `prepare`
    calls_tools: bool | None = None
    # Whether it takes pictures, if that is known after `prepare`; if not, its server will say
    takes_images: bool | None = None
    # What its tokens cost, if that is known after `prepare`
    price: Price | None = None
    # Who says whether it calls tools: "its server", or a table
    known_from: str = ""
    # Whether excerpts of notes may be sent as text: a server that cites by itself needs them apart
    plain_excerpts: ClassVar[bool] = False
    # Whether its server may send thoughts as text, and tell only at their end
    may_withdraw: bool = False

    @property
    def image_rule(self) -> ImageRule | None:
        """How it counts pictures; None if it takes none."""
        return None if self.takes_images is False else open_model_rule(self.name)

    def prepare(self) -> None:  # noqa: B027
        """Load what a call needs and find the window if that takes little time. Any thread may call
        it, more than once.
        """

    @abstractmethod
    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """The deltas of one call. Closing the generator ends the call within 0.2 s."""

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body that `stream` would send, without the headers, which contain the key;
        without a server, in OpenAI's format.
        """
        tools = [tool.descriptor for tool in request.tools] or None
        return without_none(
            model=self.name, messages=list(map(openai_message, request.messages)), tools=tools
        )

    def count_tokens(self, request: Request) -> int | None:  # noqa: ARG002
        """The tokens of a request by the model's own tokenizer and template; None if no server
        counts them.
        """
        return None

    def check(self) -> ProviderError | None:
        """Why a call would fail, as far as the key, the address and the list of models show it."""
        return None


class CollectedAnswer(NamedTuple):
    """A whole answer, its usage and, in a few words, why it is missing or a part."""

    text: str
    usage: TokenUsage | None
    problem: str | None


def collect(model: Model, request: Request) -> Generator[Waiting, None, CollectedAnswer]:
    """Make the call and return its whole answer. Yields why it is made again. Closing ends it."""
    text = ""
    with closing(model.stream(request)) as stream:
        for delta in stream:
            match delta:
                case TextDelta(more):
                    text += replace_surrogates(more)
                case TextWithdrawn():
                    text = ""
                case Waiting():
                    yield delta
                case StreamFinished(reason, usage):
                    return CollectedAnswer(text, usage, _problem(reason, text))
                case StreamFailed(error):
                    _log.info("%s failed: %s: %s", model.name, error.kind, error.message)
                    return CollectedAnswer(text, None, error.message)
    return CollectedAnswer(text, None, "the stream broke off")


def _problem(reason: FinishReason, text: str) -> str | None:
    """Why an answer that ended for this reason cannot be used as a whole."""
    if reason in ("length", "content_filter", "cancelled"):
        return f"the answer was not finished ({reason})"
    return None if text.strip() else "the model's answer was empty"


def wire_name(tool: str) -> str:
    """A tool's name as every server accepts it: another program's tool is `SERVER.tool`."""
    return NOT_IN_NAMES.sub("_", tool.replace(".", "__"))[:MAX_TOOL_NAME] or "unnamed"


def with_wire_names(request: Request) -> Request:
    """The request with names of tools that every server accepts."""
    tools = []
    messages = []
    for tool in request.tools:
        function = {**tool.descriptor["function"], "name": wire_name(tool.name)}
        tools.append(
            tool.model_copy(update={"descriptor": {**tool.descriptor, "function": function}})
        )
    for message in request.messages:
        calls = tuple(
            call.model_copy(update={"name": wire_name(call.name)}) for call in message.tool_calls
        )
        if calls:
            message = message.model_copy(update={"tool_calls": calls})
        messages.append(message)
    return request._replace(tools=tuple(tools), messages=tuple(messages))


def openai_message(message: PromptMessage) -> dict[str, Any]:
    """A message in the form of chat completions."""
    formatted: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        formatted["content"] = [
            {"type": "text", "text": message.content},
            *({"type": "image_url", "image_url": {"url": image_url(i)}} for i in message.images),
        ]
    for call in message.tool_calls:
        function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
        formatted.setdefault("tool_calls", []).append(
            {"id": call.id[-MAX_CALL_ID:], "type": "function", "function": function}
        )
    if message.tool_call_id is not None:
        formatted["tool_call_id"] = message.tool_call_id[-MAX_CALL_ID:]
    return formatted


def image_base64(image: Image) -> str:
    """The bytes of a picture in base64; without them, as in an export of the next call, what says
    which picture it is.
    """
    if image.data is None:
        return f"sha256:{image.sha256}"
    return base64.b64encode(image.data).decode("ascii")


def image_url(image: Image) -> str:
    """A picture as a data URL."""
    separator = "," if image.data is None else ";base64,"
    return f"data:{image.media_type}{separator}{image_base64(image)}"


def without_none(**values: Any) -> dict[str, Any]:
    """Keys of a request body, without those that have no value."""
    return {name: value for name, value in values.items() if value is not None}


def parse_tool_call(id_: str, name: str, arguments: str) -> ToolCall:
    """A call with its arguments parsed, or with `malformed` if they are not a JSON object. Some
    servers send null for no arguments.
    """
    with suppress(ValueError, RecursionError):
        parsed = json.loads(arguments) if arguments.strip() else None
        if parsed is None or isinstance(parsed, dict):
            return ToolCall(id=id_, name=name, arguments=parsed or {})
    return ToolCall(id=id_, name=name, malformed=arguments)


class ModelConfig(NamedTuple):
    """What a provider opens a model with: the name after the slash of `PROVIDER/NAME`, the
    provider's own settings, the environment and the key. `similarities` is None if texts cannot be
    compared by meaning on this machine. `reports` are what servers said about their models.
    """

    name: str = ""
    settings: Any = None
    env: Mapping[str, str] = MappingProxyType({})
    key: ApiKey = ApiKey()
    similarities: Similarities | None = None
    reports: ModelReports = ModelReports()

    def __repr__(self) -> str:
        # The environment may hold secrets
        return f"ModelConfig({self.name!r})"


class ModelInfo(NamedTuple):
    """A model in its server's list, with what the list says about it."""

    name: str
    window: int | None = None
    calls_tools: bool | None = None
    takes_images: bool | None = None
    # The program that serves it, such as llamacpp
    server: str = ""
    price: Price | None = None


class EmbedderConfig(NamedTuple):
    """The settings with which an embedder opens a model. `model` and `path` are `semantic.model`
    and `semantic.path`, and may be empty; `models_dir` has the downloaded models. `server` is the
    configuration of the provider with the embedder's name. Files in `cache_dir` can be made again.
    """

    model: str = ""
    path: str = ""
    models_dir: Path = Path()
    server: ModelConfig = ModelConfig()
    cache_dir: Path | None = None


class ListsModels(Protocol):
    """A model server that can be asked which models it has."""

    @property
    def server(self) -> "Endpoint":
        """The server's address and key."""

    def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the server lists, by name. Raises ProviderError."""

    def check(self) -> ProviderError | None:
        """Why a call would fail, as far as the key, the address and the list of models show it."""


class Provider(NamedTuple):
    """One way to reach models, and all that zkchat needs to know about it.

    `open` opens a model; it raises ProviderError for an impossible name. `open_remote` is there if
    prompts are sent to a server; with an empty name it opens the server alone.
    """

    name: str
    open: Callable[[ModelConfig], Model]
    open_remote: Callable[[ModelConfig], ListsModels] | None = None
    settings: type[Section] = Section
    """Its table in the settings file: types, defaults and descriptions. `KeyedSettings` has the
    name of the environment variable with the key.
    """
    label: str = ""
    """What it is, in the few words that the first start shows behind its models."""
    preferred_models: tuple[str, ...] = ()
    """Beginnings of the names of the models that the first start offers, for a hosted provider that
    lists many.
    """
    model_families: tuple[str, ...] = ()
    """Beginnings of the names of models that users may name without the provider. If those of
    several providers fit, the longest counts.
    """
    known_models: Callable[[], tuple[str, ...]] = tuple
    """Models to complete in the shell, where asking a server would take too long."""


class EmbeddingProvider(NamedTuple):
    """One way to compute vectors of texts, and all that zkchat needs to know about it."""

    open: Callable[[EmbedderConfig], "Embedder"]
    default_model: str = ""
    """The model to use if `semantic.model` is empty."""
    is_on_this_machine: bool = False
    """Whether it may get conversations, too. A server gets only notes, because the user has named
    it for those.
    """
