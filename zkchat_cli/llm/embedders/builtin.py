"""Vectors from the model that zkchat brings along: no server, no network, no key. English."""

from pathlib import Path

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.embedder import Embedder

NAME = "all-MiniLM-L6-v2"
FOLDER = Path(__file__).with_name("data") / NAME


def make_embedder(_: EmbedderConfig, folder: Path = FOLDER) -> Embedder:
    """The model in `folder`."""
    return SentenceModel(
        folder / "model.onnx",
        model_family(NAME),
        repair="Install zkchat again.",
        name=f"builtin/{NAME}",
    )


EMBEDDER = EmbeddingProvider(make_embedder, is_on_this_machine=True)
