"""Models on your own machine, or where OLLAMA_HOST or ollama.host says: `ollama/NAME`.

mojentic makes the calls; `prepare` or the first call loads it. Each call requests the context
window in use (`num_ctx`), because Ollama would otherwise silently cut a longer prompt.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zkchat_cli.config.schema import ServerSettings
from zkchat_cli.llm.base import (
    Effort,
    ModelConfig,
    Provider,
    Request,
    Window,
    image_base64,
    without_none,
)
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, ReadEvent, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.refusals import ONE_SYSTEM_MESSAGE, ROLES_REFUSAL, Refusal, leave_out
from zkchat_cli.llm.remote_model import RemoteModel
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.numbers import whole_number

DEFAULT_MAX_WINDOW = 32768
"""The largest window to use unless the user asks for more, in tokens: many machines have too little
memory for a model's whole 128k.
"""

DEFAULT_PORT = 11434
# Marks reasoning that goes back to Ollama only
PROVIDER_NAME = "ollama"
THINK_VALUES: dict[Effort, str | bool] = {
    "none": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
"""The value of Ollama's `think` for each effort; Ollama knows three levels."""
THINKING_REFUSAL = Refusal(
    "think",
    re.compile(r"(?i)does not support thinking|think value.*(not supported|invalid)|invalid think"),
    leave_out("think"),
    "does not reason, so llm.reasoning_effort was left out",
    "Answers do not change.",
)


class OllamaSettings(ServerSettings):
    """The table [ollama] of the settings file."""

    host: str = Field(
        "", description="URL of the Ollama server; empty: OLLAMA_HOST, else http://127.0.0.1:11434"
    )
    timeout: float = Field(
        300,
        gt=0,
        le=86_400,
        description="seconds to wait for the first token, while the model may be loading",
    )


class OllamaReader(ChatReader):
    """The events of one response, a JSON document in each line."""

    def thinking(self) -> ThinkingBlocks | None:
        """The thoughts: models that think before a call continue the thought with its result."""
        if not self.reasoning:
            return None
        blocks = ({"thinking": self.reasoning},)
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=blocks, stored=False)

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """See ChatReader."""
        message = event.get("message") or {}
        for call in message.get("tool_calls") or ():
            function = call["function"]
            self.add_call(
                PartialToolCall(call.get("id"), function.get("name"), function.get("arguments"))
            )
        if event.get("done"):
            self.finish = text_of(event.get("done_reason")) or "stop"
            self.count(
                prompt_tokens=event.get("prompt_eval_count"),
                completion_tokens=event.get("eval_count"),
            )
        return ReadEvent(text_of(message.get("content")), text_of(message.get("thinking")))


@dataclass
class OllamaModel(RemoteModel):
    """A model on an Ollama server."""

    provider = "ollama"
    path = "/api/chat"
    list_path = "/api/tags"
    reader = OllamaReader
    gateway = "ollama"
    may_withdraw = True
    refusals = (ONE_SYSTEM_MESSAGE, ROLES_REFUSAL, THINKING_REFUSAL)
    settings: OllamaSettings

    def find_window(self) -> Window | None:
        """The model's own window, at most `DEFAULT_MAX_WINDOW`; see RemoteModel."""
        # Deferred: it takes a second, which only a call should pay
        from mojentic.llm.model_context_window import ollama_context_window

        shown = self.server.fetch("/api/show", {"model": self.model})
        found = ollama_context_window(shown)
        # Older servers do not list capabilities
        if isinstance(abilities := shown.get("capabilities"), list):
            self.calls_tools = "tools" in abilities
            self.takes_images = "vision" in abilities
        if found is None:
            return None
        size = whole_number(found.max_context_tokens, least=1)
        if size is None:
            return None
        if chosen := whole_number(found.model_num_ctx, least=1):
            return Window(min(chosen, size), "Ollama: the model's num_ctx")
        if size <= DEFAULT_MAX_WINDOW:
            return Window(size, f"Ollama: {found.field}")
        return Window(
            DEFAULT_MAX_WINDOW, f"the model has {size:,}; set context.max_tokens for more"
        )

    def full_body(self, request: Request) -> dict[str, Any]:
        """The body of a call. It has the context window, and says that a longer prompt is an error:
        Ollama would silently cut it.
        """
        names = {call.id: call.name for message in request.messages for call in message.tool_calls}
        options = request.options
        think = THINK_VALUES[options.reasoning_effort] if options.reasoning_effort else None
        return without_none(
            model=self.model,
            messages=[_message(message, names) for message in request.messages],
            options=without_none(
                temperature=options.temperature,
                num_ctx=request.window,
                num_predict=options.max_output_tokens,
            ),
            stream=True,
            truncate=False,
            shift=False,
            think=think,
            tools=[tool.descriptor for tool in request.tools] or None,
        )


def _message(message: PromptMessage, names: Mapping[str, str]) -> dict[str, Any]:
    """A message in Ollama's form; `names` has the names of the called tools by the calls' ids."""
    formatted: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        formatted["images"] = [image_base64(image) for image in message.images]
    if message.role == "tool":
        # Models that call several tools at once need to know which result this is
        formatted["tool_call_id"] = message.tool_call_id
        formatted["tool_name"] = names.get(message.tool_call_id or "", "")
    for block in message.thinking_for(PROVIDER_NAME):
        formatted |= block
    for call in message.tool_calls:
        function = {"name": call.name, "arguments": call.arguments}
        formatted.setdefault("tool_calls", []).append(
            {"id": call.id, "type": "function", "function": function}
        )
    return formatted


def open_server(config: ModelConfig) -> Endpoint:
    """The server that OLLAMA_HOST or ollama.host names, else the one of this machine."""
    settings: OllamaSettings = config.settings or OllamaSettings()
    host = config.env.get("OLLAMA_HOST", "")
    return Endpoint(
        "Ollama",
        parse_address(host.strip() or settings.host),
        "Start it with `ollama serve`, or set OLLAMA_HOST.",
        check_key=(
            "If a proxy in front of it needs a password, set OLLAMA_HOST to "
            "https://NAME:PASSWORD@HOST."
        ),
        table="ollama",
        allow_insecure=settings.allow_insecure,
        is_configured=bool(host or settings.host),
    )


def _open(config: ModelConfig) -> OllamaModel:
    settings = config.settings or OllamaSettings()
    return OllamaModel(config.name, open_server(config), settings, reports=config.reports)


def parse_address(host: str) -> str:
    """OLLAMA_HOST as Ollama itself reads it: scheme, host and port may each be left out; 0.0.0.0 is
    called at 127.0.0.1.
    """
    host = host.strip().rstrip("/").replace("0.0.0.0", "127.0.0.1")
    if "://" in host:
        return host
    name = host
    port = ""
    # An IPv6 address has colons of its own, in brackets
    if ":" in host.rpartition("]")[2]:
        name, _, port = host.rpartition(":")
    return f"http://{name or '127.0.0.1'}:{port or DEFAULT_PORT}"


PROVIDER = Provider(
    name="ollama",
    open=_open,
    open_remote=_open,
    settings=OllamaSettings,
    model_families=(
        "codellama",
        "deepseek",
        "gemma",
        "gpt-oss",
        "granite",
        "llama",
        "mistral",
        "mixtral",
        "phi",
        "qwen",
    ),
)
