"""Vectors from a model file: a real one, tiny, that knows a dozen words."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, write_notes
from fake_embedders import SYNONYMS

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders.onnx import make_embedder
from zkchat_cli.vault.search.embedder import compute_vectors

OTHERS = "the needs oil sleeps".split()
WORDS = ["[PAD]", "[UNK]", *(word for line in SYNONYMS for word in line.split()), *OTHERS]
SIZE = len(SYNONYMS) + len(OTHERS) + 1
FLOAT = 1
INT64 = 7


def row(word: str) -> list[float]:
    """A word's vector: the same for words of one meaning; padding's would spoil any average."""
    place = next((i for i, line in enumerate(SYNONYMS) if word in line.split()), None)
    place = (
        place
        if place is not None
        else len(SYNONYMS) + OTHERS.index(word)
        if word in OTHERS
        else SIZE - 1
    )
    return [1000.0 if word == "[PAD]" else float(i == place) for i in range(SIZE)]


# the few lines of the protocol buffers encoding that a model needs


def number(value: int) -> bytes:
    return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])


def field(tag: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(data)) + data


def tensor(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(field(1, field(2, d)) for d in dimensions)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(operation: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    return (
        b"".join(field(1, i) for i in inputs)
        + field(2, output)
        + field(4, operation)
        + b"".join(field(5, a) for a in attributes)
    )


def model(
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    averaged: bool = False,
) -> bytes:
    """An ONNX model that looks each token's vector up in a table; `averaged`: and gives the mean of
    a text's.
    """
    table = [x for word in WORDS for x in row(word)]
    weights = (
        field(1, len(WORDS))
        + field(1, SIZE)
        + field(2, FLOAT)
        + field(8, "table")
        + field(9, struct.pack(f"<{len(table)}f", *table))
    )
    nodes = [node("Gather", ["table", "input_ids"], "last_hidden_state")]
    output = tensor("last_hidden_state", FLOAT, "texts", "tokens", "numbers")
    if averaged:
        axes = field(1, "axes") + field(8, 1) + field(20, 7)
        keep = field(1, "keepdims") + field(3, 0) + field(20, 2)
        nodes.append(node("ReduceMean", ["last_hidden_state"], "sentence_embedding", axes, keep))
        output = tensor("sentence_embedding", FLOAT, "texts", "numbers")
    graph = b"".join(field(1, n) for n in nodes) + field(2, "words") + field(5, weights)
    graph += b"".join(field(11, tensor(name, INT64, "texts", "tokens")) for name in inputs) + field(
        12, output
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


TOKENIZER: dict[str, Any] = {
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
    "padding": None,
    "added_tokens": [],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordLevel",
        "vocab": {word: i for i, word in enumerate(WORDS)},
        "unk_token": "[UNK]",
    },
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model())
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    return folder / "model.onnx"


def embed(file: Path, *texts: str) -> Any:
    return compute_vectors(make_embedder(EmbedderConfig(path=str(file))), texts, "document")


def error(path: object) -> ProviderError:
    with pytest.raises(ProviderError) as e:
        embed(Path(str(path)), "a car") if path else compute_vectors(
            make_embedder(EmbedderConfig()), ["a car"], "query"
        )
    assert e.value.hint
    return e.value


def test_texts_with_the_same_meaning_are_similar(file: Path) -> None:
    car, automobile, doctor = embed(file, "the car", "the automobile", "the doctor")
    assert car @ automobile == pytest.approx(1.0)
    assert car @ doctor == pytest.approx(0.5)


def test_padding_does_not_count(file: Path) -> None:
    [alone] = embed(file, "car")
    [beside, _] = embed(file, "car", "the car needs oil the doctor sleeps")
    assert alone.tolist() == beside.tolist()


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask")])
def test_model_gets_the_inputs_it_declares(file: Path, inputs: tuple[str, ...]) -> None:
    file.write_bytes(model(inputs=inputs))
    assert [len(vector) for vector in embed(file, "car", "vehicle needs")] == [SIZE, SIZE]


def test_model_that_averages_itself(file: Path) -> None:
    file.write_bytes(model(averaged=True))
    [vector] = embed(file, "car doctor")
    assert vector[:2].tolist() == pytest.approx([0.5**0.5] * 2)


def test_long_texts_are_cut_at_the_models_limit_not_the_tokenizers(file: Path) -> None:
    [vector] = embed(file, "the the the car " + "the " * 512 + "doctor")
    assert vector[SYNONYMS.index("car automobile vehicle")] > 0
    assert vector[SYNONYMS.index("doctor physician surgeon")] == 0


def test_missing_files_are_named(file: Path) -> None:
    assert "neither semantic.model nor semantic.path names a model" in error("").message
    assert f"file {file}x not found" in error(f"{file}x").message
    (file.parent / "tokenizer.json").rename(file.parent / "elsewhere.json")
    assert f"no tokenizer.json next to {file}" in error(file).message


@pytest.mark.parametrize("data", [b"", b"not a model"])
def test_invalid_model_file_is_an_error(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert error(file).kind == "not_installed"


def test_semantic_search_works_without_a_server(file: Path, tmp_path: Path) -> None:
    vault = write_notes(
        tmp_path / "notes",
        {"Garage.md": "The automobile needs oil.\n", "Sea.md": "The vessel sleeps.\n"},
    )
    zkchat = Program(
        vault,
        tmp_path / "home",
        {"ZKCHAT_SEMANTIC__PROVIDER": "onnx", "ZKCHAT_SEMANTIC__PATH": str(file)},
    )
    indexed = zkchat("vault", "index", "--semantic", "--json")
    assert (indexed.json["semantic"]["complete"], indexed.err) == (True, "")
    assert zkchat("vault", "search", "car", "--json").json[0]["relative_path"] == "Garage.md"
    file.unlink()
    done = zkchat("vault", "search", "oil", "--json")
    assert (done.exit_status, len(done.json), len(done.err.splitlines())) == (0, 1, 1)
