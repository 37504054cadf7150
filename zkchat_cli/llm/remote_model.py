"""A model at a server: what the providers that call one have in common."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

from zkchat_cli.config.schema import Section
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import json_client
from zkchat_cli.llm.base import Delta, ModelConfig, ModelInfo, Request, ServerInfo, StreamFailed, Window
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.threaded_stream import Put, Timeouts, stream_in_thread

LISTING = json_client.HttpTimeouts(answer=5, retry=1)


class HasTimeouts(Protocol):
    """Settings that say how long a server is waited for, in seconds: for the first word, and for each further one."""

    @property
    def timeout(self) -> float: ...

    @property
    def stall_timeout(self) -> float: ...


@dataclass
class RemoteModel(ABC):
    """One model at one server, whose libraries are loaded by `prepare`, or by the first call."""

    provider: ClassVar[str]
    model: str
    server: JsonClient
    settings: HasTimeouts
    first_delay: float = 1.0
    """Seconds before a failed call is made again."""
    window: Window | None = None
    _asked: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"

    @abstractmethod
    def unusable(self) -> ProviderError | None:
        """What is wrong, if no call can be made."""

    @abstractmethod
    def listed(self) -> tuple[ModelInfo, ...]:
        """The models that the server offers. Raises ProviderError."""

    @abstractmethod
    async def call(self, request: Request, put: Put) -> None:
        """Make the call, and put what comes."""

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        if problem := self.unusable():
            yield StreamFailed(problem)
            return

        async def call(put: Put) -> None:
            await self.call(request, put)

        yield from stream_in_thread(call, self.server, Timeouts(self.settings.timeout, self.settings.stall_timeout), request.wanted)

    def names(self) -> tuple[str, ...]:
        """What else could be meant, as far as the server says."""
        try:
            return tuple(listed.name for listed in self.listed())
        except ProviderError:
            return ()


def listed(server: JsonClient, path: str, window: Callable[[dict[str, Any]], int | None]) -> tuple[ModelInfo, ...]:
    """The models in a list as OpenAI has it (`{"data": [{"id": …}]}`), by name; `window` reads a row's. Raises ProviderError."""
    answer = server.get(path, LISTING)
    try:
        rows = [row for row in answer["data"] if isinstance(row, dict) and isinstance(row.get("id"), str)]
    except (KeyError, TypeError) as e:
        raise server.unintelligible("", "something that is no list of models") from e
    return tuple(sorted((ModelInfo(row["id"], window(row)) for row in rows), key=lambda listed: listed.name))


S = TypeVar("S", bound=Section)


def settings_of(setup: ModelConfig, kind: type[S]) -> S:
    """A provider's own settings, or their defaults."""
    return setup.settings if isinstance(setup.settings, kind) else kind()


# providers with keys


def key_place(setup: ModelConfig, variable: str) -> str:
    """What the key is called in messages: its variable, or where zkchat keeps it."""
    return setup.key.description or variable


def without_use(model: RemoteModel, company: str, variable: str, *, official: bool) -> ProviderError | None:
    """What is wrong with a model's name, or with the key for it, before any call. `official`: the server is the company's own."""
    key, provider = model.server.key, model.provider
    if not model.model:
        hint = f"Say {provider}/NAME; /model and zkchat doctor list what there is."
        return ProviderError("unknown_model", f"{provider} needs the name of a model", hint)
    if official and not key:
        hint = f"Set it, or zkchat keys set {provider}; or {provider}.base_url to a server that wants none."
        return ProviderError("auth", f"{company} wants a key, and {variable} is not set", hint)
    if not (key.isascii() and key.isprintable()) or " " in key:
        return ProviderError("auth", f"{variable} holds characters that no key has", "Set it again; was more copied than the key?")
    return None


def reach(setup: ModelConfig, model: RemoteModel, variable: str, base_url: str, *, official: bool) -> ServerInfo:
    """How a server with a key is reached: `base_url` is the setting, beside which there is a variable of that name."""
    named = f"{model.provider.upper()}_BASE_URL"
    place = key_place(setup, variable)
    chosen = [place] if model.server.key else []
    chosen += [named] if setup.env.get(named) else [f"{model.provider}.base_url"] if base_url else []
    wanted = "" if official else ", which many servers do without"
    key = f"{place} is set" if model.server.key else f"{variable} is not set{wanted}"
    return ServerInfo(model.server.address, key, ", ".join(chosen), model.listed)
