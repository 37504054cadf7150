"""Vectors from a model in a local .onnx file with its tokenizer.json: no server, no network."""

from pathlib import Path

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.embedder import Embedder


def make_embedder(config: EmbedderConfig) -> Embedder:
    """The model in the file `semantic.path`, else the downloaded `semantic.model`."""
    family = model_family(config.model or config.path)
    if config.path:
        hint = "Get it from the model's page, and name its .onnx file in semantic.path."
        return SentenceModel(Path(config.path).expanduser(), family, hint)
    if config.model:
        return SentenceModel(
            config.models_dir / config.model / "model.onnx",
            family,
            f"zkchat semantic get {config.model}",
        )
    return SentenceModel(None, family, "`zkchat semantic status` lists models to download.")


EMBEDDER = EmbeddingProvider(make_embedder, is_on_this_machine=True)
