"""Vectors from the model that zkchat brings along: no server, no network, no key. English."""

from pathlib import Path

from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.vector_store import Embedder

NAME = "all-MiniLM-L6-v2"
FOLDER = Path(__file__).with_name("data") / NAME
SHA256 = (
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def _open(config: EmbedderConfig, folder: Path = FOLDER) -> Embedder:
    prepared = config.cache_dir / "models" / f"{NAME}-{SHA256[0][:8]}" if config.cache_dir is not None else None
    return SentenceModel(folder / "model.onnx", model_family(NAME), "Install zkchat again.", f"builtin/{NAME}", SHA256, prepared)


EMBEDDER = _open
