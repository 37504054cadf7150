"""What an embedder declares."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli.credentials import ApiKey
from zkchat_cli.vault.search.vector_store import Embedder


class EmbedderConfig(NamedTuple):
    """From the settings (`semantic.model`, `semantic.path`) and the environment. If empty, the embedder decides."""

    model: str = ""
    path: str = ""
    models_dir: Path = Path()
    env: Mapping[str, str] = MappingProxyType({})
    key: ApiKey = ApiKey()
    allow_insecure: bool = False
    """Whether the key may go over plain http to another machine, by the provider's settings."""
    cache_dir: Path | None = None
    """Where a model may keep what it can make again."""

    def __repr__(self) -> str:
        return f"EmbedderConfig({self.model!r})"  # the environment may hold secrets


OpenEmbedder = Callable[[EmbedderConfig], Embedder]
"""One way to get vectors. A missing key, file or package is an error of the embedder's first call."""
