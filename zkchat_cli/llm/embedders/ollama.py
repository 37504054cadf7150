"""Vectors from an Ollama server, on this machine or where OLLAMA_HOST says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, prefixed
from zkchat_cli.llm.json_client import HttpTimeouts, JsonClient
from zkchat_cli.llm.ollama.client import parse_address
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_MODEL = "nomic-embed-text"
PATIENCE = {"query": HttpTimeouts(answer=30, retry=2), "document": HttpTimeouts(answer=300, retry=10)}
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
        body = {"model": self.model, "input": prefixed(texts, self.model, purpose)}
        try:
            answer = self.server.post("/api/embed", body, PATIENCE[purpose])
        except ProviderError as e:
            if e.kind == "unknown_model":
                raise ProviderError(e.kind, e.message, f"Get it with `ollama pull {self.model}`, or set semantic.model.") from e
            raise
        try:
            rows: ArrayLike = answer["embeddings"]
        except (KeyError, TypeError) as e:
            raise ProviderError("bad_answer", f"{self.id}: the answer holds no embeddings", "Is OLLAMA_HOST an Ollama server?") from e
        return rows

    def close(self) -> None:
        self.server.close()


def _open(wanted: EmbedderConfig) -> Embedder:
    server = JsonClient("Ollama", parse_address(wanted.env.get("OLLAMA_HOST", "")), "Start it with `ollama serve`, or set OLLAMA_HOST.")
    return OllamaEmbedder(wanted.model or DEFAULT_MODEL, server)


EMBEDDER = EmbedderKind("ollama", f"a model on your own machine, {DEFAULT_MODEL} if none is named", _open)
