"""The servers of models: how the settings reach them, and which models they have."""

import threading
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli.chat.runtime import AvailableModels
from zkchat_cli.config import credentials
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ListsModels, ModelConfig, Provider


def model_config(provider: Provider, loaded: LoadedConfig, model: str = "") -> ModelConfig:
    """The part of the settings that a provider gets: its own table."""
    own = getattr(loaded.values, provider.name, provider.settings())
    variable = getattr(own, "key_variable", "")
    key = credentials.ApiKey()
    if variable:
        key = credentials.find_key(provider.name, variable, loaded.env, loaded.paths)
    return ModelConfig(model, own, loaded.env, key)


def open_remote(name: str, loaded: LoadedConfig, model: str = "") -> ListsModels | None:
    """A model on a provider's server; None for a provider without a server. With an empty name,
    the server can be asked but no model.
    """
    provider = providers.provider(name)
    if provider.open_remote is None:
        return None
    return provider.open_remote(model_config(provider, loaded, model))


def llama_cpp_server(env: Mapping[str, str]) -> ListsModels:
    """The llama.cpp server of this machine, at its default port or the one in LLAMA_ARG_PORT. It
    gets no key.
    """
    provider = providers.provider("openai")
    assert provider.open_remote is not None
    port = env.get("LLAMA_ARG_PORT", "").strip() or 8080
    settings = provider.settings.model_validate({"base_url": f"http://127.0.0.1:{port}/v1"})
    return provider.open_remote(ModelConfig(settings=settings))


def available_models(
    loaded: LoadedConfig,
    seconds: float = 30.0,
    also: Mapping[str, ListsModels] = MappingProxyType({}),
) -> tuple[AvailableModels, ...]:
    """The models of each server that the user has configured, or that may run on this machine; all
    are asked in parallel.

    `also` are further servers to ask. A server that takes longer than `seconds` is not waited for,
    not even when the program ends.
    """
    # Deferred: only the providers of servers load it
    from zkchat_cli.llm.http_client import mask_address

    servers = {**_reachable_servers(loaded), **also}
    answers: dict[str, AvailableModels] = {}
    # What is reported for a server that never answers
    for name, model in servers.items():
        problem = ""
        if model.server.is_configured:
            problem = f"{mask_address(model.server.address)} did not answer in time"
        answers[name] = AvailableModels(name, problem=problem)

    def ask(name: str, model: ListsModels) -> None:
        answers[name] = _list_models(name, model)

    threads = [threading.Thread(target=ask, args=each, daemon=True) for each in servers.items()]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return (AvailableModels("offline", ("offline",)), *answers.values())


def _reachable_servers(loaded: LoadedConfig) -> dict[str, ListsModels]:
    """The servers that are configured, or may run on this machine, by their providers."""
    found = {}
    for name in providers.names():
        model = open_remote(name, loaded)
        if model and (model.server.is_configured or model.server.is_local):
            found[name] = model
    return found


def _list_models(name: str, model: ListsModels) -> AvailableModels:
    """The models of a server, or its error; none for a server that nobody has configured."""
    try:
        names = tuple(f"{name}/{listed.name}" for listed in model.list_models())
    except ZkchatError as e:
        problem = e.message if model.server.is_configured else ""
        return AvailableModels(name, problem=problem)
    return AvailableModels(name, names)


class KeyedServer(NamedTuple):
    """The variable that may hold a provider's key, and the server that the key is for; an empty
    address is the provider's own.
    """

    variable: str
    address: str


def keyed_servers(loaded: LoadedConfig) -> dict[str, KeyedServer]:
    """The servers that need a key, by their providers."""
    found = {}
    for name in providers.names():
        provider = providers.provider(name)
        config = model_config(provider, loaded)
        if provider.open_remote is None or not hasattr(config.settings, "key_variable"):
            continue
        address = provider.open_remote(config).server.address
        own_address = provider.open_remote(ModelConfig()).server.address
        if address == own_address:
            address = ""
        found[provider.name] = KeyedServer(config.settings.key_variable, address)
    return found
