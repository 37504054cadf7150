"""The benchmark itself: that it runs, not how fast anything is (a busy machine must not fail the tests)."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "bench" / "run.py"
MEASURED = (
    "zkchat --help",
    "prompt visible",
    "peak memory, ask",
    "tokens of 500 characters",
    "store a turn",
    "overhead a message, new conversation",
    "overhead a message, after 20 turns",
    "peak memory of a build",
    "build, 30 notes",
    "index size",
    "refresh, nothing changed",
    "one changed note, known",
    "one changed note, to be found",
    "search, 1 word ",
    "search, 5 words",
    "search, a question",
    "complete a beginning",
    "complete a substring",
    "resolve a link",
    "resolve a broken link",
)


def test_the_benchmark_prints_every_figure_beside_its_floor() -> None:
    done = subprocess.run([sys.executable, BENCH, "--quick", "--notes", "30"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.split("\n\n")[1].splitlines()
    assert head.split() == ["what", "goal", "measured", "floor", "ratio", "n", "floor", "is"]
    for what in MEASURED:
        [row] = [row for row in rows if row.startswith(what)]
        assert row.count(" / ") == 2, row
