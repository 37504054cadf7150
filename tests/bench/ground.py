"""What every part of the benchmark stands on: notes, a home folder, processes, and for the floors
bare SQLite and a bare walk.
"""

import itertools
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import vaults

LARGE = 20_000
"""From so many notes on a build takes a good part of a minute, and is not repeated five times."""
PYTHON = (sys.executable, "-c")
ZKCHAT = (sys.executable, "-m", "zkchat_cli")
STORE = (
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE texts (id TEXT PRIMARY "
    "KEY, body TEXT)"
)
INDEX = (
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE texts USING "
    "fts5(path UNINDEXED, body)"
)
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak / (1e6 if sys.platform == "darwin" else 1e3))
"""
"""A small process between, in MB: a child begins with its parent's peak, and ours is large by then.
"""


@dataclass(frozen=True)
class Ground:
    """What is measured on, below one temporary folder."""

    folder: Path
    notes: int
    turns: int
    quick: bool
    words: vaults.Words
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def vault(self) -> Path:
        return self.folder / "notes"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def env(self) -> dict[str, str]:
        unwanted = ("NO_COLOR", "PYTHONDONTWRITEBYTECODE")  # what is installed is compiled
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith("ZKCHAT") and k not in unwanted
        }
        # Embedding would be most of a quick run
        without_model = {"ZKCHAT_SEMANTIC__PROVIDER": "none"} if self.quick else {}
        return {**clean, "ZKCHAT_HOME": str(self.home), "TERM": "xterm-256color", **without_model}

    def repetitions(self, full: int, large: int | None = None) -> int:
        """Few in a quick run. `large`: how many for LARGE vaults, of something that reads all the
        notes.
        """
        if large and self.notes >= LARGE:
            return large
        return max(1, full // 20) if self.quick else full

    def times(self, full: int) -> range:
        """So many repetitions, and one more to warm up."""
        return range(1 + self.repetitions(full))

    def fresh(self) -> Path:
        """A path that nobody has used yet."""
        return self.folder / str(next(self._numbers))

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> str:
        """What a process prints that runs in this ground's home."""
        return subprocess.run(
            command, env=env or self.env, capture_output=True, check=True, text=True
        ).stdout

    def peaks(
        self, homes: Iterable[Path], command: Sequence[str], floor: str
    ) -> tuple[list[float], list[float]]:
        """The most memory, in MB, that a command and some Python ever held, in turns, with each of
        these homes; nothing to warm up.
        """
        pairs = [(self._peak(home, *command), self._peak(home, *PYTHON, floor)) for home in homes]
        return [a for a, _ in pairs], [b for _, b in pairs]

    def _peak(self, home: Path, *command: str) -> float:
        return float(self.run(*PYTHON, PEAK, *command, env={**self.env, "ZKCHAT_HOME": str(home)}))


def bare(ground: Ground, settings: str) -> sqlite3.Connection:
    """A database of its own, with the settings of the store or of an index that is being built."""
    connection = sqlite3.connect(ground.fresh(), isolation_level=None)
    connection.executescript(settings)
    return connection


def insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
    connection.execute("COMMIT")


def walk(folder: Path) -> int:
    """The least that finds out whether a vault has changed: one scandir a folder, one stat a
    note.
    """
    with os.scandir(folder) as entries:
        return sum(
            walk(Path(entry.path)) if entry.is_dir() else entry.stat().st_mtime_ns & 1
            for entry in entries
        )
