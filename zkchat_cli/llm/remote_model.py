"""What the models on a server have in common: the stream on its own thread, the model list, keys, retries."""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, ModelConfig, ModelInfo, Request, StreamFailed, Window
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
