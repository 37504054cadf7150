"""Sentence models that turn texts into vectors: how each family wants its texts and pools its
tokens, running one from its files, and those that `zkchat semantic get` downloads, each file pinned
by its publisher's revision and its SHA-256.

onnxruntime and tokenizers are imported when the first text is embedded: 0.2 s that a search by
words does not need.
"""

import ctypes
import hashlib
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.fileio import make_private_folder, open_regular, scratch_file
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import ENGLISH
from zkchat_cli.vault.search.embedder import Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONLY_ENGLISH = (ENGLISH,)
# Tokens that the model gets at once: more take more memory (600 MB for 2,048) and are hardly faster
# on one core
TOKENS_OF_RUN = 256
_SEARCH = "Represent this sentence for searching relevant passages: "


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
    languages: Collection[str] | None = None  # None for a model of many


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
    return next(
        (family for family in FAMILIES if re.search(family.name, model.lower())), ModelFamily("")
    )


def add_prefixes(texts: Sequence[str], family: ModelFamily, purpose: Purpose) -> list[str]:
    return [(family.query if purpose == "query" else family.document) + text for text in texts]


@dataclass
class SentenceModel:
    """An embedder that runs a model's .onnx file. The tokenizer.json is in its folder or, as
    publishers have it, in the one above.
    """

    path: Path | None
    family: ModelFamily
    # What to do about a missing or damaged file
    repair: str
    # The id of zkchat's own model; another has the hash of its files in its id: another file of
    # that name is another model
    name: str = ""
    prepared: Path | None = None
    """Folder for a copy with float32 numbers, which is mapped into memory: it loads in a quarter of
    the time and takes half of the memory (0.05 s instead of 0.2 s, and 110 MB less, for 90 MB of
    disk).
    """
    batch: int = 32
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def id(self) -> str:
        if self.name:
            return self.name
        model, tokenizer = self._files
        try:
            with open_regular(model) as first, open_regular(tokenizer) as second:
                hashes = [
                    hashlib.file_digest(opened, "sha256").hexdigest() for opened in (first, second)
                ]
        except OSError as e:
            raise _error(f"{e.filename} cannot be read: {e.strerror}", self.repair) from e
        return f"onnx/{model.parent.name}/{model.name}@{hashlib.sha256(''.join(hashes).encode()).hexdigest()[:16]}"

    @property
    def languages(self) -> Collection[str] | None:
        return self.family.languages

    def load(self) -> None:
        with self._loading:
            _ = self._loaded

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes up to a second."""

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "NDArray[np.float32]":
        import numpy as np  # only semantic search pays for it

        self.load()
        session, tokenizer = self._loaded
        encoded = [
            text.ids for text in tokenizer.encode_batch(add_prefixes(texts, self.family, purpose))
        ]
        # The positions of texts of similar length, which the model gets at once
        runs: list[list[int]] = []
        for i in sorted(range(len(encoded)), key=lambda i: len(encoded[i])):
            if not runs or (len(runs[-1]) + 1) * len(encoded[i]) > TOKENS_OF_RUN:
                runs.append([])
            runs[-1].append(i)
        rows: dict[int, NDArray[np.float32]] = {}
        for run in runs:
            ids = np.zeros((len(run), max(len(encoded[i]) for i in run)), np.int64)
            mask = np.zeros_like(ids)
            for row, tokens in enumerate(encoded[i] for i in run):
                ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            try:
                output = session.run(
                    None, {entry.name: inputs[entry.name] for entry in session.get_inputs()}
                )[0]
            except Exception as e:
                raise _error(f"{self.path} cannot be run: {e}", "Is it a sentence model?") from e
            vectors: NDArray[np.float32] = np.asarray(output, dtype=np.float32)
            if vectors.ndim == 3 and self.family.pooling == "cls":
                vectors = vectors[:, 0]
            elif vectors.ndim == 3:  # else the model pools itself
                weights = mask[:, :, None].astype(np.float32)
                vectors = (vectors * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
            rows.update(zip(run, vectors, strict=True))
        return np.stack([rows[i] for i in range(len(texts))])

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """The model and its tokenizer. Raises ProviderError."""
        if self.path is None:
            raise _error("neither semantic.model nor semantic.path names a model", self.repair)
        if not self.path.is_file():
            raise _error(f"file {self.path} not found", self.repair)
        for folder in self.path.parents[:2]:
            if (folder / "tokenizer.json").is_file():
                return self.path, folder / "tokenizer.json"
        raise _error(
            f"no tokenizer.json next to {self.path}",
            "Copy the tokenizer.json of the model's page there.",
        )

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The model's session and its tokenizer. Raises ProviderError."""
        import tokenizers  # 0.1 s

        model, tokenizer_file = self._files
        try:
            session = self._open_prepared(model) or _open_session(model)
            tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer_file))
        except Exception as e:
            raise _error(f"{model} or its tokenizer is damaged: {e}", self.repair) from e
        tokenizer.enable_truncation(self.family.max_tokens)
        tokenizer.no_padding()
        # Another C library than glibc, which would keep the memory that loading has freed
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        return session, tokenizer

    def _open_prepared(self, model: Path) -> Any:
        """The session of the copy, which is made if it is missing, damaged or of a newer
        onnxruntime; None if there is no room for it.
        """
        if self.prepared is None:
            return None
        copy = self.prepared / "model.onnx"
        with suppress(Exception):
            return _open_session(copy, optimized=True)
        with suppress(Exception):
            make_private_folder(self.prepared.parent)
            with tempfile.TemporaryDirectory(
                prefix=".zkchat-", dir=self.prepared.parent
            ) as scratch:
                made = Path(scratch, self.prepared.name)
                made.mkdir(0o700)
                _open_session(model, copy=made / "model.onnx")
                for file in made.iterdir():
                    file.chmod(0o600)  # onnxruntime has written it
                shutil.rmtree(self.prepared, ignore_errors=True)
                # All at once: others may read it
                made.replace(self.prepared)
            return _open_session(copy, optimized=True)
        return None


