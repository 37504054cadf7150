"""Vectors from an Ollama server, on this machine or where OLLAMA_HOST or ollama.host says."""

from dataclasses import replace

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.llm.providers.ollama import open_server
from zkchat_cli.llm.server_embedder import ServerEmbedder
from zkchat_cli.vault.search.embedder import Embedder

DEFAULT_MODEL = "nomic-embed-text"


def make_embedder(config: EmbedderConfig) -> Embedder:
    """A model on the server that the provider `ollama` calls."""
    model = config.model or DEFAULT_MODEL
    server = open_server(config.server)
    check = f"{server.check} Get the model with `ollama pull {model}`."
    server = replace(server, check=check)
    return ServerEmbedder(f"ollama/{model}", model, server, "/api/embed")


EMBEDDER = EmbeddingProvider(make_embedder, default_model=DEFAULT_MODEL)
