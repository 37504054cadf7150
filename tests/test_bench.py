"""The benchmark itself: that it runs, not how fast anything is (a busy machine must not fail the tests).

Most parts take 15 s more; `.ci/run` tries all of them.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent / "bench" / "run.py"
PARTS = ("tokens", "prompts", "vault")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark writes a store's thousands of transactions, too, where no disk is waited for."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def bench(*options: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, BENCH, *options], capture_output=True, text=True, timeout=280, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_benchmark_prints_every_figure_beside_its_floor() -> None:
    head, *rows = bench("--quick", "--notes", "30", "--turns", "4", *(f"--only={part}" for part in PARTS)).split("\n\n")[1].splitlines()
    assert head.split() == ["what", "goal", "measured", "floor", "ratio", "n", "floor", "is"]
    assert sum(row.count(" / ") == 2 for row in rows) > 15
    for strategy in ("discard", "hybrid", "summarize"):
        [row] = [row for row in rows if row.startswith(f"prompt changed, {strategy}")]
        assert " ok " in row  # that is no matter of speed
