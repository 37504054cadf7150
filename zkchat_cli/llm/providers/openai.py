"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. OpenAI itself is called by its Responses API, the others by chat
completions, unless `openai.api` says otherwise. mojentic makes the calls; `prepare` or the first call loads it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import openai_responses, remote_model
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, Window, openai_message, parse_tool_call, without_none
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, json_of, text_of
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.llm.known_models import REASONING_MODELS, calls_no_tools, openai_input
from zkchat_cli.llm.remote_model import KeyedProvider, KeyedSettings, Refusal, RemoteModel, leave_out
from zkchat_cli.models import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

PROVIDER_NAME = "openai"
"""Marks reasoning that goes back to an OpenAI-compatible server only."""
_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "loaded_context_length", "max_context_length")
"""Where servers report a model's window: vLLM, OpenRouter, Groq, LM Studio. llama.cpp has `n_ctx` in a table `meta`."""
_O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""


class OpenAISettings(KeyedSettings):
    base_url: str = Field("", description="URL of a server such as http://localhost:8080/v1; empty: OPENAI_BASE_URL, otherwise OpenAI")
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")
    api: Literal["auto", "responses", "chat"] = Field(
        "auto", description="responses, chat (completions) or auto: responses for OpenAI itself, chat for compatible servers"
    )
    verbosity: Literal["", "low", "medium", "high"] = Field(
        "", description="length of the answers of GPT-5 and later: low, medium or high; empty: the model's default"
    )


class OpenAIReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or `reasoning` (OpenRouter, Groq, LM Studio)."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, PartialToolCall] = {}
        self._reasoning_details: list[dict[str, Any]] = []
        self._reasoning_content = ""

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        self.count_usage(event.get("usage"), "prompt_tokens", "completion_tokens")
        choices = event.get("choices")
        if not choices:
            return "", ""
        delta = choices[0].get("delta") or choices[0].get("message") or {}  # the latter from a server that does not stream
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        for detail in delta.get("reasoning_details") or ():
            self._add_reasoning_detail(detail)
        self.finish = text_of(choices[0].get("finish_reason")) or self.finish
        reasoning = text_of(delta.get("reasoning_content"))
        self._reasoning_content += reasoning
        thought = reasoning or text_of(delta.get("reasoning"))
        content = delta.get("content") or delta.get("refusal")
        if not isinstance(content, list):
            return text_of(content), thought
        thoughts = [part for each in content for part in each.get("thinking") or ()]  # Mistral lists texts, and thoughts as lists of texts
        return _join_texts(content), _join_texts(thoughts) + thought

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """A fragment continues the call of its index, unless it begins another: with another id or, without ids, another name, or the same
        one when the arguments of the call are whole."""
        function = fragment.get("function") or {}
        added = PartialToolCall(text_of(fragment.get("id")), text_of(function.get("name")), json_of(function.get("arguments")))
        if isinstance(extra := fragment.get("extra_content"), dict):  # Gemini signs its calls
            added.extra = {"extra_content": extra}
            self.hidden_bytes += len(str(extra))
        self.hidden_bytes += added.size
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        if call is None:
            begins_another = True
        elif added.id and call.id:
            begins_another = added.id != call.id
        else:
            is_whole = call.arguments and parse_tool_call("", "", call.arguments).malformed is None
            begins_another = bool(added.name and call.name) and (added.name != call.name or bool(added.arguments and is_whole))
        if call is None or begins_another:
            self._by_index[index] = added
            self.add_call(added)
            return
        call.id = call.id or added.id
        call.name = call.name or added.name
        call.arguments += added.arguments
        call.extra |= added.extra

    def _add_reasoning_detail(self, part: Mapping[str, Any]) -> None:
        """OpenRouter needs them back as they were; the texts of one come in pieces."""
        self.hidden_bytes += len(str(part))
        last = self._reasoning_details[-1] if self._reasoning_details else {}
        if not last or (last.get("type"), last.get("index")) != (part.get("type"), part.get("index")):
            self._reasoning_details.append(dict(part))
            return
        for name, value in part.items():
            if name in ("text", "summary", "data"):
                last[name] = (last.get(name) or "") + (value or "")
            elif value is not None:
                last[name] = value

    def thinking(self) -> ThinkingBlocks | None:
        """What OpenRouter, DeepSeek and Gemini want back: keys of the message, and of its calls."""
        block: dict[str, Any] = {"reasoning_details": self._reasoning_details, "reasoning_content": self._reasoning_content}
        if any(call.extra for call in self.calls):
            block["tool_calls"] = [call.extra for call in self.calls]
        sent = {name: value for name, value in block.items() if value}
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=(sent,)) if sent else None


