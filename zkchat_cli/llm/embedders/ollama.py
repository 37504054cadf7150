"""Vectors from an Ollama server, on this machine or where OLLAMA_HOST says."""

from zkchat_cli.llm.embedders.base import EmbedderConfig
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.providers.ollama import parse_address
from zkchat_cli.llm.server_embedder import ServerEmbedder
from zkchat_cli.vault.search.vector_store import Embedder

DEFAULT_MODEL = "nomic-embed-text"


def _open(config: EmbedderConfig) -> Embedder:
    model = config.model or DEFAULT_MODEL
    hint = f"Start it with `ollama serve`, or set OLLAMA_HOST; get the model with `ollama pull {model}`."
    address = parse_address(config.env.get("OLLAMA_HOST", ""))
    server = JsonClient("Ollama", address, hint, table="ollama", allow_insecure=config.allow_insecure)
    return ServerEmbedder(f"ollama/{model}", model, server, "/api/embed", lambda answer: answer["embeddings"])


EMBEDDER = _open
