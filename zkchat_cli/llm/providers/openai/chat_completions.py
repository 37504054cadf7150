"""Models called by chat completions: OpenAI's, and those of nearly all other servers."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar, get_args
from urllib.parse import quote

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import (
    Effort,
    ModelInfo,
    Options,
    Request,
    Window,
    openai_message,
    without_none,
)
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.http_client import UNREADABLE
from zkchat_cli.llm.known_models import known_models
from zkchat_cli.llm.model_list import LLAMA_CPP, LM_STUDIO, VISION_MODEL, find_listed
from zkchat_cli.llm.providers.openai.chat_completions_reader import CHAT, ChatCompletionsReader
from zkchat_cli.llm.providers.openai.model_tables import (
    IMAGE_DETAIL,
    openai_image_rule,
)
from zkchat_cli.llm.providers.openai.server import OPENAI, OpenAISettings
from zkchat_cli.llm.refusals import (
    ONE_SYSTEM_MESSAGE,
    ROLES_REFUSAL,
    TEMPERATURE_REFUSAL,
    Refusal,
    leave_out,
    refused_effort,
    refused_parameter,
)
from zkchat_cli.llm.remote_model import RemoteModel
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.numbers import whole_number
from zkchat_cli.tokens.encodings import DEFAULT_ENCODING
from zkchat_cli.tokens.image_rules import ImageRule

# Bytes of the tokens of a prompt as a list of numbers
MAX_TOKENS_BYTES = 20_000_000
# Letters and digits in the id of a call for Mistral
SHORT_ID = 9


def add_reasoning(body: dict[str, Any]) -> None:
    """DeepSeek wants reasoning with each of its answers. It takes an empty one for earlier turns,
    which are sent without reasoning.
    """
    for message in body["messages"]:
        if message["role"] == "assistant":
            message.setdefault("reasoning_content", "")


def shorten_call_ids(body: dict[str, Any]) -> None:
    """Mistral wants calls' ids of nine letters and digits."""
    for message in body["messages"]:
        if "tool_call_id" in message:
            message["tool_call_id"] = _short_id(message["tool_call_id"])
        for call in message.get("tool_calls", ()):
            if "id" in call:
                call["id"] = _short_id(call["id"])


def rename_length(body: dict[str, Any]) -> None:
    """OpenAI's newer models, which others offer too, want the other name for the longest answer."""
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")


def _short_id(id_: str) -> str:
    return sha256(id_.encode("utf-8", "replace")).hexdigest()[:SHORT_ID]


def stop_reasoning(body: dict[str, Any]) -> None:
    """Some of OpenAI's models take tools by chat completions only if they do not reason."""
    if body.get("tools"):
        body["reasoning_effort"] = "none"


TOOLS_WITH_REASONING = Refusal(
    "tools with reasoning",
    re.compile("(?i)function tools with reasoning_effort are not supported"),
    stop_reasoning,
    "takes tools by chat completions only without reasoning, so it does not reason",
    "If its server has the Responses API: zkchat config set openai.api responses",
)
NO_TOOLS_AT_ALL = re.compile(
    r"(?i)function tools with reasoning_effort|reasoning.?effort.*none|value: .?none"
)


