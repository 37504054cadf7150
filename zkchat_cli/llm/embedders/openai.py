"""Vectors from OpenAI, or from a compatible server such as llama.cpp at OPENAI_BASE_URL or
openai.base_url, with or without a key.
"""

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.llm.providers.openai.server import OPENAI, OpenAISettings
from zkchat_cli.llm.server_embedder import ServerEmbedder
from zkchat_cli.vault.search.embedder import Embedder

DEFAULT_MODEL = "text-embedding-3-small"
# Texts of one call
BATCH = 64


def make_embedder(config: EmbedderConfig) -> Embedder:
    """A model on the server that the provider `openai` calls."""
    server = OPENAI.server(config.server, config.server.settings or OpenAISettings())
    model = config.model or DEFAULT_MODEL
    return ServerEmbedder(f"openai/{model}", model, server, "/embeddings", batch=BATCH)


EMBEDDER = EmbeddingProvider(make_embedder, default_model=DEFAULT_MODEL)