def _open_session(model: Path, *, optimized: bool = False, copy: Path | None = None) -> Any:
    """Open a model, and write its optimized form to `copy`. Raises the errors of onnxruntime, which
    are many.
    """
    import onnxruntime  # type: ignore[import-untyped, unused-ignore]  # 0.2 s

    options = onnxruntime.SessionOptions()
    # It would print warnings onto the screen; errors are raised
    options.log_severity_level = 4
    # The chat needs the other cores
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # one level up costs 15 ms more to load and 10 % more a text; the vectors differ by 1e-6
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_DISABLE_ALL if optimized else levels.ORT_ENABLE_BASIC
    )
    # it would copy 40 MB into another order, in 30 ms; without it a query takes 3 ms more, and a
    # run of 256 tokens as long as before
    options.add_session_config_entry("session.disable_prepacking", "1")
    # They would keep the memory of the largest run, 50 MB
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    if copy is not None:
        options.optimized_model_filepath = str(copy)
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_file_name", "numbers.bin"
        )
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _error(problem: str, hint: str) -> ProviderError:
    return ProviderError("not_installed", truncate(problem, 300), hint)


# Where the models are published; HF_ENDPOINT names a mirror, as for the publisher's own programs
HOST = "https://huggingface.co"
# Without a byte, after which a download fails
STALL_SECONDS = 60.0


class ModelFile(NamedTuple):
    path: str  # in the publisher's repository
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """In the folder of the model."""
        return "model.onnx" if self.path.endswith(".onnx") else "tokenizer.json"


class DownloadableModel(NamedTuple):
    name: str
    repository: str
    revision: str
    license: str
    languages: str
    files: tuple[ModelFile, ModelFile]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def is_in(self, folder: Path) -> bool:
        return all((folder / self.name / file.name).is_file() for file in self.files)


MODELS = (
    DownloadableModel(
        "bge-small-en-v1.5",
        "BAAI/bge-small-en-v1.5",
        "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        "MIT",
        "English",
        (
            ModelFile(
                "onnx/model.onnx",
                133_093_490,
                "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            ),
            ModelFile(
                "tokenizer.json",
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
        ),
    ),
    DownloadableModel(
        "multilingual-e5-small",
        "intfloat/multilingual-e5-small",
        "614241f622f53c4eeff9890bdc4f31cfecc418b3",
        "MIT",
        "about 100 languages",
        (
            ModelFile(
                "onnx/model_qint8_avx512_vnni.onnx",
                118_346_824,
                "dd476dd0c2514e9b9be83aeb3853fac0763e0bdf4a71645407587d77c48a2d88",
            ),
            ModelFile(
                "onnx/tokenizer.json",
                17_082_730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            ),
        ),
    ),
)


def download(
    model: DownloadableModel,
    folder: Path,
    env: Mapping[str, str],
    report: Callable[[int, int], None] = lambda *_: None,
) -> Path:
    """Download a model into a folder of its name, and return that. Files that are there and intact
    are kept. `report` gets the bytes that have arrived and those expected. Raises ProviderError; no
    incomplete or wrong file is left then.
    """
    # 0.1 s that no other use of a model should pay
    import httpx

    from zkchat_cli.llm.http_client import Endpoint, open_client

    host = env.get("HF_ENDPOINT", "").rstrip("/") or HOST
    server = Endpoint(
        "the server of models", host, "Check the connection; HF_ENDPOINT can name a mirror."
    )
    if error := server.config_error():
        raise error
    for i, file in enumerate(model.files):
        target = folder / model.name / file.name
        before = sum(each.size for each in model.files[:i])
        with suppress(OSError), open_regular(target) as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256:
                continue
        digest = hashlib.sha256()
        size = 0
        scratch = scratch_file(target)
        try:
            make_private_folder(target.parent)
            url = f"{host}/{model.repository}/resolve/{model.revision}/{file.path}"
            with (
                open_client(
                    server, httpx.Client, follow_redirects=True, timeout=STALL_SECONDS
                ) as client,
                client.stream("GET", url) as response,
                scratch.open("xb") as out,
            ):
                if response.status_code != 200:
                    raise server.error(
                        "server", f"answered {response.status_code} for {file.path}", server.check
                    )
                for piece in response.iter_bytes():
                    digest.update(piece)
                    out.write(piece)
                    size += len(piece)
                    report(before + size, model.size)
                    if size > file.size:
                        break
            if digest.hexdigest() != file.sha256:
                problem = f"sent another {file.path} than the one that zkchat knows; it was deleted"
                raise server.error("bad_answer", problem, "Try again later.")
            scratch.replace(target)
        except httpx.HTTPError as e:
            raise server.unreachable(e) from e
        except OSError as e:
            hint = "Check the disk and its permissions."
            raise ProviderError(
                "not_installed", f"{target} cannot be written: {e.strerror}", hint
            ) from e
        finally:
            with suppress(OSError):  # there is none
                scratch.unlink()
    return folder / model.name
