"""Models on your own machine, or where OLLAMA_HOST or ollama.host says: `ollama/NAME`.

mojentic's Ollama gateway makes the calls; it is loaded by `prepare`, or by the first call. The context window in use is asked for with
each call (`num_ctx`), because Ollama would otherwise cut a longer prompt without a word.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelConfig, ModelInfo, Provider, Request, ServerInfo, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.ollama.address import address
from zkchat_cli.llm.remote_model import LISTING, RemoteModel, settings_of
from zkchat_cli.llm.threaded_stream import Put

if TYPE_CHECKING:
    from zkchat_cli.llm.ollama.client import OllamaChatGateway

MOST_UNASKED = 32768
"""Tokens of window that are used without being asked for: memory for a model's whole 128k takes more than many machines have."""


class OllamaSettings(Section):
    host: str = Field("", description="address of the Ollama server; empty: OLLAMA_HOST, else http://127.0.0.1:11434")
    timeout: float = Field(300, gt=0, le=86_400, description="seconds to wait for the first word, while the model may be loading")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further one")


@dataclass
class OllamaModel(RemoteModel):
    """One model at one server."""

    provider = "ollama"
    exact = False
    settings: OllamaSettings
    _gateway: "OllamaChatGateway | None" = None

    def prepare(self) -> None:
        if self.server.unusable():
            return  # the first call says so
        with self._lock:
            self._loaded()
            asked, self._asked = self._asked, True
        if self.model and not asked:
            self.window = _window(self.server, self.model)

    def _loaded(self) -> "OllamaChatGateway":
        if self._gateway is None:
            from zkchat_cli.llm.ollama.client import OllamaChatGateway  # takes a second, and prints unless it is loaded so

            self._gateway = OllamaChatGateway(self.server)
        return self._gateway

    def body(self, request: Request) -> dict[str, Any]:
        from zkchat_cli.llm import mojentic_adapter  # see `_loaded`

        with self._lock:
            return self._loaded().body(mojentic_adapter.arguments(self.model, request, window=request.window))

    async def call(self, request: Request, put: Put) -> None:
        from zkchat_cli.llm import mojentic_adapter  # see `_loaded`

        with self._lock:
            gateway = self._loaded()
        gateway = gateway.with_policy(mojentic_adapter.policy(put, self.server, self.first_delay))
        events = gateway.complete_stream_with_recovery(**mojentic_adapter.arguments(self.model, request, window=request.window))
        await mojentic_adapter.deltas(events, put, self.server, model=self.model, models=self.names)

    def listed(self) -> tuple[ModelInfo, ...]:
        answer: Any = self.server.get("/api/tags", LISTING)
        try:
            names = [row["name"] for row in answer["models"] if isinstance(row.get("name"), str)]
        except (KeyError, TypeError, AttributeError) as e:
            raise self.server.unintelligible("", "something that is no list of models") from e
        return tuple(ModelInfo(name) for name in sorted(names))

    def unusable(self) -> ProviderError | None:
        if not self.model:
            return ProviderError("unknown_model", "ollama needs the name of a model", "Say ollama/NAME; `ollama list` shows what there is.")
        return self.server.unusable()


def _window(server: JsonClient, model: str) -> Window | None:
    """What the server says of the model; None if it says nothing, or cannot be asked: the first call tells what is wrong."""
    from zkchat_cli.llm.ollama.client import OllamaChatGateway  # see `_loaded`

    try:
        found = OllamaChatGateway(server, seconds=LISTING.answer).get_model_context_window(model)
    except Exception:  # noqa: BLE001  mojentic passes on whatever httpx, pydantic or a foreign server's JSON came up with
        return None
    if found is None:
        return None
    if found.model_num_ctx is not None:
        return Window(min(found.model_num_ctx, found.max_context_tokens), "Ollama: the model's num_ctx")
    if found.max_context_tokens <= MOST_UNASKED:
        return Window(found.max_context_tokens, f"Ollama: {found.field}")
    return Window(MOST_UNASKED, f"the model has {found.max_context_tokens}; context.max_tokens asks for more")


def _server(setup: ModelConfig) -> JsonClient:
    host = setup.env.get("OLLAMA_HOST", "").strip() or settings_of(setup, OllamaSettings).host
    return JsonClient(
        "Ollama",
        address(host),
        "Start it with `ollama serve`, or set OLLAMA_HOST.",
        check_key="If something before it wants a name and a password, set OLLAMA_HOST to http://NAME:PASSWORD@HOST.",
    )


def _open(setup: ModelConfig) -> OllamaModel:
    return OllamaModel(setup.name, _server(setup), settings_of(setup, OllamaSettings))


def _reach(setup: ModelConfig) -> ServerInfo:
    model = _open(setup)
    chosen = "OLLAMA_HOST" if setup.env.get("OLLAMA_HOST") else "ollama.host" if model.settings.host else ""
    return ServerInfo(model.server.address, "needs none", chosen, model.listed)


PROVIDER = Provider("ollama", "models on your own machine, by Ollama", _open, settings=OllamaSettings, reach=_reach)
