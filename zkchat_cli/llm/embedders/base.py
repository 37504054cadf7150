"""What an embedder declares, and the prefixes that model families need."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zkchat_cli.credentials import ApiKey
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.json_client import JsonClient, LookupLimits
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """From the settings (`semantic.model`, `semantic.path`) and the environment. If empty, the embedder decides."""

    model: str = ""
    path: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: ApiKey = field(default_factory=ApiKey)
    allow_insecure: bool = False
    """Whether the key may go over plain http to another machine, by the provider's settings."""


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """One way to get vectors. A missing key, file or package is an error of the first call, not of `open`."""

    name: str
    help: str
    open: Callable[[EmbedderConfig], Embedder]


MAX_VECTORS = 16_000_000
"""Bytes of an answer: 64 vectors of 3072 numbers take 5 MB as JSON."""
LIMITS = {
    "query": LookupLimits(seconds=30, retry=2, max_bytes=MAX_VECTORS),
    "document": LookupLimits(seconds=300, retry=10, max_bytes=MAX_VECTORS),
}
"""The first call may load a model, which takes seconds; a batch on a slow processor takes minutes."""
_SEARCH = "Represent this sentence for searching relevant passages: "
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed", _SEARCH, ""),
    ("bge-(small|base|large)-en", _SEARCH, ""),
    (r"\be5-", "query: ", "passage: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
"""What model families were trained to see before a question and before a text that may answer it, by their model cards. Without it they
work, but find less. A change here must change the embedders' ids, or old vectors would be compared with new ones."""


def add_prefixes(texts: Sequence[str], model: str, purpose: Purpose) -> list[str]:
    """The texts in the form that this model expects for this purpose."""
    query, document = next(((query, document) for family, query, document in _PREFIXES if re.search(family, model.lower())), ("", ""))
    return [(query if purpose == "query" else document) + text for text in texts]


@dataclass(frozen=True, slots=True)
class ServerEmbedder:
    """A model on a server. `rows` reads the vectors out of its answer."""

    id: str
    model: str
    server: JsonClient
    path: str
    rows: Callable[[Any], "ArrayLike"]
    batch: int = 32

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        answer = self.server.post(self.path, {"model": self.model, "input": add_prefixes(texts, self.model, purpose)}, LIMITS[purpose])
        try:
            return self.rows(answer)
        except (LookupError, TypeError, AttributeError) as e:
            raise ProviderError("bad_answer", f"{self.id}: the answer contains no embeddings", self.server.check) from e

    def close(self) -> None:
        self.server.close()
