"""How fast and how large zkchat is, each figure beside a floor measured in the same run: `python tests/bench/run.py [--notes 1000]`.

A floor is what no program could do without: the imports alone, bare SQLite, tiktoken alone, a plain walk over the files. So a slow or a
busy machine shows as a slow floor, and the ratio is the figure to compare over time. Goals are the project's own; "over" fails nothing.
"""

import argparse
import itertools
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pexpect
import vaults
from measuring import Goal, Row, in_turns, table, timed

from zkchat_cli import wiring
from zkchat_cli.events import TurnCompleted
from zkchat_cli.models import ConversationArchive, TurnReport, ZkChatMessage
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.tokens import TokenCounter, load_vocabulary
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.vault import Vault
from zkchat_cli.words import content_terms

SEED = 7
PYTHON = (sys.executable, "-c")
STORE = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE texts (id TEXT PRIMARY KEY, body TEXT)"
INDEX = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE texts USING fts5(path UNINDEXED, body)"
ZKCHAT = (sys.executable, "-m", "zkchat_cli")
LIBRARIES = "import sqlite3, typer, zkchat_cli.models, zkchat_cli.tokens as t; t.load_vocabulary('o200k_base')"
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))
"""
"""A small process between, in MB: a child begins with its parent's peak, and ours is large by then."""


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
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ZKCHAT") and k not in ("NO_COLOR", "TIKTOKEN_CACHE_DIR")}
        return {**clean, "ZKCHAT_HOME": str(self.home), "TERM": "xterm-256color"}

    def times(self, full: int) -> range:
        """So many repetitions, few in a quick run, and one more to warm up."""
        return range(1 + (max(2, full // 20) if self.quick else full))

    def fresh(self) -> Path:
        """A path that nobody has used yet."""
        return self.folder / str(next(self._numbers))


def starting(ground: Ground) -> Iterator[Row]:
    """Processes, first of all: while this one is still small, forking is cheap."""
    of_vault = ("--vault", str(ground.vault))

    def run(*command: str, env: Mapping[str, str] = ground.env) -> str:
        return subprocess.run(command, env=env, capture_output=True, check=True, text=True).stdout

    def shown(text: str, *command: str) -> float:
        begin = time.perf_counter()
        child = pexpect.spawn(command[0], list(command[1:]), env=ground.env, encoding="utf-8", dimensions=(30, 100))
        child.expect_exact(text, timeout=60)
        seconds = time.perf_counter() - begin
        child.kill(signal.SIGKILL)
        child.close()
        return 1000 * seconds

    def peak(home: Path, *command: str) -> float:
        return float(run(*PYTHON, PEAK, *command, env={**ground.env, "ZKCHAT_HOME": str(home)}))

    typer = timed(lambda _: run(*PYTHON, "import typer"))
    for option in ("--help", "--version"):
        figures = in_turns(timed(lambda _, option=option: run(*ZKCHAT, option)), typer, ground.times(20))
        yield Row(f"zkchat {option}", *figures, "import typer", Goal(2, "ratio"))
    run(*ZKCHAT, "vault", "index", *of_vault)
    imports = "import typer, rich, prompt_toolkit"
    ready = (*PYTHON, f"{imports}; print('ready', flush=True)")
    figures = in_turns(lambda _: shown("you ›", *ZKCHAT, "chat", *of_vault), lambda _: shown("ready", *ready), ground.times(20))
    yield Row("prompt visible", *figures, imports, Goal(300, "median"))

    ask = (*ZKCHAT, "ask", ground.words.question(), "--json", *of_vault)
    for what, homes in (("first ask", [ground.fresh() for _ in ground.times(3)]), ("ask", [ground.home for _ in ground.times(3)])):
        figures = in_turns(lambda home: peak(home, *ask), lambda home: peak(home, *PYTHON, LIBRARIES), homes)
        yield Row(f"peak memory, {what}", *figures, "typer, models, vocabulary", Goal(200, "median"), "MB")


def counting(ground: Ground) -> Iterator[Row]:
    texts = ["".join(ground.words.sentence() for _ in range(20))[:500] for _ in range(401)]
    figures = in_turns(timed(TokenCounter().count), timed(load_vocabulary("o200k_base").encode_ordinary), texts)
    yield Row("tokens of 500 characters", *figures, "tiktoken encode_ordinary", Goal(1, "p95"))


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
    """The least that finds out whether a vault has changed: one scandir a folder, one stat a note."""
    with os.scandir(folder) as entries:
        return sum(walk(Path(entry.path)) if entry.is_dir() else entry.stat().st_mtime_ns & 1 for entry in entries)


def finding(ground: Ground) -> Iterator[Row]:
    texts = [(str(file), file.read_text(encoding="utf-8")) for file in ground.vault.rglob("*.md")]
    many = max(ground.notes, 1000)  # the goals are 6 s for 10 000 notes and 1 s for 100 000; a few notes have the cost of any file
    build = [(Vault.open(ground.vault, ground.fresh()), bare(ground, INDEX)) for _ in ground.times(5)]
    figures = in_turns(timed(lambda pair: pair[0].refresh()), timed(lambda pair: insert(pair[1], texts)), build)
    yield Row(f"index {ground.notes} notes", *figures, "FTS5 inserts of the same text", Goal(0.6 * many, "median"))
    vault, plain = build[-1]
    figures = in_turns(timed(lambda _: vault.refresh()), timed(lambda _: walk(ground.vault)), ground.times(20))
    yield Row("refresh, nothing changed", *figures, "scandir and stat", Goal(0.01 * many, "median"))

    def match(question: str) -> list[tuple[str, str]]:
        expression = " OR ".join(f'"{term}"' for term in dict.fromkeys(content_terms(question)))
        return plain.execute("SELECT path, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (expression,)).fetchall()

    figures = in_turns(timed(vault.search), timed(match), [ground.words.question() for _ in ground.times(400)])
    yield Row("search, 10 results", *figures, "FTS5 OR of the same words", Goal(20, "p95"))


def storing(ground: Ground, archive: ConversationArchive) -> Row:
    """A turn as a session stores it: the question, then all that answers it; the floor writes the same bytes in as many transactions."""
    store, floor, talk = ChatSessionStore.open(ground.fresh()), bare(ground, STORE), archive.conversation.id
    store.start(archive.conversation.model_copy(update={"head_id": None}))
    turns = [archive.messages[i : i + 4] for i in range(0, len(archive.messages), 4)]
    dumped = {turn[0].id: [(m.id, m.model_dump_json()) for m in turn] for turn in turns}

    def store_turn(turn: tuple[ZkChatMessage, ...]) -> None:
        store.add(talk, turn[0])
        store.commit(talk, turn[0], turn[1:], updated_at=turn[0].timestamp, title="t")

    def insert_twice(turn: tuple[ZkChatMessage, ...]) -> None:
        insert(floor, dumped[turn[0].id][:1])
        insert(floor, dumped[turn[0].id][1:])

    return Row("store a turn", *in_turns(timed(store_turn), timed(insert_twice), turns), "two bare transactions")


def talking(ground: Ground, what: str, session: ZkChatSession) -> Iterator[Row]:
    """Turns in one growing conversation, by the session's own timings and by a clock outside it.

    By the session's clock the user thinks for ten seconds before each message, so that each finds the last scan of the vault stale.
    """
    thought = 0.0
    parts = replace(session.parts, clock=lambda: time.perf_counter() + thought)
    session, database, encoder = ZkChatSession(parts, session.conversation), bare(ground, STORE), load_vocabulary("o200k_base")

    def least(report: TurnReport) -> None:
        walk(ground.vault)
        encoder.encode_ordinary(question + report.answer)
        insert(database, [(f"before {report.message_id}", question)])
        insert(database, [(report.message_id, report.model_dump_json())])

    figures: list[tuple[float, ...]] = []
    for question in [ground.words.question() for _ in ground.times(100)]:
        thought += 10
        begin = time.perf_counter()
        last = list(session.send(question))[-1]
        outside = 1000 * (time.perf_counter() - begin)
        assert isinstance(last, TurnCompleted), last
        took = last.report.timings_ms
        figures.append((took.overhead, took.prepare, took.store, outside - took.model - took.tools, timed(least)(last.report)))
    overhead, prepare, store, by_outside, floor = zip(*figures, strict=True)
    yield Row(f"overhead a message, {what}", overhead, floor, "walk, count, two transactions", Goal(50, "p95"))
    yield from (Row(f"  {part}", values) for part, values in (("prepare", prepare), ("store", store), ("all, timed outside", by_outside)))


def conversing(ground: Ground) -> Iterator[Row]:
    bench = wiring.open_bench(wiring.Choices(vault=ground.vault, model="offline"), ground.env, ground.vault)
    new = bench.session()
    toolbox = Toolbox(new.parts.tools, bench.vault, new.manager, bench.counter, time.perf_counter)
    archive = vaults.conversation(ground.turns, ground.words, toolbox, str(bench.vault.root), wiring.new_id)
    yield storing(ground, archive)
    bench.store.start(new.conversation)
    yield from talking(ground, "new conversation", bench.session(new.conversation))
    yield from talking(ground, f"after {ground.turns} turns", bench.session(bench.store.restore(archive, wiring.new_id)))
    bench.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure zkchat beside its floors.")
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--turns", type=int, help="turns of the imported conversation; default 1000, or 20 in a quick run")
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run at all?")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    turns = chosen.turns or (20 if chosen.quick else 1000)
    with tempfile.TemporaryDirectory(prefix="zkchat-bench-") as folder:
        ground = Ground(Path(folder).resolve(), chosen.notes, turns, chosen.quick, vaults.Words(SEED))
        vaults.write(ground.vault, ground.notes, ground.words)
        measured: list[Row] = []
        for part in (starting, counting, finding, conversing):
            print(f"{part.__name__} …", file=sys.stderr, flush=True)
            measured += part(ground)
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if chosen.json:
        document = {"machine": machine, "notes": chosen.notes, "turns": turns, "rows": [row.as_document() for row in measured]}
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"{machine}\n{chosen.notes} notes; figures are median / p95\n\n{table(measured)}")


if __name__ == "__main__":
    main()
