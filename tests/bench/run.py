"""How fast and how large zkchat is, each figure beside a floor measured in the same run: `python tests/bench/run.py [--notes 1000]`.

A floor is what no program could do without: the imports alone, bare SQLite, tiktoken alone, a plain walk over the files. So a slow or a
busy machine shows as a slow floor, and the ratio is the figure to compare over time. Goals are the project's own; "over" fails nothing.
"""

import argparse
import itertools
import json
import os
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import measuring
import pexpect
import vaults
from measuring import Goal, Row, in_turns

from zkchat_cli import wiring
from zkchat_cli.events import TurnCompleted
from zkchat_cli.models import ConversationArchive
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.tokens import TokenCounter, load_vocabulary
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.vault import Vault
from zkchat_cli.words import content_terms

SEED = 7
ZKCHAT = (sys.executable, "-m", "zkchat_cli")
LIBRARIES = "import sqlite3, typer, zkchat_cli.models, zkchat_cli.tokens as t; t.load_vocabulary('o200k_base').encode_ordinary('a')"
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))
"""
"""A small process between: a child begins with its parent's peak, and ours is large by then."""


@dataclass(frozen=True)
class Ground:
    """What is measured on. `times` lowers a number of repetitions in a quick run."""

    vault: Path
    home: Path
    scratch: Path
    notes: int
    turns: int
    quick: bool
    words: vaults.Words
    _fresh: Iterator[int] = field(default_factory=itertools.count)

    @property
    def env(self) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ZKCHAT") and k not in ("NO_COLOR", "TIKTOKEN_CACHE_DIR")}
        return {**clean, "ZKCHAT_HOME": str(self.home), "TERM": "xterm-256color"}

    def times(self, full: int) -> int:
        return max(2, full // 20) if self.quick else full

    def fresh(self) -> Path:
        return self.scratch / str(next(self._fresh))

    def open_bench(self) -> wiring.Bench:
        return wiring.open_bench(wiring.Choices(vault=self.vault, model="offline"), self.env, self.vault)


def milliseconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)


def starting(ground: Ground) -> Iterator[Row]:
    """Processes, first of all: while this one is still small, forking is cheap."""

    def takes(*command: str) -> Callable[[], float]:
        return lambda: milliseconds(lambda: subprocess.run(command, env=ground.env, stdout=subprocess.DEVNULL, check=True))

    def shows(text: str, *command: str) -> Callable[[], float]:
        def wait() -> float:
            begin = time.perf_counter()
            child = pexpect.spawn(command[0], list(command[1:]), env=ground.env, encoding="utf-8", dimensions=(30, 100))
            child.expect_exact(text, timeout=60)
            shown = time.perf_counter()
            child.kill(signal.SIGKILL)
            child.close()
            return 1000 * (shown - begin)

        return wait

    for option in ("--help", "--version"):
        values, floor = in_turns(takes(*ZKCHAT, option), takes(sys.executable, "-c", "import typer"), ground.times(20))
        yield Row(f"zkchat {option}", values, floor, "import typer", Goal(2, "ratio"))
    subprocess.run([*ZKCHAT, "vault", "index", "--vault", str(ground.vault)], env=ground.env, stdout=subprocess.DEVNULL, check=True)
    imports = "import typer, rich, prompt_toolkit; print('ready', flush=True)"
    chat = shows("you ›", *ZKCHAT, "chat", "--vault", str(ground.vault))
    values, floor = in_turns(chat, shows("ready", sys.executable, "-c", imports), ground.times(20))
    yield Row("prompt visible", values, floor, "import typer, rich, prompt_toolkit", Goal(300, "median"))


def memory(ground: Ground) -> Iterator[Row]:
    def peak(home: Path, *command: str) -> float:
        run = [sys.executable, "-c", PEAK, *command]
        return float(subprocess.run(run, env={**ground.env, "ZKCHAT_HOME": str(home)}, capture_output=True, check=True, text=True).stdout)

    ask = (*ZKCHAT, "ask", ground.words.question(), "--json", "--vault", str(ground.vault))
    for what, home in (("peak memory of the first ask (indexes)", ground.fresh), ("peak memory of ask", lambda: ground.home)):
        values, floor = in_turns(
            lambda home=home: peak(home(), *ask), lambda: peak(ground.home, sys.executable, "-c", LIBRARIES), ground.times(3), warm=0
        )
        yield Row(what, values, floor, "typer, models, vocabulary", Goal(200, "median"), "MB")


