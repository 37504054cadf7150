"""The embedders that the settings name."""

from typing import NamedTuple

from zkchat_cli.app.model_servers import model_config
from zkchat_cli.app.settings import NO_EMBEDDER
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import EmbedderConfig, ModelConfig
from zkchat_cli.vault.search.embedder import Embedder

# The embedder for languages that the one of the settings does not know
MULTILINGUAL = "multilingual"


class Embedders(NamedTuple):
    """The embedder that the settings name, and the one for languages that it does not know."""

    main: Embedder | None
    languages: Embedder | None


def open_embedders(loaded: LoadedConfig) -> Embedders:
    """The embedders that the settings want; several vaults may share them."""
    main = open_embedder(loaded)
    return Embedders(main, open_languages_embedder(loaded, main))


def open_embedder(loaded: LoadedConfig) -> Embedder | None:
    """The embedder that the settings name, if any; nothing is contacted or loaded until the first
    text.
    """
    semantic = loaded.values.semantic
    if semantic.provider == NO_EMBEDDER:
        return None
    server = ModelConfig()
    if semantic.provider in providers.names():
        server = model_config(providers.provider(semantic.provider), loaded)
    config = EmbedderConfig(
        semantic.model, semantic.path, loaded.paths.models_dir, server, loaded.paths.cache_dir
    )
    return embedders.embedder(semantic.provider).open(config)


def open_languages_embedder(loaded: LoadedConfig, embedder: Embedder | None) -> Embedder | None:
    """The second embedder, for languages that `embedder` does not know; None if it knows many, or
    if the settings want none.
    """
    if embedder is None or embedder.languages is None or not loaded.values.semantic.multilingual:
        return None
    if loaded.values.semantic.provider == MULTILINGUAL:
        return None
    config = EmbedderConfig(cache_dir=loaded.paths.cache_dir)
    return embedders.embedder(MULTILINGUAL).open(config)
