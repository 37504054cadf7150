"""Vectors from a model in a local .onnx file with its tokenizer.json: no server, no network."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass
class OnnxEmbedder:
    """The model at `path`; `name` is its family's name where the path does not say it."""

    path: str
    name: str = ""
    batch: int = 8

    @property
    def id(self) -> str:
        return f"onnx/{self._model.model.parent.name}/{self._model.model.name}@{self._model.digest}"

    @property
    def languages(self) -> Collection[str] | None:
        return model_family(self.name or self.path).languages

    def load(self) -> None:
        self._model.load()

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        return self._model.embed(texts, purpose)

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes a second."""

    @cached_property
    def _model(self) -> SentenceModel:
        """The model and its tokenizer. Raises ProviderError if a file is missing."""
        if not self.path:
            raise _missing("neither semantic.model nor semantic.path names a model", "`zkchat semantic status` lists models to download.")
        model = Path(self.path).expanduser()
        if not model.is_file():
            hint = f"zkchat semantic get {self.name}" if self.name else "semantic.path names a model's .onnx file."
            raise _missing(f"file {model} not found", hint)
        for folder in (model.parent, model.parent.parent):  # publishers put the tokenizer above a folder `onnx` with the models
            if (folder / "tokenizer.json").is_file():
                family = model_family(self.name or self.path)
                return SentenceModel(model, folder / "tokenizer.json", family, "Get it again from the model's page.")
        raise _missing(f"no tokenizer.json next to {model}", "Copy the tokenizer.json of the model's page there.")


def _missing(problem: str, hint: str) -> ProviderError:
    return ProviderError("not_installed", problem, hint)


def _open(config: EmbedderConfig) -> Embedder:
    path = config.path or (str(config.models_dir / config.model / "model.onnx") if config.model else "")
    return OnnxEmbedder(path, config.model)


EMBEDDER = EmbedderKind("onnx", "a downloaded model, named by semantic.model, or an .onnx file, named by semantic.path", _open)
