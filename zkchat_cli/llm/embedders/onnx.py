"""Vectors from a model in a local .onnx file with its tokenizer.json: no server, no network.

For sentence models of the BERT kind as their publishers export them: the token vectors are averaged over the attention mask. onnxruntime
and tokenizers are an extra of this package, imported when the first text is embedded.
"""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.fileio import open_regular
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, add_prefixes
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_TOKENS = 512
"""What models of this kind can read. The limit in tokenizer.json is often lower: 128 for all-MiniLM-L6-v2, half a chunk."""
MAX_PIECE = 1_000_000
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass
class OnnxEmbedder:
    path: str
    batch: int = 16
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def id(self) -> str:
        """The file's name with a hash of the model and its tokenizer: another file of that name is another model."""
        model, tokenizer = self._files()
        try:
            digest = hashlib.sha256()
            for file in (model, tokenizer):
                with open_regular(file) as opened:
                    while piece := opened.read(MAX_PIECE):
                        digest.update(piece)
        except OSError as e:
            raise _error(f"{model} or its tokenizer cannot be read: {e.strerror}", "Check their permissions.") from e
        return f"onnx/{model.parent.name}/{model.name}@{digest.hexdigest()[:16]}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        import numpy as np  # only semantic search pays for it

        with self._loading:
            session, tokenizer = self._model
        encoded = tokenizer.encode_batch(add_prefixes(texts, self.path, purpose))
        columns = zip(INPUTS, ("ids", "attention_mask", "type_ids"), strict=True)
        inputs = {name: np.array([getattr(text, column) for text in encoded], dtype=np.int64) for name, column in columns}
        names = {entry.name for entry in session.get_inputs()}
        try:
            output = session.run(None, {name: inputs[name] for name in INPUTS if name in names})[0]
        except Exception as e:
            raise _error(f"{self.path} cannot be run: {e}", "Is it a sentence model?") from e
        vectors = np.asarray(output, dtype=np.float32)
        if vectors.ndim != 3:
            return vectors  # the model averages itself
        mask = inputs["attention_mask"][:, :, None].astype(np.float32)
        averages: ArrayLike = (vectors * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
        return averages

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes a second."""

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        """The loaded model and tokenizer."""
        model, vocabulary = self._files()
        try:
            import onnxruntime  # type: ignore[import-untyped, unused-ignore]  # an extra; 0.2 s
            import tokenizers  # as above
        except ImportError as e:
            problem = f"semantic.provider = onnx needs onnxruntime and tokenizers ({e.name} is missing)"
            raise _error(problem, "Install them: pip install 'zkchat[onnx]'") from e
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # it would print warnings onto the screen; errors are raised
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as e:
            raise _error(f"{model} or its tokenizer is damaged: {e}", "Get them again from the model's page.") from e
        tokenizer.enable_truncation(MAX_TOKENS)
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        return session, tokenizer

    def _files(self) -> tuple[Path, Path]:
        """The model and its tokenizer. Raises ProviderError if one is missing."""
        if not self.path:
            raise _error("semantic.path names no .onnx file", "zkchat config set semantic.path FILE")
        model = Path(self.path).expanduser()
        if not model.is_file():
            raise _error(f"file {model} not found", "semantic.path names a model's .onnx file.")
        for folder in (model.parent, model.parent.parent):  # publishers put the tokenizer above a folder `onnx` with the models
            if (folder / "tokenizer.json").is_file():
                return model, folder / "tokenizer.json"
        raise _error(f"no tokenizer.json next to {model}", "Copy the tokenizer.json of the model's page there.")


def _error(problem: str, hint: str) -> ProviderError:
    return ProviderError("not_installed", truncate(problem, 300), hint)


def _open(config: EmbedderConfig) -> Embedder:
    return OnnxEmbedder(config.path)


EMBEDDER = EmbedderKind("onnx", "a model's .onnx file on this machine, named by semantic.path; needs `zkchat[onnx]`", _open)
