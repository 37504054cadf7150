"""Vectors from a model in a local .onnx file with its tokenizer.json: no server, no network.

For sentence models of the BERT kind as their publishers export them: the token vectors are averaged over the attention mask. onnxruntime
and tokenizers are an extra of this package, imported when the first text is embedded.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, add_prefixes
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_TOKENS = 512
"""What models of this kind can read. The limit in tokenizer.json is often lower: 128 for all-MiniLM-L6-v2, half a chunk."""
GET_AGAIN = "Get it again from the model's page."
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
        digests = []
        for file in (model, tokenizer):
            try:
                with file.open("rb") as opened:
                    digests.append(file_digest(opened, "sha256").hexdigest()[:8])
            except OSError as e:
                raise _error(f"{file} cannot be read: {e.strerror}", "Check its permissions.") from e
        return f"onnx/{model.parent.name}/{model.name}@{'-'.join(digests)}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        import numpy as np  # only semantic search pays for it

        with self._loading:
            session, tokenizer = self._model
        encoded = tokenizer.encode_batch(add_prefixes(texts, self.family, purpose))
        columns = zip(INPUTS, ("ids", "attention_mask", "type_ids"), strict=True)
        inputs = {name: np.array([getattr(text, column) for text in encoded], dtype=np.int64) for name, column in columns}
        names = {entry.name for entry in session.get_inputs()}
        try:
            output = session.run(None, {name: inputs[name] for name in INPUTS if name in names})[0]
        except Exception as e:
            raise ProviderError("bad_answer", f"{self.path} cannot be run: {_first_line(e)}", "Is it a sentence model?") from e
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
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        except Exception as e:
            raise _error(f"{vocabulary} is not a tokenizer: {_first_line(e)}", GET_AGAIN) from e
        tokenizer.enable_truncation(MAX_TOKENS)
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # it would print warnings onto the screen; errors are raised
        try:
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as e:
            raise _error(f"{model} is not an ONNX model: {_first_line(e)}", GET_AGAIN) from e
        unknown = [entry.name for entry in session.get_inputs() if entry.name not in INPUTS]
        if unknown:
            hint = "A model for sentences takes input_ids, attention_mask and perhaps token_type_ids."
            raise _error(f"{model} needs {', '.join(unknown)}, which a text does not have", hint)
        return session, tokenizer

    @property
    def family(self) -> str:
        """The model's name by its path: most files are called model.onnx and are in a folder with that name, or in its folder `onnx`."""
        *_, outer, inner, name = ("", "", "", *Path(self.path).parts)
        return name if not name.startswith("model") else outer if inner == "onnx" else inner

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
    return ProviderError("not_installed", problem, hint)


def _first_line(e: Exception) -> str:
    return (str(e).strip() or type(e).__name__).splitlines()[0][:200]


def _open(config: EmbedderConfig) -> Embedder:
    return OnnxEmbedder(config.path)


EMBEDDER = EmbedderKind("onnx", "a model's .onnx file on this machine, named by semantic.path; needs `zkchat[onnx]`", _open)
