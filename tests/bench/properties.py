"""The promises of every prompt, for as many random histories as one likes: `python tests/bench/properties.py [--histories 50000]`.

The tests try two thousand. Prints the first history that breaks a promise, made as small as it can be, and fails.
"""

import argparse
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Verbosity, settings

sys.path.insert(0, str(Path(__file__).parent.parent))

from histories import any_history_makes_a_prompt_that_keeps_all_promises


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the promises of every prompt on random histories.")
    parser.add_argument("--histories", type=int, default=50_000)
    chosen = parser.parse_args()
    begin = time.perf_counter()
    many = settings(
        max_examples=chosen.histories, deadline=None, database=None, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck)
    )
    many(any_history_makes_a_prompt_that_keeps_all_promises)()
    print(f"{chosen.histories} random histories keep all promises ({time.perf_counter() - begin:.0f} s)")


if __name__ == "__main__":
    main()
