"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. mojentic's OpenAI gateway makes the calls; it and the SDK are
loaded by `prepare`, or by the first call.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import remote_model
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.remote_model import RemoteModel, key_place, settings_of
from zkchat_cli.llm.threaded_stream import Put

if TYPE_CHECKING:
    from zkchat_cli.llm.openai.client import OpenAICompatibleGateway

OPENAI = "https://api.openai.com/v1"
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length", "n_ctx")
"""Where servers say how large a model's window is: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp."""
_EXACT = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""OpenAI's models whose tokenizer is o200k_base, by how their names begin (tiktoken's own table)."""


class OpenAISettings(Section):
    base_url: str = Field(
        "", description="address of OpenAI or a compatible server, as http://localhost:8080/v1; empty: OPENAI_BASE_URL, else OpenAI"
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable that holds the key")
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first word")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further one")


@dataclass
class OpenaiModel(RemoteModel):
    """One model at one server."""

    provider = "openai"
    settings: OpenAISettings
    _gateway: "OpenAICompatibleGateway | None" = None

    @property
    def official(self) -> bool:
        return self.server.address == OPENAI

    @property
    def exact(self) -> bool:
        return self.official and self.model.startswith(_EXACT)

    def prepare(self) -> None:
        if self.unusable():
            return  # the first call says so
        with self._lock:
            gateway = self._loaded()
            asked, self._asked = self._asked, True
        if asked:
            return
        if known := gateway.known_window(self.model):
            self.window = Window(known, "mojentic's table of OpenAI's models")
        elif not self.official:
            self.window = self._listed_window()

    def _loaded(self) -> "OpenAICompatibleGateway":
        if self._gateway is None:
            from zkchat_cli.llm.openai.client import OpenAICompatibleGateway  # takes a second, and prints unless it is loaded so

            self._gateway = OpenAICompatibleGateway(self.server, official=self.official)
        return self._gateway

    def _listed_window(self) -> Window | None:
        try:
            sizes = {listed.name: listed.window for listed in self.listed()}
        except ProviderError:
            return None  # the first call says what is wrong
        size = sizes.get(self.model)
        return Window(size, "the server's list of models") if size else None

    def body(self, request: Request) -> dict[str, Any]:
        from zkchat_cli.llm.openai import client  # see `_loaded`

        with self._lock:
            return self._loaded().body(client.arguments(self.model, request))

    async def call(self, request: Request, put: Put) -> None:
        from zkchat_cli.llm import mojentic_adapter  # see `_loaded`
        from zkchat_cli.llm.openai import client

        with self._lock:
            gateway = self._loaded()
        gateway = gateway.with_policy(mojentic_adapter.policy(put, self.server, self.first_delay))
        events = gateway.complete_stream_with_recovery(**client.arguments(self.model, request))
        await client.deltas(gateway, events, put, self.server, model=self.model, models=self.names)

    def listed(self) -> tuple[ModelInfo, ...]:
        return remote_model.listed(self.server, "/models", _window)

    def unusable(self) -> ProviderError | None:
        problem = remote_model.without_use(self, "OpenAI", self.settings.key_variable, official=self.official)
        return problem or self.server.unusable()


def _server(setup: ModelConfig) -> JsonClient:
    settings = settings_of(setup, OpenAISettings)
    address = (setup.env.get("OPENAI_BASE_URL", "").strip() or settings.base_url.strip()).rstrip("/") or OPENAI
    return JsonClient(
        "OpenAI" if address == OPENAI else "the OpenAI-compatible server",
        address,
        "Check your network." if address == OPENAI else "Is it running? Check openai.base_url or OPENAI_BASE_URL; it mostly ends in /v1.",
        key=setup.key.value or setup.env.get(settings.key_variable, "").strip(),
        check_key=f"Check {key_place(setup, settings.key_variable)}.",
    )


def _window(row: dict[str, Any]) -> int | None:
    for table in (row, row.get("meta"), row.get("top_provider")):
        for key in _WINDOW_KEYS if isinstance(table, dict) else ():
            size = table.get(key) if isinstance(table, dict) else None
            if isinstance(size, int) and size > 0:
                return size
    return None


def _open(setup: ModelConfig) -> OpenaiModel:
    return OpenaiModel(setup.name, _server(setup), settings_of(setup, OpenAISettings))


def _reach(setup: ModelConfig) -> ServerInfo:
    model = _open(setup)
    return remote_model.reach(setup, model, model.settings.key_variable, model.settings.base_url, official=model.official)


PROVIDER = Provider(
    "openai", "OpenAI or a compatible server; what a prompt holds is sent there", _open, settings=OpenAISettings, reach=_reach
)
