"""The sentence models that `zkchat semantic get` downloads, each file pinned by its publisher's
revision and its SHA-256.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.fileio import make_private_folder, open_regular, scratch_file
from zkchat_cli.llm.http_client import Endpoint, open_client

# Where the models are published; HF_ENDPOINT names a mirror, as for the publisher's own programs
HOST = "https://huggingface.co"
# Seconds without a byte after which a download fails
STALL_SECONDS = 60.0


class ModelFile(NamedTuple):
    """A file of a model as its publisher has it. `path` is in the publisher's repository."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the folder of the model."""
        return "model.onnx" if self.path.endswith(".onnx") else "tokenizer.json"


class DownloadableModel(NamedTuple):
    """A model that can be downloaded, pinned by its publisher's revision."""

    name: str
    repository: str
    revision: str
    license: str
    languages: str
    files: tuple[ModelFile, ModelFile]

    @property
    def size(self) -> int:
        """The bytes of all its files."""
        return sum(file.size for file in self.files)

    def is_in(self, folder: Path) -> bool:
        """Whether it was downloaded into a folder of models."""
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


Report = Callable[[int, int], None]
"""Takes the number of bytes that have arrived, and the number expected."""


def download(
    model: DownloadableModel,
    folder: Path,
    env: Mapping[str, str],
    report: Report = lambda *_: None,
) -> Path:
    """Download a model into a folder with its name, and return that folder. Intact files are kept.
    Raises ProviderError, and leaves no incomplete or wrong file then.
    """
    host = env.get("HF_ENDPOINT", "").rstrip("/") or HOST
    server = Endpoint(
        "the server of models", host, "Check the connection; HF_ENDPOINT can name a mirror."
    )
    if error := server.config_error():
        raise error
    before = 0
    for file in model.files:
        target = folder / model.name / file.name
        if not _is_intact(target, file):
            url = f"{host}/{model.repository}/resolve/{model.revision}/{file.path}"
            arrived = partial(_report_total, report, before, model.size)
            _download_file(_Download(server, url, file, target), arrived)
        before += file.size
    return folder / model.name


def _report_total(report: Report, before: int, expected: int, size: int) -> None:
    report(before + size, expected)


def _is_intact(target: Path, file: ModelFile) -> bool:
    with suppress(OSError), open_regular(target) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256
    return False


class _Download(NamedTuple):
    """A file to download, from where and to where."""

    server: Endpoint
    url: str
    file: ModelFile
    target: Path


def _download_file(download: _Download, arrived: Callable[[int], None]) -> None:
    """Download a file and check it. `arrived` gets the bytes so far. Raises ProviderError."""
    # Deferred: it takes 0.1 s, which no other use of a model should pay
    import httpx

    server = download.server
    target = download.target
    scratch = scratch_file(target)
    try:
        make_private_folder(target.parent)
        if _fetch(download, scratch, arrived) != download.file.sha256:
            problem = (
                f"sent another {download.file.path} than the one that zkchat knows; it was deleted"
            )
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
        # The scratch file is still there only after a failure
        with suppress(OSError):
            scratch.unlink()


def _fetch(download: _Download, scratch: Path, arrived: Callable[[int], None]) -> str:
    """Write what the server sends to a scratch file, and return its SHA-256. A file that is too
    long is cut.
    """
    # Deferred: see _download_file
    import httpx

    server = download.server
    digest = hashlib.sha256()
    size = 0
    with (
        open_client(server, httpx.Client, follow_redirects=True, timeout=STALL_SECONDS) as client,
        client.stream("GET", download.url) as response,
        scratch.open("xb") as out,
    ):
        if response.status_code != 200:
            raise server.error(
                "server",
                f"answered {response.status_code} for {download.file.path}",
                server.check,
            )
        for piece in response.iter_bytes():
            digest.update(piece)
            out.write(piece)
            size += len(piece)
            arrived(size)
            if size > download.file.size:
                break
    return digest.hexdigest()
