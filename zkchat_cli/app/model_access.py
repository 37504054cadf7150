"""Opening the models and embedders that the settings name, and the servers that have them."""

import threading
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from zkchat_cli import credentials, tools
from zkchat_cli.agents.loader import Agent
from zkchat_cli.app.settings import NO_EMBEDDER
from zkchat_cli.chat.runtime import AvailableModels, OpenedModel
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.credentials import ApiKey
from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import EmbedderConfig, ModelConfig, Provider, Similarities
from zkchat_cli.vault.search.vector_store import Embedder

if TYPE_CHECKING:
    from zkchat_cli.llm.remote_model import RemoteModel

LISTING_TIMEOUT = 30.0  # seconds for the lists of models


def open_embedder(loaded: LoadedConfig) -> Embedder | None:
    """The embedder that the settings name, if any; nothing is contacted or loaded until the first text."""
    semantic = loaded.values.semantic
    if semantic.provider == NO_EMBEDDER:
        return None
    has_server = semantic.provider in providers.names()
    server = model_config(providers.provider(semantic.provider), loaded) if has_server else ModelConfig()
    config = EmbedderConfig(semantic.model, semantic.path, loaded.paths.models_dir, server, loaded.paths.cache_dir)
    return embedders.embedder(semantic.provider)(config)


def open_model(
    loaded: LoadedConfig, agent: Agent | None = None, *, unsafe: bool = False, similarities: Similarities | None = None
) -> OpenedModel:
    """The model that the settings name, with the tools that it can call and the agent may call; tools that write only with `unsafe`.

    `similarities` compares texts by meaning, for a model that can use it. Nothing is contacted or loaded yet.
    """
    name, _, model = loaded.values.model.partition("/")
    provider = providers.provider(name)
    known = [tool for tool in tools.load_tools(unsafe=unsafe) if tool.scope != "memory" or loaded.values.context.memory_integration]
    known = [tool for tool in known if agent is None or agent.tools is None or tool.name in agent.tools]
    callable_ = tuple(tool for tool in known if provider.tools is None or tool.name in provider.tools)
    opened = provider.open(model_config(provider, loaded, model)._replace(similarities=similarities))
    return OpenedModel(opened, callable_, provider.summarizes, takes_external=provider.tools is None)


def available_models(
    loaded: LoadedConfig, seconds: float = LISTING_TIMEOUT, also: Mapping[str, "RemoteModel"] = MappingProxyType({})
) -> tuple[AvailableModels, ...]:
    """The models of each server that the user has configured, or that may run on this machine; all are asked in parallel.

    `also` are further servers to ask. A server that takes longer than `seconds` is not waited for, not even when the program ends.
    """
    from zkchat_cli.llm.http_client import mask_address  # the providers have loaded it

    remotes = ((name, open_remote(name, loaded)) for name in providers.names())
    models = {name: model for name, model in remotes if model and (model.server.is_configured or model.server.is_local)} | {**also}
    answers: dict[str, AvailableModels] = {}
    for name, model in models.items():
        late = f"{mask_address(model.server.address)} did not answer in time" if model.server.is_configured else ""
        answers[name] = AvailableModels(name, problem=late)  # until it answers

    def ask(name: str, model: "RemoteModel") -> None:
        try:
            answers[name] = AvailableModels(name, tuple(f"{name}/{listed.name}" for listed in model.list_models()))
        except ZkchatError as e:
            answers[name] = AvailableModels(name, problem=e.message if model.server.is_configured else "")

    threads = [threading.Thread(target=ask, args=each, daemon=True) for each in models.items()]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return (AvailableModels("offline", ("offline",)), *answers.values())


def llama_cpp_server(env: Mapping[str, str]) -> "RemoteModel":
    """The llama.cpp server of this machine, where it listens by default or LLAMA_ARG_PORT says. It gets no key."""
    provider = providers.provider("openai")
    address = f"http://127.0.0.1:{env.get('LLAMA_ARG_PORT', '').strip() or 8080}/v1"
    assert provider.open_remote is not None
    return provider.open_remote(ModelConfig(settings=provider.settings.model_validate({"base_url": address})))


def open_remote(name: str, loaded: LoadedConfig, model: str = "") -> "RemoteModel | None":
    """A model on a provider's server, by an empty name to ask the server alone; None for a provider without one."""
    provider = providers.provider(name)
    return provider.open_remote(model_config(provider, loaded, model)) if provider.open_remote is not None else None


def model_config(provider: Provider, loaded: LoadedConfig, model: str = "") -> ModelConfig:
    """The part of the settings that a provider gets: its own table."""
    own = getattr(loaded.values, provider.name, provider.settings())
    variable = getattr(own, "key_variable", "")
    key = credentials.find_key(provider.name, variable, loaded.env, loaded.paths) if variable else ApiKey()
    return ModelConfig(model, own, loaded.env, key)


def keyed_servers(loaded: LoadedConfig) -> dict[str, tuple[str, str]]:
    """For each provider that needs a key: the variable that may hold it, and the server that it is for (empty: the provider's own)."""
    found = {}
    for provider in map(providers.provider, providers.names()):
        if "key_variable" in provider.settings.model_fields and provider.open_remote is not None:
            config = model_config(provider, loaded)
            address = provider.open_remote(config).server.address
            is_own = address == provider.open_remote(ModelConfig()).server.address
            found[provider.name] = config.settings.key_variable, "" if is_own else address
    return found