def counting(ground: Ground) -> Iterator[Row]:
    counter, encoder = TokenCounter(), load_vocabulary("o200k_base")
    counter.count("load it")
    texts = ["".join(itertools.islice(itertools.chain.from_iterable(iter(ground.words.sentence, None)), 500)) for _ in range(402)]
    mine, bare = iter(texts), iter(texts)
    values, floor = in_turns(
        lambda: milliseconds(lambda: counter.count(next(mine))), lambda: milliseconds(lambda: encoder.encode_ordinary(next(bare))), 400
    )
    yield Row("tokens of 500 characters", values, floor, "tiktoken encode_ordinary", Goal(1, "p95"))


def bare_database(file: Path, *, durable: bool) -> sqlite3.Connection:
    """SQLite with the settings of the store (durable) or of an index that is being built."""
    connection = sqlite3.connect(file, isolation_level=None)
    journal, synchronous = ("WAL", "FULL") if durable else ("OFF", "OFF")
    connection.executescript(f"PRAGMA journal_mode = {journal}; PRAGMA synchronous = {synchronous}; CREATE TABLE said (id TEXT, text TEXT)")
    return connection


def insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[str, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    connection.execute("COMMIT")


def walk(folder: Path) -> int:
    """The least that finds out whether a vault has changed: one scandir a folder, one stat a note."""
    with os.scandir(folder) as entries:
        return sum(walk(Path(e.path)) if e.is_dir() else e.stat().st_mtime_ns & 1 for e in entries)


def finding(ground: Ground) -> Iterator[Row]:
    texts = [(str(file), file.read_text(encoding="utf-8")) for file in ground.vault.rglob("*.md")]
    made: list[sqlite3.Connection] = []

    def build() -> float:
        cache = ground.fresh()
        vault = Vault.open(ground.vault, cache)
        taken = milliseconds(vault.refresh)
        vault.close()
        shutil.rmtree(cache)
        return taken

    def insert_plain() -> float:
        plain = bare_database(ground.fresh(), durable=False)
        plain.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, body)")
        made.append(plain)
        return milliseconds(lambda: insert(plain, "notes", texts))

    values, floor = in_turns(build, insert_plain, ground.times(3), warm=0)
    yield Row(f"index {ground.notes} notes", values, floor, "FTS5 inserts of the same text", Goal(0.6 * max(ground.notes, 1000), "median"))
    with_vault = ground.open_bench()
    vault, plain = with_vault.vault, made[-1]
    vault.refresh()
    values, floor = in_turns(lambda: milliseconds(vault.refresh), lambda: milliseconds(lambda: walk(ground.vault)), ground.times(20))
    yield Row("refresh, nothing changed", values, floor, "scandir and stat", Goal(0.01 * max(ground.notes, 1000), "median"))

    questions = [ground.words.question() for _ in range(401)]
    mine, bare = iter(questions), iter(questions)

    def match(question: str) -> list[tuple[str, str]]:
        expression = " OR ".join(f'"{term}"' for term in dict.fromkeys(content_terms(question)))
        return plain.execute("SELECT path, body FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10", (expression,)).fetchall()

    values, floor = in_turns(
        lambda: milliseconds(lambda: vault.search(next(mine))), lambda: milliseconds(lambda: match(next(bare))), ground.times(400)
    )
    yield Row("search, 10 results", values, floor, "FTS5 OR of the same words", Goal(20, "p95"))
    with_vault.close()
    for connection in made:
        connection.close()


def imported(ground: Ground, bench: wiring.Bench) -> ConversationArchive:
    """A conversation of `ground.turns` turns with excerpts of the vault, not stored yet."""
    session = bench.session()
    toolbox = Toolbox(session.parts.tools, bench.vault, session.manager, bench.counter, time.perf_counter)
    return vaults.conversation(ground.turns, ground.words, toolbox, str(bench.vault.root), wiring.new_id)


