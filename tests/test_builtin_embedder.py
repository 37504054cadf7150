"""The model that comes with zkchat."""

import hashlib
import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from acp_client import editor
from conftest import Program, write_notes

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders import builtin
from zkchat_cli.vault.search.embedder import compute_vectors

NOTES = {
    "Garage.md": "# Garage\n\nThe automobile needs new oil twice a year.\n",
    "Health.md": "# Health\n\nThe surgeon told me to rest my knee for a week.\n",
    "Harbour.md": "# Harbour\n\nThe vessel came in at night, in heavy rain.\n",
    "Haus.md": "# Haus\n\nDie Heizung ist alt, und der Monteur kommt nicht vor dem Winter.\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(
        write_notes(tmp_path / "notes", NOTES),
        tmp_path / "home",
        # The second model would read the German note
        {"ZKCHAT_SEMANTIC__PROVIDER": "builtin", "ZKCHAT_SEMANTIC__MULTILINGUAL": "false"},
    )


def test_it_finds_what_other_words_say(program: Program) -> None:
    indexed = program("vault", "index", "--semantic", "--json")
    semantic = indexed.json["semantic"]
    assert (semantic["provider"], semantic["model"]) == ("builtin", "all-MiniLM-L6-v2")
    assert (semantic["windows"], semantic["embedded"], semantic["complete"]) == (3, 3, True)
    found = program(
        "vault",
        "search",
        "-",
        "--json",
        stdin="car maintenance\nwhat did the doctor say?\nship\nHeizung\n",
    )
    assert [line["results"][0]["relative_path"] for line in found.lines] == [
        "Garage.md",
        "Health.md",
        "Harbour.md",
        "Haus.md",
    ]
    assert found.lines[3]["results"][0]["score_meaning"] is None
    assert (indexed.err, found.err) == ("", "")


def test_a_command_at_a_terminal_computes_vectors_after_its_answer(program: Program) -> None:
    program("vault", "index")
    keyboard, screen = pty.openpty()
    command = [sys.executable, "-m", "zkchat_cli", "vault", "search", "automobile"]
    subprocess.run(
        command,
        stdin=screen,
        stdout=screen,
        stderr=screen,
        env=program.environment,
        cwd=program.vault,
        check=True,
        timeout=60,
    )
    os.close(screen)
    shown = os.read(keyboard, 10_000).decode()
    os.close(keyboard)
    assert "Garage" in shown
    assert program("vault", "status", "--json").json["semantic"]["complete"]


def test_a_conversation_in_an_editor_computes_vectors_meanwhile(program: Program) -> None:
    with editor(program) as client:
        client.ask(client.new_session(program.vault), "What is a vessel?")
        deadline = time.monotonic() + 30
        while not program("vault", "status", "--json").json["semantic"]["complete"]:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_damaged_model_is_refused_and_words_go_on(tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        folder = tmp_path / f"damaged {name}"
        shutil.copytree(builtin.FOLDER, folder)
        os.truncate(folder / name, 5_000)
        with pytest.raises(ProviderError, match="or its tokenizer is damaged") as e:
            compute_vectors(builtin.make_embedder(EmbedderConfig(), folder), ["a car"], "query")
        assert e.value.hint == "Install zkchat again."


def test_long_and_short_texts_together_get_the_vectors_they_get_alone() -> None:
    embedder = builtin.make_embedder(EmbedderConfig())
    texts = [
        "a car",
        "the surgeon " * 200,
        "",
        "rain",
        *(f"note {n} about oil and water" for n in range(40)),
    ]
    together = compute_vectors(embedder, texts, "document")
    for text, vector in list(zip(texts, together, strict=True))[:5]:
        [alone] = compute_vectors(embedder, [text], "document")
        assert float(alone @ vector) > 0.99


PAIRS = {
    ("The automobile needs oil twice a year.", "How do I maintain my car?"): 0.3413,
    ("The automobile needs oil twice a year.", "The surgeon told me to rest my knee."): 0.0053,
    ("The surgeon told me to rest my knee.", "A vessel came in at night."): 0.1393,
}
"""Cosines by the model as it was published, with float32 numbers."""
WHOLE_NUMBERS_COST = 0.02
"""How far a cosine by whole numbers of 8 bits may be off: less than .01 on a processor
with instructions for their products (AVX-512 VNNI), .011 on one with AVX2 only.
"""


def test_the_rewritten_model_computes_what_the_published_one_does() -> None:
    embedder = builtin.make_embedder(EmbedderConfig())
    for pair, published in PAIRS.items():
        [one, other] = compute_vectors(embedder, pair, "document")
        assert float(one @ other) == pytest.approx(published, abs=WHOLE_NUMBERS_COST)


def test_the_files_of_the_model_are_those_that_its_source_names() -> None:
    source = (builtin.FOLDER / "SOURCE.md").read_text()
    for name in ("model.onnx", "tokenizer.json"):
        digest = hashlib.sha256((builtin.FOLDER / name).read_bytes()).hexdigest()
        assert digest in source


def test_nothing_is_sent_to_the_maker_of_onnxruntime(zkchat: Program, tmp_path: Path) -> None:
    """From 1.31 on it writes an id of the machine first. It does neither where CI is set."""
    zkchat.env |= {
        "ZKCHAT_SEMANTIC__PROVIDER": "builtin",
        "HOME": str(tmp_path / "user"),
        "CI": "",
        "GITHUB_ACTIONS": "",
    }
    zkchat.fresh = True
    assert zkchat("vault", "index", "--semantic").exit_status == 0
    assert not list((tmp_path).rglob("*onnxruntime*"))
    assert not list((tmp_path).rglob("deviceid"))
