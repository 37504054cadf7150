"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. mojentic's OpenAI gateway makes the calls; it and the SDK are
loaded by `prepare`, or by the first call.
"""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

from zkchat_cli.config import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import Delta, Failed, Listed, Model, Provider, Reach, Request, Setup, Window, wire
from zkchat_cli.llm.pump import Patience, Put, pumped
from zkchat_cli.llm.wire import Server

if TYPE_CHECKING:
    from zkchat_cli.llm.compatible import Gateway

OPENAI = "https://api.openai.com/v1"
LISTING = wire.Patience(answer=5, retry=1)
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length", "n_ctx")
"""Where servers say how large a model's window is: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp."""
_EXACT = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""OpenAI's models whose tokenizer is o200k_base, by how their names begin (tiktoken's own table)."""


class Settings(Section):
    base_url: str = Field(
        "", description="address of OpenAI or a compatible server, as http://localhost:8080/v1; empty: OPENAI_BASE_URL, else OpenAI"
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable that holds the key")
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first word")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further one")


@dataclass
class OpenaiModel:
    """One model at one server."""

    model: str
    server: Server
    settings: Settings
    first_delay: float = 1.0
    """Seconds before a failed call is made again."""
    window: Window | None = None
    _gateway: "Gateway | None" = None
    _asked: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return f"openai/{self.model}"

    @property
    def official(self) -> bool:
        return self.server.address == OPENAI

    @property
    def exact(self) -> bool:
        return self.official and self.model.startswith(_EXACT)

    def prepare(self) -> None:
        if _unusable(self):
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

    def _loaded(self) -> "Gateway":
        if self._gateway is None:
            from zkchat_cli.llm.compatible import Gateway  # takes a second, and prints unless it is loaded so

            self._gateway = Gateway(self.server, official=self.official)
        return self._gateway

    def _listed_window(self) -> Window | None:
        try:
            sizes = {listed.name: listed.window for listed in _list(self.server)}
        except ProviderError:
            return None  # the first call says what is wrong
        size = sizes.get(self.model)
        return Window(size, "the server's list of models") if size else None

    def body(self, request: Request) -> dict[str, Any]:
        with self._lock:
            return self._loaded().body(self._arguments(request))

    def _arguments(self, request: Request) -> dict[str, Any]:
        from zkchat_cli.llm import recovery  # see `_loaded`

        return {
            "model": self.model,
            "messages": recovery.messages(request),
            "tools": recovery.tools(request),
            "config": recovery.config(request),
        }

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        problem = _unusable(self)
        if problem is not None:
            yield Failed(problem)
            return

        async def call(put: Put) -> None:
            from zkchat_cli.llm import compatible, recovery  # see `_loaded`

            with self._lock:
                gateway = self._loaded()
            gateway = gateway.with_policy(recovery.policy(put, self.server, self.first_delay))
            events = gateway.complete_stream_with_recovery(**self._arguments(request))
            await compatible.deltas(events, put, self.server, model=self.model, models=self._names)

        yield from pumped(call, self.server, Patience(self.settings.timeout, self.settings.stall_timeout), request.wanted)

    def _names(self) -> tuple[str, ...]:
        try:
            return tuple(listed.name for listed in _list(self.server))
        except ProviderError:
            return ()


def _unusable(model: OpenaiModel) -> ProviderError | None:
    key, variable = model.server.key, model.settings.key_variable
    if not model.model:
        return ProviderError(
            "unknown_model", "openai needs the name of a model", "Say openai/NAME; /model and zkchat doctor list what there is."
        )
    if model.official and not key:
        hint = "Set it, or zkchat keys set openai; or openai.base_url to a server that wants none."
        return ProviderError("auth", f"OpenAI wants a key, and {variable} is not set", hint)
    if not (key.isascii() and key.isprintable()) or " " in key:
        return ProviderError("auth", f"{variable} holds characters that no key has", "Set it again; was more copied than the key?")
    return model.server.unusable()


def _server(setup: Setup) -> Server:
    settings = _settings(setup)
    address = (setup.env.get("OPENAI_BASE_URL", "").strip() or settings.base_url.strip()).rstrip("/") or OPENAI
    return Server(
        "OpenAI" if address == OPENAI else "the OpenAI-compatible server",
        address,
        "Check your network." if address == OPENAI else "Is it running? Check openai.base_url or OPENAI_BASE_URL; it mostly ends in /v1.",
        key=setup.key.value or setup.env.get(settings.key_variable, "").strip(),
        check_key=f"Check {_key_place(setup)}.",
    )


def _key_place(setup: Setup) -> str:
    """What the key is called in messages: its variable, or where zkchat keeps it."""
    return setup.key.place or _settings(setup).key_variable


def _settings(setup: Setup) -> Settings:
    return setup.settings if isinstance(setup.settings, Settings) else Settings()


def _list(server: Server) -> tuple[Listed, ...]:
    """The models a server offers. Raises ProviderError."""
    answer = server.get("/models", LISTING)
    try:
        rows = [row for row in answer["data"] if isinstance(row, dict) and isinstance(row.get("id"), str)]
    except (KeyError, TypeError) as e:
        raise server.unintelligible("", "something that is no list of models") from e
    return tuple(sorted((Listed(row["id"], _window(row)) for row in rows), key=lambda listed: listed.name))


def _window(row: dict[str, Any]) -> int | None:
    for table in (row, row.get("meta"), row.get("top_provider")):
        for key in _WINDOW_KEYS if isinstance(table, dict) else ():
            size = table.get(key) if isinstance(table, dict) else None
            if isinstance(size, int) and size > 0:
                return size
    return None


def _open(setup: Setup) -> Model:
    return OpenaiModel(setup.name, _server(setup), _settings(setup))


def _reach(setup: Setup) -> Reach:
    server, variable = _server(setup), _settings(setup).key_variable
    chosen = [_key_place(setup)] if server.key else []
    chosen += ["OPENAI_BASE_URL"] if setup.env.get("OPENAI_BASE_URL") else ["openai.base_url"] if _settings(setup).base_url else []
    key = (
        f"{_key_place(setup)} is set"
        if server.key
        else f"{variable} is not set" + ("" if server.address == OPENAI else ", which many servers do without")
    )
    return Reach(server.address, key, ", ".join(chosen), lambda: _list(server))


PROVIDER = Provider("openai", "OpenAI or a compatible server; what a prompt holds is sent there", _open, settings=Settings, reach=_reach)
