"""What the vectors of a vault cost: `python tests/bench/embedding.py VAULT [--windows 200]`.

It prints how many windows a thousand notes have and how many tokens these have, and the processor
seconds for a thousand windows with the built-in model, or with `--model multilingual`: the least of
several rounds over the same windows, which are spread over the vault, because other programs only
add to it. `load_cpu_s` is what the model takes to load from its prepared copy.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import tokenizers

sys.path.insert(0, str(Path(__file__).parent.parent))

from zkchat_cli.llm import embedders
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders import builtin
from zkchat_cli.vault.search.embedder import Embedder, compute_vectors
from zkchat_cli.vault.search.semantic import CHUNKS_OF_CLAIM
from zkchat_cli.vault.search.windows import windows_of_chunk
from zkchat_cli.vault.vault import Vault

GOAL = 25.0
# Windows that a claim has on average
WINDOWS_OF_CLAIM = 2 * CHUNKS_OF_CLAIM


class VaultWindows(NamedTuple):
    """The windows of a vault in the languages that the model knows."""

    notes: int
    texts: list[str]


def read_windows(folder: Path, embedder: Embedder) -> VaultWindows:
    """The windows as search by meaning makes them."""
    known = embedder.languages or ()
    with tempfile.TemporaryDirectory() as cache:
        vault = Vault.open(folder, Path(cache))
        vault.refresh()
        keys = vault._index.ask(lambda index: list(dict.fromkeys(index.chunks.keys())))
        chunks = vault._index.ask(lambda index: index.chunks.texts(keys))
        notes = len(vault.note_paths())
        vault.close()
    texts: list[str] = []
    for chunk in chunks.values():
        if chunk.language is None or chunk.language in known:
            texts += windows_of_chunk(chunk.title, chunk.headings, chunk.text)
    return VaultWindows(notes, texts)


def least_seconds(embedder: Embedder, texts: Sequence[str], rounds: int) -> float:
    """The processor seconds for the vectors of the texts, in the claims of search by meaning."""
    embedder.load()
    seconds: list[float] = []
    for _ in range(rounds):
        begin = time.process_time()
        for start in range(0, len(texts), WINDOWS_OF_CLAIM):
            compute_vectors(embedder, texts[start : start + WINDOWS_OF_CLAIM], "document")
        seconds.append(time.process_time() - begin)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", choices=["builtin", "multilingual"], default="builtin")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        provider = embedders.embedder(given.model)
        config = EmbedderConfig(cache_dir=Path(cache))
        # Makes the copy
        provider.open(config).load()
        embedder = provider.open(config)
        begin = time.process_time()
        embedder.load()
        load_seconds = time.process_time() - begin
    windows = read_windows(given.vault, embedder)
    spread = windows.texts[:: max(1, len(windows.texts) // given.windows)]
    tokenizer = tokenizers.Tokenizer.from_file(str(builtin.FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    seconds = least_seconds(embedder, spread, given.rounds)
    per_thousand = 1000 * seconds / len(spread)
    print(
        json.dumps(
            {
                "notes": windows.notes,
                "windows": len(windows.texts),
                "windows_of_1000_notes": round(1000 * len(windows.texts) / windows.notes),
                "tokens_of_window": round(
                    fmean(len(each.ids) for each in tokenizer.encode_batch(spread)), 1
                ),
                "cpu_s_of_1000_windows": round(per_thousand, 1),
                "load_cpu_s": round(load_seconds, 2),
                "goal": GOAL,
                "met": per_thousand <= GOAL,
            }
        )
    )


if __name__ == "__main__":
    main()
