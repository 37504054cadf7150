"""Drawer: one way to get vectors for texts per file, each declaring `EMBEDDER`. Opening one contacts nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zkchat_cli.credentials import ApiKey
from zkchat_cli.vault.search.vector_store import Embedder, Purpose


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """What the settings (`semantic.model`, `semantic.path`) and the environment say; what is empty is the embedder's to choose."""

    model: str = ""
    path: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: ApiKey = field(default_factory=ApiKey)


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """One way to get vectors. What is missing for it (a key, a file, a package) is an error of the first call, not of `open`."""

    name: str
    help: str
    open: Callable[[EmbedderConfig], Embedder]


_QUESTION = "Represent this sentence for searching relevant passages: "

_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed", _QUESTION, ""),
    ("bge-(small|base|large)-en", _QUESTION, ""),
    ("(multilingual-)?e5-", "query: ", "passage: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
"""What model families were trained to see before a question and before a text that may answer it, by their model cards. Without it they
still work, and find less. A change here must change the embedders' ids, or old vectors would be compared with new ones."""


def prefixed(texts: Sequence[str], model: str, purpose: Purpose) -> list[str]:
    """The texts as this model wants them for this purpose."""
    name = model.rpartition("/")[2].lower()
    for family, query, document in _PREFIXES:
        if re.match(family, name):
            prefix = query if purpose == "query" else document
            return [prefix + text for text in texts]
    return list(texts)
