"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or
openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. OpenAI itself is called by
its Responses API, the others by chat completions, unless `openai.api` says otherwise.

OpenAI keeps nothing of a call (`store: false`), so each sends the whole conversation. What a model
has reasoned before a tool call comes encrypted, and goes back with the call's result; after the
turn it is of no use, and it is not stored.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from typing import Any, ClassVar
from urllib.parse import quote

from zkchat_cli.config.schema import OpenAISettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import remote_model
from zkchat_cli.llm.base import (
    MAX_CALL_ID,
    ModelConfig,
    ModelInfo,
    Provider,
    Request,
    Window,
    openai_message,
    without_none,
)
from zkchat_cli.llm.chat_reader import MAX_ITEMS, ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.llm.remote_model import KeyedProvider, Refusal, RemoteModel, leave_out
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.numbers import whole_number

# Mark reasoning that goes back to the same API only
CHAT = "openai"
RESPONSES = "openai/responses"

# what servers do not say about models (November 2026); a model works without an entry

INPUT_TOKENS = {
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4": 8_192,
    "gpt-5.4": 922_000,
    "gpt-5.5": 922_000,
    "gpt-5": 272_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""The largest prompt of OpenAI's models in tokens, by the beginning of their names; the first that
fits counts. OpenAI lists none.
"""
_O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""
# Prefixes of OpenAI's models that take no temperature
_REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
_NEVER_REASONING = ("gpt-3", "gpt-4", "chatgpt", "gpt-5-chat")
"""Prefixes of models that refuse settings of reasoning; others that do are called again without."""
# The smallest `max_output_tokens` that OpenAI accepts
_MIN_ANSWER = 16
_WITHOUT_TOOLS = (
    *("chatgpt-4o", "gpt-4o-search", "gpt-4o-mini-search", "gpt-5-search", "o1-mini", "o1-preview"),
    *(
        "smollm",
        "tinyllama",
        "llama-2",
        "llama2",
        "vicuna",
        "gemma-2",
        "gemma2",
        "phi-2",
        "phi-3",
        "phi3",
        "stablelm",
        "olmo",
    ),
)
"""Beginnings of the names of models with templates that take no tools, or that were not trained to
call any.
"""


class OpenAIReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or
    `reasoning` (OpenRouter, Groq, LM Studio).
    """

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
        # The latter from a server that does not stream
        delta = choices[0].get("delta") or choices[0].get("message") or {}
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
        # Mistral lists texts, and thoughts as lists of texts
        thoughts = [part for each in content for part in each.get("thinking") or ()]
        return _join_texts(content), _join_texts(thoughts) + thought

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """A fragment continues the call of its index, unless it begins another: by another id or,
        without ids, by a name.
        """
        function = fragment.get("function") or {}
        added = PartialToolCall(fragment.get("id"), function.get("name"), function.get("arguments"))
        if isinstance(extra := fragment.get("extra_content"), dict):  # Gemini signs its calls
            added.extra = {"extra_content": extra}
            self.hidden_bytes += len(str(extra))
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        has_ids = call is not None and added.id and call.id
        if call is None or (
            added.id != call.id
            if has_ids
            else added.name and call.name and (added.arguments or added.name != call.name)
        ):
            self._by_index[index] = added
            self.add_call(added)
            return
        call.id = call.id or added.id
        call.name = call.name or added.name
        call.arguments += added.arguments
        call.extra |= added.extra
        self.hidden_bytes += added.size

    def _add_reasoning_detail(self, part: Mapping[str, Any]) -> None:
        """OpenRouter needs them back as they were; the texts of one come in pieces."""
        self.hidden_bytes += len(str(part))
        last = self._reasoning_details[-1] if self._reasoning_details else {}
        if (last.get("type"), last.get("index")) != (part.get("type"), part.get("index")):
            self._reasoning_details.append(last := {})
        for name, value in part.items():
            if value is not None:
                last[name] = (
                    last.get(name, "") + value if name in ("text", "summary", "data") else value
                )

    def thinking(self) -> ThinkingBlocks | None:
        """What OpenRouter, DeepSeek and Gemini want back: keys of the message, and of its calls."""
        block: dict[str, Any] = {
            "reasoning_details": self._reasoning_details,
            "reasoning_content": self._reasoning_content,
        }
        if any(call.extra for call in self.calls):
            block["tool_calls"] = [call.extra for call in self.calls]
        sent = {name: value for name, value in block.items() if value}
        return ThinkingBlocks(provider=CHAT, blocks=(sent,)) if sent else None


def _join_texts(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts)


class ResponsesReader(ChatReader):
    """The events of one response, or the whole response from a server that does not stream."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._items: list[dict[str, Any]] = []
        """The finished items of the output: reasoning as it came, and of others what the message
        itself does not have.
        """
        self._streams = False

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._streams = True
                return text_of(event.get("delta")), ""
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return "", text_of(event.get("delta"))
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return "", "\n\n"
            case "response.function_call_arguments.delta":
                self.hidden_bytes += len(text_of(event.get("delta")))
            case "response.output_item.done":
                text = self._end_item(event["item"])
                return "" if self._streams else text, ""
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(event["response"]), ""
            case None if event.get("object") == "response":
                return self._end(event), ""
        return "", ""

    def _end_item(self, item: Mapping[str, Any]) -> str:
        """Keep a finished item; returns its text, which has come in pieces if the server
        streams.
        """
        if len(self._items) >= MAX_ITEMS:
            raise ValueError("too many items")
        match kind := item["type"]:
            case "function_call":
                self.add_call(
                    PartialToolCall(item.get("call_id"), item.get("name"), item.get("arguments"))
                )
                self._items.append({"type": kind})
            case "reasoning":
                self.hidden_bytes += len(str(item))
                from openai.types.responses import ResponseReasoningItem  # mojentic has imported it

                known = {
                    name: item[name]
                    for name in ResponseReasoningItem.model_fields
                    if name in item and name != "status"
                }
                self._items.append(
                    ResponseReasoningItem.model_validate(known).to_dict(exclude_none=True)
                )
            case "message":
                self._items.append(
                    {name: text_of(item[name]) for name in ("type", "phase") if item.get(name)}
                )
                self.hidden_bytes += len(item.get("phase") or "")
                return "".join(
                    text_of(part.get("text") or part.get("refusal"))
                    for part in item.get("content") or ()
                )
        return ""

    def _end(self, response: Mapping[str, Any]) -> str:
        """Take the end of a response; returns the text that has not come before."""
        status = text_of(response.get("status"))
        if status in ("failed", "cancelled"):
            raise self.endpoint.error_from_stream(response) or self.endpoint.cut_off(
                f"the server gave up ({status})"
            )
        text = (
            ""
            if self._items
            else "".join(self._end_item(item) for item in response.get("output") or ())
        )
        self.count_usage(response.get("usage"), "input_tokens", "output_tokens")
        self.ended = True
        self.finish = text_of((response.get("incomplete_details") or {}).get("reason")) or "stop"
        return text

    def thinking(self) -> ThinkingBlocks | None:
        # without its encrypted content, the server would look for the reasoning and not find it
        blocks = tuple(
            item
            for item in self._items
            if item["type"] != "reasoning" or item.get("encrypted_content")
        )
        reasons = any(item["type"] == "reasoning" for item in blocks)
        return ThinkingBlocks(provider=RESPONSES, blocks=blocks, stored=False) if reasons else None


def add_reasoning(body: dict[str, Any]) -> None:
    """DeepSeek wants reasoning with each of its answers: of earlier turns, which are sent without,
    it takes an empty one.
    """
    for message in body["messages"]:
        if message["role"] == "assistant":
            message.setdefault("reasoning_content", "")


def shorten_call_ids(body: dict[str, Any]) -> None:
    """Mistral wants calls' ids of nine letters and digits."""
    for message in body["messages"]:
        for named, key in (
            (message, "tool_call_id"),
            *((call, "id") for call in message.get("tool_calls", ())),
        ):
            if key in named:
                named[key] = sha256(named[key].encode("utf-8", "replace")).hexdigest()[:9]


def _input_items(message: PromptMessage) -> Iterator[dict[str, Any]]:
    """A message as items: the text, reasoning and calls of an answer in the order in which they
    came.
    """
    if message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": (message.tool_call_id or "")[-MAX_CALL_ID:],
            "output": message.content,
        }
        return
    order = message.thinking_for(RESPONSES)
    # One, as the texts of several items are one
    texts = [message.content] if message.content else []
    calls = list(message.tool_calls)
    if all(item["type"] != "message" for item in order):
        order = ({"type": "message"}, *order)
    for item in (*order, *({"type": "function_call"} for _ in calls)):
        if item["type"] == "reasoning":
            yield item
        elif item["type"] == "message" and texts:
            yield {**item, "role": message.role, "content": texts.pop()}
        elif item["type"] == "function_call" and calls:
            call = calls.pop(0)
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            yield {
                "type": "function_call",
                "call_id": call.id[-MAX_CALL_ID:],
                "name": call.name,
                "arguments": arguments,
            }


