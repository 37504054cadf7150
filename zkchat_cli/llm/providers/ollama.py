"""Models on your own machine, or where OLLAMA_HOST or ollama.host says: `ollama/NAME`.

mojentic makes the calls; `prepare` or the first call loads it. Each call requests the context window in use (`num_ctx`), because Ollama
would otherwise silently cut a longer prompt.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.ollama.client import OllamaReader, parse_address, request_body
from zkchat_cli.llm.remote_model import LIST_TIMEOUTS, RemoteModel, settings_of
from zkchat_cli.llm.threaded_stream import Emit

DEFAULT_MAX_WINDOW = 32768
"""Tokens of window to use unless the user asks for more: memory for a model's whole 128k exceeds what many machines have."""


class OllamaSettings(Section):
    host: str = Field("", description="URL of the Ollama server; empty: OLLAMA_HOST, else http://127.0.0.1:11434")
    timeout: float = Field(300, gt=0, le=86_400, description="seconds to wait for the first token, while the model may be loading")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further token")


@dataclass
class OllamaModel(RemoteModel):
    provider = "ollama"
    exact = False
    settings: OllamaSettings

    def import_library(self) -> None:
        from zkchat_cli.llm import mojentic_adapter  # noqa: F401  takes a second

    def find_window(self) -> Window | None:
        from mojentic.llm.model_context_window import ollama_context_window  # see import_library

        try:
            found = ollama_context_window(self.server.post("/api/show", {"model": self.model}, LIST_TIMEOUTS))
        except (ProviderError, ValueError):
            return None  # the first call reports a server that cannot be called
        if found is None:
            return None
        if found.model_num_ctx is not None:
            return Window(min(found.model_num_ctx, found.max_context_tokens), "Ollama: the model's num_ctx")
        if found.max_context_tokens <= DEFAULT_MAX_WINDOW:
            return Window(found.max_context_tokens, f"Ollama: {found.field}")
        return Window(DEFAULT_MAX_WINDOW, f"the model has {found.max_context_tokens}; set context.max_tokens for more")

    def body(self, request: Request) -> dict[str, Any]:
        return request_body(self.model, request)

    async def call(self, request: Request, emit: Emit) -> None:
        from zkchat_cli.llm.mojentic_adapter import ChatCall, stream_chat  # see import_library

        await stream_chat(
            ChatCall(self.server, "/api/chat", self.body(request), OllamaReader, {}, self.model_names, self.first_delay), emit
        )

    def list_models(self) -> tuple[ModelInfo, ...]:
        answer: Any = self.server.get("/api/tags", LIST_TIMEOUTS)
        try:
            names = [row["name"] for row in answer["models"] if isinstance(row.get("name"), str)]
        except (KeyError, TypeError, AttributeError) as e:
            raise self.server.not_an_answer("", "something that is not a list of models") from e
        return tuple(ModelInfo(name) for name in sorted(names))

    def config_error(self) -> ProviderError | None:
        if not self.model:
            return ProviderError("unknown_model", "ollama needs the name of a model", "Use ollama/NAME; `ollama list` shows the models.")
        return self.server.address_error()


def _open(config: ModelConfig) -> OllamaModel:
    settings = settings_of(config, OllamaSettings)
    server = JsonClient(
        "Ollama",
        parse_address(config.env.get("OLLAMA_HOST", "").strip() or settings.host),
        "Start it with `ollama serve`, or set OLLAMA_HOST.",
        check_key="If a proxy in front of it needs a password, set OLLAMA_HOST to http://NAME:PASSWORD@HOST.",
    )
    return OllamaModel(config.name, server, settings)


def _server_info(config: ModelConfig) -> ServerInfo:
    model = _open(config)
    configured_by = "OLLAMA_HOST" if config.env.get("OLLAMA_HOST") else "ollama.host" if model.settings.host else ""
    return ServerInfo(model.server.address, "needs none", configured_by, model.list_models)


PROVIDER = Provider("ollama", "models on your own machine, with Ollama", _open, settings=OllamaSettings, server_info=_server_info)
