"""Registry: one way to get vectors for texts per file, each declaring `EMBEDDER`. The first call reports what is wrong."""

import sys
from collections.abc import Callable

from zkchat_cli import registry
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.vault.search.vector_store import Embedder


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def embedder(name: str) -> Callable[[EmbedderConfig], Embedder]:
    """Raises KeyError for an unknown name."""
    found: Callable[[EmbedderConfig], Embedder] = registry.load(sys.modules[__name__], name, "EMBEDDER")
    return found