OPENAI = KeyedProvider(
    name="openai",
    company="OpenAI",
    address="https://api.openai.com/v1",
    other_name="the OpenAI-compatible server",
    headers=remote_model.bearer,
    path="/chat/completions",
    check="; OpenAI-compatible ones mostly end in /v1",
)
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
    reader: ClassVar[type[ChatReader]] = OpenAIReader
    refusals: ClassVar[tuple[Refusal, ...]] = (
        TEMPERATURE_REFUSAL,
        # of Mistral, which may report the tokens all the same
        Refusal(re.compile("stream_options"), leave_out("stream_options")),
        Refusal(re.compile("(?i)missing .?reasoning_content|passed back"), add_reasoning),
        Refusal(re.compile("(?i)tool call id was"), shorten_call_ids),
        remote_model.ONE_SYSTEM_MESSAGE,
        remote_model.ROLES_REFUSAL,
    )
    settings: OpenAISettings

    def __post_init__(self) -> None:
        super().__post_init__()
        self.official = self.server.address == OPENAI.address
        # where llama.cpp and LM Studio have what OpenAI's API lacks
        self.root = replace(
            self.server, address=self.server.address.rstrip("/").removesuffix("/v1")
        )
        self.count_path = "" if self.official else "/input_tokens"  # llama.cpp has it
        self.exact = self.official and self.model.startswith(_O200K_MODELS)

    def full_body(self, request: Request) -> dict[str, Any]:
        options = request.options
        messages = list(map(openai_message, request.messages))
        for message, source in zip(messages, request.messages, strict=True):
            for block in source.thinking_for(CHAT):
                for call, extra in zip(
                    message.get("tool_calls", ()), block.get("tool_calls", ()), strict=False
                ):
                    call |= extra
                message |= {name: value for name, value in block.items() if name != "tool_calls"}
        return without_none(
            model=self.model,
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
            max_completion_tokens=options.max_output_tokens if self.official else None,
            max_tokens=None if self.official else options.max_output_tokens,
            temperature=self.temperature(request),
            reasoning_effort=options.reasoning_effort,
            verbosity=self.settings.verbosity or None,
            tools=[tool.descriptor for tool in request.tools] or None,
        )

    def temperature(self, request: Request) -> float | None:
        return (
            None
            if self.official and self.model.startswith(_REASONING_MODELS)
            else request.options.temperature
        )

    def ask_count(self, body: dict[str, Any]) -> int | None:
        """Asks llama.cpp with `/input_tokens`. Versions without it fill in their template, and
        count the tokens of that text.
        """
        try:
            return super().ask_count(body)
        except ProviderError as e:
            if e.kind == "timeout":
                raise
            parts = {name: value for name, value in body.items() if name in ("messages", "tools")}
            filled = self.root.fetch("/apply-template", parts)["prompt"]
            text = {"content": filled, "add_special": True, "parse_special": True}
            return len(self.root.fetch("/tokenize", text, max_bytes=20_000_000)["tokens"])

    def find_window(self) -> Window | None:
        name = self.model
        size = None
        source = "the server's list of models"
        if self.official:
            size = next(
                (tokens for prefix, tokens in INPUT_TOKENS.items() if name.startswith(prefix)), None
            )
            source = "zkchat's table of OpenAI's models"
        elif found := self.find_listed(self.list_models()):
            name = found.name
            self.calls_tools = found.calls_tools
            size = self._read_loaded_window(found) or found.window
        # llama.cpp may name a model by its path
        file = name.replace("\\", "/").rpartition("/")[2]
        if self.calls_tools is None and file.lower().startswith(_WITHOUT_TOOLS):
            self.calls_tools = False
            self.known_from = "zkchat's table of models"
        return Window(size, source) if size else None

    def _read_loaded_window(self, found: ModelInfo) -> int | None:
        """The window with which LM Studio or llama.cpp has loaded a model; llama.cpp also says
        whether its template takes tools.
        """
        with suppress(ProviderError, *UNREADABLE):
            if found.server == remote_model.LM_STUDIO:
                rows = self.root.fetch("/api/v0/models")["data"]
                return whole_number(
                    {row["id"]: row.get("loaded_context_length") for row in rows}.get(found.name),
                    least=1,
                )
            if found.server == remote_model.LLAMA_CPP:
                properties = self.root.fetch(f"/props?model={quote(self.model, safe='')}")
                template = properties.get("chat_template")
                default = "tools" in template if isinstance(template, str) else None
                self.calls_tools = (properties.get("chat_template_caps") or {}).get(
                    "supports_tools", default
                )
                return whole_number(
                    (properties.get("default_generation_settings") or {}).get("n_ctx"), least=1
                )
        return None


