"""Vectors from an Ollama server, on this machine or where OLLAMA_HOST says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, add_prefixes, read_rows
from zkchat_cli.llm.json_client import HttpTimeouts, JsonClient
from zkchat_cli.llm.providers.ollama import parse_address
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_MODEL = "nomic-embed-text"
TIMEOUTS = {"query": HttpTimeouts(answer=30, retry=2), "document": HttpTimeouts(answer=300, retry=10)}
"""The first call loads the model, which takes seconds; a batch on a slow processor takes minutes."""


@dataclass(frozen=True, slots=True)
class OllamaEmbedder:
    model: str
    server: JsonClient
    batch: int = 32

    @property
    def id(self) -> str:
        return f"ollama/{self.model}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        body = {"model": self.model, "input": add_prefixes(texts, self.model, purpose)}
        try:
            answer = self.server.post("/api/embed", body, TIMEOUTS[purpose])
        except ProviderError as e:
            if e.kind == "unknown_model":
                raise ProviderError(e.kind, e.message, f"Get it with `ollama pull {self.model}`, or set semantic.model.") from e
            raise
        return read_rows(self.id, lambda: answer["embeddings"], "Is OLLAMA_HOST an Ollama server?")

    def close(self) -> None:
        self.server.close()


def _open(config: EmbedderConfig) -> Embedder:
    address = parse_address(config.env.get("OLLAMA_HOST", ""))
    return OllamaEmbedder(config.model or DEFAULT_MODEL, JsonClient("Ollama", address, "Start it with `ollama serve`, or set OLLAMA_HOST."))


EMBEDDER = EmbedderKind("ollama", f"a model on your own machine, {DEFAULT_MODEL} by default", _open)
