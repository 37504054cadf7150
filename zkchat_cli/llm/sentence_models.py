"""Sentence models that turn texts into vectors: how each family wants its texts and pools its
tokens, and running one from its files.

onnxruntime and tokenizers are imported when the first text is embedded: 0.2 s that a search by
words does not need.
"""

import ctypes
import hashlib
import os
import re
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.fileio import open_regular
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.vault.search.embedder import Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONLY_ENGLISH = (ENGLISH,)
# Tokens for one call of the model: more take more memory (600 MB for 2,048) and are hardly faster
# on one core
TOKENS_OF_RUN = 256
# Pieces of words that only make another form of one
ENDINGS = frozenset(("##s", "##es", "##ed", "##ing", "##ly"))
# Digits of the hash in the id of a model
ID_DIGITS = 16
_SEARCH = "Represent this sentence for searching relevant passages: "

NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1", "ORT_TELEMETRY_DISABLED": "1"}
"""Read by onnxruntime when it is imported. From 1.31 on it sends figures of each run to its maker
and writes an id of the machine into the home folder; nothing of zkchat leaves the machine unless
its user names a server.
"""


class ModelFamily(NamedTuple):
    """How the models of a family were trained, by their model cards: used in another way they find
    less.
    """

    # A regular expression for the model's name or path
    name: str
    query: str = ""
    document: str = ""
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int = 512
    # Languages that the models know; None if they know many
    languages: Collection[str] | None = None


FAMILIES = (
    ModelFamily(r"all-minilm", max_tokens=256, languages=ONLY_ENGLISH),
    ModelFamily(r"multilingual-e5", "query: ", "passage: "),
    ModelFamily(r"\be5-", "query: ", "passage: ", languages=ONLY_ENGLISH),
    ModelFamily(r"bge-m3", pooling="cls", max_tokens=8192),
    ModelFamily(r"bge-(small|base|large)-en", _SEARCH, pooling="cls", languages=ONLY_ENGLISH),
    ModelFamily(r"bge-", pooling="cls"),
    ModelFamily(r"arctic-embed.*v2", "query: ", pooling="cls"),
    ModelFamily(r"arctic-embed", _SEARCH, pooling="cls", languages=ONLY_ENGLISH),
    ModelFamily(r"granite-embedding.*multilingual", pooling="cls"),
    ModelFamily(r"granite-embedding", pooling="cls", languages=ONLY_ENGLISH),
    ModelFamily(
        r"nomic-embed-text",
        "search_query: ",
        "search_document: ",
        max_tokens=2048,
        languages=ONLY_ENGLISH,
    ),
    ModelFamily(r"mxbai-embed", _SEARCH, pooling="cls", languages=ONLY_ENGLISH),
    ModelFamily(
        r"embeddinggemma", "task: search result | query: ", "title: none | text: ", max_tokens=2048
    ),
)
"""The first that matches counts. A change must change the embedders' ids, or old vectors would be
compared with new ones.
"""


def model_family(model: str) -> ModelFamily:
    """The family of a model by its name or path; an unknown one gets its texts as they are."""
    for family in FAMILIES:
        if re.search(family.name, model.lower()):
            return family
    return ModelFamily("")


def add_prefixes(texts: Sequence[str], family: ModelFamily, purpose: Purpose) -> list[str]:
    """The texts as the family was trained with them."""
    prefix = family.query if purpose == "query" else family.document
    return [prefix + text for text in texts]


class _LoadedModel(NamedTuple):
    """A model's onnxruntime session, and its tokenizer."""

    session: Any
    tokenizer: Any


class _ModelFiles(NamedTuple):
    model: Path
    tokenizer: Path


