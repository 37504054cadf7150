"""Vectors from OpenAI, or from a server that speaks its language at OPENAI_BASE_URL (llama.cpp, vLLM, LM Studio), with or without a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, prefixed
from zkchat_cli.llm.json_client import HttpTimeouts, JsonClient
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_MODEL = "text-embedding-3-small"
OPENAI = "https://api.openai.com/v1"
PATIENCE = {"query": HttpTimeouts(answer=20, retry=2), "document": HttpTimeouts(answer=120, retry=20)}


@dataclass(frozen=True, slots=True)
class OpenaiEmbedder:
    model: str
    server: JsonClient
    batch: int = 64

    @property
    def id(self) -> str:
        return f"openai/{self.model}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        key = self.server.key
        if not key and self.server.address == OPENAI:
            hint = "Set it, or zkchat keys set openai; or OPENAI_BASE_URL to a server that wants none."
            raise ProviderError("auth", "OpenAI wants a key, and OPENAI_API_KEY is not set", hint)
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ProviderError("auth", "OPENAI_API_KEY holds characters that no key has", "Set it again; was more copied than the key?")
        body = {"model": self.model, "input": prefixed(texts, self.model, purpose), "encoding_format": "float"}
        answer = self.server.post("/embeddings", body, PATIENCE[purpose])
        try:
            data = sorted(answer["data"], key=lambda row: row.get("index", 0))
            rows: ArrayLike = [row["embedding"] for row in data]
        except (KeyError, TypeError, AttributeError) as e:
            hint = "Is OPENAI_BASE_URL an address of an OpenAI-compatible server? It mostly ends in /v1."
            raise ProviderError("bad_answer", f"{self.id}: the answer holds no embeddings", hint) from e
        return rows

    def close(self) -> None:
        self.server.close()


def _open(wanted: EmbedderConfig) -> Embedder:
    address = wanted.env.get("OPENAI_BASE_URL", "").strip().rstrip("/") or OPENAI
    server = JsonClient(
        "OpenAI" if address == OPENAI else "the OpenAI-compatible server",
        address,
        "Check semantic.model, OPENAI_BASE_URL (it mostly ends in /v1) and your network.",
        key=wanted.key.value or wanted.env.get("OPENAI_API_KEY", "").strip(),
        check_key="Check OPENAI_API_KEY.",
    )
    return OpenaiEmbedder(wanted.model or DEFAULT_MODEL, server)


EMBEDDER = EmbedderKind("openai", f"OpenAI or a compatible server, {DEFAULT_MODEL} if no model is named; your notes are sent there", _open)
