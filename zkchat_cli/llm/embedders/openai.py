"""Vectors from OpenAI, or from a compatible server at OPENAI_BASE_URL (llama.cpp, vLLM, LM Studio), with or without a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, add_prefixes, read_rows
from zkchat_cli.llm.json_client import HttpTimeouts, JsonClient
from zkchat_cli.llm.remote_model import OPENAI
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_MODEL = "text-embedding-3-small"
TIMEOUTS = {"query": HttpTimeouts(answer=20, retry=2), "document": HttpTimeouts(answer=120, retry=20)}


@dataclass(frozen=True, slots=True)
class OpenaiEmbedder:
    model: str
    server: JsonClient
    batch: int = 64

    @property
    def id(self) -> str:
        return f"openai/{self.model}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        if error := OPENAI.key_error(self.server, "OPENAI_API_KEY"):
            raise error
        body = {"model": self.model, "input": add_prefixes(texts, self.model, purpose), "encoding_format": "float"}
        answer = self.server.post("/embeddings", body, TIMEOUTS[purpose])

        def rows() -> "ArrayLike":
            return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row.get("index", 0))]

        return read_rows(self.id, rows, "Is OPENAI_BASE_URL an OpenAI-compatible server? Most addresses end in /v1.")

    def close(self) -> None:
        self.server.close()


def _open(config: EmbedderConfig) -> Embedder:
    address = config.env.get("OPENAI_BASE_URL", "").strip().rstrip("/") or OPENAI.address
    key = config.key.value or config.env.get("OPENAI_API_KEY", "").strip()
    check = "Check semantic.model, OPENAI_BASE_URL (most end in /v1) and your network."
    server = JsonClient(OPENAI.server_name(address), address, check, key=key, check_key="Check OPENAI_API_KEY.")
    return OpenaiEmbedder(config.model or DEFAULT_MODEL, server)


EMBEDDER = EmbedderKind("openai", f"OpenAI or a compatible server, {DEFAULT_MODEL} by default; your notes are sent there", _open)
