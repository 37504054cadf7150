"""Claude, from Anthropic or any server that speaks its Messages API: `anthropic/NAME`, at ANTHROPIC_BASE_URL or anthropic.base_url.

The anthropic SDK makes the calls; `prepare` or the first call loads it. What stays the same from turn to turn is marked for the server's
cache.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.anthropic.request import model_abilities, request_body
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.remote_model import ANTHROPIC, LIST_TIMEOUTS, RemoteModel, fetch_models, settings_of
from zkchat_cli.llm.threaded_stream import Emit

if TYPE_CHECKING:
    from zkchat_cli.llm.anthropic.client import MessagesClient

API_VERSION = "2023-06-01"
MIN_WINDOW = Window(200_000, "the minimum of all Claude models; the server does not say")


class AnthropicSettings(Section):
    base_url: str = Field("", description="URL of Anthropic or a server with its Messages API; empty: ANTHROPIC_BASE_URL, else Anthropic")
    key_variable: str = Field("ANTHROPIC_API_KEY", description="environment variable with the API key")
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first token")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further token")


@dataclass
class AnthropicModel(RemoteModel):
    provider = "anthropic"
    exact = False
    settings: AnthropicSettings
    _client: "MessagesClient | None" = None
    _listing: dict[str, Any] = field(default_factory=dict)
    """What the server says about the model."""

    @property
    def official(self) -> bool:
        return self.server.address == ANTHROPIC.address

    def import_library(self) -> None:
        from zkchat_cli.llm.anthropic.client import MessagesClient  # takes half a second

        if self._client is None:
            self._client = MessagesClient(self.server, official=self.official)

    def find_window(self) -> Window | None:
        try:
            answer = self.server.get(f"/v1/models/{quote(self.model, safe='')}", LIST_TIMEOUTS)
        except ProviderError:
            return self.window  # the first call reports it
        self._listing = answer if isinstance(answer, dict) else {}
        size = _size(self._listing, "max_input_tokens")
        return Window(size, "the server's list of models") if size else self.window

    def body(self, request: Request) -> dict[str, Any]:
        abilities = model_abilities(
            self.model,
            _size(self._listing, "max_tokens"),
            self.window.tokens if self.window else None,
            adaptive=_supports_thinking(self._listing, "adaptive"),
            budgeted=_supports_thinking(self._listing, "enabled"),
        )
        return request_body(self.model, request, abilities)

    async def call(self, request: Request, emit: Emit) -> None:
        with self._lock:
            self.import_library()
        assert self._client is not None
        await self._client.stream(self.body(request), emit, self.model_names, self.first_delay)

    def list_models(self) -> tuple[ModelInfo, ...]:
        return fetch_models(self.server, "/v1/models?limit=1000", lambda row: _size(row, "max_input_tokens"))

    def config_error(self) -> ProviderError | None:
        return ANTHROPIC.config_error(self, self.settings.key_variable)


def _size(row: dict[str, Any], key: str) -> int | None:
    size = row.get(key)
    return size if isinstance(size, int) and size > 0 else None


def _supports_thinking(row: dict[str, Any], kind: str) -> bool | None:
    """Whether a listed model supports that kind of thinking; None if the listing does not say."""
    found: Any = row
    for key in ("capabilities", "thinking", "types", kind, "supported"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, bool) else None


def _open(config: ModelConfig) -> AnthropicModel:
    settings = settings_of(config, AnthropicSettings)
    base_url = config.env.get("ANTHROPIC_BASE_URL", "").strip() or settings.base_url.strip()
    address = base_url.rstrip("/").removesuffix("/v1") or ANTHROPIC.address  # the SDK adds /v1 itself

    def headers(key: str) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {key}"} if address != ANTHROPIC.address else {}  # imitations read the one or the other
        return {"anthropic-version": API_VERSION, **({"x-api-key": key, **bearer} if key else {})}

    server = ANTHROPIC.client(config, address, settings.key_variable, headers)
    return AnthropicModel(config.name, server, settings, window=MIN_WINDOW if config.name.startswith("claude-") else None)


def _server_info(config: ModelConfig) -> ServerInfo:
    model = _open(config)
    return ANTHROPIC.server_info(config, model, model.settings.key_variable, model.settings.base_url)


PROVIDER = Provider(
    "anthropic",
    "Claude, from Anthropic or a server with the same API; your prompts are sent there",
    _open,
    AnthropicSettings,
    server_info=_server_info,
)
