"""What the models on a server have in common: the stream on its own thread, the model list, retries, and for some a key."""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, ModelConfig, ModelInfo, Request, ServerInfo, StreamFailed, Window
from zkchat_cli.llm.json_client import HttpTimeouts, JsonClient
from zkchat_cli.llm.threaded_stream import Emit, Timeouts, stream_in_thread

LIST_TIMEOUTS = HttpTimeouts(answer=5, retry=1)
CONNECT_SECONDS = 10.0
MAX_ATTEMPTS = 3
FIRST_DELAY = 1.0
"""Seconds before the second attempt if the server names none; twice as long before the third."""
MAX_DELAY = 120.0
"""If a server asks to wait longer, the call fails and the user decides."""


def silence_libraries() -> None:
    """Call this before importing a provider's library: what it would print goes to the log, which is empty without `--verbose`.

    mojentic calls `logging.basicConfig(INFO)` on import and lets structlog write JSON lines to stderr. With a handler on the root logger
    the former does nothing and the latter ends there. anthropic warns of models that will be retired.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    logging.captureWarnings(True)


class HasTimeouts(Protocol):
    """Settings with the seconds to wait for the first token and for each further one."""

    @property
    def timeout(self) -> float: ...

    @property
    def stall_timeout(self) -> float: ...


@dataclass
class RemoteModel(ABC):
    """One model on one server. Its library is imported by `prepare`, or by the first call."""

    provider: ClassVar[str]
    model: str
    server: JsonClient
    settings: HasTimeouts
    first_delay: float = FIRST_DELAY
    window: Window | None = None
    _prepared: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"

    def prepare(self) -> None:
        if self.config_error() is not None:
            return  # the first call reports it
        with self._lock:
            self.import_library()
            prepared, self._prepared = self._prepared, True
        if not prepared:
            self.window = self.find_window()

    @abstractmethod
    def import_library(self) -> None:
        """Import what a call needs, which takes up to 2 s."""

    @abstractmethod
    def find_window(self) -> Window | None:
        """The context window by what the library or the server knows; None if neither says. Does not raise."""

    @abstractmethod
    def config_error(self) -> ProviderError | None:
        """Why no call can be made, if the name, the key or the address is wrong."""

    @abstractmethod
    def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the server offers. Raises ProviderError."""

    @abstractmethod
    async def call(self, request: Request, emit: Emit) -> None:
        """Make the call and emit its deltas."""

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        if error := self.config_error():
            yield StreamFailed(error)
            return

        async def call(emit: Emit) -> None:
            await self.call(request, emit)

        yield from stream_in_thread(call, self.server, Timeouts(self.settings.timeout, self.settings.stall_timeout), request.wanted)

    def model_names(self) -> tuple[str, ...]:
        """The names to suggest for an unknown model; empty if the server cannot list them."""
        try:
            return tuple(model.name for model in self.list_models())
        except ProviderError:
            return ()


def fetch_models(server: JsonClient, path: str, window: Callable[[dict[str, Any]], int | None]) -> tuple[ModelInfo, ...]:
    """The models of a list in OpenAI's format (`{"data": [{"id": …}]}`), by name; `window` reads a row's. Raises ProviderError."""
    answer = server.get(path, LIST_TIMEOUTS)
    try:
        rows = [row for row in answer["data"] if isinstance(row, dict) and isinstance(row.get("id"), str)]
    except (KeyError, TypeError) as e:
        raise server.not_an_answer("", "something that is not a list of models") from e
    return tuple(sorted((ModelInfo(row["id"], window(row)) for row in rows), key=lambda model: model.name))


S = TypeVar("S", bound=Section)


def settings_of(config: ModelConfig, kind: type[S]) -> S:
    """A provider's own settings, or their defaults."""
    return config.settings if isinstance(config.settings, kind) else kind()


@dataclass(frozen=True, slots=True)
class KeyedProvider:
    """A company whose API needs a key, at `address`; compatible servers elsewhere may not need one, and are called `other_name`."""

    name: str
    company: str
    address: str
    other_name: str
    address_hint: str = ""

    @property
    def address_variable(self) -> str:
        return f"{self.name.upper()}_BASE_URL"

    def server_name(self, address: str) -> str:
        return self.company if address == self.address else self.other_name

    def client(
        self, config: ModelConfig, address: str, key_variable: str, headers: Callable[[str], dict[str, str]] | None = None
    ) -> JsonClient:
        key = config.key.value or config.env.get(key_variable, "").strip()
        check = f"Is it running? Check {self.name}.base_url or {self.address_variable}{self.address_hint}."
        return JsonClient(
            self.server_name(address),
            address,
            "Check your network." if address == self.address else check,
            key=key,
            check_key=f"Check {config.key.description or key_variable}.",
            headers=headers(key) if headers else None,
        )

    def key_error(self, server: JsonClient, key_variable: str) -> ProviderError | None:
        key = server.key
        if server.address == self.address and not key:
            hint = f"Set it, or run zkchat keys set {self.name}; or set {self.address_variable} to a server that needs none."
            return ProviderError("auth", f"{self.company} needs a key, and {key_variable} is not set", hint)
        if not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"{key_variable} contains characters that no key has"
            return ProviderError("auth", problem, "Set it again; was more copied than the key?")
        return None

    def config_error(self, model: RemoteModel, key_variable: str) -> ProviderError | None:
        if not model.model:
            hint = f"Use {self.name}/NAME; /model and zkchat doctor list the models."
            return ProviderError("unknown_model", f"{self.name} needs the name of a model", hint)
        return self.key_error(model.server, key_variable) or model.server.address_error()

    def server_info(self, config: ModelConfig, model: RemoteModel, key_variable: str, base_url: str) -> ServerInfo:
        key_source = config.key.description or key_variable
        configured_by = [key_source] if model.server.key else []
        if config.env.get(self.address_variable):
            configured_by.append(self.address_variable)
        elif base_url:
            configured_by.append(f"{self.name}.base_url")
        optional = "" if model.server.address == self.address else ", which many servers do not need"
        key = f"{key_source} is set" if model.server.key else f"{key_variable} is not set{optional}"
        return ServerInfo(model.server.address, key, ", ".join(configured_by), model.list_models)


OPENAI = KeyedProvider("openai", "OpenAI", "https://api.openai.com/v1", "the OpenAI-compatible server", "; most end in /v1")
ANTHROPIC = KeyedProvider("anthropic", "Anthropic", "https://api.anthropic.com", "the server for anthropic")