def _join_texts(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts)


def add_reasoning(body: dict[str, Any]) -> None:
    """DeepSeek wants reasoning with each of its answers: of earlier turns, which are sent without, it takes an empty one."""
    for message in body["messages"]:
        if message["role"] == "assistant":
            message.setdefault("reasoning_content", "")


def leave_out_summary(body: dict[str, Any]) -> None:
    reasoning = body.pop("reasoning", {})
    if "effort" in reasoning:
        body["reasoning"] = {"effort": reasoning["effort"]}


def shorten_call_ids(body: dict[str, Any]) -> None:
    """Mistral wants calls' ids of nine letters and digits."""
    for message in body["messages"]:
        for named, key in ((message, "tool_call_id"), *((call, "id") for call in message.get("tool_calls", ()))):
            if key in named:
                named[key] = sha256(named[key].encode("utf-8", "replace")).hexdigest()[:9]


def request_body(model: str, request: Request, *, official: bool, verbosity: str = "") -> dict[str, Any]:
    """The request's JSON. `official`: the server is OpenAI, which is stricter than compatible servers."""
    options = request.options
    messages = list(map(openai_message, request.messages))
    for message, source in zip(messages, request.messages, strict=True):
        for block in source.thinking_for(PROVIDER_NAME):
            for call, extra in zip(message.get("tool_calls", ()), block.get("tool_calls", ()), strict=False):
                call |= extra
            message |= {name: value for name, value in block.items() if name != "tool_calls"}
    return without_none(
        model=model,
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=options.max_output_tokens if official else None,
        max_tokens=None if official else options.max_output_tokens,
        temperature=None if official and model.startswith(REASONING_MODELS) else options.temperature,
        reasoning_effort=options.reasoning_effort,
        verbosity=verbosity or None,
        tools=[tool.descriptor for tool in request.tools] or None,
    )


OPENAI = KeyedProvider(
    name="openai",
    company="OpenAI",
    address="https://api.openai.com/v1",
    other_name="the OpenAI-compatible server",
    headers=remote_model.bearer,
    path="/chat/completions",
    check="; OpenAI-compatible ones mostly end in /v1",
)
ENCRYPTED_REASONING_REFUSAL = Refusal(re.compile(r"encrypted content is not supported", re.IGNORECASE), leave_out("include", "reasoning"))
SUMMARY_REFUSAL = Refusal(
    re.compile(r"generate reasoning summaries|reasoning\.summary", re.IGNORECASE),
    leave_out_summary,
    "shows no summary of its reasoning",
    "Answers do not change. OpenAI shows it to verified organizations, for models that have one.",
)
TEMPERATURE_REFUSAL = Refusal(
    re.compile(r"temperature.*(not support|only|deprecated)", re.IGNORECASE),
    leave_out("temperature"),
    "takes no temperature, so it was left out",
    "An agent's `temperature` or llm.temperature sets it.",
)
STREAM_OPTIONS_REFUSAL = Refusal(re.compile("stream_options"), leave_out("stream_options"))
"""Mistral takes none; its tokens are counted by zkchat then, unless it reports them all the same."""
MISSING_REASONING_REFUSAL = Refusal(re.compile("missing .?reasoning_content|passed back", re.IGNORECASE), add_reasoning)
CALL_ID_REFUSAL = Refusal(re.compile("tool call id was", re.IGNORECASE), shorten_call_ids)


