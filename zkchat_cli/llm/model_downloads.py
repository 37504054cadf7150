"""Sentence models that `zkchat semantic get` downloads: a short list, each file pinned by its publisher's revision and its SHA-256."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import ProviderError, UsageError
from zkchat_cli.fileio import make_private_folder, open_regular, scratch_file
from zkchat_cli.llm.http_client import Endpoint, open_client

HOST = "https://huggingface.co"  # where the models are published; HF_ENDPOINT names a mirror, as for the publisher's own programs
STALL_SECONDS = 60.0  # without a byte, after which a download fails


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
        """Whether the files are there; they are checked when they are loaded."""
        return all((folder / self.name / file.name).is_file() for file in self.files)


MODELS = (
    DownloadableModel(
        "bge-small-en-v1.5",
        "BAAI/bge-small-en-v1.5",
        "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        "MIT",
        "English",
        (
            ModelFile("onnx/model.onnx", 133_093_490, "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35"),
            ModelFile("tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        ),
    ),
    DownloadableModel(
        "multilingual-e5-small",
        "intfloat/multilingual-e5-small",
        "614241f622f53c4eeff9890bdc4f31cfecc418b3",
        "MIT",
        "about 100 languages",
        (
            ModelFile("onnx/model_qint8_avx512_vnni.onnx", 118_346_824, "dd476dd0c2514e9b9be83aeb3853fac0763e0bdf4a71645407587d77c48a2d88"),
            ModelFile("onnx/tokenizer.json", 17_082_730, "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"),
        ),
    ),
)


def downloadable_model(name: str) -> DownloadableModel:
    found = next((model for model in MODELS if model.name == name), None)
    if found is None:
        raise UsageError(f"unknown model {name}", f"The models are {', '.join(model.name for model in MODELS)}.")
    return found


def download(model: DownloadableModel, folder: Path, env: Mapping[str, str], report: Callable[[int, int], None] = lambda *_: None) -> Path:
    """Download a model into a folder of its name, and return that. Files that are there and intact are kept.

    `report` gets the bytes that have arrived and those expected. Raises ProviderError; no incomplete or wrong file is left then.
    """
    host = env.get("HF_ENDPOINT", "").rstrip("/") or HOST
    server = Endpoint("the server of models", host, "Check the connection; HF_ENDPOINT can name a mirror.")
    if error := server.config_error():
        raise error
    arrived = 0
    for file in model.files:
        target, digest = folder / model.name / file.name, ""
        with suppress(OSError), open_regular(target) as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != file.sha256:
            url = f"{host}/{model.repository}/resolve/{model.revision}/{file.path}"
            _fetch(server, url, file, target, lambda size, before=arrived: report(before + size, model.size))  # type: ignore[misc]
        arrived += file.size
    return folder / model.name


def _fetch(server: Endpoint, url: str, file: ModelFile, target: Path, report: Callable[[int], None]) -> None:
    import httpx  # 0.1 s that no other command should pay

    digest, size, scratch = hashlib.sha256(), 0, scratch_file(target)
    try:
        make_private_folder(target.parent)
        with (
            open_client(server, httpx.Client, follow_redirects=True, timeout=STALL_SECONDS) as client,
            client.stream("GET", url) as response,
            scratch.open("xb") as out,
        ):
            if response.status_code != 200:
                raise server.error("server", f"answered {response.status_code} for {file.path}", server.check)
            for piece in response.iter_bytes():
                digest.update(piece)
                out.write(piece)
                size += len(piece)
                report(size)
                if size > file.size:
                    break
        if digest.hexdigest() != file.sha256:
            raise server.error("bad_answer", f"sent another {file.path} than the one that zkchat knows; it was deleted", "Try again later.")
        scratch.replace(target)
    except httpx.HTTPError as e:
        raise server.unreachable(e) from e
    except OSError as e:
        raise ProviderError("not_installed", f"{target} cannot be written: {e.strerror}", "Check the disk and its permissions.") from e
    finally:
        with suppress(OSError):  # there is none
            scratch.unlink()