@dataclass
class OpenAIResponsesModel(OpenAIModel):
    path = "/responses"
    reader = ResponsesReader
    refusals = (
        Refusal(
            re.compile(r"(?i)encrypted content is not supported"), leave_out("include", "reasoning")
        ),
        Refusal(
            re.compile(r"(?i)generate reasoning summaries|reasoning\.summary"),
            lambda body: body.get("reasoning", {}).pop("summary", None),
            "shows no summary of its reasoning",
            "Answers do not change. OpenAI shows it to verified organizations, for models "
            "that have one.",
        ),
        TEMPERATURE_REFUSAL,
    )

    def full_body(self, request: Request) -> dict[str, Any]:
        options = request.options
        may_reason = not self.model.startswith(_NEVER_REASONING)
        summary = (
            "auto" if may_reason and self.official and options.reasoning_effort != "none" else None
        )
        first = request.messages[0].content if request.messages else ""
        # not strict: that would make every parameter of a tool required
        fixed = {"type": "function", "strict": False}
        no_parameters = {"type": "object", "properties": {}}
        tools = [
            {"description": "", "parameters": no_parameters, **tool.descriptor["function"], **fixed}
            for tool in request.tools
        ]
        return without_none(
            model=self.model,
            input=[item for message in request.messages for item in _input_items(message)],
            stream=True,
            store=False,
            # equal for prompts with the same beginning, so that OpenAI sends them to the server
            # that has it in its cache
            prompt_cache_key=f"zkchat-{blake2b(first.encode('utf-8', 'replace'), digest_size=8).hexdigest()}",
            include=["reasoning.encrypted_content"] if may_reason else None,
            reasoning=without_none(effort=options.reasoning_effort, summary=summary) or None,
            text={"verbosity": self.settings.verbosity} if self.settings.verbosity else None,
            max_output_tokens=max(options.max_output_tokens, _MIN_ANSWER)
            if options.max_output_tokens is not None
            else None,
            temperature=self.temperature(request),
            tools=tools or None,
        )


def _open(config: ModelConfig) -> OpenAIModel:
    settings: OpenAISettings = config.settings or OpenAISettings()
    server = OPENAI.server(config, settings)
    responses = settings.api == "responses" or (
        settings.api == "auto" and server.address == OPENAI.address
    )
    if settings.api == "responses" and server.address != OPENAI.address:
        server.check += " Without a Responses API it needs openai.api chat."
    return (OpenAIResponsesModel if responses else OpenAIModel)(config.name, server, settings)


PROVIDER = Provider("openai", _open, OpenAISettings, open_remote=_open)
