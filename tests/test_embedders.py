"""Embedding servers: requests, answers, and errors."""

from pathlib import Path
from typing import Any

import pytest
from fake_embedders import EmbeddingServers, word_vector

from zkchat_cli.app.embedder_choice import open_embedder
from zkchat_cli.app.settings import StartupOptions, load_settings
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import embedders
from zkchat_cli.llm.base import EmbedderConfig, ModelConfig
from zkchat_cli.llm.providers.ollama import parse_address
from zkchat_cli.llm.sentence_models import add_prefixes, model_family
from zkchat_cli.vault.vault import Vault

BOTH = pytest.mark.parametrize("name", ["ollama", "openai"])


class Opened:
    """An embedder on the test's servers, with the waits it would have made."""

    def __init__(self, name: str, env: dict[str, str], model: str = "") -> None:
        self.it: Any = embedders.embedder(name).open(
            EmbedderConfig(model, server=ModelConfig(env=env))
        )
        self.waits: list[float] = []
        self.it.server.sleep = self.waits.append

    def embed(self, *texts: str, purpose: Any = "document") -> Any:
        return self.it.embed(texts, purpose=purpose)

    def error(self, *texts: str) -> ProviderError:
        with pytest.raises(ProviderError) as e:
            self.embed(*(texts or ("a text",)))
        assert e.value.hint
        assert "sk-secret" not in f"{e.value.message} {e.value.hint} {self.it!r}"
        return e.value


@pytest.fixture
def opened(embedding_servers: EmbeddingServers) -> Any:
    return lambda name, model="", **env: Opened(name, {**embedding_servers.env, **env}, model)


# what is sent, and what comes back


@pytest.mark.parametrize(
    ("name", "model", "path", "authorization"),
    [
        ("ollama", "all-minilm", "/api/embed", None),
        ("openai", "text-embedding-3-small", "/v1/embeddings", "Bearer sk-secret"),
    ],
)
def test_a_request_has_the_texts_and_its_vectors_are_in_their_order(
    opened: Any,
    embedding_servers: EmbeddingServers,
    name: str,
    model: str,
    path: str,
    authorization: str | None,
) -> None:
    embedder = opened(name, model if name == "ollama" else "")
    texts = ["a car", "a ship", "money"]
    assert embedder.embed(*texts) == [word_vector(text) for text in texts]
    [(asked, body, headers)] = embedding_servers.requests
    assert (asked, body) == (path, {"model": model, "input": texts})
    assert headers.get("Authorization") == authorization
    assert embedder.it.id == f"{name}/{model}"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("multilingual-e5-small", "query: x", "passage: x"),
        ("/models/E5-base-v2/onnx/model.onnx", "query: x", "passage: x"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: x", "x"),
        ("", "x", "x"),
    ],
)
def test_prefixes_of_model_families(model: str, query: str, document: str) -> None:
    family = model_family(model)
    assert (add_prefixes(["x"], family, "query"), add_prefixes(["x"], family, "document")) == (
        [query],
        [document],
    )


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("", "http://127.0.0.1:11434"),
        ("localhost", "http://localhost:11434"),
        ("notes.lan:8080", "http://notes.lan:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://notes.lan", "http://notes.lan"),
        ("https://me:word@notes.lan/ollama/", "https://me:word@notes.lan/ollama"),
    ],
)
def test_ollama_address_is_read_as_ollama_reads_it(host: str, expected: str) -> None:
    assert parse_address(host) == expected


@pytest.mark.parametrize(
    ("name", "setting", "address"),
    [
        ("ollama", "OLLAMA__HOST", "http://notes.lan:11434"),
        ("openai", "OPENAI__BASE_URL", "http://notes.lan/v1"),
    ],
)
def test_the_server_and_its_key_are_those_of_the_providers_settings(
    tmp_path: Path, name: str, setting: str, address: str
) -> None:
    key = {"ZKCHAT_OPENAI__KEY_VARIABLE": "MY_KEY", "MY_KEY": "sk-mine"} if name == "openai" else {}
    env = {
        "ZKCHAT_HOME": str(tmp_path),
        "ZKCHAT_SEMANTIC__PROVIDER": name,
        f"ZKCHAT_{setting}": address,
        **key,
    }
    embedder: Any = open_embedder(load_settings(StartupOptions(tmp_path), env, tmp_path))
    assert (embedder.server.address, embedder.server.key) == (address, key.get("MY_KEY", ""))


# what goes wrong


@BOTH
@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, {"error": {"message": "Incorrect API key provided: sk-secret"}}, "auth", "(401)"),
        (404, {"error": 'model "x" not found'}, "unknown_model", 'model "x" not found'),
        (404, "404 page not found", "unknown_model", "no such model or address (404)"),
        (200, "{not json", "bad_answer", "something other than JSON"),
        (200, "{}", "bad_answer", "contains no embeddings"),
    ],
)
def test_faulty_answer_is_an_error_with_a_hint(
    opened: Any,
    embedding_servers: EmbeddingServers,
    name: str,
    status: int,
    body: object,
    kind: str,
    said: str,
) -> None:
    embedder = opened(name)
    embedding_servers.says(status, body)
    error = embedder.error()
    assert (error.kind, embedder.waits) == (kind, [])
    assert said in error.message


@BOTH
def test_failing_server_is_called_once_more(
    opened: Any, embedding_servers: EmbeddingServers, name: str
) -> None:
    embedder = opened(name)
    embedding_servers.says(503, {"error": "loading"})
    assert embedder.embed("a car") == [word_vector("a car")]
    assert embedder.waits == [10]


def test_a_closed_vault_has_no_connection_to_the_server(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("A ship.")
    embedder = opened("ollama").it
    vault = Vault.open(tmp_path, tmp_path / "cache", embedder=embedder)
    vault.embed()
    client = embedder.server._client
    assert not client.is_closed
    vault.close()
    assert client.is_closed
