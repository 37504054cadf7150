"""What an embedder declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zkchat_cli.credentials import ApiKey
from zkchat_cli.vault.search.vector_store import Embedder


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """From the settings (`semantic.model`, `semantic.path`) and the environment. If empty, the embedder decides."""

    model: str = ""
    path: str = ""
    models_dir: Path = Path()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: ApiKey = field(default_factory=ApiKey)
    allow_insecure: bool = False
    """Whether the key may go over plain http to another machine, by the provider's settings."""
    cache_dir: Path | None = None
    """Where a model may keep what it can make again."""


OpenEmbedder = Callable[[EmbedderConfig], Embedder]
"""One way to get vectors. A missing key, file or package is an error of the embedder's first call."""