@dataclass
class SentenceModel:
    """An embedder that runs a model's .onnx file. The tokenizer.json is in its folder or, as
    publishers have it, in the one above.
    """

    path: Path | None
    family: ModelFamily
    # What to do about a missing or damaged file
    repair: str
    # The id of zkchat's own model. The id of any other has a hash of its files, because two files
    # of the same name may be two models
    name: str = ""
    batch: int = 32
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def id(self) -> str:
        """The id that its vectors are stored under, unique to the model. Raises ProviderError."""
        if self.name:
            return self.name
        hashes = ""
        try:
            for file in self._files:
                with open_regular(file) as opened:
                    hashes += hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as e:
            raise _error(f"{e.filename} cannot be read: {e.strerror}", self.repair) from e
        model = self._files.model
        digest = hashlib.sha256(hashes.encode()).hexdigest()[:ID_DIGITS]
        return f"onnx/{model.parent.name}/{model.name}@{digest}"

    @property
    def languages(self) -> Collection[str] | None:
        """The languages that the model knows; None if it knows many."""
        return self.family.languages

    def load(self) -> None:
        """Load the model, if that was not done before. Raises ProviderError."""
        with self._loading:
            _ = self._loaded

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes up to a second."""

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "NDArray[np.float32]":
        """A vector for each text. Raises ProviderError."""
        # Deferred: only search by meaning needs it
        import numpy as np

        self.load()
        prefixed = add_prefixes(texts, self.family, purpose)
        encoded = [text.ids for text in self._loaded.tokenizer.encode_batch(prefixed)]
        rows: dict[int, NDArray[np.float32]] = {}
        for run in _runs(encoded):
            vectors = self._embed_run([encoded[position] for position in run])
            rows.update(zip(run, vectors, strict=True))
        return np.stack([rows[position] for position in range(len(texts))])

    def knows_word(self, word: str) -> bool:
        """Whether a word, or a form of it, is in the vocabulary, and not only pieces of it. Of
        English words .85 are, of German and Spanish ones .18. Raises ProviderError.
        """
        self.load()
        _, *endings = self._loaded.tokenizer.encode(word, add_special_tokens=False).tokens
        return ENDINGS.issuperset(endings)

    def _embed_run(self, run: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        """The vectors of texts, given as the numbers of their tokens, in one call of the model.
        Raises ProviderError.
        """
        # Deferred: see embed
        import numpy as np

        ids = np.zeros((len(run), max(map(len, run))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(run):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        inputs = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        session = self._loaded.session
        wanted = {entry.name: inputs[entry.name] for entry in session.get_inputs()}
        try:
            output = session.run(None, wanted)[0]
        except Exception as e:
            raise _error(f"{self.path} cannot be run: {e}", "Is it a sentence model?") from e
        vectors: NDArray[np.float32] = np.asarray(output, dtype=np.float32)
        # A vector for each token, unless the model pools them itself
        if vectors.ndim != 3:
            return vectors
        if self.family.pooling == "cls":
            return vectors[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        totals: NDArray[np.float32] = (vectors * weights).sum(axis=1)
        means: NDArray[np.float32] = totals / np.maximum(weights.sum(axis=1), 1.0)
        return means

    @cached_property
    def _files(self) -> _ModelFiles:
        """The model and its tokenizer. Raises ProviderError."""
        if self.path is None:
            raise _error("neither semantic.model nor semantic.path names a model", self.repair)
        if not self.path.is_file():
            raise _error(f"file {self.path} not found", self.repair)
        for folder in self.path.parents[:2]:
            if (folder / "tokenizer.json").is_file():
                return _ModelFiles(self.path, folder / "tokenizer.json")
        raise _error(
            f"no tokenizer.json next to {self.path}",
            "Copy the tokenizer.json of the model's page there.",
        )

    @cached_property
    def _loaded(self) -> _LoadedModel:
        """The model's session and its tokenizer. Raises ProviderError."""
        # Deferred: it takes 0.1 s, which only search by meaning should pay
        import tokenizers

        model, tokenizer_file = self._files
        try:
            session = _open_session(model)
            tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer_file))
        except Exception as e:
            raise _error(f"{model} or its tokenizer is damaged: {e}", self.repair) from e
        tokenizer.enable_truncation(self.family.max_tokens)
        tokenizer.no_padding()
        # glibc keeps the memory that loading has freed; other C libraries lack this call
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        return _LoadedModel(session, tokenizer)


def _runs(encoded: Sequence[Sequence[int]]) -> list[list[int]]:
    """The positions of texts of similar length, which the model gets at once."""
    runs: list[list[int]] = []
    for position in sorted(range(len(encoded)), key=lambda position: len(encoded[position])):
        length = len(encoded[position])
        if not runs or (len(runs[-1]) + 1) * length > TOKENS_OF_RUN:
            runs.append([])
        runs[-1].append(position)
    return runs


def _open_session(model: Path) -> Any:
    """Open a model. Raises the errors of onnxruntime, which are many."""
    os.environ.update(NO_TELEMETRY)
    # Deferred: it takes 0.2 s, which only search by meaning should pay. Where onnxruntime imports
    # numpy itself, Ctrl-C is lost and looks like a damaged model
    import numpy  # noqa: F401
    import onnxruntime  # type: ignore[import-untyped, unused-ignore]

    options = onnxruntime.SessionOptions()
    # onnxruntime would print warnings onto the screen; errors are raised
    options.log_severity_level = 4
    # The chat needs the other cores
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # One level up costs 15 ms more to load and 10 % more a text; the vectors differ by 1e-6
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # The arena and the pattern would keep the memory of the largest run, 50 MB
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _error(problem: str, hint: str) -> ProviderError:
    return ProviderError("not_installed", truncate(problem, 300), hint)
