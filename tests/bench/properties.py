"""The promises of every prompt and of every compaction, for as many random histories as one likes:
`python tests/bench/properties.py [--histories 50000] [--conversations 2000]`.

The tests try a part of them. Prints the first history that breaks a promise, made as small as it
can be, and fails. Slices have seeds of their own: what hypothesis remembers of one would slow the
next down.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, seed, settings

sys.path.insert(0, str(Path(__file__).parent.parent))

from compaction_properties import (
    as_random_test,
    every_prompt_is_sound_and_an_import_gives_the_identical_one,
    undo_gives_each_earlier_prompt_back,
)
from factories import make_app
from history_strategies import any_history_makes_a_prompt_that_keeps_all_promises
from postgres_server import PostgresServer
from test_postgres_properties import open_as_new_user

SLICE = 1000


def hold(promise: Callable[..., None], times: int, first: int, *given: Any) -> None:
    begin = time.perf_counter()
    slices = -(-times // SLICE)
    many = settings(
        max_examples=min(times, SLICE),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(promise)
    for number in range(first, first + slices):
        seed(number)(many)(*given)
        print(
            f"{promise.__name__.replace('_', ' ')}: seed {number}, "
            f"{time.perf_counter() - begin:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    print(
        f"{slices * min(times, SLICE)} × {promise.__name__.replace('_', ' ')} "
        f"({time.perf_counter() - begin:.0f} s)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Try the promises of every prompt and compaction on random histories."
    )
    parser.add_argument("--histories", type=int, default=50_000)
    parser.add_argument(
        "--conversations",
        type=int,
        default=2_000,
        help="that are compacted, undone, exported and imported",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first slice of a thousand")
    parser.add_argument("--postgres", action="store_true", help="keep them on a server")
    chosen = parser.parse_args()
    server = PostgresServer() if chosen.postgres else None
    try:
        try_all(chosen, server)
    finally:
        if server is not None:
            server.remove()


def try_all(chosen: argparse.Namespace, server: PostgresServer | None) -> None:
    if chosen.conversations:
        with tempfile.TemporaryDirectory(prefix="zkchat-properties-") as folder:
            vault = Path(folder).resolve() / "notes"
            vault.mkdir()
            (vault / "Filters.md").write_text(
                "# Filters\n\nFilters say which tasks you want to see.\n"
            )
            app = make_app(vault, vault.parent / "cache")
            if server is not None:
                app.new_store = partial(open_as_new_user, server)
            for check in (
                every_prompt_is_sound_and_an_import_gives_the_identical_one,
                undo_gives_each_earlier_prompt_back,
            ):
                hold(as_random_test(check), chosen.conversations, chosen.seed, app)
    if chosen.histories:
        hold(any_history_makes_a_prompt_that_keeps_all_promises, chosen.histories, chosen.seed)


if __name__ == "__main__":
    main()