@dataclass
class OpenAIModel(RemoteModel):
    provider = "openai"
    path = "/chat/completions"
    reader: ClassVar[type[ChatReader]] = OpenAIReader
    make_body = staticmethod(request_body)
    refusals: ClassVar[tuple[Refusal, ...]] = (
        *(TEMPERATURE_REFUSAL, STREAM_OPTIONS_REFUSAL, MISSING_REASONING_REFUSAL, CALL_ID_REFUSAL),
        *(remote_model.ONE_SYSTEM_MESSAGE, remote_model.ROLES_REFUSAL),
    )
    settings: OpenAISettings

    def __post_init__(self) -> None:
        super().__post_init__()
        self.official = self.server.address == OPENAI.address
        self.exact = self.official and self.model.startswith(_O200K_MODELS)

    def find_window(self) -> Window | None:
        found = None if self.official else self.find_listed(self.list_models())
        size, source = (openai_input(self.model), "zkchat's table of OpenAI's models") if self.official else (None, "")
        if found is not None:
            self.calls_tools = found.calls_tools
            size, source = self._read_loaded_window(found) or found.window, "the server's list of models"
        if self.calls_tools is None and calls_no_tools(found.name if found else self.model):
            self.calls_tools, self.known_from = False, "zkchat's table of models"
        return Window(size, source) if size else None

    def _read_loaded_window(self, found: ModelInfo) -> int | None:
        """The window with which LM Studio or llama.cpp has loaded a model; llama.cpp also says whether its template takes tools."""
        try:
            if found.server == remote_model.LM_STUDIO:
                rows = self.server.fetch("/api/v0/models", outside_v1=True)["data"]
                return whole_number({row["id"]: row.get("loaded_context_length") for row in rows}.get(found.name), least=1)
            if found.server == remote_model.LLAMA_CPP:
                properties = self.server.fetch(f"/props?model={quote(self.model, safe='')}", outside_v1=True)
                template = properties.get("chat_template")
                default = "tools" in template if isinstance(template, str) else None
                self.calls_tools = (properties.get("chat_template_caps") or {}).get("supports_tools", default)
                return whole_number((properties.get("default_generation_settings") or {}).get("n_ctx"), least=1)
        except (ProviderError, *UNREADABLE):
            pass
        return None

    def ask_count(self, request: Request) -> int | None:
        """Asks llama.cpp, at the address of the call with `/input_tokens`."""
        if self.official:
            return None
        body = {name: value for name, value in self.body(request).items() if not name.startswith("stream")}
        answer = self.server.fetch(f"{self.path}/input_tokens", body, seconds=remote_model.COUNT_SECONDS)
        return whole_number(answer["input_tokens"], least=1)

    def full_body(self, request: Request) -> dict[str, Any]:
        return self.make_body(self.model, request, official=self.official, verbosity=self.settings.verbosity)

    def list_models(self) -> tuple[ModelInfo, ...]:
        def read_window(row: Mapping[str, Any]) -> object:
            sizes = [row[name] for name in _WINDOW_FIELDS if row.get(name)]
            return sizes[0] if sizes else (row.get("meta") or {}).get("n_ctx")

        return remote_model.fetch_models(self.server, "/models", read_window)


@dataclass
class OpenAIResponsesModel(OpenAIModel):
    path = "/responses"
    reader = openai_responses.ResponsesReader
    make_body = staticmethod(openai_responses.request_body)
    refusals = (ENCRYPTED_REASONING_REFUSAL, SUMMARY_REFUSAL, TEMPERATURE_REFUSAL)


def _open(config: ModelConfig) -> OpenAIModel:
    settings: OpenAISettings = config.settings or OpenAISettings()
    server = OPENAI.server(config, settings)
    responses = settings.api == "responses" or (settings.api == "auto" and server.address == OPENAI.address)
    if settings.api == "responses" and server.address != OPENAI.address:
        server.check += " Without a Responses API it needs openai.api chat."
    return (OpenAIResponsesModel if responses else OpenAIModel)(config.name, server, settings)


PROVIDER = Provider("openai", _open, OpenAISettings, open_remote=_open)
