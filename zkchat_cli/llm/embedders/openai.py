"""Vectors from OpenAI, or from a compatible server at OPENAI_BASE_URL (llama.cpp, vLLM, LM Studio), with or without a key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zkchat_cli.llm.base import ModelConfig
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, ServerEmbedder
from zkchat_cli.llm.remote_model import OPENAI, bearer
from zkchat_cli.text.numbers import whole_number
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_MODEL = "text-embedding-3-small"
KEY_VARIABLE = "OPENAI_API_KEY"


class OpenaiEmbedder(ServerEmbedder):
    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        if error := OPENAI.key_error(self.server, KEY_VARIABLE):
            raise error
        return super().embed(texts, purpose=purpose)


def _rows(answer: Any) -> "ArrayLike":
    """The vectors by their index. Raises LookupError for an index that is none."""
    rows = answer["data"]
    places = [whole_number(row.get("index", 0), most=len(rows) - 1) for row in rows]
    if None in places:
        raise LookupError("index")
    return [row["embedding"] for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0] or 0)]


def _open(config: EmbedderConfig) -> Embedder:
    address = config.env.get("OPENAI_BASE_URL", "").strip().rstrip("/") or OPENAI.address
    server = OPENAI.client(ModelConfig(env=config.env, key=config.key), address, KEY_VARIABLE, bearer, allow_insecure=config.allow_insecure)
    model = config.model or DEFAULT_MODEL
    return OpenaiEmbedder(f"openai/{model}", model, server, "/embeddings", _rows, batch=64)


EMBEDDER = EmbedderKind("openai", f"OpenAI or a compatible server, {DEFAULT_MODEL} by default; your notes are sent there", _open)
