"""Models on your own machine, or where OLLAMA_HOST or ollama.host says: `ollama/NAME`.

mojentic makes the calls; `prepare` or the first call loads it. Each call requests the context
window in use (`num_ctx`), because Ollama would otherwise silently cut a longer prompt.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zkchat_cli.config.schema import OllamaSettings
from zkchat_cli.llm import remote_model
from zkchat_cli.llm.base import Effort, ModelConfig, Provider, Request, Window, without_none
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.remote_model import Refusal, RemoteModel, leave_out
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

DEFAULT_MAX_WINDOW = 32768
"""Tokens of window to use unless the user asks for more: memory for a model's whole 128k exceeds
what many machines have.
"""

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


THINKING_REFUSAL = Refusal(
    re.compile(r"(?i)does not support thinking"),
    leave_out("think"),
    "does not reason, so llm.reasoning_effort was left out",
    "Answers do not change.",
)


class OllamaReader(ChatReader):
    """One JSON document a line."""

    def thinking(self) -> ThinkingBlocks | None:
        """Models that think before a call continue the thought with its result."""
        return (
            ThinkingBlocks(
                provider=PROVIDER_NAME, blocks=({"thinking": self.reasoning},), stored=False
            )
            if self.reasoning
            else None
        )

    def read_event(self, event: Mapping[str, Any]) -> tuple[str, str]:
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
        return text_of(message.get("content")), text_of(message.get("thinking"))


@dataclass
class OllamaModel(RemoteModel):
    provider = "ollama"
    path = "/api/chat"
    list_path = "/api/tags"
    reader = OllamaReader
    refusals = (remote_model.ONE_SYSTEM_MESSAGE, remote_model.ROLES_REFUSAL, THINKING_REFUSAL)
    settings: OllamaSettings

    def find_window(self) -> Window | None:
        from mojentic.llm.model_context_window import ollama_context_window  # takes a second

        shown = self.server.fetch("/api/show", {"model": self.model})
        found = ollama_context_window(shown)
        if isinstance(abilities := shown.get("capabilities"), list):  # older servers list none
            self.calls_tools = "tools" in abilities
        if found is None or (size := whole_number(found.max_context_tokens, least=1)) is None:
            return None
        if chosen := whole_number(found.model_num_ctx, least=1):
            return Window(min(chosen, size), "Ollama: the model's num_ctx")
        if size <= DEFAULT_MAX_WINDOW:
            return Window(size, f"Ollama: {found.field}")
        return Window(
            DEFAULT_MAX_WINDOW, f"the model has {size:,}; set context.max_tokens for more"
        )

    def full_body(self, request: Request) -> dict[str, Any]:
        """The context window goes with each call, and a longer prompt is to be an error: Ollama
        would silently cut it.
        """
        names = {call.id: call.name for message in request.messages for call in message.tool_calls}
        messages: list[dict[str, Any]] = []
        for message in request.messages:
            messages.append({"role": message.role, "content": message.content})
            # Models that call several tools at once need to know which result this is
            if message.role == "tool":
                messages[-1] |= {
                    "tool_call_id": message.tool_call_id,
                    "tool_name": names.get(message.tool_call_id or "", ""),
                }
            for block in message.thinking_for(PROVIDER_NAME):
                messages[-1] |= block
            for call in message.tool_calls:
                function = {"name": call.name, "arguments": call.arguments}
                messages[-1].setdefault("tool_calls", []).append(
                    {"id": call.id, "type": "function", "function": function}
                )
        options = request.options
        return without_none(
            model=self.model,
            messages=messages,
            options=without_none(
                temperature=options.temperature,
                num_ctx=request.window,
                num_predict=options.max_output_tokens,
            ),
            stream=True,
            truncate=False,
            shift=False,
            think=THINK_VALUES[options.reasoning_effort] if options.reasoning_effort else None,
            tools=[tool.descriptor for tool in request.tools] or None,
        )


def open_server(config: ModelConfig) -> Endpoint:
    settings: OllamaSettings = config.settings or OllamaSettings()
    return Endpoint(
        "Ollama",
        parse_address(config.env.get("OLLAMA_HOST", "").strip() or settings.host),
        "Start it with `ollama serve`, or set OLLAMA_HOST.",
        check_key=(
            "If a proxy in front of it needs a password, set OLLAMA_HOST to "
            "https://NAME:PASSWORD@HOST."
        ),
        table="ollama",
        allow_insecure=settings.allow_insecure,
        is_configured=bool(config.env.get("OLLAMA_HOST") or settings.host),
    )


def _open(config: ModelConfig) -> OllamaModel:
    return OllamaModel(config.name, open_server(config), config.settings or OllamaSettings())


def parse_address(host: str) -> str:
    """OLLAMA_HOST as Ollama itself reads it: scheme, host and port may each be left out; 0.0.0.0 is
    called at 127.0.0.1.
    """
    host = host.strip().rstrip("/").replace("0.0.0.0", "127.0.0.1")
    if "://" in host:
        return host
    name, _, port = host.rpartition(":") if ":" in host.rpartition("]")[2] else (host, "", "")
    return f"http://{name or '127.0.0.1'}:{port or 11434}"


PROVIDER = Provider("ollama", _open, OllamaSettings, open_remote=_open)
