"""What an embedder declares."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.llm.base import ModelConfig
from zkchat_cli.vault.search.vector_store import Embedder


class EmbedderConfig(NamedTuple):
    """From the settings (`semantic.model`, `semantic.path`). If empty, the embedder decides."""

    model: str = ""
    path: str = ""
    models_dir: Path = Path()
    server: ModelConfig = ModelConfig()
    """Address and key of a server: what the provider of the same name opens its models with."""
    cache_dir: Path | None = None
    """Where a model may keep what it can make again."""


OpenEmbedder = Callable[[EmbedderConfig], Embedder]
"""One way to get vectors. A missing key, file or package is an error of the embedder's first call."""
