"""Registry: one way to get vectors for texts per file, each declaring `EMBEDDER`. Opening one contacts nothing."""

import sys

from zkchat_cli import registry
from zkchat_cli.llm.embedders.base import OpenEmbedder


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def embedder(name: str) -> OpenEmbedder:
    """Raises KeyError for an unknown name."""
    found: OpenEmbedder = registry.load(sys.modules[__name__], name, "EMBEDDER")
    return found
