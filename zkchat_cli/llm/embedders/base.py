"""What an embedder declares, and the prefixes that model families need."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zkchat_cli.credentials import ApiKey
from zkchat_cli.errors import ProviderError
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


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """One way to get vectors. A missing key, file or package is an error of the first call, not of `open`."""

    name: str
    help: str
    open: Callable[[EmbedderConfig], Embedder]


_SEARCH = "Represent this sentence for searching relevant passages: "
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed", _SEARCH, ""),
    ("bge-(small|base|large)-en", _SEARCH, ""),
    ("(multilingual-)?e5-", "query: ", "passage: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
"""What model families were trained to see before a question and before a text that may answer it, by their model cards. Without it they
work, but find less. A change here must change the embedders' ids, or old vectors would be compared with new ones."""


def add_prefixes(texts: Sequence[str], model: str, purpose: Purpose) -> list[str]:
    """The texts in the form that this model expects for this purpose."""
    name = model.rpartition("/")[2].lower()
    query, document = next(((query, document) for family, query, document in _PREFIXES if re.match(family, name)), ("", ""))
    return [(query if purpose == "query" else document) + text for text in texts]


def read_rows(id_: str, read: Callable[[], "ArrayLike"], hint: str) -> "ArrayLike":
    """The vectors in a server's answer. Raises ProviderError if it has none."""
    try:
        return read()
    except (KeyError, TypeError, AttributeError) as e:
        raise ProviderError("bad_answer", f"{id_}: the answer contains no embeddings", hint) from e
