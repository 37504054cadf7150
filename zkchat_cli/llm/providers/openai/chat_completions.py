"""Models called by chat completions: OpenAI's, and those of nearly all other servers."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar
from urllib.parse import quote

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelInfo, Request, Window, openai_message, without_none
from zkchat_cli.llm.chat_reader import NOTHING, ChatReader, PartialToolCall, ReadEvent, text_of
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.llm.model_list import LLAMA_CPP, LM_STUDIO, VISION_MODEL, find_listed
from zkchat_cli.llm.providers.openai.model_tables import (
    IMAGE_DETAIL,
    O200K_MODELS,
    REASONING_MODELS,
    input_tokens,
    is_known_without_images,
    is_known_without_tools,
    openai_image_rule,
)
from zkchat_cli.llm.providers.openai.server import OPENAI, OpenAISettings
from zkchat_cli.llm.refusals import ONE_SYSTEM_MESSAGE, ROLES_REFUSAL, Refusal, leave_out
from zkchat_cli.llm.remote_model import RemoteModel
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.numbers import whole_number
from zkchat_cli.tokens.image_rules import ImageRule

# Marks reasoning that goes back to the same API only
CHAT = "openai"
# Bytes of the tokens of a prompt as a list of numbers
MAX_TOKENS_BYTES = 20_000_000
# Letters and digits in the id of a call for Mistral
SHORT_ID = 9


class ChatCompletionsReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or
    `reasoning` (OpenRouter, Groq, LM Studio).
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, PartialToolCall] = {}
        self._reasoning_details: list[dict[str, Any]] = []
        self._reasoning_content = ""
        # The index of the choice that is read: the first that came
        self._choice: int | None = None

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """See ChatReader."""
        self.count_usage(event.get("usage"), "prompt_tokens", "completion_tokens")
        choices = event.get("choices")
        if not choices:
            return NOTHING
        if self._choice is None:
            self._choice = whole_number(choices[0].get("index")) or 0
        for choice in choices:
            # A second choice would be mixed into the answer
            if (whole_number(choice.get("index")) or 0) == self._choice:
                return self._read_choice(choice)
        return NOTHING

    def _read_choice(self, choice: Mapping[str, Any]) -> ReadEvent:
        # A server that does not stream sends a message instead of a delta
        delta = choice.get("delta") or choice.get("message") or {}
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        if old_call := delta.get("function_call"):
            # The form of a call before there were several
            self._add_fragment({"function": old_call})
        for detail in delta.get("reasoning_details") or ():
            self._add_reasoning_detail(detail)
        self.finish = text_of(choice.get("finish_reason")) or self.finish
        reasoning = text_of(delta.get("reasoning_content"))
        self._reasoning_content += reasoning
        thought = reasoning or text_of(delta.get("reasoning"))
        content = _read_content(delta.get("content") or delta.get("refusal"))
        return ReadEvent(content.text, content.reasoning + thought)

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """Add a fragment to the call of its index, or begin another call."""
        function = fragment.get("function") or {}
        signature = fragment.get("extra_content")
        extra: dict[str, Any] = {}
        # Gemini signs its calls
        if isinstance(signature, dict):
            extra["extra_content"] = signature
            self.hidden_bytes += len(str(signature))
        added = PartialToolCall(
            fragment.get("id"), function.get("name"), function.get("arguments"), extra
        )
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        if call is None or _begins_another(added, call):
            self._by_index[index] = added
            self.add_call(added)
            return
        call.add_piece(added)
        self.hidden_bytes += added.size

    def _add_reasoning_detail(self, detail: Mapping[str, Any]) -> None:
        """Keep a detail unchanged, because OpenRouter needs it back; the text of a detail comes in
        pieces.
        """
        self.hidden_bytes += len(str(detail))
        last = self._reasoning_details[-1] if self._reasoning_details else {}
        is_piece = all(last.get(key) == detail.get(key) for key in ("type", "index"))
        if not is_piece:
            last = {}
            self._reasoning_details.append(last)
        for name, value in detail.items():
            if value is None:
                continue
            if name in ("text", "summary", "data"):
                last[name] = last.get(name, "") + value
            else:
                last[name] = value

    def thinking(self) -> ThinkingBlocks | None:
        """The keys of the message and its calls that OpenRouter, DeepSeek and Gemini need back."""
        block: dict[str, Any] = {
            "reasoning_details": self._reasoning_details,
            "reasoning_content": self._reasoning_content,
        }
        if any(call.extra for call in self.calls):
            block["tool_calls"] = [call.extra for call in self.calls]
        sent = {name: value for name, value in block.items() if value}
        return ThinkingBlocks(provider=CHAT, blocks=(sent,)) if sent else None


def _begins_another(fragment: PartialToolCall, call: PartialToolCall) -> bool:
    """Whether a fragment of the same index is another call: it has another id or, without ids,
    another name or a name with arguments.
    """
    if fragment.id and call.id:
        return fragment.id != call.id
    if not (fragment.name and call.name):
        return False
    return bool(fragment.arguments) or fragment.name != call.name


def _read_content(content: object) -> ReadEvent:
    """The text of a message. Mistral lists texts, and thoughts as lists of texts."""
    if not isinstance(content, list):
        return ReadEvent(text_of(content), "")
    thoughts = [part for each in content for part in each.get("thinking") or ()]
    return ReadEvent(_join_texts(content), _join_texts(thoughts))


def _join_texts(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts)


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


def _short_id(id_: str) -> str:
    return sha256(id_.encode("utf-8", "replace")).hexdigest()[:SHORT_ID]


TEMPERATURE_REFUSAL = Refusal(
    re.compile(r"(?i)temperature.*(not support|only|deprecated)"),
    leave_out("temperature"),
    "takes no temperature, so it was left out",
    "An agent's `temperature` or llm.temperature sets it.",
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
        TEMPERATURE_REFUSAL,
        # Mistral refuses this key, and may report the tokens all the same
        Refusal(re.compile("stream_options"), leave_out("stream_options")),
        Refusal(re.compile("(?i)missing .?reasoning_content|passed back"), add_reasoning),
        Refusal(re.compile("(?i)tool call id was"), shorten_call_ids),
        ONE_SYSTEM_MESSAGE,
        ROLES_REFUSAL,
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
        self.exact = self.official and self.model.startswith(O200K_MODELS)

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
            reasoning_effort=options.reasoning_effort,
            verbosity=self.settings.verbosity or None,
            tools=[tool.descriptor for tool in request.tools] or None,
        )

    @property
    def image_rule(self) -> ImageRule | None:
        """See Model. OpenAI publishes a rule for each of its models."""
        known = super().image_rule
        return openai_image_rule(self.model) if known and self.official else known

    def temperature(self, request: Request) -> float | None:
        """The temperature to send; None for OpenAI's models that reason, which take none."""
        if self.official and self.model.startswith(REASONING_MODELS):
            return None
        return request.options.temperature

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
            window = _window(input_tokens(name), "zkchat's table of OpenAI's models")
        else:
            found = find_listed(self.model, self.list_models())
            name = found.name if found is not None else self.model
            window = self._listed_window(found)
        if self.calls_tools is None and is_known_without_tools(name):
            self.calls_tools = False
            self.known_from = "zkchat's table of models"
        if self.takes_images is None and is_known_without_images(name):
            self.takes_images = False
        return window

    def _listed_window(self, found: ModelInfo | None) -> Window | None:
        """The window of a model as its server lists it or has loaded it; keeps what the server says
        about tools.
        """
        if found is None:
            return None
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
