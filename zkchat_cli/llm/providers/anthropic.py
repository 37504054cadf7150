"""Claude, at Anthropic or any server that speaks its Messages API: `anthropic/NAME`, at ANTHROPIC_BASE_URL or anthropic.base_url.

zkchat's own gateway makes the calls, on the anthropic SDK; both are loaded by `prepare`, or by the first call. What stays the same from
turn to turn is marked for the server's cache.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import remote_model
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.remote_model import LISTING, RemoteModel, key_place, settings_of
from zkchat_cli.llm.threaded_stream import Put

if TYPE_CHECKING:
    from zkchat_cli.llm.anthropic.client import AnthropicMessagesGateway
    from zkchat_cli.llm.anthropic.request import ModelAbilities

ANTHROPIC = "https://api.anthropic.com"
VERSION = "2023-06-01"
"""Of the API's listings."""
LEAST_WINDOW = 200_000
"""Tokens of window that every Claude has."""
LONGEST_ANSWER = 64_000
"""Tokens of answer, thinking included, that are asked for where the user does not say."""


class AnthropicSettings(Section):
    base_url: str = Field(
        "", description="address of Anthropic or a server that speaks its Messages API; empty: ANTHROPIC_BASE_URL, else Anthropic"
    )
    key_variable: str = Field("ANTHROPIC_API_KEY", description="environment variable that holds the key")
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first word")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further one")


@dataclass
class AnthropicModel(RemoteModel):
    """One model at one server."""

    provider = "anthropic"
    exact = False
    settings: AnthropicSettings
    _gateway: "AnthropicMessagesGateway | None" = None
    _found: dict[str, Any] = field(default_factory=dict)
    """What the server says of the model."""

    @property
    def official(self) -> bool:
        return self.server.address == ANTHROPIC

    def prepare(self) -> None:
        with self._lock:
            self._loaded()
            asked, self._asked = self._asked, True
        if asked or not self.model:
            return
        if self.unusable() is None:
            self._found = _described(self.server, self.model)
        if size := _size(self._found, "max_input_tokens"):
            self.window = Window(size, "the server's list of models")
        elif self.model.startswith("claude-"):
            self.window = Window(LEAST_WINDOW, "what every Claude has; the server does not say")

    def _loaded(self) -> "AnthropicMessagesGateway":
        if self._gateway is None:
            from zkchat_cli.llm.anthropic.client import AnthropicMessagesGateway  # takes a second, and prints unless it is loaded so

            self._gateway = AnthropicMessagesGateway(self.server, official=self.official)
        return self._gateway

    def body(self, request: Request) -> dict[str, Any]:
        from zkchat_cli.llm.anthropic import request as anthropic_request

        return anthropic_request.body(self.model, request, self._abilities())

    async def call(self, request: Request, put: Put) -> None:
        with self._lock:
            gateway = self._loaded()
        await gateway.stream(self.model, request, self._abilities(), put, self.names, self.first_delay)

    def listed(self) -> tuple[ModelInfo, ...]:
        return remote_model.listed(self.server, "/v1/models?limit=1000", lambda row: _size(row, "max_input_tokens"))

    def unusable(self) -> ProviderError | None:
        return remote_model.without_use(self, "Anthropic", self.settings.key_variable, official=self.official)

    def _abilities(self) -> "ModelAbilities":
        """What the model can do, by its server's listing as far as that goes."""
        from zkchat_cli.llm.anthropic.client import longest_answer  # see `_loaded`
        from zkchat_cli.llm.anthropic.request import abilities

        return abilities(
            self.model,
            min(_size(self._found, "max_tokens") or longest_answer(self.model), LONGEST_ANSWER),
            self.window.tokens if self.window else None,
            adaptive=_supported(self._found, "adaptive"),
            budgeted=_supported(self._found, "enabled"),
        )


def _server(setup: ModelConfig) -> JsonClient:
    settings = settings_of(setup, AnthropicSettings)
    given = setup.env.get("ANTHROPIC_BASE_URL", "").strip() or settings.base_url.strip()
    address = given.rstrip("/").removesuffix("/v1") or ANTHROPIC  # the SDK adds the /v1 that some addresses are given with
    key = setup.key.value or setup.env.get(settings.key_variable, "").strip()
    official = address == ANTHROPIC
    return JsonClient(
        "Anthropic" if official else "the server for anthropic",
        address,
        "Check your network." if official else "Is it running? Check anthropic.base_url or ANTHROPIC_BASE_URL.",
        key=key,
        check_key=f"Check {key_place(setup, settings.key_variable)}.",
        headers=_headers(key, official=official),
    )


def _headers(key: str, *, official: bool) -> dict[str, str]:
    headers = {"anthropic-version": VERSION}
    if key:
        headers["x-api-key"] = key
    if key and not official:  # which of the two an imitation reads is not known
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _described(server: JsonClient, model: str) -> dict[str, Any]:
    """What the server says of a model; empty if nothing: the first call tells what is wrong."""
    try:
        answer = server.get(f"/v1/models/{quote(model, safe='')}", LISTING)
    except ProviderError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _size(row: dict[str, Any], key: str) -> int | None:
    size = row.get(key)
    return size if isinstance(size, int) and size > 0 else None


def _supported(row: dict[str, Any], kind: str) -> bool | None:
    """Whether a listed model takes that kind of thinking; None if the listing does not say."""
    found: Any = row
    for key in ("capabilities", "thinking", "types", kind, "supported"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, bool) else None


def _open(setup: ModelConfig) -> AnthropicModel:
    return AnthropicModel(setup.name, _server(setup), settings_of(setup, AnthropicSettings))


def _reach(setup: ModelConfig) -> ServerInfo:
    model = _open(setup)
    return remote_model.reach(setup, model, model.settings.key_variable, model.settings.base_url, official=model.official)


PROVIDER = Provider(
    "anthropic",
    "Claude, by Anthropic or a server that speaks as it does; what a prompt holds is sent there",
    _open,
    AnthropicSettings,
    reach=_reach,
)
