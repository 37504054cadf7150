"""The benchmark itself: that it runs, not how fast anything is (a busy machine must not fail the tests)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent / "bench"
ROWS = (
    "zkchat --help",
    "prompt visible",
    "peak memory, ask",
    "tokens of 500 characters",
    "verify an answer",
    "read its citations",
    "an answer of 30000 characters",
    "  bytes written",
    "store a turn  ",
    "overhead a message, new conversation",
    "overhead a message, after 20 turns",
    "overhead a message, after 200 turns",
    "assemble, discard, 20 turns",
    "assemble, hybrid, 200 turns",
    "summary of 25000 tokens",
    "summary of the same again",
    "a token through the loop",
    "a token through openai",
    "a token through ollama",
    "peak memory of a build",
    "list 5000 conversations",
    "store size, 20 turns with tools",
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
    "verify 50 quotations",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark writes a store's thousands of transactions, too, where no disk is waited for."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def bench(program: str, *options: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, BENCH / program, *options], capture_output=True, text=True, timeout=280, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_benchmark_prints_every_figure_beside_its_floor() -> None:
    head, *rows = bench("run.py", "--quick", "--notes", "30").split("\n\n")[1].splitlines()
    assert head.split() == ["what", "goal", "measured", "floor", "ratio", "n", "floor", "is"]
    for what in ROWS:
        [row] = [row for row in rows if row.startswith(what)]
        assert row.count(" / ") == 2, row
    for what in ("search 10000 messages, a question ", "  turns that do not compact"):
        assert any(row.startswith(what) for row in rows)
    for strategy in ("discard", "hybrid", "summarize"):
        [row] = [row for row in rows if row.startswith(f"prompt changed, {strategy}")]
        assert " ok " in row  # that is no matter of speed


def test_prompt_properties_can_be_tried_on_any_number_of_histories() -> None:
    told = bench("properties.py", "--histories", "20", "--conversations", "4").splitlines()
    assert [line.split(" × ")[0] for line in told] == ["4", "4", "20"]


def test_one_part_of_the_benchmark_can_be_measured_alone() -> None:
    rows = bench("run.py", "--quick", "--notes", "30", "--only", "tokens").split("\n\n")[1].splitlines()[1:]
    assert [row.partition("  ")[0] for row in rows] == ["tokens of 500 characters"]
