"""An embedder that asks a server."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.llm.sentence_models import add_prefixes, model_family
from zkchat_cli.vault.search.embedder import Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Bytes of an answer: 64 vectors of 4096 numbers take 6 MB as JSON, so the 1 MB of other look-ups is
# not enough
MAX_VECTORS = 8_000_000


class _Patience(NamedTuple):
    """How many seconds to wait for an answer, and before the second call of a failing server."""

    answer: float
    retry: float


PATIENCE: dict[Purpose, _Patience] = {
    "query": _Patience(answer=30, retry=2),
    "document": _Patience(answer=300, retry=10),
}
"""The first call may load a model, which takes seconds; a batch on a slow processor takes
minutes.
"""


@dataclass(frozen=True, slots=True)
class ServerEmbedder:
    """A model on a server of Ollama's or OpenAI's kind."""

    id: str
    model: str
    server: Endpoint
    path: str
    batch: int = 32

    @property
    def languages(self) -> Collection[str] | None:
        """The languages that the model knows; None if it knows many."""
        return model_family(self.model).languages

    def load(self) -> None:
        """Does nothing: the server loads the model."""

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        """A vector for each text. Raises ProviderError."""
        texts = add_prefixes(texts, model_family(self.model), purpose)
        patience = PATIENCE[purpose]
        answer = self.server.fetch(
            self.path,
            {"model": self.model, "input": texts},
            seconds=patience.answer,
            max_bytes=MAX_VECTORS,
            retry=patience.retry,
        )
        try:
            if "embeddings" in answer:
                return answer["embeddings"]  # type: ignore[no-any-return]
            rows = sorted(answer["data"], key=lambda row: row.get("index", 0))
            return [row["embedding"] for row in rows]
        except UNREADABLE as e:
            raise ProviderError(
                "bad_answer", f"{self.id}: the answer contains no embeddings", self.server.check
            ) from e

    def close(self) -> None:
        """Close the connection to the server."""
        self.server.close()
