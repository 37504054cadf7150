"""What the models on a server have in common: settings, the stream on its own thread, the model list, and for some a key."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, ModelConfig, ModelInfo, Request, ServerInfo, StreamFailed, Window
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.json_client import JsonClient, LookupLimits
from zkchat_cli.llm.threaded_stream import Emit, Timeouts, stream_in_thread
from zkchat_cli.text.numbers import whole_number

LIST_LIMITS = LookupLimits(seconds=10, retry=0.5)
CONNECT_SECONDS = 10.0
MAX_ATTEMPTS = 3
MAX_DELAY = 120.0
"""If a server asks to wait longer, the call fails and the user decides."""
RETRY_STATUSES = frozenset({429, 500, 502, 503, 504, 529})
FIRST_DELAY = 1.0
"""Seconds before the second attempt if the server names none; twice as long before the third."""


class ServerSettings(Section):
    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first token")
    stall_timeout: float = Field(60, gt=0, le=86_400, description="seconds to wait for each further token")
    allow_insecure: bool = Field(False, description="whether a key may go over plain http to another machine")


class KeyedSettings(ServerSettings):
    base_url: str = ""
    key_variable: str


S = TypeVar("S", bound=ServerSettings)


def settings_of(config: ModelConfig, kind: type[S]) -> S:
    """A provider's own settings, or their defaults."""
    return config.settings if isinstance(config.settings, kind) else kind()


@dataclass
class RemoteModel(ABC):
    """One model on one server. mojentic calls it, imported by `prepare` or by the first call, and `reader` understands the stream."""

    provider: ClassVar[str]
    path: ClassVar[str]
    """Of a call, after the server's address."""
    reader: ClassVar[type[ChatReader]]
    model: str
    server: JsonClient
    settings: ServerSettings
    first_delay: float = FIRST_DELAY
    window: Window | None = None
    calls_tools: bool | None = None
    """Whether it can call tools, if the server says so."""
    _prepared: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def exact(self) -> bool:
        return False

    def prepare(self) -> None:
        if self.config_error() is not None:
            return  # the first call reports it
        with self._lock:  # whoever comes second waits for the window, too: a prompt for another one would be another prompt
            self.import_library()
            prepared, self._prepared = self._prepared, True
            if not prepared:
                self.window = self.find_window() or self.window

    def import_library(self) -> None:
        """Import what a call needs, which takes up to 2 s."""
        from zkchat_cli.llm import mojentic_adapter  # noqa: F401

    @abstractmethod
    def find_window(self) -> Window | None:
        """The context window by what the library or the server knows; None if neither says. Does not raise."""

    def config_error(self) -> ProviderError | None:
        """Why no call can be made, if the name, the key or the address is wrong."""
        if not self.model:
            hint = f"Use {self.provider}/NAME; /model and zkchat doctor list the models."
            return ProviderError("unknown_model", f"{self.provider} needs the name of a model", hint)
        return self.server.config_error()

    @abstractmethod
    def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the server offers. Raises ProviderError."""

    @abstractmethod
    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a call."""

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        if error := self.config_error():
            yield StreamFailed(error)
            return

        async def call(emit: Emit) -> None:
            from zkchat_cli.llm.mojentic_adapter import stream_chat  # see import_library

            await stream_chat(self, self.body(request), emit)

        timeouts = Timeouts(self.settings.timeout, self.settings.stall_timeout)
        yield from stream_in_thread(call, self.server, timeouts, request.options.max_answer_bytes)

    def server_info(self) -> ServerInfo:
        return ServerInfo(self.server.address, self.server.key_status, self.server.configured_by, self.list_models)

    def model_names(self) -> tuple[str, ...]:
        """The names to suggest for an unknown model; empty if the server cannot list them."""
        try:
            return tuple(model.name for model in self.list_models())
        except ProviderError:
            return ()


def fetch_models(
    server: JsonClient, path: str, window: Callable[[Mapping[str, Any]], object] = lambda _: None, *, rows: str = "data", name: str = "id"
) -> tuple[ModelInfo, ...]:
    """The models that a server lists (`{"data": [{"id": …}]}`), by name; `window` reads a row's. Raises ProviderError."""
    answer = server.fetch(path, LIST_LIMITS)
    try:
        found = {str(row[name]): window(row) for row in answer[rows]}
    except (LookupError, TypeError, AttributeError) as e:
        raise server.not_an_answer("", "something that is not a list of models") from e
    return tuple(ModelInfo(model, whole_number(size, least=1)) for model, size in sorted(found.items()))


@dataclass(frozen=True, slots=True)
class KeyedProvider:
    """A company whose API needs a key, at `address`; compatible servers elsewhere may not need one, and are called `other_name`."""

    name: str
    company: str
    address: str
    address_variable: str
    other_name: str

    def server(
        self, config: ModelConfig, settings: KeyedSettings, headers: Callable[[str, bool], dict[str, str]], suffix: str = ""
    ) -> JsonClient:
        """Its server, or the one that the user has configured. `headers` makes those for a key, and gets whether it is the company's own
        server; `suffix` is an end of addresses to leave out."""
        from_environment = config.env.get(self.address_variable, "").strip()
        address = (from_environment or settings.base_url.strip()).rstrip("/").removesuffix(suffix) or self.address
        official = address == self.address
        key = config.key.value or config.env.get(settings.key_variable, "").strip()
        key_name = config.key.description or settings.key_variable
        key_error = None
        if official and not key:
            hint = f"Set it, or run zkchat keys set {self.name}; or set {self.address_variable} to a server that needs none."
            key_error = ProviderError("auth", f"{self.company} needs a key, and {settings.key_variable} is not set", hint)
        elif not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"{settings.key_variable} contains characters that are not valid in a key"
            key_error = ProviderError("auth", problem, "Set it again, and copy only the key.")
        check = f"Is it running? Check {self.name}.base_url or {self.address_variable}; OpenAI-compatible ones mostly end in /v1."
        configured_by = [key_name] if key else []
        if not official:
            configured_by.append(self.address_variable if from_environment else f"{self.name}.base_url")
        return JsonClient(
            self.company if official else self.other_name,
            address,
            "Check your network." if official else check,
            key=key,
            check_key=f"Check {key_name}.",
            headers=headers(key, official),
            table=self.name,
            allow_insecure=settings.allow_insecure,
            key_error=key_error,
            key_status=f"{key_name} is {'set' if key else 'not set'}",
            configured_by=", ".join(configured_by),
        )


def bearer(key: str, _official: bool = False) -> dict[str, str]:
    """The header with a key as OpenAI and most servers expect it."""
    return {"Authorization": f"Bearer {key}"} if key else {}


OPENAI = KeyedProvider("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_BASE_URL", "the OpenAI-compatible server")
ANTHROPIC = KeyedProvider("anthropic", "Anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "the server for anthropic")
