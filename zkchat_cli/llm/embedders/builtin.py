"""Vectors from the model that zkchat brings along: no server, no network, no key. English."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind
from zkchat_cli.llm.sentence_models import SentenceModel, model_family
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NAME = "all-MiniLM-L6-v2"
FOLDER = Path(__file__).with_name("data") / NAME
SHA256 = (
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


@dataclass(frozen=True, slots=True)
class BuiltinEmbedder:
    model: SentenceModel
    id: str = f"builtin/{NAME}"
    batch: int = 8

    @property
    def languages(self) -> Collection[str] | None:
        return self.model.family.languages

    def load(self) -> None:
        self.model.load()

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        return self.model.embed(texts, purpose)

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes 0.3 s."""


def _open(_config: EmbedderConfig, folder: Path = FOLDER) -> Embedder:
    files = (folder / "model.onnx", folder / "tokenizer.json")
    return BuiltinEmbedder(SentenceModel(*files, model_family(NAME), "Install zkchat again.", SHA256))


EMBEDDER = EmbedderKind("builtin", f"the model that comes with zkchat, {NAME} (English): no server, no network", _open)