def storing(ground: Ground, archive: ConversationArchive) -> Iterator[Row]:
    """A turn as a session stores it: the question, then all that answers it; the floor writes the same bytes in as many transactions."""
    store, bare = ChatSessionStore.open(ground.fresh() / "store.db"), bare_database(ground.fresh(), durable=True)
    store.start(archive.conversation.model_copy(update={"head_id": None}))
    turns = [archive.messages[i : i + 4] for i in range(0, len(archive.messages), 4)]
    dumped = iter([[(m.id, m.model_dump_json()) for m in turn] for turn in turns])
    coming = iter(turns)

    def store_turn() -> float:
        user, *answer = next(coming)
        added = milliseconds(lambda: store.add(archive.conversation.id, user))
        return added + milliseconds(lambda: store.commit(archive.conversation.id, user, answer, updated_at=user.timestamp, title="t"))

    def insert_twice() -> float:
        question, *answer = next(dumped)
        return milliseconds(lambda: insert(bare, "said", [question])) + milliseconds(lambda: insert(bare, "said", answer))

    values, floor = in_turns(store_turn, insert_twice, len(turns) - 1)
    yield Row("store a turn", values, floor, "two bare transactions, WAL, FULL")
    store.close()
    bare.close()


@dataclass
class Leisurely:
    """A clock by which the user thinks for ten seconds before each message, so that each finds the vault's scan stale, as in life."""

    thought: float = 0.0

    def __call__(self) -> float:
        return time.perf_counter() + self.thought


def talking(ground: Ground, what: str, session: ZkChatSession) -> Iterator[Row]:
    """Turns in one growing conversation, by the session's own timings and by the clock outside it."""
    clock = Leisurely()
    session = ZkChatSession(replace(session.parts, clock=clock), session.conversation)
    bare, encoder = bare_database(ground.fresh(), durable=True), load_vocabulary("o200k_base")
    values: dict[str, list[float]] = {"overhead": [], "prepare": [], "store": [], "outside": [], "floor": []}

    def floor(question: str, report: TurnCompleted) -> None:
        walk(ground.vault)
        encoder.encode_ordinary(question + report.report.answer)
        insert(bare, "said", [("question", question)])
        insert(bare, "said", [("answer", report.report.model_dump_json())])

    for question in [ground.words.question() for _ in range(ground.times(100))]:
        clock.thought += 10
        begin = time.perf_counter()
        last = list(session.send(question))[-1]
        wall = 1000 * (time.perf_counter() - begin)
        assert isinstance(last, TurnCompleted), last
        timings = last.report.timings_ms
        for part in ("overhead", "prepare", "store"):
            values[part].append(getattr(timings, part))
        values["outside"].append(wall - timings.model - timings.tools)
        values["floor"].append(milliseconds(lambda question=question, last=last: floor(question, last)))
    bare.close()
    yield Row(f"overhead a message, {what}", values["overhead"], values["floor"], "walk, count, two transactions", Goal(50, "p95"))
    yield Row("  of it prepare", values["prepare"])
    yield Row("  of it store", values["store"])
    yield Row("  by the clock outside", values["outside"], goal=Goal(50, "p95"))


def everything(ground: Ground) -> Iterator[Row]:
    yield from starting(ground)
    yield from memory(ground)
    yield from counting(ground)
    yield from finding(ground)
    bench = ground.open_bench()
    bench.vault.refresh()
    archive = imported(ground, bench)
    yield from storing(ground, archive)
    new = bench.session()
    bench.store.start(new.conversation)
    yield from talking(ground, "new conversation", bench.session(new.conversation))
    long = bench.store.restore(archive, wiring.new_id)
    yield from talking(ground, f"after {ground.turns} turns", bench.session(long))
    bench.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure zkchat beside its floors.")
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=0, help="turns of the imported conversation; 1000, or 20 in a quick run")
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run at all?")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zkchat-bench-") as folder:
        root = Path(folder).resolve()
        turns = chosen.turns or (20 if chosen.quick else 1000)
        ground = Ground(root / "notes", root / "home", root / "scratch", chosen.notes, turns, chosen.quick, vaults.Words(SEED))
        ground.scratch.mkdir()
        vaults.write(ground.vault, chosen.notes, ground.words)
        rows = []
        for row in everything(ground):
            print(f"  {row.what}", file=sys.stderr, flush=True)
            rows.append(row)
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if chosen.json:
        document = {"machine": machine, "notes": chosen.notes, "turns": turns, "rows": [row.as_document() for row in rows]}
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"{machine}\n{chosen.notes} notes; median / p95\n\n{measuring.table(rows)}")


if __name__ == "__main__":
    main()
