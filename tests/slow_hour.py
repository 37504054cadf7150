"""A large vault and one hour of a slow laptop: what is embedded in it, and what the next run does.

The laptop's time is simulated, all else is real: notes, index, the file of vectors. `python
tests/slow_hour.py` does it with 100,000 notes in a few minutes; a test does it with fewer.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from fake_embedders import PLACES, SYNONYM_PLACES, SynonymEmbedder

from zkchat_cli.models.notes import SemanticStatus
from zkchat_cli.vault.index.sqlite.vector_store import SqliteVectorStore
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.vault import Vault

HOUR = 3600.0
SHARE = 0.6
"""Of the notes that the laptop embeds in an hour: 100,000 notes with 60 ms for each."""
LINKED = "Note 7.md"
"""The oldest note, to which many link."""


@dataclass
class SlowEmbedder(SynonymEmbedder):
    """Counts how often it gets each text, and the seconds that it would take."""

    seconds_per_text: float = 1.0
    seconds: float = 0.0
    times: dict[str, int] = field(default_factory=dict)

    def embed(self, texts: Sequence[str], *, purpose: str) -> Any:
        if purpose == "document":
            self.seconds += self.seconds_per_text * len(texts)
            for text in texts:
                self.times[text] = self.times.get(text, 0) + 1
        return np.array(
            [
                sum(
                    (_word_vector(word) for word in re.findall(r"\w+", text.lower())),
                    np.zeros(PLACES),
                )
                for text in texts
            ]
        )


@cache
def _word_vector(word: str) -> Any:
    """Numbers of either sign, so that signatures differ, the same for words of one line of
    `SYNONYMS` and larger for these.
    """
    place = SYNONYM_PLACES.get(word)
    seed = crc32(word.encode()) if place is None else place
    return np.random.default_rng(seed).normal(0.0, 1.0 if place is None else 10.0, PLACES)


class Hour(NamedTuple):
    """The state `after` it and after the `next_run`; `found` meanwhile: one note by words and one
    by meaning.
    """

    after: SemanticStatus
    embedded: frozenset[str]
    found: tuple[str, str]
    next_run: SemanticStatus
    most_often: int
    """How often the text that was embedded most often was."""


def write_vault(folder: Path, notes: int) -> None:
    """So many notes of a line each, in folders of a hundred; the later ones are newer."""
    for number in range(notes):
        file = folder / (
            f"{number // 100}/Note {number}.md" if number >= 100 else f"Note {number}.md"
        )
        if number % 100 == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        link = " See [[Note 7]]." if number % 50 == 49 else ""
        file.write_text(
            "A vehicle that needs oil.\n" if number == 7 else f"This is number {number}.{link}\n",
            encoding="utf-8",
        )
        os.utime(file, (number, number))


def embed_for_an_hour(folder: Path, notes: int) -> Hour:
    """Index a vault of so many notes, embed for an hour, stop, and embed the rest in a second
    run.
    """
    write_vault(folder / "notes", notes)
    embedder = SlowEmbedder(batch=64, seconds_per_text=HOUR / (SHARE * notes))
    vault = Vault.open(folder / "notes", folder / "cache", embedder=embedder)
    vault.refresh()
    embed_until(vault, embedder, lambda: embedder.seconds >= HOUR)
    embedded = frozenset(text.partition("\n")[0] + ".md" for text in embedder.times)
    after = vault.status().semantic
    found = vault.search('"number 1"')[0].relative_path, vault.search("car")[0].relative_path
    embed_until(vault, embedder, lambda: False)
    last = vault.status().semantic
    vault.close()
    assert after
    assert last
    return Hour(after, embedded, found, last, max(embedder.times.values()))


def embed_until(vault: Vault, embedder: SlowEmbedder, stopped: Callable[[], bool]) -> None:
    """As another process would."""
    vectors = SqliteVectorStore(vault.index_file.with_suffix(".vectors.db"), embedder)
    with closing(
        SemanticSearch(embedder, vectors, vault._index, lambda: embedder.seconds)
    ) as semantic:
        semantic.compute_missing(stopped=stopped)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=100_000)
    notes = parser.parse_args().notes
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        hour = embed_for_an_hour(Path(folder), notes)
        seconds = time.process_time() - begin
    print(
        f"{notes:,} notes: {len(hour.embedded):,} embedded in an hour, "
        f"{hour.next_run.embedded:,} after the next run"
    )
    print(
        f"the text embedded most often: {hour.most_often} time; found meanwhile: "
        f"{hour.found}; CPU s without a model: {seconds:.0f}"
    )
    sys.exit(hour.most_often > 1 or not hour.next_run.complete)


if __name__ == "__main__":
    main()
