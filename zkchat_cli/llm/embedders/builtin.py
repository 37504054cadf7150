"""Vectors from the model that zkchat brings along: no server, no network, no key. English."""

from pathlib import Path

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.embedder import Embedder

NAME = "all-MiniLM-L6-v2"
FOLDER = Path(__file__).with_name("data") / NAME
# The beginning of the model's SHA-256: another model would need another copy
PREPARED = f"{NAME}-8199be6f"


def make_embedder(config: EmbedderConfig, folder: Path = FOLDER) -> Embedder:
    """The model in `folder`, with a prepared copy in the cache if there is one."""
    prepared = config.cache_dir / "models" / PREPARED if config.cache_dir is not None else None
    return SentenceModel(
        folder / "model.onnx",
        model_family(NAME),
        repair="Install zkchat again.",
        name=f"builtin/{NAME}",
        prepared=prepared,
    )


EMBEDDER = EmbeddingProvider(make_embedder, is_on_this_machine=True)
