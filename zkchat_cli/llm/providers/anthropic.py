"""Claude, from Anthropic or any server that speaks its Messages API: `anthropic/NAME`, at ANTHROPIC_BASE_URL or anthropic.base_url.

mojentic makes the calls, and Anthropic's SDK puts the messages together; `prepare` or the first call loads both. What stays the same from
turn to turn is marked for the server's cache.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pydantic import Field

from zkchat_cli.llm import anthropic_chat
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Request, Window
from zkchat_cli.llm.remote_model import (
    COUNT_LIMITS,
    KeyedProvider,
    KeyedSettings,
    Refusal,
    RemoteModel,
    bearer,
    fetch_models,
    remote_provider,
)
from zkchat_cli.text.numbers import whole_number

API_VERSION = "2023-06-01"
COUNTED_PARTS = frozenset({"model", "messages", "system", "tools", "tool_choice", "thinking"})
"""Parts of a request that the endpoint for counting takes."""
SEARCH_RESULTS_REFUSAL = Refusal(anthropic_chat.SEARCH_RESULTS_REFUSED, lambda _: None)
"""`full_body` sends text instead."""
MIN_WINDOW = Window(200_000, "the minimum of all Claude models; the server does not say")


class AnthropicSettings(KeyedSettings):
    base_url: str = Field("", description="URL of Anthropic or a server with its Messages API; empty: ANTHROPIC_BASE_URL, else Anthropic")
    key_variable: str = Field("ANTHROPIC_API_KEY", description="environment variable with the API key")
    timeout: float = Field(300, gt=0, le=86_400, description="seconds to wait for the first token, while Claude may be thinking")
    stall_timeout: float = Field(
        180, gt=0, le=86_400, description="seconds to wait for each further token, while Claude may be writing the text of a note"
    )


@dataclass
class AnthropicModel(RemoteModel):
    provider = "anthropic"
    path = "/v1/messages"
    reader = anthropic_chat.AnthropicReader
    plain_excerpts = False
    refusals = (SEARCH_RESULTS_REFUSAL,)
    settings: AnthropicSettings

    def find_window(self) -> Window | None:
        size = whole_number(self.server.fetch(f"/v1/models/{quote(self.model, safe='')}")["max_input_tokens"], least=1)
        return Window(size, "the server's list of models") if size else None

    def full_body(self, request: Request) -> dict[str, Any]:
        window = self.window.tokens if self.window else None
        return anthropic_chat.request_body(self.model, request, window, cites=SEARCH_RESULTS_REFUSAL not in self.refused)

    def ask_count(self, request: Request) -> int | None:
        body = {name: value for name, value in self.body(request).items() if name in COUNTED_PARTS}
        return whole_number(self.server.fetch(f"{self.path}/count_tokens", body, COUNT_LIMITS)["input_tokens"], least=1)

    def list_models(self) -> tuple[ModelInfo, ...]:
        return fetch_models(self.server, "/v1/models?limit=1000", lambda row: row.get("max_input_tokens"))


def _headers(key: str, official: bool) -> dict[str, str]:
    """Of the imitations some read one header with the key, some the other."""
    return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {}), **({} if official else bearer(key))}


ANTHROPIC = KeyedProvider(
    name="anthropic",
    company="Anthropic",
    address="https://api.anthropic.com",
    other_name="the server for anthropic",
    headers=_headers,
    path="/v1",
)


def _open(config: ModelConfig, settings: AnthropicSettings) -> AnthropicModel:
    server = ANTHROPIC.server(config, settings)
    return AnthropicModel(config.name, server, settings, window=MIN_WINDOW if config.name.startswith("claude-") else None)


PROVIDER = remote_provider("anthropic", _open, AnthropicSettings)
