"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. mojentic makes the calls; `prepare` or the first call loads it.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.remote_model import OPENAI, RemoteModel, fetch_models, settings_of
from zkchat_cli.llm.threaded_stream import Emit

_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length", "n_ctx")
"""Where servers report a model's window: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp."""
_O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""


class OpenAISettings(Section):
    base_url: str = Field(
        "", description="URL of OpenAI or a compatible server, such as http://localhost:8080/v1; empty: OPENAI_BASE_URL, else OpenAI"
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first token")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further token")


@dataclass
class OpenaiModel(RemoteModel):
    provider = "openai"
    settings: OpenAISettings

    @property
    def official(self) -> bool:
        return self.server.address == OPENAI.address

    @property
    def exact(self) -> bool:
        return self.official and self.model.startswith(_O200K_MODELS)

    def import_library(self) -> None:
        from zkchat_cli.llm import mojentic_adapter, openai_chat  # noqa: F401  takes a second

    def find_window(self) -> Window | None:
        if self.official:
            from zkchat_cli.llm.openai_chat import known_window  # see import_library

            size = known_window(self.model)
            return Window(size, "mojentic's table of OpenAI's models") if size else None
        try:
            size = {model.name: model.window for model in self.list_models()}.get(self.model)
        except ProviderError:
            return None  # the first call reports it
        return Window(size, "the server's list of models") if size else None

    def body(self, request: Request) -> dict[str, Any]:
        from zkchat_cli.llm.openai_chat import request_body  # see import_library

        return request_body(self.model, request, self.server.address, official=self.official)

    async def call(self, request: Request, emit: Emit) -> None:
        from zkchat_cli.llm.mojentic_adapter import ChatCall, stream_chat  # see import_library
        from zkchat_cli.llm.openai_chat import OpenAIReader

        headers = {"Authorization": f"Bearer {self.server.key}"} if self.server.key else {}
        body = self.body(request)
        call = ChatCall(self.server, "/chat/completions", body, OpenAIReader, headers, self.model_names, self.first_delay)
        await stream_chat(call, emit)

    def list_models(self) -> tuple[ModelInfo, ...]:
        return fetch_models(self.server, "/models", _window_in)

    def config_error(self) -> ProviderError | None:
        return OPENAI.config_error(self, self.settings.key_variable)


def _window_in(row: dict[str, Any]) -> int | None:
    tables = [table for table in (row, row.get("meta"), row.get("top_provider")) if isinstance(table, dict)]
    sizes = (table.get(key) for table in tables for key in _WINDOW_FIELDS)
    return next((size for size in sizes if isinstance(size, int) and size > 0), None)


def _open(config: ModelConfig) -> OpenaiModel:
    settings = settings_of(config, OpenAISettings)
    address = (config.env.get("OPENAI_BASE_URL", "").strip() or settings.base_url.strip()).rstrip("/") or OPENAI.address
    server: JsonClient = OPENAI.client(config, address, settings.key_variable)
    return OpenaiModel(config.name, server, settings)


def _server_info(config: ModelConfig) -> ServerInfo:
    model = _open(config)
    return OPENAI.server_info(config, model, model.settings.key_variable, model.settings.base_url)


PROVIDER = Provider(
    "openai", "OpenAI or a compatible server; your prompts are sent there", _open, settings=OpenAISettings, server_info=_server_info
)
