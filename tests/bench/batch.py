"""What search by meaning costs a batch of searches in a vault without vectors, beside the same
batch by words alone: `python tests/bench/batch.py VAULT [--queries FILE] [--repetitions 3]`.

Each repetition is a process with a cache of its own, the two in turns; the least processor time
counts, because other programs only add to it. The queries are the lines of a file, or titles of
notes.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

from ground import ZKCHAT

MOST_QUERIES = 100
GOAL = 1.0


def processor_seconds(home: Path, provider: str, *arguments: str, stdin: str = "") -> float:
    """The processor time of a run of zkchat, user's and system's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ZKCHAT")}
    env |= {"ZKCHAT_HOME": str(home), "ZKCHAT_SEMANTIC__PROVIDER": provider}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*ZKCHAT, *arguments], input=stdin, env=env, check=True, text=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least_seconds(vault: Path, queries: str, repetitions: int) -> dict[str, float]:
    """By provider, the processor time of the batch in a vault that is indexed and has no
    vectors.
    """
    least: dict[str, float] = {}
    search = ("vault", "search", "-", "--json", "--vault", str(vault))
    for _ in range(repetitions):
        for provider in ("none", "builtin"):
            with tempfile.TemporaryDirectory() as home:
                processor_seconds(Path(home), "none", "vault", "index", "--vault", str(vault))
                seconds = processor_seconds(Path(home), provider, *search, stdin=queries)
            least[provider] = min(seconds, least.get(provider, seconds))
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args()
    if given.queries:
        lines = given.queries.read_text(encoding="utf-8").splitlines()
    else:
        lines = sorted(file.stem for file in given.vault.rglob("*.md"))
    lines = [line for line in lines if line.strip()][:MOST_QUERIES]
    least = least_seconds(given.vault, "".join(f"{line}\n" for line in lines), given.repetitions)
    more = least["builtin"] - least["none"]
    print(
        json.dumps(
            {
                "queries": len(lines),
                "cpu_s_by_words": round(least["none"], 2),
                "cpu_s_with_meaning": round(least["builtin"], 2),
                "cpu_s_more": round(more, 2),
                "goal": GOAL,
                "met": more <= GOAL,
            }
        )
    )


if __name__ == "__main__":
    main()