@dataclass
class OpenAIModel(RemoteModel):
    """A model called by chat completions. `official`: the server is OpenAI, which is stricter than
    compatible servers.
    """

    provider = "openai"
    path = "/chat/completions"
    list_path = "/models"
    reader: ClassVar[type[ChatReader]] = ChatCompletionsReader
    refusals: ClassVar[tuple[Refusal, ...]] = (
        # Mistral refuses this key, and may report the tokens all the same
        Refusal("stream_options", re.compile("stream_options"), leave_out("stream_options")),
        Refusal(
            "reasoning_content",
            re.compile("(?i)missing .?reasoning_content|passed back"),
            add_reasoning,
        ),
        Refusal("call ids", re.compile("(?i)tool call id was"), shorten_call_ids),
        ONE_SYSTEM_MESSAGE,
        ROLES_REFUSAL,
        TEMPERATURE_REFUSAL,
        TOOLS_WITH_REASONING,
        refused_parameter("max_tokens", "max_tokens", change=rename_length),
        refused_effort("reasoning_effort"),
        refused_parameter("verbosity", "verbosity", setting="openai.verbosity"),
    )
    settings: OpenAISettings

    def __post_init__(self) -> None:
        super().__post_init__()
        self.official = self.server.address == OPENAI.address
        self.may_withdraw = not self.official
        # The server's root, at which llama.cpp and LM Studio have what OpenAI's API lacks
        self.root = replace(
            self.server, address=self.server.address.rstrip("/").removesuffix("/v1")
        )
        # llama.cpp counts tokens there; other servers turn out not to
        self.count_path = "" if self.official else "/input_tokens"
        self.known = known_models().find("openai", self.model)
        encoding = self.known.encoding if self.known is not None else None
        self.exact = self.official and encoding == DEFAULT_ENCODING
        if self.known is not None:
            # Another server with this name mostly passes calls on, at the same price
            self.price = self.known.price

    def full_body(self, request: Request) -> dict[str, Any]:
        """See RemoteModel."""
        options = request.options
        length_key = "max_completion_tokens" if self.official else "max_tokens"
        return without_none(
            model=self.model,
            messages=[_message(message, official=self.official) for message in request.messages],
            stream=True,
            stream_options={"include_usage": True},
            **{length_key: options.max_output_tokens},
            temperature=self.temperature(request),
            reasoning_effort=self.effort(options),
            verbosity=self.settings.verbosity or None,
            tools=[tool.descriptor for tool in request.tools] or None,
        )

    def interpret_refusal(self, error: ProviderError, request: Request) -> ProviderError:
        """Tools without reasoning, after tools with reasoning were refused: the model always
        reasons, so it takes no tools by this API.
        """
        if error.kind != "bad_request" or TOOLS_WITH_REASONING not in self.refused:
            return error
        if not request.tools or not NO_TOOLS_AT_ALL.search(error.message):
            return error
        self.refused.remove(TOOLS_WITH_REASONING)
        return ProviderError(
            "no_tools",
            f"{self.name} takes no tools by chat completions",
            "It gets passages instead. With the Responses API: zkchat config set openai.api "
            "responses",
        )

    @property
    def image_rule(self) -> ImageRule | None:
        """See Model. OpenAI publishes a rule for each of its models."""
        known = super().image_rule
        return openai_image_rule(self.model) if known and self.official else known

    def temperature(self, request: Request) -> float | None:
        """The temperature to send; None for OpenAI's models that reason, which take none."""
        if self.is_refused("temperature"):
            return None
        reasons = request.options.reasoning_effort != "none"
        if reasons and self.is_refused("temperature with reasoning"):
            return None
        return request.options.temperature

    def effort(self, options: Options) -> str | None:
        """How much to reason: the nearest effort that the model is known to take."""
        effort = options.reasoning_effort
        if effort is None or self.known is None or not self.official:
            return effort
        return self.known.nearest_effort(effort, get_args(Effort))

    @property
    def may_reason(self) -> bool:
        """Whether settings of reasoning may be sent. A model that refuses them is called again
        without them.
        """
        never = self.known is not None and "reasoning" in self.known.refuses
        return not never and not known_models().refuses(self.model, "reasoning")

    def is_refused(self, what: str) -> bool:
        """Whether OpenAI is known to refuse a parameter for this model."""
        return self.official and self.known is not None and what in self.known.refuses

    def ask_count(self, body: dict[str, Any]) -> int | None:
        """Asks llama.cpp with `/input_tokens`. Versions without it fill in their template, and
        count the tokens of that text.
        """
        try:
            return super().ask_count(body)
        except ProviderError as e:
            if e.kind == "timeout":
                raise
        prompt = {name: value for name, value in body.items() if name in ("messages", "tools")}
        filled = self.root.fetch("/apply-template", prompt)["prompt"]
        text = {"content": filled, "add_special": True, "parse_special": True}
        return len(self.root.fetch("/tokenize", text, max_bytes=MAX_TOKENS_BYTES)["tokens"])

    def find_window(self) -> Window | None:
        """The window by zkchat's table for OpenAI, else by the server; see RemoteModel."""
        if self.official:
            name = self.model
            window = self.known.find_window() if self.known is not None else None
        else:
            found = find_listed(self.model, self.list_models())
            name = found.name if found is not None else self.model
            window = self._listed_window(found) or _window_of_same_name(name)
        self._use_known_refusals(name)
        return window

    def _use_known_refusals(self, name: str) -> None:
        """Take what the table says of tools and pictures, where the server has not said it."""
        table = known_models()
        refuses_tools = table.refuses(name, "tools")
        if self.is_refused("tools in chat") and self.path == OpenAIModel.path:
            refuses_tools = True
        if self.calls_tools is None and refuses_tools:
            self.calls_tools = False
            self.known_from = "zkchat's table of models"
        exact = table.find_exact("openai", name)
        takes_images = None if exact is None else exact.takes_images
        if self.takes_images is None and (takes_images is False or table.refuses(name, "images")):
            self.takes_images = False

    def _listed_window(self, found: ModelInfo | None) -> Window | None:
        """The window of a model as its server lists it or has loaded it; keeps what the server says
        about tools.
        """
        if found is None:
            return None
        self.price = found.price or self.price
        self.calls_tools = found.calls_tools
        self.takes_images = found.takes_images
        tokens = None
        with suppress(ProviderError, *UNREADABLE):
            tokens = self._read_loaded_window(found)
        return _window(tokens or found.window, "the server's list of models")

    def _read_loaded_window(self, found: ModelInfo) -> int | None:
        """The window with which LM Studio or llama.cpp has loaded a model. llama.cpp also says
        whether its template takes tools. Raises ProviderError, and one of `UNREADABLE`.
        """
        if found.server == LM_STUDIO:
            rows = self.root.fetch("/api/v0/models")["data"]
            row: dict[str, Any] = next((row for row in rows if row["id"] == found.name), {})
            if "type" in row:
                self.takes_images = row["type"] == VISION_MODEL
            return whole_number(row.get("loaded_context_length"), least=1)
        if found.server == LLAMA_CPP:
            properties = self.root.fetch(f"/props?model={quote(self.model, safe='')}")
            template = properties.get("chat_template")
            default = "tools" in template if isinstance(template, str) else None
            abilities = properties.get("chat_template_caps") or {}
            self.calls_tools = abilities.get("supports_tools", default)
            modalities = properties.get("modalities") or {}
            self.takes_images = modalities.get("vision")
            generation = properties.get("default_generation_settings") or {}
            return whole_number(generation.get("n_ctx"), least=1)
        return None


def _window_of_same_name(name: str) -> Window | None:
    """The window of OpenAI's model of this name, for a server that passes calls on to OpenAI and
    lists no windows.
    """
    known = known_models().find_exact("openai", name)
    return known.find_window() if known is not None else None


def _window(tokens: int | None, source: str) -> Window | None:
    return Window(tokens, source) if tokens else None


def _message(message: PromptMessage, *, official: bool) -> dict[str, Any]:
    """A message with the keys that the server wants back, in it and in its calls.

    OpenAI is told in what detail to look at pictures, because their tokens depend on it.
    """
    formatted = openai_message(message)
    if official and message.images:
        for part in formatted["content"]:
            if part["type"] == "image_url":
                part["image_url"]["detail"] = IMAGE_DETAIL
    for block in message.thinking_for(CHAT):
        calls = formatted.get("tool_calls", ())
        for call, extra in zip(calls, block.get("tool_calls", ()), strict=False):
            call |= extra
        formatted |= {name: value for name, value in block.items() if name != "tool_calls"}
    return formatted
