"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. mojentic makes the calls; `prepare` or the first call loads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import openai_chat
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, Window
from zkchat_cli.llm.remote_model import OPENAI, KeyedSettings, RemoteModel, bearer, fetch_models, settings_of

_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "loaded_context_length", "max_context_length")
"""Where servers report a model's window: vLLM, OpenRouter, Groq, LM Studio. llama.cpp has `n_ctx` in a table `meta`."""
_O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""


class OpenAISettings(KeyedSettings):
    base_url: str = Field(
        "", description="URL of OpenAI or a compatible server, such as http://localhost:8080/v1; empty: OPENAI_BASE_URL, else OpenAI"
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")


@dataclass
class OpenaiModel(RemoteModel):
    provider = "openai"
    path = "/chat/completions"
    reader = openai_chat.OpenAIReader
    settings: OpenAISettings

    @property
    def official(self) -> bool:
        return self.server.address == OPENAI.address

    @property
    def exact(self) -> bool:
        return self.official and self.model.startswith(_O200K_MODELS)

    def find_window(self) -> Window | None:
        if self.official:
            from zkchat_cli.llm.mojentic_adapter import known_window  # takes a second

            size = known_window(self.model)
            return Window(size, "mojentic's table of OpenAI's models") if size else None
        try:
            size = {model.name: model.window for model in self.list_models()}.get(self.model)
        except ProviderError:
            return None  # the first call reports it
        return Window(size, "the server's list of models") if size else None

    def body(self, request: Request) -> dict[str, Any]:
        return openai_chat.request_body(self.model, request, official=self.official)

    def list_models(self) -> tuple[ModelInfo, ...]:
        return fetch_models(self.server, "/models", _window_in)


def _window_in(row: Mapping[str, Any]) -> object:
    sizes = [row[name] for name in _WINDOW_FIELDS if row.get(name)]
    return sizes[0] if sizes else (row.get("meta") or {}).get("n_ctx")


def _open(config: ModelConfig) -> OpenaiModel:
    settings = settings_of(config, OpenAISettings)
    return OpenaiModel(config.name, OPENAI.server(config, settings, bearer), settings)


PROVIDER = Provider(
    "openai",
    "OpenAI or a compatible server; your prompts are sent there",
    _open,
    OpenAISettings,
    server_info=lambda config: _open(config).server_info(),
)
