"""Vectors from OpenAI, or from a compatible server such as llama.cpp at OPENAI_BASE_URL or
openai.base_url, with or without a key.
"""

from zkchat_cli.config.schema import OpenAISettings
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.providers.openai import OPENAI
from zkchat_cli.llm.server_embedder import ServerEmbedder
from zkchat_cli.vault.search.embedder import Embedder

DEFAULT_MODEL = "text-embedding-3-small"


def make_embedder(config: EmbedderConfig) -> Embedder:
    server = OPENAI.server(config.server, config.server.settings or OpenAISettings())
    model = config.model or DEFAULT_MODEL
    return ServerEmbedder(f"openai/{model}", model, server, "/embeddings", batch=64)
