"""Vectors from a model in a local .onnx file, with its tokenizer.json beside it: no server, no network.

For sentence models of the BERT kind, as their publishers export them: token vectors are averaged over the attention mask. onnxruntime and
tokenizers are an extra of this package, imported when the first text is embedded.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.embedders.base import EmbedderConfig, EmbedderKind, prefixed
from zkchat_cli.vault.search.vector_store import Embedder, Purpose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_TOKENS = 512
"""What models of this kind can take. The limit written in tokenizer.json is often lower, as 128 for all-MiniLM-L6-v2, a chunk's half."""
GET_AGAIN = "Get it again from the model's page."
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass
class OnnxEmbedder:
    path: str
    batch: int = 16
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def id(self) -> str:
        """The file's name with a hash of what is in it and its tokenizer: another file of that name is another model."""
        model, tokenizer = self._files()
        digests = []
        for file in (model, tokenizer):
            try:
                with file.open("rb") as opened:
                    digests.append(file_digest(opened, "sha256").hexdigest()[:8])
            except OSError as e:
                raise ProviderError("not_installed", f"{file} cannot be read: {e.strerror}", "Check its permissions.") from e
        return f"onnx/{model.parent.name}/{model.name}@{'-'.join(digests)}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        import numpy as np  # only search by meaning pays for it

        with self._loading:
            session, tokenizer = self._model
        encoded = tokenizer.encode_batch(prefixed(texts, self.family, purpose))
        feeds = {
            "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
            "attention_mask": np.array([e.attention_mask for e in encoded], dtype=np.int64),
            "token_type_ids": np.array([e.type_ids for e in encoded], dtype=np.int64),
        }
        wanted = {entry.name for entry in session.get_inputs()}
        try:
            tokens = np.asarray(session.run(None, {name: feeds[name] for name in INPUTS if name in wanted})[0], dtype=np.float32)
        except Exception as e:
            raise ProviderError("bad_answer", f"{self.path} cannot be run: {_first_line(e)}", "Is it a sentence model?") from e
        if tokens.ndim == 3:
            mask = feeds["attention_mask"][:, :, None].astype(np.float32)
            averages: ArrayLike = (tokens * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
            return averages
        return tokens  # averaged by the model itself

    def close(self) -> None:
        """The model stays: it holds no connection, and loading it takes a second."""

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        """The model and its tokenizer, loaded."""
        model, vocabulary = self._files()
        try:
            import onnxruntime  # type: ignore[import-untyped, unused-ignore]  # an extra; 0.2 s
            import tokenizers  # as above
        except ImportError as e:
            what = f"semantic.provider = onnx needs onnxruntime and tokenizers ({e.name} is missing)"
            raise ProviderError("not_installed", what, "Install them: pip install 'zkchat[onnx]'") from e
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        except Exception as e:
            raise ProviderError("not_installed", f"{vocabulary} is no tokenizer: {_first_line(e)}", GET_AGAIN) from e
        tokenizer.enable_truncation(MOST_TOKENS)
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # its complaints would stand in the middle of the screen; what matters is raised
        try:
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as e:
            raise ProviderError("not_installed", f"{model} is no ONNX model: {_first_line(e)}", GET_AGAIN) from e
        unknown = [entry.name for entry in session.get_inputs() if entry.name not in INPUTS]
        if unknown:
            hint = "A model for sentences takes input_ids, attention_mask and perhaps token_type_ids."
            raise ProviderError("not_installed", f"{model} wants {', '.join(unknown)}, which a text does not give", hint)
        return session, tokenizer

    @property
    def family(self) -> str:
        """What the model is called, as far as its place tells: files are mostly named model.onnx, in a folder, or its folder `onnx`."""
        *_, outer, inner, name = ("", "", "", *Path(self.path).parts)
        return name if not name.startswith("model") else outer if inner == "onnx" else inner

    def _files(self) -> tuple[Path, Path]:
        """The model and its tokenizer. Raises ProviderError that names the missing one."""
        if not self.path:
            raise ProviderError("not_installed", "semantic.path names no .onnx file", "zkchat config set semantic.path FILE")
        model = Path(self.path).expanduser()
        if not model.is_file():
            raise ProviderError("not_installed", f"there is no file {model}", "semantic.path names a model's .onnx file.")
        for folder in (model.parent, model.parent.parent):  # publishers mostly put models in a folder `onnx` beside the tokenizer
            if (folder / "tokenizer.json").is_file():
                return model, folder / "tokenizer.json"
        hint = "Copy the tokenizer.json of the model's page beside it."
        raise ProviderError("not_installed", f"there is no tokenizer.json beside {model}", hint)


def _first_line(e: Exception) -> str:
    return (str(e).strip() or type(e).__name__).splitlines()[0][:200]


def _open(wanted: EmbedderConfig) -> Embedder:
    return OnnxEmbedder(wanted.path)


EMBEDDER = EmbedderKind("onnx", "a model's .onnx file on this machine, named by semantic.path; needs `zkchat[onnx]`", _open)
