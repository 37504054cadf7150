"""`zkchat semantic get` downloads listed models, and nothing else is ever downloaded."""

import hashlib
from pathlib import Path

import pytest
from conftest import Program
from pytest_httpserver import HTTPServer
from werkzeug import Response

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.model_downloads import MODELS, DownloadableModel, ModelFile, download

CONTENT = {"model.onnx": b"a model" * 5_000, "tokenizer.json": b"{}"}


@pytest.fixture
def model(httpserver: HTTPServer) -> DownloadableModel:
    """A model that a local server publishes, behind a redirection as at Hugging Face."""
    files = []
    for name, content in CONTENT.items():
        path = f"/someone/some-model/resolve/r1/onnx/{name}"
        httpserver.expect_request(path).respond_with_response(
            Response(status=302, headers={"Location": f"/cdn/{name}"})
        )
        httpserver.expect_request(f"/cdn/{name}").respond_with_data(content)
        files.append(ModelFile(f"onnx/{name}", len(content), hashlib.sha256(content).hexdigest()))
    return DownloadableModel(
        "some-model", "someone/some-model", "r1", "MIT", "English", (files[0], files[1])
    )


@pytest.fixture
def env(httpserver: HTTPServer) -> dict[str, str]:
    return {"HF_ENDPOINT": httpserver.url_for("/").rstrip("/")}


def test_a_model_is_downloaded_once(
    model: DownloadableModel, env: dict[str, str], httpserver: HTTPServer, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    folder = download(
        model, tmp_path / "data" / "models", env, lambda done, total: seen.append((done, total))
    )
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == CONTENT
    assert seen[-1] == (model.size, model.size)
    assert model.is_in(tmp_path / "data" / "models")
    requests = len(httpserver.log)
    download(model, tmp_path / "data" / "models", env)
    assert len(httpserver.log) == requests


@pytest.mark.parametrize("size", [2, 10_000_000])
def test_a_wrong_file_is_refused_and_leaves_nothing(
    model: DownloadableModel, env: dict[str, str], tmp_path: Path, size: int
) -> None:
    wrong = model._replace(
        files=(model.files[0], model.files[1]._replace(size=size, sha256="0" * 64))
    )
    with pytest.raises(
        ProviderError, match=r"sent another onnx/tokenizer.json than the one that zkchat knows"
    ):
        download(wrong, tmp_path, env)
    assert [file.name for file in (tmp_path / "some-model").iterdir()] == ["model.onnx"]
    assert not wrong.is_in(tmp_path)


def test_a_damaged_file_is_downloaded_again(
    model: DownloadableModel, env: dict[str, str], tmp_path: Path
) -> None:
    folder = download(model, tmp_path, env)
    (folder / "model.onnx").write_bytes(b"damaged")
    download(model, tmp_path, env)
    assert (folder / "model.onnx").read_bytes() == CONTENT["model.onnx"]


def test_a_missing_file_or_server_is_an_error_with_a_next_step(
    model: DownloadableModel, env: dict[str, str], tmp_path: Path
) -> None:
    gone = model._replace(revision="r2")
    with pytest.raises(ProviderError, match=r"answered 500|answered 404") as e:
        download(gone, tmp_path, env)
    assert "HF_ENDPOINT" in e.value.hint
    with pytest.raises(ProviderError, match="cannot be reached"):
        download(model, tmp_path, {"HF_ENDPOINT": "http://127.0.0.1:1"})
    assert not list((tmp_path / "some-model").iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(ProviderError, match="cannot be written: Not a directory"):
        download(model, tmp_path / "file", env)


def test_status_lists_the_models_and_get_refuses_others(zkchat: Program) -> None:
    zkchat.env["ZKCHAT_SEMANTIC__PROVIDER"] = "builtin"
    zkchat("vault", "index")
    found = zkchat("semantic", "status", "--json").json
    assert (found["provider"], found["model"], found["embedded"], found["complete"]) == (
        "builtin",
        "all-MiniLM-L6-v2",
        0,
        False,
    )
    assert [(model["name"], model["downloaded"]) for model in found["models"]] == [
        (model.name, False) for model in MODELS
    ]
    said = zkchat("semantic", "status").out
    assert "search by meaning: builtin/all-MiniLM-L6-v2, 0% done" in said
    assert "zkchat semantic get multilingual-e5-small" in said
    refused = zkchat("semantic", "get", "gpt-9")
    assert refused.exit_status == 2
    assert "unknown model gpt-9" in refused.err
    zkchat.env |= {
        "ZKCHAT_SEMANTIC__PROVIDER": "onnx",
        "ZKCHAT_SEMANTIC__MODEL": "bge-small-en-v1.5",
    }
    [check] = [
        check for check in zkchat("doctor", "--json").json["checks"] if check["name"] == "semantic"
    ]
    assert check["next_step"] == "zkchat semantic get bge-small-en-v1.5"
    zkchat.env["ZKCHAT_SEMANTIC__PROVIDER"] = "none"
    assert zkchat("semantic", "status", "--json").json["provider"] == "none"
